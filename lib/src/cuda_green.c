/* A part of its own of the GPU for each rank that shares one: green contexts, where the driver has them. Launches of
 * one rank then run on SMs that launches of others do not take, and beside those. Whatever is missing or refused:
 * all ranks use the whole GPU, as without. */
#include <dlfcn.h>
#include <stdlib.h>

#include "cuda_state.h"

#define RESOURCE_SM 1
#define GREEN_DEFAULT_STREAM 1u

/* CUdevResource */
typedef struct sm_resource {
    int type;
    unsigned char padding[92];
    union {
        struct {
            unsigned count, least, alignment;
        } sm;
        unsigned char room[48];
    };
} sm_resource;

typedef struct green_calls {
    CUresult (*get)(CUdevice device, sm_resource *resource, int type);
    CUresult (*split)(sm_resource *groups, unsigned *count, const sm_resource *all, sm_resource *rest, unsigned flags,
                      unsigned least);
    CUresult (*describe)(void **description, sm_resource *resources, unsigned count);
    CUresult (*create)(void **green, void *description, CUdevice device, unsigned flags);
    CUresult (*destroy)(void *green);
    CUresult (*stream)(CUstream *stream, void *green, unsigned flags, int priority);
} green_calls;

static int find_calls(const xs_cuda_driver *cuda, green_calls *calls) {
    *(void **)&calls->get = dlsym(cuda->loaded, "cuDeviceGetDevResource");
    *(void **)&calls->split = dlsym(cuda->loaded, "cuDevSmResourceSplitByCount");
    *(void **)&calls->describe = dlsym(cuda->loaded, "cuDevResourceGenerateDesc");
    *(void **)&calls->create = dlsym(cuda->loaded, "cuGreenCtxCreate");
    *(void **)&calls->destroy = dlsym(cuda->loaded, "cuGreenCtxDestroy");
    *(void **)&calls->stream = dlsym(cuda->loaded, "cuGreenCtxStreamCreate");
    return calls->get && calls->split && calls->describe && calls->create && calls->destroy && calls->stream;
}

/* As many groups as there are ranks, as large as the hardware's grouping of SMs allows. 0: it does not. */
static int split(const green_calls *calls, CUdevice device, uint32_t ranks, sm_resource *groups) {
    sm_resource all, rest;
    if (calls->get(device, &all, RESOURCE_SM)) return 0;
    for (unsigned least = all.sm.count / ranks; least; least--) {
        unsigned count = ranks;
        if (!calls->split(groups, &count, &all, &rest, 0, least) && count >= ranks) return 1;
    }
    return 0;
}

static int open_share(const green_calls *calls, CUdevice device, sm_resource *group, xs_cuda_rank *rank) {
    void *description = NULL;
    if (calls->describe(&description, group, 1) ||
        calls->create(&rank->green, description, device, GREEN_DEFAULT_STREAM))
        return 0;
    if (calls->stream(&rank->share, rank->green, CU_STREAM_NON_BLOCKING, 0)) return 0;
    rank->share_processors = group->sm.count;
    return 1;
}

static void open_device(xs_world *world, const green_calls *calls, uint32_t device) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_cuda_device *d = &state->devices[device];
    sm_resource *groups = d->ranks > 1 ? calloc(d->ranks, sizeof *groups) : NULL;
    int works = groups && !state->cuda->context_set(d->context) && split(calls, d->device, d->ranks, groups);
    for (uint32_t i = 0, group = 0; i < world->config.local_ranks && works; i++)
        if (state->ranks[i].device == (int)device)
            works = open_share(calls, d->device, &groups[group++], &state->ranks[i]);
    for (uint32_t i = 0; i < world->config.local_ranks && !works; i++) /* all of them, or none */
        if (state->ranks[i].device == (int)device) xs_cuda_green_close(state, &state->ranks[i]);
    free(groups);
}

void xs_cuda_green_open(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    green_calls calls;
    if (world->config.green < 0 || !find_calls(state->cuda, &calls)) return;
    for (uint32_t i = 0; i < state->device_count; i++) open_device(world, &calls, i);
}

void xs_cuda_green_close(xs_cuda_state *state, xs_cuda_rank *rank) {
    green_calls calls;
    if (!rank->green || !find_calls(state->cuda, &calls)) return;
    if (rank->share) state->cuda->stream_destroy(rank->share);
    calls.destroy(rank->green);
    rank->green = NULL;
    rank->share = NULL;
    rank->share_processors = 0;
}
