/* What tests of the CUDA backend share: the fake driver's switches, worlds on it. */
#ifndef CUDA_TEST_H
#define CUDA_TEST_H

#include <dlfcn.h>

#include "../lib/lib_test.h"
#include "fake_cuda.h"

static fake_control *fake;

/* Before the first world: xs takes the copy that is loaded already. */
static inline void fake_load(void) {
    setenv("XS_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1);
    void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
    fake = library ? dlsym(library, "fake_cuda") : NULL;
    if (!fake) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    fake->quick_clock = 1;
}

static inline xs_config cuda_config(uint32_t ranks) {
    xs_config config = test_config(ranks);
    config.backend = "cuda";
    config.shared_bytes = 1 << 20;
    config.ring_records = 64;
    config.clock = -1; /* calls are counted: none at a time of its own */
    return config;
}

static inline int64_t fake_live_all(void) {
    int64_t live = 0;
    for (int i = 0; i < FAKE_KINDS; i++) live += fake->live[i];
    return live;
}

/* base[] as kernels have it: "device memory" of the fake can be read. */
static inline uint64_t *cuda_slot(const xs_pad *pad, uint32_t owner, uint32_t column) {
    return (uint64_t *)((char *)pad->base[owner] + (uint64_t)column * pad->column_stride);
}

/* A round trip: every rank signals every other one's slot [0][me] with `value` and waits for all of its own. */
struct meet_args {
    xs_pad pad;
    uint64_t value;
};
static inline void meet(const void *opaque, const xs_handle *xs) {
    const struct meet_args *args = opaque;
    uint32_t rank = xs->rank + xs_host_self()->block / xs->blocks, block = xs_host_self()->block % xs->blocks;
    if (block) return;
    for (uint32_t r = 0; r < xs->ranks; r++)
        __atomic_store_n(cuda_slot(&args->pad, r, rank), args->value, __ATOMIC_RELEASE);
    for (uint32_t r = 0; r < xs->ranks; r++)
        if (test_wait(xs, cuda_slot(&args->pad, rank, r), args->value)) return;
}

static inline int cuda_launch(xs_world *world, const xs_kernel *kernel, uint32_t grid, uint32_t first, uint32_t ranks, const void *args,
                              size_t bytes) {
    xs_launch_config config = {.size = sizeof config, .grid = grid, .block = 32, .first_rank = first, .ranks = ranks};
    return xs_launch(world, kernel, &config, args, bytes);
}

#endif
