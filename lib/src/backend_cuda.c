/* The CUDA backend: ranks on the GPUs of this process, contiguous ranges of ranks a GPU. Ranks of one GPU that run the same
 * kernel are one cooperative launch, rank = range of blocks: the only residency that CUDA guarantees. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

int xs_cuda_check(const xs_cuda_state *state, CUresult result, const char *what) {
    return result == CUDA_SUCCESS ? 0 : xs_fail(XS_E_SYSTEM, "%s: %s", what, xs_cuda_error(state->cuda, result));
}

xs_cuda_device *xs_cuda_device_of(const xs_world *world, uint32_t rank) {
    const xs_cuda_state *state = world->backend_state;
    for (uint32_t i = 0; i < state->device_count; i++)
        if (rank - state->devices[i].first_rank < state->devices[i].ranks) return &state->devices[i];
    return &state->devices[0];
}

static int available(void) {
    int count = 0;
    const xs_cuda_driver *cuda = xs_cuda_load();
    if (!cuda) return xs_fail(XS_E_BACKEND, "no CUDA driver on this machine");
    if (cuda->device_count(&count) != CUDA_SUCCESS || count == 0) return xs_fail(XS_E_BACKEND, "the CUDA driver finds no GPU");
    return 1;
}

static int attribute(const xs_cuda_state *state, CUdevice device, int which) {
    int value = 0;
    return state->cuda->device_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static int open_device(xs_world *world, xs_cuda_state *state, xs_cuda_device *d) {
    const xs_cuda_driver *cuda = state->cuda;
    int rc = xs_cuda_check(state, cuda->device_get(&d->device, d->ordinal), "cuDeviceGet");
    if (rc) return rc;
    if (!attribute(state, d->device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
        return xs_fail(XS_E_UNSUPPORTED, "GPU %d has no cooperative launch", d->ordinal);
    if (!attribute(state, d->device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM))
        return xs_fail(XS_E_UNSUPPORTED, "GPU %d sees registered host memory at other addresses than the host", d->ordinal);
    d->processors = attribute(state, d->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    cuda->device_name(d->name, sizeof d->name, d->device);
    rc = xs_cuda_check(state, cuda->context_retain(&d->context, d->device), "cuDevicePrimaryCtxRetain");
    if (!rc) rc = xs_cuda_check(state, cuda->context_set(d->context), "cuCtxSetCurrent");
    if (!rc) rc = xs_cuda_check(state, cuda->stream_create(&d->kernels, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!rc) rc = xs_cuda_check(state, cuda->stream_create(&d->copies, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!rc) rc = xs_cuda_check(state, cuda->stream_create(&d->rings, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return rc ? rc : xs_cuda_clock_open(world, d);
}

static int enable_peers(xs_cuda_state *state) {
    for (uint32_t a = 0; a < state->device_count; a++)
        for (uint32_t b = 0; b < state->device_count; b++) {
            int can = 0;
            if (a == b) continue;
            state->cuda->can_access_peer(&can, state->devices[a].device, state->devices[b].device);
            if (!can)
                return xs_fail(XS_E_UNSUPPORTED, "GPU %d cannot reach the memory of GPU %d", state->devices[a].ordinal, state->devices[b].ordinal);
            state->cuda->context_set(state->devices[a].context);
            CUresult result = state->cuda->enable_peer(state->devices[b].context, 0);
            if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED && result != CUDA_SUCCESS)
                return xs_cuda_check(state, result, "cuCtxEnablePeerAccess");
        }
    return 0;
}

/* Local ranks over the devices, as evenly as contiguous ranges allow. */
static int place_ranks(xs_world *world, xs_cuda_state *state) {
    int count = 0;
    state->cuda->device_count(&count);
    uint32_t ranks = world->config.local_ranks, devices = (uint32_t)count < ranks ? (uint32_t)count : ranks;
    state->devices = calloc(devices, sizeof *state->devices);
    if (!state->devices) return XS_E_MEMORY;
    state->device_count = devices;
    for (uint32_t i = 0, first = 0; i < devices; i++) {
        state->devices[i].ordinal = (int)i;
        state->devices[i].first_rank = world->config.first_rank + first;
        state->devices[i].ranks = ranks / devices + (i < ranks % devices);
        first += state->devices[i].ranks;
    }
    return 0;
}

