/* combine: see combine.kernel.h. The result is compared with a plain loop over the routing. */
#include "setup.h"

#include <stdlib.h>

enum { PUSH_BLOCKS = 2, CONSUME_BLOCKS = 2, GEMM_BLOCKS = 1, BLOCK = 64 };

/* The plain loop. */
static int wrong_words(const example_options *o, const uint32_t *rows, uint32_t rank, const uint32_t *out, uint32_t chunks) {
    int wrong = 0;
    for (uint32_t row = 0; row < chunks * CHUNK; row++)
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t sum = 0;
            for (uint32_t src = 0; src < o->ranks; src++)
                for (uint32_t epoch = 1; epoch <= o->rounds && row < rows[src * o->ranks + rank]; epoch++)
                    sum += example_pattern(o->seed + epoch, src, rank, row, w);
            wrong += out[row * WORDS + w] != sum;
        }
    return wrong;
}

static int compare(const example_options *o, xs_world *world, const struct combine_args *a, const uint32_t *rows) {
    uint64_t bytes = (uint64_t)a->chunks * CHUNK * WORDS * 4;
    uint32_t *out = malloc(bytes), first = xs_world_first_rank(world);
    int wrong = 0;
    for (uint32_t r = first; out && r < first + xs_world_local_ranks(world); r++) {
        int e = xs_buffer_read(world, &a->out, r, 0, out, bytes);
        if (e < 0)
            wrong = example_failed("reading the result", e);
        else
            wrong += wrong_words(o, rows, r, out, a->chunks);
    }
    free(out);
    return out ? wrong : example_failed("reading the result", XS_E_MEMORY);
}

static int run(const example_options *o, xs_world *world) {
    struct combine_args a = {.chunks = (o->rows + CHUNK - 1) / CHUNK, .epochs = o->rounds, .push_blocks = PUSH_BLOCKS,
                             .consume_blocks = CONSUME_BLOCKS, .gemm_blocks = GEMM_BLOCKS, .slow_rank = o->slow_rank,
                             .work_ns = o->work_ns, .slow_ns = example_work(o->work_ns, 0, o->slow_percent, 0), .seed = o->seed};
    uint32_t *rows = calloc((size_t)o->ranks * o->ranks, sizeof *rows);
    if (!rows)
        return example_failed("routing", XS_E_MEMORY);
    int e = combine_setup(world, o, &a, rows, 64), wrong = 1;
    if (e >= 0) {
        xs_launch_config launch = {.size = sizeof launch, .grid = PUSH_BLOCKS + CONSUME_BLOCKS + GEMM_BLOCKS, .block = BLOCK};
        e = xs_launch(world, &combine_kernel, &launch, &a, sizeof a);
        e = e < 0 ? e : xs_sync(world);
    }
    if (e < 0)
        example_failed("combine", e);
    else
        wrong = example_report(o, world, "combine", &a.counts, 64, compare(o, world, &a, rows));
    free(rows);
    return wrong != 0;
}

int main(int argc, char **argv) {
    static const example_options defaults = {.ranks = 4, .rows = 512, .rounds = 20, .work_ns = 100000, .slow_rank = -1,
                                             .slow_percent = 30, .seed = 1};
    return example_main(argc, argv, "Every rank pushes rows to the others, elects, publishes chunk watermarks; consumers "
                                    "release chunk by chunk and reduce (MoE combine).", &defaults, run);
}
