/* Waiting for launches without blocking in the driver, so that faults, bounds and aborts are seen. */
#include <stdio.h>
#include <time.h>

#include "cuda_state.h"

#define ABORT_GRACE_NS \
    5000000000u /* after an abort kernels leave their waits softly; longer means that one hangs outside of them */

typedef struct watch {
    uint64_t started, aborted;
    int error; /* the first, with its words */
    char words[256];
} watch;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); }

static void note(watch *w, int rc) {
    if (!rc || w->error) return;
    w->error = rc;
    snprintf(w->words, sizeof w->words, "%s", xs_error_detail());
}

/* Not all blocks run although nothing is ahead of them: others hold the GPU, and wait for these perhaps. */
static void check_started(xs_world *world, xs_cuda_part *part, uint64_t now, watch *w) {
    const xs_cuda_state *state = xs_cuda_state_of(world);
    uint64_t bound = world->config.start_ns;
    uint32_t all = part->ranks * part->order->config.grid;
    if (!part->order->kernel->traced || part->order->room.untraced || bound == UINT64_MAX || part->checked) return;
    if (!part->head && state->cuda->event_query(xs_cuda_rank_of(world, part->first)->before) == CUDA_SUCCESS)
        part->head = now;
    if (!part->head || now - part->head < bound) return;
    uint32_t seen = xs_region_started(world, part->first, part->ranks, part->order->config.grid, part->order->id);
    part->checked = 1;
    if (seen == all) return;
    note(w, xs_fail(XS_E_NOT_RESIDENT, "kernel %s: %u of %u blocks have started on GPU %d within %llu ms (XS_START_NS)",
                    part->order->kernel->name, seen, all, state->devices[part->device].ordinal,
                    (unsigned long long)(bound / 1000000)));
    xs_abort(world, XS_E_NOT_RESIDENT);
}

/* The driver will not say. The kernel may run on, so its memory is not touched until it is known to have ended. */
static int not_told(xs_world *world, int rc, watch *w) {
    note(w, rc);
    xs_abort(world, rc);
    return 1;
}

/* 1: the part still runs. */
static int look(xs_world *world, xs_cuda_part *part, uint64_t now, watch *w) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    if (__atomic_load_n(&part->claimed, __ATOMIC_ACQUIRE))
        return !part->faulted && !__atomic_load_n(&part->over, __ATOMIC_ACQUIRE);
    CUresult result = state->cuda->context_set(state->devices[part->device].context);
    if (!result) result = state->cuda->stream_query(part->stream);
    if (result == CUDA_ERROR_NOT_READY) check_started(world, part, now, w);
    if (result == CUDA_ERROR_NOT_READY) return 1;
    if (xs_cuda_is_sticky(result)) note(w, xs_cuda_fault(world, part, result));
    else if (result != CUDA_SUCCESS) return not_told(world, xs_cuda_check(state, result, "cuStreamQuery"), w);
    else if (part->untold) xs_cuda_part_ended(part);
    return 0;
}

static int look_at_all(xs_world *world, watch *w) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int running = 0;
    uint64_t now = xs_world_now(world);
    pthread_mutex_lock(&world->lock);
    for (xs_cuda_part *part = state->parts; part; part = part->next) running += look(world, part, now, w);
    pthread_mutex_unlock(&world->lock);
    return running;
}

/* A kernel that does not even end after an abort keeps its memory for good. */
static void give_up(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    pthread_mutex_lock(&world->lock);
    for (xs_cuda_part *part = state->parts; part; part = part->next) {
        if (xs_cuda_part_claim(part)) continue;
        part->faulted = 1;
        if (!state->fault && !state->hung)
            snprintf(state->fault_words, sizeof state->fault_words, "kernel %s on GPU %d does not end after the abort",
                     part->order->kernel->name, state->devices[part->device].ordinal);
        state->hung = 1;
        xs_launch_fail(part->order, XS_E_TIMEOUT);
        xs_launch_ended(part->order);
    }
    state->hung = 1;
    if (!state->fault) state->fault = XS_E_TIMEOUT;
    pthread_mutex_unlock(&world->lock);
}

static void wait_for_gpus(xs_world *world, watch *w) {
    while (look_at_all(world, w)) {
        uint64_t now = xs_world_now(world);
        if (world->config.wait_ns && now - w->started > world->config.wait_ns) xs_abort(world, XS_E_TIMEOUT);
        if (xs_world_abort_error(world) && !w->aborted) w->aborted = now;
        if (w->aborted && now - w->aborted > ABORT_GRACE_NS) {
            give_up(world);
            return;
        }
        nap();
    }
}

/* The clocks last: they tell how far the devices' times have drifted while the launches ran. */
static void sample_clocks(xs_world *world, watch *w) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    for (uint32_t i = 0; i < state->device_count && !state->fault && !w->error; i++) {
        int rc = xs_cuda_enter(state, &state->devices[i]);
        note(w, rc ? rc : xs_cuda_clock_sample(world, &state->devices[i]));
    }
}

int xs_cuda_sync(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    watch w = {.started = xs_world_now(world)};
    wait_for_gpus(world, &w);
    if (state->cpu) note(&w, xs_scheduler_threads.sync(state->cpu));
    sample_clocks(world, &w);
    if (state->fault) return xs_cuda_usable(state);
    return w.error ? xs_fail(w.error, "%s", w.words) : 0;
}
