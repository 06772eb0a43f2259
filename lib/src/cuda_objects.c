/* Pads and buffers as kernels see them: arrays of base pointers that kernels can read, filled in once all processes
 * have shared theirs. */
#include <stdlib.h>
#include <string.h>

#include "cuda_state.h"
#include "identity.h"

static xs_cuda_object *find(const xs_cuda_state *state, void *const *host) {
    xs_cuda_object *o = state->objects;
    while (o && o->host != host) o = o->next;
    return o;
}

static xs_cuda_object *add(xs_cuda_state *state, void *const *host) {
    xs_cuda_object *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->host = (void **)(uintptr_t)host;
    o->next = state->objects;
    return state->objects = o;
}

int xs_cuda_object_add(xs_world *world, void **base, uint64_t bytes, xs_cuda_share **shares) {
    xs_cuda_object *o = add(xs_cuda_state_of(world), base);
    if (!o) {
        free(shares);
        return XS_E_MEMORY;
    }
    o->bytes = bytes;
    o->shares = shares;
    return 0;
}

void xs_cuda_bases_drop(xs_world *world, void *const *host) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    for (xs_cuda_object **link = &state->objects; *link; link = &(*link)->next) {
        xs_cuda_object *o = *link;
        if (o->host != host) continue;
        *link = o->next;
        free(o->shares);
        free(o);
        return;
    }
}

static int fill(xs_world *world, const xs_cuda_object *o) {
    size_t bytes = world->config.ranks * sizeof *o->host;
    void *to = (void *)(uintptr_t)o->kernels;
    if (!xs_cuda_state_of(world)->cpu_ranks) return xs_cuda_copy(world, to, o->host, bytes);
    if (o->kernels != o->host) memcpy(to, o->host, bytes);
    return 0;
}

static int make(xs_world *world, xs_cuda_object *o) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    size_t bytes = world->config.ranks * sizeof *o->host;
    CUdeviceptr device = 0;
    void *pinned = o->host; /* no GPU here: threads read the original */
    int rc = 0;
    if (!state->cpu_ranks) rc = xs_cuda_allocate(state, XS_CUDA_OWN, 0, bytes, &device);
    else if (state->device_count) rc = xs_cuda_pinned(state, &pinned, bytes);
    o->kernels = device ? (void *)(uintptr_t)device : pinned;
    return rc ? rc : fill(world, o);
}

int xs_cuda_bases_make(xs_world *world, void *const *host, void *const **kernels) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    xs_cuda_object *o = find(state, host);
    if (!o && !(o = add(state, host))) return XS_E_MEMORY;
    int rc = make(world, o);
    *kernels = o->kernels;
    return rc;
}

void *const *xs_cuda_bases_host(const xs_world *world, void *const *kernels) {
    for (const xs_cuda_object *o = xs_cuda_state_of(world)->objects; o; o = o->next)
        if (o->kernels == kernels) return o->host;
    return NULL;
}

static int complete(xs_world *world, xs_cuda_object *o, uint64_t deadline) {
    for (uint32_t r = 0; r < world->config.ranks; r++) {
        if (xs_cuda_is_local(world, r) || o->host[r]) continue;
        int rc = xs_cuda_import(world, r, o->shares[r], o->bytes, deadline, &o->host[r]);
        if (rc) return rc;
    }
    int rc = fill(world, o);
    if (rc) return rc;
    free(o->shares);
    o->shares = NULL;
    return 0;
}

int xs_cuda_ready(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    int rc = xs_cuda_usable(state);
    uint64_t join = world->config.join_ns, now = xs_clock_boot(),
             deadline = join < UINT64_MAX - now ? now + join : UINT64_MAX;
    for (xs_cuda_object *o = state->objects; o && !rc; o = o->next)
        if (o->shares && o->kernels) rc = complete(world, o, deadline);
    return rc;
}

void xs_cuda_objects_free(xs_cuda_state *state) {
    for (xs_cuda_object *o = state->objects, *next; o; o = next) {
        next = o->next;
        free(o->shares);
        free(o);
    }
    state->objects = NULL;
}
