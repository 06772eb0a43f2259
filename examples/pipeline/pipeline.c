/* pipeline: see pipeline.kernel.h. Every byte that the consumer took is compared with what the producer made. */
#include "pipeline.kernel.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128 };

static int create(xs_world *world, const example_options *o, struct pipeline_args *a) {
    uint64_t all = (uint64_t)o->rounds * a->capacity;
    int e = 0, id = 0;
    int failed = (e = xs_pad_create(world, "full", 1, 1, 0, &a->full)) < 0 || (e = xs_pad_create(world, "room", 1, 1, 0, &a->room)) < 0 ||
        (e = xs_pad_create(world, "size", 1, 2, XS_PAD_WIDE, &a->size)) < 0 ||
        (e = xs_pad_labels(world, &a->size, "", "slot")) < 0 ||
        (e = xs_buffer_create(world, "data", 2ull * a->capacity, &a->data)) < 0 ||
        (e = xs_buffer_create(world, "out", all, &a->out)) < 0 ||
        (e = xs_buffer_create(world, "sizes", o->rounds * 4ull, &a->sizes)) < 0 ||
        (e = xs_buffer_create(world, "counts", 64 * sizeof(example_counts), &a->counts)) < 0;
    if (failed)
        return e;
    a->role_produce = (uint32_t)(id = xs_role(world, "produce"));
    a->role_consume = (uint32_t)xs_role(world, "consume");
    a->name_write = (uint32_t)xs_mark_name(world, "write slot");
    a->name_read = (uint32_t)xs_mark_name(world, "read slot");
    const xs_plan_entry plan[] = {
        {XS_PLAN_WRITER, 0, a->full.first, 1, 0, 0, UINT64_MAX, 0, a->role_produce},
        {XS_PLAN_WRITER, 0, a->room.first, 0, 0, 0, UINT64_MAX, 1, a->role_consume},
        {XS_PLAN_DEPTH, 0, a->full.first, 1, 0, 0, UINT64_MAX, 2, 0},
        {XS_PLAN_SIGNALS, 0, a->full.first, 1, 0, 0, UINT64_MAX, 1, 0},
        {XS_PLAN_SIGNALS, 0, a->room.first, 0, 0, 0, UINT64_MAX, 1, 0},
    };
    return id < 0 ? id : xs_plan_add(world, plan, sizeof plan / sizeof *plan);
}

static int wrong_bytes(const example_options *o, xs_world *world, const struct pipeline_args *a) {
    if (xs_world_first_rank(world) + xs_world_local_ranks(world) < 2)
        return 0; /* the consumer's process compares */
    uint64_t all = (uint64_t)o->rounds * a->capacity;
    uint8_t *out = malloc(all);
    uint32_t *sizes = malloc(o->rounds * sizeof *sizes);
    int wrong = !out || !sizes || xs_buffer_read(world, &a->out, 1, 0, out, all) < 0 ||
                xs_buffer_read(world, &a->sizes, 1, 0, sizes, o->rounds * sizeof *sizes) < 0;
    for (uint32_t round = 1; round <= o->rounds && !wrong; round++) {
        wrong = sizes[round - 1] != 1 + example_pattern(a->seed, round, 0, 0, 99) % a->capacity;
        for (uint32_t i = 0; i < sizes[round - 1] && !wrong; i++)
            wrong = out[(uint64_t)(round - 1) * a->capacity + i] != (uint8_t)example_pattern(a->seed, round, i, 0, 0);
    }
    free(out);
    free(sizes);
    return wrong;
}

static int run(const example_options *o, xs_world *world) {
    if (o->ranks != 2) {
        fprintf(stderr, "pipeline: it has two ranks, not %u\n", o->ranks);
        return 64;
    }
    struct pipeline_args a = {.rounds = o->rounds, .capacity = o->rows, .slow_rank = o->slow_rank, .slow_percent = o->slow_percent,
                              .work_ns = o->work_ns, .seed = o->seed};
    int e = create(world, o, &a);
    if (e < 0)
        return example_failed("setting up", e);
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = BLOCK};
    e = xs_launch(world, &pipeline_kernel, &launch, &a, sizeof a);
    if (e < 0 || (e = xs_sync(world)) < 0)
        return example_failed("pipeline", e);
    return example_report(o, world, "pipeline", &a.counts, 64, wrong_bytes(o, world, &a));
}

int main(int argc, char **argv) {
    static const example_options defaults = {.ranks = 2, .rows = 4096, .rounds = 100, .work_ns = 20000, .slow_rank = -1,
                                             .slow_percent = 100, .seed = 1};
    return example_main(argc, argv, "A double buffer with credit between two ranks; the batch size changes between rounds.",
                        &defaults, run);
}
