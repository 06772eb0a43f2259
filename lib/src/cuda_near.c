/* What kernels of a GPU keep in their GPU's own memory though the host has its own of it, since what lies across the
 * bus makes them wait: lookouts (kernels: lookout.h) and when the waits of status lines began (kernels: status.h). CPU
 * ranks use what is in the region. */
#include <stdlib.h>

#include "cuda_state.h"

static int open_device(xs_world *world, int device) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_region_header *h = xs_region(world);
    uint64_t ranks = state->devices[device].ranks, lines = (uint64_t)h->rings_per_rank * h->lines_per_ring;
    CUdeviceptr lookouts = 0, waits = 0;
    int rc = xs_cuda_allocate(state, XS_CUDA_OWN, device, ranks * 2 * sizeof(xs_lookout), &lookouts);
    if (!rc)
        rc = xs_cuda_allocate(state, XS_CUDA_OWN, device, ranks * lines * sizeof(uint64_t), &waits);
    for (uint32_t r = 0; r < world->config.local_ranks && !rc; r++) {
        if (state->ranks[r].device != device)
            continue;
        world->near[r] = (xs_near){(xs_lookout *)(uintptr_t)lookouts, (uint64_t *)(uintptr_t)waits};
        lookouts += 2 * sizeof(xs_lookout);
        waits += lines * sizeof(uint64_t);
    }
    return rc;
}

/* Ranks of one launch are neighbours. */
int xs_cuda_near_open(xs_world *world) {
    world->near = calloc(world->config.local_ranks, sizeof *world->near);
    int rc = world->near ? 0 : XS_E_MEMORY;
    for (int device = 0; device < (int)xs_cuda_state_of(world)->device_count && !rc; device++)
        rc = open_device(world, device);
    return rc;
}
