/* Clocks of GPUs while kernels run: once a second the clock kernel is started on a stream of its own, with a few
 * questions. It takes one warp for some 20 us, and no SM of its own; where none is free it waits in its stream and
 * nobody waits for it: the thread looks again a second later. A launch in between (xs_sync, another sample) makes it
 * unnecessary. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_state.h"
#include "identity.h"

#define EVERY_NS 1000000000u
#define ROUNDS 8u
#define PATIENCE_NS 20000000u /* for an answer: longer means that there is no room on the GPU */
#define JOIN_SECONDS 2

typedef struct asked {
    xs_cuda_mailbox *mailbox;
    CUstream stream;
    int pending; /* the last kernel may not have ended */
} asked;

struct xs_cuda_clock {
    xs_world *world;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int stopping;
    asked devices[];
};

/* 0: the GPU answers with an error: nothing more is asked of it. */
static int look_at(struct xs_cuda_clock *c, xs_cuda_device *d, asked *a) {
    xs_cuda_state *state = xs_cuda_state_of(c->world);
    if (xs_clock_boot() - __atomic_load_n(&d->sampled, __ATOMIC_RELAXED) < EVERY_NS / 2)
        return 1;
    if (state->cuda->context_set(d->context))
        return 0;
    if (a->pending) {
        CUresult result = state->cuda->stream_query(a->stream);
        if (result == CUDA_ERROR_NOT_READY)
            return 1;
        if (result)
            return 0;
    }
    xs_cuda_asking how = {.mailbox = a->mailbox, .stream = a->stream, .rounds = ROUNDS, .patience_ns = PATIENCE_NS};
    xs_cuda_burst burst;
    a->pending = 1;
    if (xs_cuda_clock_burst(state, d, &how, &burst))
        return 0;
    burst.step = 0; /* of so few answers it may be a multiple */
    xs_cuda_clock_tell(c->world, d, &burst);
    return 1;
}

/* 0: stop. */
static int rest(struct xs_cuda_clock *c) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += EVERY_NS / 1000000000u;
    pthread_mutex_lock(&c->lock);
    int late = 0;
    while (!c->stopping && !late)
        late = pthread_cond_timedwait(&c->changed, &c->lock, &until) == ETIMEDOUT;
    int go_on = !c->stopping;
    pthread_mutex_unlock(&c->lock);
    return go_on;
}

static void *run(void *user) {
    struct xs_cuda_clock *c = user;
    xs_cuda_state *state = xs_cuda_state_of(c->world);
    int works = 1;
    pthread_setname_np(pthread_self(), "xs clock");
    xs_cuda_mind_captures(state);
    while (rest(c))
        for (uint32_t i = 0; i < state->device_count && works; i++)
            works = look_at(c, &state->devices[i], &c->devices[i]);
    return NULL;
}

static int open_devices(xs_cuda_state *state, struct xs_cuda_clock *c) {
    xs_cuda_mailbox *mailboxes = NULL;
    int rc = xs_cuda_pinned(state, (void **)&mailboxes, state->device_count * sizeof *mailboxes);
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        c->devices[i].mailbox = &mailboxes[i];
        rc = xs_cuda_enter(state, &state->devices[i]);
        if (!rc)
            rc = xs_cuda_check(state, state->cuda->stream_create(&c->devices[i].stream, CU_STREAM_NON_BLOCKING),
                               "cuStreamCreate");
    }
    return rc;
}

static int start_thread(struct xs_cuda_clock *c) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the application's */
    int number = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return number;
}

static void free_clock(xs_cuda_state *state, struct xs_cuda_clock *c) {
    for (uint32_t i = 0; i < state->device_count; i++)
        if (c->devices[i].stream && !xs_cuda_enter(state, &state->devices[i]))
            state->cuda->stream_destroy(c->devices[i].stream);
    free(c);
}

void xs_cuda_clock_start(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    if (world->config.clock < 0 || !state->device_count)
        return;
    struct xs_cuda_clock *c = calloc(1, sizeof *c + state->device_count * sizeof *c->devices);
    if (!c)
        return;
    c->world = world;
    if (open_devices(state, c) || start_thread(c))
        free_clock(state, c);
    else
        state->clock = c;
}

int xs_cuda_clock_stop(xs_cuda_state *state) {
    struct xs_cuda_clock *c = state->clock;
    struct timespec until;
    if (!c)
        return 1;
    pthread_mutex_lock(&c->lock);
    c->stopping = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += JOIN_SECONDS;
    if (pthread_timedjoin_np(c->thread, NULL, &until))
        return 0;
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    state->clock = NULL;
    if (!state->hung)
        free_clock(state, c);
    else
        free(c);
    return 1;
}
