/* Records in device memory: each device has those of its ranks, and a stream of its own brings them out. */
#include <time.h>

#include "cuda_state.h"
#include "identity.h"

#define BOUND_NS 5000000000u /* a copy that takes longer will not end */
#define SPINS 64u            /* looks at a copy before the thread sleeps between them */

/* Ranks of one launch are neighbours in one piece of memory. CPU ranks write into the region as it is. */
int xs_cuda_rings_open(xs_world *world, void **base) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    const xs_region_header *h = xs_region(world);
    uint64_t rank_bytes = h->rings_per_rank * h->records_stride;
    for (int device = 0; device < (int)state->device_count; device++) {
        CUdeviceptr at = 0;
        int rc = xs_cuda_allocate(state, XS_CUDA_OWN, device, state->devices[device].ranks * rank_bytes, &at);
        if (rc)
            return rc;
        for (uint32_t r = 0; r < h->ranks; r++)
            if (state->ranks[r].device == device) {
                base[r] = (void *)(uintptr_t)at;
                at += rank_bytes;
            }
    }
    return 0;
}

/* A row a ring: both sides are laid out alike. */
static xs_cuda_copy_2d rows_of(const xs_world *world, const xs_ring_span *span) {
    const xs_region_header *h = xs_region(world);
    uint64_t rank = span->ring / h->rings_per_rank, in_rank = span->ring % h->rings_per_rank,
             slot = span->slot * sizeof(xs_record);
    xs_cuda_copy_2d copy = {.from_type = CU_MEMORYTYPE_DEVICE, .to_type = CU_MEMORYTYPE_HOST};
    copy.from_device =
        (uintptr_t)xs_placement_records(world, h->first_rank + (uint32_t)rank) + in_rank * h->records_stride + slot;
    copy.to_host = world->region + h->records_offset + span->ring * h->records_stride + slot;
    copy.from_pitch = copy.to_pitch = h->records_stride;
    copy.width = span->slots * sizeof(xs_record);
    copy.height = span->rings;
    return copy;
}

static int start_copy(xs_world *world, const xs_ring_span *span) {
    xs_cuda_state *state = world->backend_state;
    const xs_region_header *h = xs_region(world);
    const xs_cuda_device *d = &state->devices[state->ranks[span->ring / h->rings_per_rank].device];
    xs_cuda_copy_2d copy = rows_of(world, span);
    int rc = xs_cuda_check(state, state->cuda->context_set(d->context), "cuCtxSetCurrent");
    return rc ? rc
              : xs_cuda_check(state, state->cuda->copy_2d(&copy, d->rings), "copying records out of device memory");
}

/* Without blocking in the driver: a device that does not answer must not keep the process. */
static int wait_for(xs_cuda_state *state, const xs_cuda_device *d, uint64_t bound) {
    struct timespec pause = {0, 20000};
    for (uint32_t looks = 0;; looks++) {
        CUresult result = state->cuda->stream_query(d->rings);
        if (result != CUDA_ERROR_NOT_READY)
            return xs_cuda_check(state, result, "copying records out of device memory");
        if (looks < SPINS)
            continue;
        if (xs_clock_boot() > bound)
            return xs_fail(XS_E_TIMEOUT, "copying records out of GPU %d does not end", d->ordinal);
        nanosleep(&pause, NULL);
    }
}

int xs_cuda_rings_copy(xs_world *world, const xs_ring_span *spans, uint32_t count) {
    xs_cuda_state *state = world->backend_state;
    uint64_t bound = xs_clock_boot() + BOUND_NS;
    int rc = 0;
    xs_cuda_mind_captures(state); /* on the copier's thread, always */
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = start_copy(world, &spans[i]);
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        rc = xs_cuda_check(state, state->cuda->context_set(state->devices[i].context), "cuCtxSetCurrent");
        if (!rc)
            rc = wait_for(state, &state->devices[i], bound);
    }
    return rc;
}
