/* The threads scheduler: parallel, in real time. Waits yield, so that hundreds of waiting threads on two cores make
 * progress. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "identity.h"
#include "threads.h"

#define SLEEP_FROM_NS 50000u /* shorter pauses cost more in sleeping than they save */

static int open_threads(xs_world *world, void **out) {
    threads_state *state = calloc(1, sizeof *state);
    if (!state) return XS_E_MEMORY;
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr)) {
        free(state);
        return XS_E_MEMORY;
    }
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&state->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&state->lock, NULL);
    state->world = world;
    *out = state;
    return 0;
}

/* state->lock held; lets it go to join. */
static void join_finished(threads_state *state) {
    threads_run *done = NULL;
    for (threads_run **link = &state->runs; *link;) {
        threads_run *run = *link;
        if (!run->finished) {
            link = &run->next_run;
            continue;
        }
        *link = run->next_run;
        run->next_run = done;
        done = run;
    }
    pthread_mutex_unlock(&state->lock);
    while (done) {
        threads_run *next = done->next_run;
        pthread_join(done->runner, NULL);
        free(done);
        done = next;
    }
    pthread_mutex_lock(&state->lock);
}

static threads_run *make_run(threads_state *state, xs_launch_order *order) {
    threads_run *run = calloc(1, sizeof *run);
    if (!run) return NULL;
    run->state = state;
    run->order = order;
    run->first_rank = order->config.first_rank;
    run->ranks = order->config.ranks;
    run->total = order->config.grid * order->config.ranks;
    run->warps = (order->config.block + 31) / 32;
    return run;
}

/* The runner is made under the lock: it sees its place in the queue only when the run has one. */
static int launch(void *opaque, xs_launch_order *order) {
    threads_state *state = opaque;
    threads_run *run = make_run(state, order);
    if (!run) return XS_E_MEMORY;
    pthread_mutex_lock(&state->lock);
    join_finished(state);
    threads_run **link = &state->runs;
    while (*link) link = &(*link)->next_run;
    int failed = pthread_create(&run->runner, NULL, threads_run_main, run);
    if (!failed) *link = run;
    pthread_mutex_unlock(&state->lock);
    if (!failed) return 0;
    free(run);
    return xs_fail(XS_E_SYSTEM, "launch of %s: no thread: %s", order->kernel->name, strerror(failed));
}

static int unfinished(const threads_state *state) {
    for (const threads_run *run = state->runs; run; run = run->next_run)
        if (!run->finished) return 1;
    return 0;
}

static int sync_threads(void *opaque) {
    threads_state *state = opaque;
    pthread_mutex_lock(&state->lock);
    while (unfinished(state)) pthread_cond_wait(&state->changed, &state->lock);
    join_finished(state);
    pthread_mutex_unlock(&state->lock);
    return 0;
}

static void close_threads(void *opaque) {
    threads_state *state = opaque;
    sync_threads(state);
    pthread_cond_destroy(&state->changed);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static uint64_t now(xs_host_thread *self) {
    (void)self;
    return xs_clock_boot();
}

static uint64_t host_now(void *state) {
    (void)state;
    return xs_clock_boot();
}

static void step(xs_host_thread *self) { (void)self; }

static void sleep_ns(uint64_t ns) {
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
}

static void poll_failed(xs_host_thread *self, const void *address, uint32_t ns, int bounded) {
    (void)self, (void)address, (void)bounded;
    if (ns < SLEEP_FROM_NS) sched_yield();
    else sleep_ns(ns);
}

static void work(xs_host_thread *self, uint64_t ns) {
    (void)self;
    uint64_t end = xs_clock_boot() + ns;
    if (ns > SLEEP_FROM_NS) sleep_ns(ns);
    while (xs_clock_boot() < end) continue;
}

static void copy(xs_host_thread *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes); /* plain, so that a sanitizer sees a race as a race */
}

static void order_nothing(xs_host_thread *self, uint32_t scope) { (void)self, (void)scope; }

const xs_scheduler xs_scheduler_threads = {
    .name = "threads",
    .open = open_threads,
    .close = close_threads,
    .launch = launch,
    .sync = sync_threads,
    .now = now,
    .step = step,
    .poll_failed = poll_failed,
    .work = work,
    .block_barrier = threads_block_barrier,
    .shared = threads_block_shared,
    .shared_dynamic = threads_block_dynamic,
    .store = copy,
    .load = copy,
    .release = order_nothing,
    .acquire = order_nothing,
    .host_now = host_now,
};
