/* Launching: one cooperative launch a device. A host function behind each marks its end; the first start is the order's, the
 * last end too. */
#include <stdlib.h>
#include <time.h>

#include "cuda.h"

#define ABORT_GRACE_NS 5000000000u /* after an abort kernels leave their waits softly; longer means that one hangs outside of them */

typedef struct launch_part {
    xs_launch_order *order;
    uint32_t *parts; /* shared: parts of the order that run */
} launch_part;

static void part_ended(void *user) {
    launch_part *part = user;
    if (__atomic_sub_fetch(part->parts, 1, __ATOMIC_ACQ_REL) == 0) {
        free(part->parts);
        xs_launch_ended(part->order);
    }
    free(part);
}

static int resolve(xs_cuda_state *state, const xs_launch_order *order, CUfunction *function) {
    const xs_cuda_entry *entry = order->kernel->cuda;
    if (!entry) return xs_fail(XS_E_UNSUPPORTED, "kernel %s is not compiled for CUDA", order->kernel->name);
    int error = entry->resolve(entry->function, (void **)function);
    (void)state;
    return error ? xs_fail(XS_E_SYSTEM, "kernel %s: CUDA runtime error %d", order->kernel->name, error) : 0;
}

/* All blocks of a cooperative launch must be resident at once. */
static int check_residency(xs_cuda_state *state, const xs_cuda_device *d, const xs_launch_order *order, CUfunction function, uint32_t blocks) {
    int fit = 0;
    int rc = xs_cuda_check(state, state->cuda->occupancy(&fit, function, (int)order->config.block, order->config.shared_bytes), "occupancy");
    if (rc) return rc;
    uint64_t room = (uint64_t)fit * (uint64_t)d->processors;
    return blocks <= room ? 0
                          : xs_fail(XS_E_NOT_RESIDENT, "%s: %u blocks, GPU %d holds %llu at once", order->kernel->name, blocks, d->ordinal,
                                    (unsigned long long)room);
}

/* The ranks of the order that live on this device. */
static uint32_t ranks_on(const xs_cuda_device *d, const xs_launch_config *config, uint32_t *first) {
    uint32_t end = config->first_rank + config->ranks, device_end = d->first_rank + d->ranks;
    *first = config->first_rank > d->first_rank ? config->first_rank : d->first_rank;
    end = end < device_end ? end : device_end;
    return end > *first ? end - *first : 0;
}

static int launch_on(xs_world *world, xs_cuda_device *d, xs_launch_order *order, uint32_t *parts) {
    xs_cuda_state *state = world->backend_state;
    uint32_t first, ranks = ranks_on(d, &order->config, &first), blocks = ranks * order->config.grid;
    CUfunction function = NULL;
    launch_part *part = malloc(sizeof *part);
    if (!part) return XS_E_MEMORY;
    *part = (launch_part){order, parts};
    xs_handle handle;
    xs_region_handle(world, first, order->config.grid, order->id, &handle);
    void *arguments[] = {order->args, &handle};
    int rc = xs_cuda_check(state, state->cuda->context_set(d->context), "cuCtxSetCurrent");
    if (!rc) rc = resolve(state, order, &function);
    if (!rc) rc = check_residency(state, d, order, function, blocks);
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->launch_cooperative(function, blocks, 1, 1, order->config.block, 1, 1,
                                                                  (unsigned)order->config.shared_bytes, d->kernels, arguments),
                           order->kernel->name);
    if (!rc) rc = xs_cuda_check(state, state->cuda->host_function(d->kernels, part_ended, part), "cuLaunchHostFunc");
    if (rc) free(part);
    return rc;
}

int xs_cuda_launch(xs_world *world, xs_launch_order *order) {
    xs_cuda_state *state = world->backend_state;
    uint32_t *parts = calloc(1, sizeof *parts), first;
    if (!parts) return XS_E_MEMORY;
    for (uint32_t i = 0; i < state->device_count; i++) *parts += ranks_on(&state->devices[i], &order->config, &first) != 0;
    xs_launch_begun(order);
    uint32_t started = 0;
    int rc = 0;
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        if (!ranks_on(&state->devices[i], &order->config, &first)) continue;
        rc = launch_on(world, &state->devices[i], order, parts);
        started += !rc;
    }
    if (rc && !started) free(parts);
    /* A part that runs alone would wait for the others for ever. */
    if (rc && started) xs_abort(world, XS_E_NOT_RESIDENT);
    return rc && started ? 0 : rc;
}

static void nap(void) {
    struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
}

/* Waits for one device without blocking in the driver, so that wait_ns and aborts are seen. */
static int sync_device(xs_world *world, xs_cuda_device *d, uint64_t started) {
    xs_cuda_state *state = world->backend_state;
    uint64_t aborted = 0;
    for (;;) {
        CUresult result = state->cuda->stream_query(d->kernels);
        if (result != CUDA_ERROR_NOT_READY) return xs_cuda_check(state, result, "the GPU");
        uint64_t now = xs_world_now(world);
        if (world->config.wait_ns && now - started > world->config.wait_ns) xs_abort(world, XS_E_TIMEOUT);
        if (xs_world_abort_error(world) && !aborted) aborted = now;
        if (aborted && now - aborted > ABORT_GRACE_NS) return xs_fail(XS_E_TIMEOUT, "GPU %d does not end after the abort", d->ordinal);
        nap();
    }
}

int xs_cuda_sync(xs_world *world) {
    xs_cuda_state *state = world->backend_state;
    uint64_t started = xs_world_now(world);
    int first_error = 0;
    for (uint32_t i = 0; i < state->device_count; i++) {
        xs_cuda_device *d = &state->devices[i];
        state->cuda->context_set(d->context);
        int rc = sync_device(world, d, started);
        if (!rc) rc = xs_cuda_clock_sample(world, d);
        if (rc && !first_error) first_error = rc;
    }
    return first_error;
}
