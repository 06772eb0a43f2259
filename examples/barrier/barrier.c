/* barrier: see barrier.kernel.h. */
#include "barrier.kernel.h"

enum { BLOCK = 64 };

static int create(xs_world *world, const example_options *o, struct barrier_args *a) {
    int e = 0, role = xs_role(world, "work");
    int failed = (e = role) < 0 || (e = xs_pad_create(world, "bar", 1, o->ranks, 0, &a->bar)) < 0 ||
        (e = xs_pad_labels(world, &a->bar, "", "from")) < 0 || (e = xs_buffer_create(world, "seen", 64, &a->seen)) < 0 ||
        (e = xs_buffer_create(world, "counts", 64 * sizeof(example_counts), &a->counts)) < 0;
    if (failed)
        return e;
    a->role = (uint32_t)role;
    const xs_plan_entry plan[] = {
        {XS_PLAN_WRITER, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_COLUMN, a->role},
        {XS_PLAN_PARTICIPANTS, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, o->ranks, 0},
        {XS_PLAN_SIGNALS, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 2, 0}, /* two barriers a round */
    };
    return xs_plan_add(world, plan, sizeof plan / sizeof *plan);
}

/* Ranks seen in an earlier round after a barrier; the kernel keeps them in `bytes`. */
static int late(xs_world *world, const struct barrier_args *a) {
    uint32_t first = xs_world_first_rank(world);
    for (uint32_t r = first; r < first + xs_world_local_ranks(world); r++)
        for (uint32_t i = 0; i < 64; i++) {
            example_counts c;
            if (xs_buffer_read(world, &a->counts, r, i * sizeof c, &c, sizeof c) < 0 || c.bytes != 0)
                return 1;
        }
    return 0;
}

static int run(const example_options *o, xs_world *world) {
    struct barrier_args a = {.rounds = o->rounds, .slow_rank = o->slow_rank, .slow_percent = o->slow_percent, .work_ns = o->work_ns};
    int e = create(world, o, &a);
    if (e < 0)
        return example_failed("setting up", e);
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = BLOCK};
    e = xs_launch(world, &barrier_kernel, &launch, &a, sizeof a);
    if (e < 0 || (e = xs_sync(world)) < 0)
        return example_failed("barrier", e);
    return example_report(o, world, "barrier", &a.counts, 64, late(world, &a));
}

int main(int argc, char **argv) {
    static const example_options defaults = {.ranks = 4, .rows = 1, .rounds = 50, .work_ns = 20000, .slow_rank = -1,
                                             .slow_percent = 100, .seed = 1};
    return example_main(argc, argv, "All ranks meet in barrier_all, round after round.", &defaults, run);
}
