/* Memory of pads and buffers on GPUs: each rank's copy on its own device, reached by all through peer access. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

static int keep(xs_cuda_state *state, CUdeviceptr at) {
    xs_cuda_memory *memory = malloc(sizeof *memory);
    if (!memory) {
        state->cuda->free(at);
        return XS_E_MEMORY;
    }
    *memory = (xs_cuda_memory){at, state->memory};
    state->memory = memory;
    return 0;
}

int xs_cuda_allocate(xs_cuda_state *state, const xs_cuda_device *device, uint64_t bytes, CUdeviceptr *at) {
    int rc = xs_cuda_check(state, state->cuda->context_set(device->context), "cuCtxSetCurrent");
    if (!rc) rc = xs_cuda_check(state, state->cuda->allocate(at, bytes), "cuMemAlloc");
    if (!rc) rc = keep(state, *at);
    return rc ? rc : xs_cuda_check(state, state->cuda->set8(*at, 0, bytes), "cuMemsetD8");
}

int xs_cuda_shared_memory(xs_world *world, const char *name, uint64_t bytes_per_rank, void **base) {
    (void)name;
    int rc = 0;
    for (uint32_t r = 0; r < world->config.ranks && bytes_per_rank && !rc; r++) {
        CUdeviceptr at = 0;
        rc = xs_cuda_allocate(world->backend_state, xs_cuda_device_of(world, r), bytes_per_rank, &at);
        base[r] = (void *)(uintptr_t)at;
    }
    return rc;
}

int xs_cuda_bases_make(xs_world *world, void *const *host, void *const **kernels) {
    xs_cuda_state *state = world->backend_state;
    xs_cuda_bases *bases = malloc(sizeof *bases);
    if (!bases) return XS_E_MEMORY;
    size_t bytes = world->config.ranks * sizeof *host;
    int rc = xs_cuda_allocate(state, &state->devices[0], bytes, &bases->device);
    if (!rc) rc = xs_cuda_copy(world, (void *)(uintptr_t)bases->device, host, bytes);
    if (rc) {
        free(bases);
        return rc;
    }
    bases->host = host;
    bases->next = state->bases;
    state->bases = bases;
    *kernels = (void *const *)(uintptr_t)bases->device;
    return 0;
}

void *const *xs_cuda_bases_host(const xs_world *world, void *const *kernels) {
    const xs_cuda_state *state = world->backend_state;
    for (const xs_cuda_bases *b = state->bases; b; b = b->next)
        if ((uintptr_t)kernels == b->device) return b->host;
    return NULL;
}

/* On a stream of its own, so that a kernel that hangs does not hold it up. */
int xs_cuda_copy(xs_world *world, void *to, const void *from, uint64_t bytes) {
    xs_cuda_state *state = world->backend_state;
    const xs_cuda_device *d = &state->devices[0];
    int rc = xs_cuda_check(state, state->cuda->context_set(d->context), "cuCtxSetCurrent");
    if (!rc) rc = xs_cuda_check(state, state->cuda->copy((uintptr_t)to, (uintptr_t)from, bytes, d->copies), "cuMemcpyAsync");
    return rc ? rc : xs_cuda_check(state, state->cuda->stream_sync(d->copies), "cuStreamSynchronize");
}

void xs_cuda_memory_free(xs_cuda_state *state) {
    for (xs_cuda_bases *b = state->bases, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    for (xs_cuda_memory *m = state->memory, *next; m; m = next) {
        next = m->next;
        state->cuda->free(m->at);
        free(m);
    }
    state->bases = NULL;
    state->memory = NULL;
}
