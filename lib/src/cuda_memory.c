/* Memory of pads and buffers: each rank's copy on its own GPU, reached by all through peer access; or all of it in
 * pinned host memory, where some ranks are CPU threads, which cannot store into a GPU. */
#include <stdlib.h>
#include <string.h>

#include "cuda_state.h"

static void give_back(xs_cuda_state *state, xs_cuda_memory *m) {
    const xs_cuda_driver *cuda = state->cuda;
    if (m->device >= 0) cuda->context_set(state->devices[m->device].context);
    switch (m->kind) {
    case XS_CUDA_IMPORTED:
    case XS_CUDA_BORROWED: xs_cuda_share_close(state, m); break;
    case XS_CUDA_PINNED: cuda->host_free((void *)(uintptr_t)m->at); break;
    case XS_CUDA_REGISTERED: cuda->host_unregister((void *)(uintptr_t)m->at); break;
    default: cuda->free(m->at);
    }
}

int xs_cuda_keep(xs_cuda_state *state, xs_cuda_memory memory) {
    xs_cuda_memory *kept = malloc(sizeof *kept);
    if (!kept) {
        give_back(state, &memory);
        return XS_E_MEMORY;
    }
    *kept = memory;
    kept->next = state->memory;
    state->memory = kept;
    return 0;
}

/* Zeroed when it returns: a clearing that is still under way would be overtaken by kernels on other streams, or by
 * other processes. */
int xs_cuda_allocate(xs_cuda_state *state, uint32_t kind, int device, uint64_t bytes, CUdeviceptr *at) {
    int rc = xs_cuda_enter(state, &state->devices[device]);
    if (!rc) rc = xs_cuda_check(state, state->cuda->allocate(at, bytes), "cuMemAlloc");
    if (!rc) rc = xs_cuda_keep(state, (xs_cuda_memory){kind, device, *at, NULL, NULL});
    CUstream stream = state->devices[device].copies;
    if (!rc) rc = xs_cuda_check(state, state->cuda->set8(*at, 0, bytes, stream), "cuMemsetD8Async");
    return rc ? rc : xs_cuda_check(state, state->cuda->stream_sync(stream), "cuStreamSynchronize");
}

int xs_cuda_pinned(xs_cuda_state *state, void **at, size_t bytes) {
    int rc = xs_cuda_enter(state, &state->devices[0]);
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->host_allocate(at, bytes, CU_MEMHOST_PORTABLE_MAPPED), "cuMemHostAlloc");
    if (!rc) memset(*at, 0, bytes);
    return rc ? rc : xs_cuda_keep(state, (xs_cuda_memory){XS_CUDA_PINNED, 0, (uintptr_t)*at, NULL, NULL});
}

/* A process whose ranks are all CPU threads has no GPU that would need to be told. */
int xs_cuda_register(xs_cuda_state *state, void *at, size_t bytes) {
    if (!state->device_count) return 0;
    int rc = xs_cuda_enter(state, &state->devices[0]);
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->host_register(at, bytes, CU_MEMHOST_PORTABLE_MAPPED),
                           "cuMemHostRegister");
    return rc ? rc : xs_cuda_keep(state, (xs_cuda_memory){XS_CUDA_REGISTERED, 0, (uintptr_t)at, NULL, NULL});
}

static int host_memory(xs_world *world, const char *name, uint64_t bytes, void **base) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    uint64_t whole = (bytes + 4095) & ~(uint64_t)4095;
    int rc = state->segment ? xs_segment_area(state->segment, name, bytes, base) : 0;
    for (uint32_t r = 0; r < world->config.ranks && bytes && !rc; r++)
        rc = !state->segment      ? state->device_count ? xs_cuda_pinned(state, &base[r], whole) : XS_E_BACKEND
             : xs_cuda_register(state, base[r], whole);
    return rc;
}

/* Other ranks' memory is opened when it is first needed: creation waits for nobody. */
static int shared_device_memory(xs_world *world, const char *name, uint64_t bytes, void **base) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    void **shares = calloc(world->config.ranks, sizeof *shares);
    if (!shares) return XS_E_MEMORY;
    int rc = xs_segment_area(state->segment, name, bytes ? sizeof(xs_cuda_share) : 0, bytes ? shares : NULL);
    for (uint32_t r = world->config.first_rank; bytes && !rc && xs_cuda_is_local(world, r); r++)
        rc = xs_cuda_export(state, xs_cuda_rank_of(world, r)->device, bytes, shares[r], &base[r]);
    if (!rc && bytes) return xs_cuda_object_add(world, base, bytes, (xs_cuda_share **)shares);
    free(shares);
    return rc;
}

static int device_memory(xs_world *world, uint64_t bytes, void **base) {
    int rc = 0;
    for (uint32_t r = 0; r < world->config.ranks && bytes && !rc; r++) {
        CUdeviceptr at = 0;
        rc = xs_cuda_allocate(xs_cuda_state_of(world), XS_CUDA_OWN, xs_cuda_rank_of(world, r)->device, bytes, &at);
        base[r] = (void *)(uintptr_t)at;
    }
    return rc ? rc : xs_cuda_object_add(world, base, bytes, NULL);
}

int xs_cuda_shared_memory(xs_world *world, const char *name, uint64_t bytes_per_rank, void **base) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    int rc = xs_cuda_usable(state);
    if (rc) return rc;
    if (state->cpu_ranks) return host_memory(world, name, bytes_per_rank, base);
    if (state->segment) return shared_device_memory(world, name, bytes_per_rank, base);
    return device_memory(world, bytes_per_rank, base);
}

/* On a stream of its own, so that a kernel that hangs does not hold it up. */
int xs_cuda_copy(xs_world *world, void *to, const void *from, uint64_t bytes) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    int rc = xs_cuda_usable(state);
    if (rc) return rc;
    if (state->cpu_ranks) {
        memcpy(to, from, bytes);
        return 0;
    }
    const xs_cuda_device *d = &state->devices[0];
    rc = xs_cuda_enter(state, d);
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->copy((uintptr_t)to, (uintptr_t)from, bytes, d->copies), "cuMemcpyAsync");
    return rc ? rc : xs_cuda_check(state, state->cuda->stream_sync(d->copies), "cuStreamSynchronize");
}

int xs_cuda_slot_read(xs_world *world, const void *address, uint32_t width, uint64_t *value) {
    *value = 0;
    if (xs_cuda_state_of(world)->cpu_ranks) return xs_backend_host.slot_read(world, address, width, value);
    return xs_cuda_copy(world, value, address, width / 8);
}

int xs_cuda_slot_write(xs_world *world, void *address, uint32_t width, uint64_t value) {
    if (xs_cuda_state_of(world)->cpu_ranks) return xs_backend_host.slot_write(world, address, width, value);
    return xs_cuda_copy(world, address, &value, width / 8);
}

/* Imports first: the others may be waiting for them to go. What somebody still has open stays until the process
 * ends. */
void xs_cuda_memory_free(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    xs_cuda_memory **link = &state->memory;
    while (*link) {
        xs_cuda_memory *m = *link;
        if (m->kind != XS_CUDA_IMPORTED && m->kind != XS_CUDA_BORROWED) {
            link = &m->next;
            continue;
        }
        *link = m->next;
        give_back(state, m);
        free(m);
    }
    int unused = !state->segment || xs_cuda_share_withdraw(world);
    for (xs_cuda_memory *m = state->memory, *next; m; m = next) {
        next = m->next;
        if (m->kind != XS_CUDA_EXPORTED || unused) give_back(state, m);
        free(m);
    }
    state->memory = NULL;
}
