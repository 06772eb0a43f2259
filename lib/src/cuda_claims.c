/* Rings of a GPU's ranks are claimed in its own memory: atomics on mapped memory take turns, a microsecond each for
 * the whole GPU. The host never reads these bitmaps; `busy` in a ring's header tells it who has begun. It writes
 * them for rings that their writers did not give back: once the launch is over their bit is nobody's, and clearing
 * it by an atomic disturbs no launch that runs. The kernel for that is PTX text, so that libxs needs no CUDA
 * compiler. */
#include <stdlib.h>
#include <time.h>

#include "cuda_state.h"
#include "identity.h"

#define BOUND_NS 100000000u /* behind a kernel that still runs it comes later: writers that find no ring are counted */

static const char claims_ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                 ".visible .entry xs_claims_free(.param .u64 group, .param .u64 kept)\n{\n"
                                 " .reg .u64 %group, %kept;\n"
                                 " ld.param.u64 %group, [group];\n ld.param.u64 %kept, [kept];\n"
                                 " red.release.gpu.global.and.b64 [%group], %kept;\n ret;\n}\n";

static int open_device(xs_world *world, int device) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_region_header *h = xs_region(world);
    xs_cuda_device *d = &state->devices[device];
    CUdeviceptr at = 0;
    int rc =
        xs_cuda_allocate(state, XS_CUDA_OWN, device, (uint64_t)d->ranks * h->groups_per_rank * sizeof(uint64_t), &at);
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->module_load(&d->claims_module, claims_ptx),
                           "the kernel that frees rings");
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->module_function(&d->claims_function, d->claims_module, "xs_claims_free"),
                           "the kernel that frees rings");
    for (uint32_t r = 0; r < h->ranks && !rc; r++) {
        if (state->ranks[r].device != device) continue;
        world->claims[r] = (uint64_t *)(uintptr_t)at;
        at += h->groups_per_rank * sizeof(uint64_t);
    }
    return rc;
}

/* Ranks of one launch are neighbours in one piece of memory. CPU ranks claim in the region. */
int xs_cuda_claims_open(xs_world *world) {
    const xs_region_header *h = xs_region(world);
    world->claims = calloc(h->ranks, sizeof *world->claims);
    world->given_back = calloc((uint64_t)h->ranks * h->groups_per_rank, sizeof *world->given_back);
    int rc = world->claims && world->given_back ? 0 : XS_E_MEMORY;
    for (int device = 0; device < (int)xs_cuda_state_of(world)->device_count && !rc; device++)
        rc = open_device(world, device);
    return rc;
}

static int free_group(xs_world *world, const xs_cuda_device *d, CUstream stream, uint64_t *group, uint64_t freed) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    uint64_t at = (uintptr_t)group, kept = ~freed;
    void *arguments[] = {&at, &kept};
    return xs_cuda_check(state, state->cuda->launch(d->claims_function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL),
                         "the kernel that frees rings");
}

int xs_cuda_claims_free(xs_world *world, uint32_t first_rank, uint32_t ranks, CUstream stream) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_region_header *h = xs_region(world);
    int freed_any = 0, rc = 0;
    for (uint32_t r = first_rank - h->first_rank, end = r + ranks; r < end; r++) {
        const xs_cuda_device *d = &state->devices[state->ranks[r].device];
        for (uint32_t g = 0; g < h->groups_per_rank && !rc; g++) {
            uint64_t *word = &world->given_back[r * h->groups_per_rank + g];
            uint64_t freed =
                __atomic_load_n(word, __ATOMIC_RELAXED) ? __atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE) : 0;
            if (freed) rc = free_group(world, d, stream, world->claims[r] + g, freed);
            freed_any |= freed != 0;
        }
    }
    return rc ? rc : freed_any;
}

/* Whoever has the handle may launch at once, on a stream that is not known here. */
int xs_cuda_claims_settle(xs_world *world, uint32_t rank) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    XS_CUDA_KEEP_CALLER(state->cuda);
    const xs_cuda_rank *r = xs_cuda_rank_of(world, rank);
    if (r->device == XS_CUDA_CPU) return 0;
    int rc = xs_cuda_enter(state, &state->devices[r->device]);
    if (!rc) rc = xs_cuda_claims_free(world, rank, 1, r->stream);
    if (rc <= 0) return rc;
    uint64_t until = xs_clock_boot() + BOUND_NS;
    while (state->cuda->stream_query(r->stream) == CUDA_ERROR_NOT_READY && xs_clock_boot() < until)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return 0;
}
