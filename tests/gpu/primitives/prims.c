/* prims CASE [options of the examples]: one primitive a case, payload compared; see the kernels beside this file. Compiled
 * twice, traced and plain. */
#include "prims.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_test.h"

/* X(case, blocks a rank, threads, least ranks) */
#define PRIM_CASES(X)                              \
    X(slot, 1, PRIM_THREADS, 1)                    \
    X(slot_gpu, 1, PRIM_THREADS, 1)                \
    X(narrow, 1, PRIM_THREADS, 1)                  \
    X(release, 1, PRIM_THREADS, 1)                 \
    X(release_gpu, 1, PRIM_THREADS, 1)             \
    X(flush, 1, PRIM_THREADS, 1)                   \
    X(elect, PRIM_BLOCKS, PRIM_THREADS, 1)         \
    X(elect_warp, PRIM_BLOCKS, PRIM_THREADS, 1)    \
    X(publish_elected, PRIM_BLOCKS, PRIM_THREADS, 1) \
    X(gate, PRIM_BLOCKS, PRIM_THREADS, 1)          \
    X(watermark, 1, PRIM_THREADS, 1)               \
    X(barrier, 1, PRIM_THREADS, 1)                 \
    X(channel, 1, PRIM_THREADS, 2)                 \
    X(block, PRIM_BLOCKS, PRIM_THREADS, 1)         \
    X(life, 1, 32, 2)

#define DECLARE(name, blocks, threads, ranks) XS_KERNEL_DECLARE(prim_##name)
PRIM_CASES(DECLARE)

typedef struct prim_case {
    const char *name;
    const xs_kernel *kernel;
    uint32_t blocks, threads, ranks;
} prim_case;
#define ENTRY(name, blocks, threads, ranks) {#name, &prim_##name##_kernel, blocks, threads, ranks},
static const prim_case cases[] = {PRIM_CASES(ENTRY)};
static const prim_case *chosen;

/* Slots of 32 bits in memory of the test's own, each rank's alone; all begin before the wrap. */
static int adopt(const example_options *o, xs_world *world, const char *name, xs_pad *pad) {
    void **bases = calloc(o->ranks, sizeof *bases);
    uint32_t bytes = o->ranks * 64, *first = malloc(bytes);
    int on_gpu = !strcmp(xs_world_backend(world), "cuda"), failed = !bases || !first;
    for (uint32_t i = 0; !failed && i < bytes / 4; i++)
        first[i] = (uint32_t)PRIM_NARROW_FIRST;
    for (uint32_t r = 0; r < o->ranks && !failed; r++) {
        if (on_gpu)
            failed = cudaMalloc(&bases[r], bytes) != cudaSuccess || cudaMemcpy(bases[r], first, bytes, cudaMemcpyDefault) != cudaSuccess;
        else if ((bases[r] = malloc(bytes)))
            memcpy(bases[r], first, bytes);
        failed |= !bases[r];
    }
    xs_adopt how = {.size = sizeof how, .rows = 1, .columns = o->ranks, .row_stride = bytes, .column_stride = 64, .width = 32, .base = bases};
    int e = failed ? XS_E_MEMORY : xs_pad_adopt(world, name, &how, pad);
    free(first), free(bases);
    return e;
}

static int create(const example_options *o, xs_world *world, struct prim_args *a) {
    uint32_t n = o->ranks;
    uint64_t consumers = n >= 64 ? UINT64_MAX : ((1ull << n) - 1) & ~1ull;
    int e, failed = (e = xs_pad_create(world, "data", 1, n, 0, &a->data)) < 0 || (e = xs_pad_create(world, "ack", 1, n, 0, &a->ack)) < 0 ||
        (e = xs_pad_create(world, "counter", 2, 1, XS_PAD_SHARED, &a->counter)) < 0 ||
        (e = xs_pad_create(world, "mark", n, PRIM_CHUNKS, 0, &a->mark)) < 0 || (e = xs_pad_create(world, "bar", 1, n, 0, &a->bar)) < 0 ||
        (e = xs_pad_create(world, "beat", 1, n, XS_PAD_NO_DATA, &a->beat)) < 0 || (e = adopt(o, world, "narrow", &a->narrow)) < 0 ||
        (e = adopt(o, world, "nack", &a->nack)) < 0 ||
        (n > 1 && (e = xs_channel_create(world, "channel", 0, consumers, 4, &a->channel)) < 0) ||
        (e = xs_buffer_create(world, "payload", (uint64_t)(n > PRIM_BLOCKS ? n : PRIM_BLOCKS) * PRIM_WORDS * 4, &a->payload)) < 0 ||
        (e = xs_buffer_create(world, "wrong", PRIM_ROWS * 4, &a->wrong)) < 0 ||
        (e = xs_buffer_create(world, "counts", PRIM_ROWS * sizeof(example_counts), &a->counts)) < 0 || (e = xs_role(world, "worker")) < 0;
    a->role = (uint32_t)e;
    return failed ? e : 0;
}

static int wrong_in(xs_world *world, const struct prim_args *a) {
    uint32_t found[PRIM_ROWS];
    int wrong = 0;
    for (uint32_t r = 0; r < xs_world_ranks(world); r++) {
        if (xs_buffer_read(world, &a->wrong, r, 0, found, sizeof found) < 0)
            return 1;
        for (uint32_t i = 0; i < sizeof found / sizeof *found; i++)
            wrong += found[i] != 0;
    }
    return wrong;
}

static int run(const example_options *o, xs_world *world) {
    struct prim_args a = {.rounds = o->rounds, .seed = o->seed, .life_ns = o->work_ns};
    int e = create(o, world, &a);
    xs_launch_config launch = {.size = sizeof launch, .grid = chosen->blocks, .block = chosen->threads};
    if (e < 0 || (e = xs_launch(world, chosen->kernel, &launch, &a, sizeof a)) < 0 || (e = xs_sync(world)) < 0)
        return example_failed(chosen->name, e);
    return example_report(o, world, chosen->name, &a.counts, PRIM_ROWS, wrong_in(world, &a));
}

int main(int argc, char **argv) {
    static const example_options defaults = {.ranks = 3, .rows = 1, .rounds = 100, .work_ns = 20000000, .slow_rank = -1, .seed = 1};
    gpu_test_begin(60);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            chosen = &cases[i];
    if (!chosen) {
        fprintf(stderr, "usage: prims CASE [options of the examples]; cases:");
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            fprintf(stderr, " %s", cases[i].name);
        fputc('\n', stderr);
        return 64;
    }
    return example_main(argc - 1, argv + 1, "One primitive, payload compared.", &defaults, run);
}
