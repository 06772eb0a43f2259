/* The CUDA backend: ranks on the GPUs of one or several processes, and CPU threads as ranks beside them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_state.h"

static int available(void) {
    int count = 0;
    const xs_cuda_driver *cuda = xs_cuda_load();
    if (!cuda) return xs_fail(XS_E_BACKEND, "no CUDA driver on this machine");
    if (cuda->device_count(&count) != CUDA_SUCCESS || count == 0)
        return xs_fail(XS_E_BACKEND, "the CUDA driver finds no GPU");
    return 1;
}

/* What a kernel that never ends still reads and writes is kept, and so is the region under it. */
static void abandon(xs_world *world, xs_cuda_state *state) {
    static xs_cuda_state *abandoned;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    state->next_abandoned = abandoned;
    abandoned = state;
    pthread_mutex_unlock(&lock);
    world->region = NULL;
}

static void free_state(xs_cuda_state *state) {
    xs_cuda_objects_free(state);
    xs_cuda_parts_free(state);
    free(state->devices);
    free(state->ranks);
    free(state->on_cpu);
    pthread_mutex_destroy(&state->parts_lock);
    free(state);
}

/* In a forked child the driver cannot be called, and the threads do not exist. */
static void close_cuda(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int forked = world->owner_pid != (int32_t)getpid();
    XS_CUDA_KEEP_CALLER(forked ? NULL : state->cuda);
    if (!forked && !xs_cuda_clock_stop(state)) state->hung = 1;
    world->backend_state = NULL;
    if (state->cpu && !forked) xs_scheduler_threads.close(state->cpu);
    if (state->hung && !forked) {
        abandon(world, state);
        return;
    }
    world->backend_state = state;
    if (!forked) {
        xs_cuda_memory_free(world);
        xs_cuda_devices_close(state, world->config.local_ranks);
    }
    if (state->segment) xs_segment_close(state->segment, !forked);
    free_state(state);
    world->backend_state = NULL;
}

static int open_abort_word(xs_world *world, xs_cuda_state *state) {
    int rc;
    if (!state->segment) {
        if ((rc = xs_cuda_pinned(state, (void **)&state->abort_word, 4096))) return rc;
    } else {
        void *at;
        uint64_t bytes;
        xs_segment_control_range(state->segment, &at, &bytes);
        if ((rc = xs_cuda_register(state, at, bytes))) return rc;
        state->abort_word = xs_segment_abort_word(state->segment);
    }
    world->abort_word = state->abort_word;
    return 0;
}

static int is_all_cpu(const xs_world *world) { return !xs_cuda_state_of(world)->device_count; }

static int open_state(xs_world *world, xs_cuda_state *state) {
    int rc = xs_cuda_place_ranks(world);
    if (!rc && is_all_cpu(world) && world->config.local_ranks == world->config.ranks)
        rc = xs_fail(XS_E_ARGUMENT, "cpu_ranks \"%s\": every rank is a CPU thread; the host backend is for that",
                     world->config.cpu_ranks);
    if (!rc && world->config.local_ranks < world->config.ranks) rc = xs_segment_open(world, &state->segment);
    if (!rc) rc = xs_cuda_devices_open(world);
    if (!rc) rc = open_abort_word(world, state);
    if (!rc && state->device_count) rc = xs_cuda_pinned(state, (void **)&state->mailbox, sizeof *state->mailbox);
    for (uint32_t i = 0; i < world->config.local_ranks && !rc && !state->cpu; i++)
        if (state->ranks[i].device == XS_CUDA_CPU) rc = xs_scheduler_threads.open(world, &state->cpu);
    return rc;
}

static int open_cuda(xs_world *world) {
    xs_cuda_state *state = calloc(1, sizeof *state);
    if (!state) return XS_E_MEMORY;
    world->backend_state = state;
    state->cuda = xs_cuda_load();
    XS_CUDA_KEEP_CALLER(state->cuda);
    pthread_mutex_init(&state->parts_lock, NULL);
    return open_state(world, state);
}

/* Every ring says whose clock its times are of. */
static void name_devices_of_rings(xs_world *world) {
    const xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_region_header *h = xs_region(world);
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++) {
        xs_ring_header *ring = (xs_ring_header *)(world->region + h->ring_headers_offset + i * h->ring_header_stride);
        int device = state->ranks[i / h->rings_per_rank].device;
        ring->device = device == XS_CUDA_CPU ? -1 : state->devices[device].ordinal;
    }
}

static int map_region(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    xs_region(world)->device = is_all_cpu(world) ? -1 : state->devices[0].ordinal;
    name_devices_of_rings(world);
    int rc = xs_cuda_register(state, world->region, world->region_bytes);
    if (!rc) rc = xs_cuda_claims_open(world);
    if (!rc) rc = xs_cuda_near_open(world);
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        rc = xs_catalog_name(world, XS_NAME_DEVICE, (uint32_t)state->devices[i].ordinal + 1, state->devices[i].name);
        if (!rc) rc = xs_cuda_clock_sample(world, &state->devices[i]);
    }
    if (!rc) xs_cuda_clock_start(world);
    return rc;
}

/* A kernel on another GPU than its rank's would be stamped by another clock, and poll over the link. */
static int handle_ready(xs_world *world, uint32_t rank) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int device = xs_cuda_rank_of(world, rank)->device;
    CUcontext current = NULL;
    state->cuda->context_get(&current);
    if (device != XS_CUDA_CPU && current && current != state->devices[device].context)
        return xs_fail(XS_E_ARGUMENT,
                       "rank %u lives on GPU %d, and another is current: cudaSetDevice(%d) before its handle is asked "
                       "for and its kernel launched",
                       rank, state->devices[device].ordinal, state->devices[device].ordinal);
    return xs_cuda_claims_settle(world, rank);
}

const xs_backend xs_backend_cuda = {
    .name = "cuda",
    .available = available,
    .open = open_cuda,
    .close = close_cuda,
    .shared_memory = xs_cuda_shared_memory,
    .map_region = map_region,
    .rings_open = xs_cuda_rings_open,
    .rings_copy = xs_cuda_rings_copy,
    .launch = xs_cuda_launch,
    .sync = xs_cuda_sync,
    .copy = xs_cuda_copy,
    .slot_read = xs_cuda_slot_read,
    .slot_write = xs_cuda_slot_write,
    .bases_make = xs_cuda_bases_make,
    .bases_host = xs_cuda_bases_host,
    .bases_drop = xs_cuda_bases_drop,
    .ready = xs_cuda_ready,
    .handle_ready = handle_ready,
    .plan_check = xs_cuda_plan_check,
};
