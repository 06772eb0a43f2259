/* publish: see publish.kernel.h. Each consumer's sum of all words is compared with a plain loop. */
#include "publish.kernel.h"

enum { BLOCK = 64, DEPTH = 3 };

static int create(xs_world *world, const example_options *o, struct publish_args *a) {
    uint64_t consumers = o->ranks >= 64 ? ~1ull : ((1ull << o->ranks) - 1) & ~1ull;
    int e = 0;
    int failed = (e = xs_channel_create(world, "channel", 0, consumers, DEPTH, &a->channel)) < 0 ||
        (e = xs_buffer_create(world, "data", (uint64_t)DEPTH * a->capacity * 4, &a->data)) < 0 ||
        (e = xs_buffer_create(world, "sums", BLOCK * sizeof(uint64_t), &a->sums)) < 0 ||
        (e = xs_buffer_create(world, "counts", 64 * sizeof(example_counts), &a->counts)) < 0 ||
        (e = xs_role(world, "produce")) < 0;
    if (failed)
        return e;
    a->role_produce = (uint32_t)e;
    a->role_consume = (uint32_t)xs_role(world, "consume");
    a->name_write = (uint32_t)xs_mark_name(world, "write batch");
    a->name_read = (uint32_t)xs_mark_name(world, "read batch");
    return 0;
}

static int wrong_sum(const example_options *o, xs_world *world, const struct publish_args *a, uint32_t rank) {
    uint64_t expected = 0, sum = 0, part[BLOCK];
    for (uint32_t round = 1; round <= o->rounds; round++)
        for (uint32_t i = 0; i < publish_words(a->seed, a->capacity, round); i++)
            expected += example_pattern(a->seed, round, rank, i, 0);
    if (xs_buffer_read(world, &a->sums, rank, 0, part, sizeof part) < 0)
        return 1;
    for (uint32_t i = 0; i < BLOCK; i++)
        sum += part[i];
    return rank != a->channel.producer && sum != expected;
}

static int run(const example_options *o, xs_world *world) {
    if (o->ranks < 2) {
        fprintf(stderr, "publish: it needs a producer and a consumer, so at least 2 ranks\n");
        return 64;
    }
    struct publish_args a = {.rounds = o->rounds, .capacity = o->rows, .slow_rank = o->slow_rank, .work_ns = o->work_ns,
                             .slow_ns = example_work(o->work_ns, 0, o->slow_percent, 0), .seed = o->seed};
    int e = create(world, o, &a);
    if (e < 0)
        return example_failed("setting up", e);
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = BLOCK};
    e = xs_launch(world, &publish_kernel, &launch, &a, sizeof a);
    if (e < 0 || (e = xs_sync(world)) < 0)
        return example_failed("publish", e);
    int wrong = 0;
    uint32_t first = xs_world_first_rank(world);
    for (uint32_t r = first; r < first + xs_world_local_ranks(world); r++)
        wrong |= wrong_sum(o, world, &a, r);
    return example_report(o, world, "publish", &a.counts, 64, wrong);
}

int main(int argc, char **argv) {
    static const example_options defaults = {.ranks = 4, .rows = 256, .rounds = 60, .work_ns = 20000, .slow_rank = -1,
                                             .slow_percent = 100, .seed = 1};
    return example_main(argc, argv, "One producer publishes batches to all other ranks.", &defaults, run);
}
