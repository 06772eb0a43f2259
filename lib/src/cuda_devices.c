/* The GPUs of a world: contexts, streams, peer access. */
#include <string.h>

#include "cuda_state.h"

int xs_cuda_attribute(const xs_cuda_state *state, CUdevice device, int which) {
    int value = 0;
    return state->cuda->device_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static int open_context(xs_cuda_state *state, xs_cuda_device *d) {
    const xs_cuda_driver *cuda = state->cuda;
    int rc = xs_cuda_check(state, cuda->device_get(&d->device, d->ordinal), "cuDeviceGet");
    if (!rc) rc = xs_cuda_check(state, cuda->device_uuid(&d->uuid, d->device), "cuDeviceGetUuid");
    if (!rc) rc = xs_cuda_check(state, cuda->context_retain(&d->context, d->device), "cuDevicePrimaryCtxRetain");
    return rc ? rc : xs_cuda_enter(state, d);
}

static int open_device(xs_world *world, xs_cuda_state *state, xs_cuda_device *d) {
    const xs_cuda_driver *cuda = state->cuda;
    int rc = open_context(state, d);
    if (rc) return rc;
    if (!xs_cuda_attribute(state, d->device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
        return xs_fail(XS_E_UNSUPPORTED, "GPU %d has no cooperative launch", d->ordinal);
    if (!xs_cuda_attribute(state, d->device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM))
        return xs_fail(XS_E_UNSUPPORTED, "GPU %d sees registered host memory at other addresses than the host",
                       d->ordinal);
    d->processors = xs_cuda_attribute(state, d->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    cuda->device_name(d->name, sizeof d->name, d->device);
    rc = xs_cuda_check(state, cuda->stream_create(&d->copies, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!rc) rc = xs_cuda_check(state, cuda->stream_create(&d->rings, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return rc ? rc : xs_cuda_clock_open(world, d);
}

static int open_rank(xs_cuda_state *state, xs_cuda_rank *rank) {
    const xs_cuda_driver *cuda = state->cuda;
    if (rank->device == XS_CUDA_CPU) return 0;
    int rc = xs_cuda_enter(state, &state->devices[rank->device]);
    if (!rc) rc = xs_cuda_check(state, cuda->stream_create(&rank->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!rc) rc = xs_cuda_check(state, cuda->event_create(&rank->last, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    return rc ? rc : xs_cuda_check(state, cuda->event_create(&rank->before, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

/* Kernels of `from` reach the memory of `to`. */
static int enable_peer(xs_cuda_state *state, const xs_cuda_device *from, const xs_cuda_device *to) {
    int can = 0;
    state->cuda->can_access_peer(&can, from->device, to->device);
    if (!can) return xs_fail(XS_E_UNSUPPORTED, "GPU %d cannot reach the memory of GPU %d", from->ordinal, to->ordinal);
    int rc = xs_cuda_enter(state, from);
    if (rc) return rc;
    CUresult result = state->cuda->enable_peer(to->context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? 0 : xs_cuda_check(state, result, "cuCtxEnablePeerAccess");
}

/* Where all memory is the host's, GPUs need not reach each other. */
static int enable_peers(xs_cuda_state *state) {
    int rc = 0;
    for (uint32_t a = 0; a < state->device_count && !state->cpu_ranks; a++)
        for (uint32_t b = 0; b < state->device_count && !rc; b++)
            if (a != b) rc = enable_peer(state, &state->devices[a], &state->devices[b]);
    return rc;
}

int xs_cuda_devices_open(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int rc = 0;
    for (uint32_t i = 0; i < state->device_count && !rc; i++) {
        state->opened = i + 1;
        rc = open_device(world, state, &state->devices[i]);
    }
    for (uint32_t i = 0; i < world->config.local_ranks && !rc; i++) rc = open_rank(state, &state->ranks[i]);
    if (!rc) rc = enable_peers(state);
    if (!rc) xs_cuda_green_open(world);
    return rc;
}

static int same_device(const CUuuid *a, const CUuuid *b) { return !memcmp(a, b, sizeof *a); }

/* The driver's ordinal for it, or -1: hidden from this process. */
static int find_ordinal(xs_cuda_state *state, const CUuuid *uuid) {
    int count = 0;
    state->cuda->device_count(&count);
    for (int i = 0; i < count; i++) {
        CUdevice device;
        CUuuid other;
        if (state->cuda->device_get(&device, i) || state->cuda->device_uuid(&other, device)) continue;
        if (same_device(uuid, &other)) return i;
    }
    return -1;
}

/* From the one GPU of this process peer memory is reached through its own context. Several need a context that all
 * of them can be given access to: the owner's. */
int xs_cuda_device_by_uuid(xs_cuda_state *state, const CUuuid *uuid, int own_context) {
    for (uint32_t i = 0; i < state->opened; i++)
        if (same_device(&state->devices[i].uuid, uuid)) return (int)i;
    if (state->device_count == 1 && !own_context) return 0;
    int ordinal = find_ordinal(state, uuid);
    if (ordinal < 0)
        return xs_fail(XS_E_UNSUPPORTED,
                       "a process with ranks on several GPUs must see the GPUs of all ranks: one is hidden from it "
                       "(CUDA_VISIBLE_DEVICES)");
    xs_cuda_device *d = &state->devices[state->opened];
    memset(d, 0, sizeof *d);
    d->ordinal = ordinal;
    state->opened++;
    int rc = open_context(state, d);
    for (uint32_t i = 0; i < state->device_count && !rc; i++) rc = enable_peer(state, &state->devices[i], d);
    return rc ? rc : (int)(d - state->devices);
}

static void close_rank(xs_cuda_state *state, xs_cuda_rank *rank) {
    if (rank->device == XS_CUDA_CPU) return;
    state->cuda->context_set(state->devices[rank->device].context);
    xs_cuda_green_close(state, rank);
    if (rank->stream) state->cuda->stream_destroy(rank->stream);
    if (rank->last) state->cuda->event_destroy(rank->last);
    if (rank->before) state->cuda->event_destroy(rank->before);
}

static void close_device(xs_cuda_state *state, xs_cuda_device *d) {
    if (!d->context) return;
    state->cuda->context_set(d->context);
    if (d->clock_module) state->cuda->module_unload(d->clock_module);
    if (d->claims_module) state->cuda->module_unload(d->claims_module);
    if (d->copies) state->cuda->stream_destroy(d->copies);
    if (d->rings) state->cuda->stream_destroy(d->rings);
    state->cuda->context_release(d->device);
}

void xs_cuda_devices_close(xs_cuda_state *state, uint32_t local_ranks) {
    for (uint32_t i = 0; state->ranks && i < local_ranks; i++) close_rank(state, &state->ranks[i]);
    for (uint32_t i = 0; i < state->opened; i++) close_device(state, &state->devices[i]);
}