static void close_device(xs_cuda_state *state, xs_cuda_device *d) {
    if (!d->context) return;
    state->cuda->context_set(d->context);
    if (d->clock_module) state->cuda->module_unload(d->clock_module);
    if (d->kernels) state->cuda->stream_destroy(d->kernels);
    if (d->copies) state->cuda->stream_destroy(d->copies);
    if (d->rings) state->cuda->stream_destroy(d->rings);
    state->cuda->context_release(d->device);
}

static void close_cuda(xs_world *world) {
    xs_cuda_state *state = world->backend_state;
    if (state->device_count && state->devices[0].context) {
        state->cuda->context_set(state->devices[0].context);
        xs_cuda_memory_free(state);
        if (state->region_registered) state->cuda->host_unregister(world->region);
        if (state->abort_word) state->cuda->host_free(state->abort_word);
        if (state->mailbox) state->cuda->host_free(state->mailbox);
    }
    for (uint32_t i = 0; i < state->device_count; i++) close_device(state, &state->devices[i]);
    free(state->devices);
    free(state);
    world->backend_state = NULL;
}

static int pinned(xs_cuda_state *state, void **at, size_t bytes) {
    int rc = xs_cuda_check(state, state->cuda->host_allocate(at, bytes, CU_MEMHOST_PORTABLE_MAPPED), "cuMemHostAlloc");
    if (!rc) memset(*at, 0, bytes);
    return rc;
}

static int open_state(xs_world *world, xs_cuda_state *state) {
    int rc = place_ranks(world, state);
    if (rc) return rc;
    for (uint32_t i = 0; i < state->device_count; i++)
        if ((rc = open_device(world, state, &state->devices[i]))) return rc;
    if ((rc = enable_peers(state))) return rc;
    if ((rc = pinned(state, (void **)&state->abort_word, 128))) return rc;
    if ((rc = pinned(state, (void **)&state->mailbox, sizeof *state->mailbox))) return rc;
    world->abort_word = state->abort_word;
    return 0;
}

static int open_cuda(xs_world *world) {
    if (world->config.local_ranks < world->config.ranks)
        return xs_fail(XS_E_UNSUPPORTED, "the CUDA backend runs all ranks of a world in one process");
    xs_cuda_state *state = calloc(1, sizeof *state);
    if (!state) return XS_E_MEMORY;
    world->backend_state = state;
    state->cuda = xs_cuda_load();
    return open_state(world, state);
}

static int map_region(xs_world *world) {
    xs_cuda_state *state = world->backend_state;
    int rc = xs_cuda_check(state, state->cuda->host_register(world->region, world->region_bytes, CU_MEMHOST_PORTABLE_MAPPED),
                           "cuMemHostRegister of the rings");
    if (rc) return rc;
    state->region_registered = 1;
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        rc = xs_catalog_name(world, XS_NAME_DEVICE, (uint32_t)state->devices[i].ordinal + 1, state->devices[i].name);
        if (!rc) rc = xs_cuda_clock_sample(world, &state->devices[i]);
    }
    return rc;
}

static int slot_read(xs_world *world, const void *address, uint32_t width, uint64_t *value) {
    *value = 0;
    return xs_cuda_copy(world, value, address, width / 8);
}

static int slot_write(xs_world *world, void *address, uint32_t width, uint64_t value) {
    return xs_cuda_copy(world, address, &value, width / 8);
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
    .slot_read = slot_read,
    .slot_write = slot_write,
    .bases_make = xs_cuda_bases_make,
    .bases_host = xs_cuda_bases_host,
};
