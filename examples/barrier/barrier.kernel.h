/* barrier: all ranks meet, round after round (article 000, section 2). The barrier covers the calling block; a grid of
 * several blocks elects first and waits for its first block afterwards. */
#include "../common/example.h"
#include <xs/kernel.h>

struct barrier_args {
    xs_pad bar;
    xs_buffer seen, counts; /* seen[rank]: the round that rank is in */
    uint32_t rounds, role;
    int32_t slow_rank;
    uint32_t slow_percent;
    uint64_t work_ns;
};

/* After the barrier of a round nobody may still be in an earlier one. */
XS_FN uint32_t late_ranks(const struct barrier_args *a, uint32_t ranks, uint32_t round) {
    uint32_t late = 0;
    for (uint32_t r = 0; r < ranks; r++)
        late += XS_LOAD(XS_BUFFER_AT(a->seen, const uint32_t, r)) < round;
    return late;
}

/* Left to itself, traced, 44 registers on sm_80. */
XS_KERNEL_CAPPED(barrier, struct barrier_args, XS_ARCH >= 800 ? 40 : 64) {
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, args.role);
    example_counts *kept = XS_BUFFER_AT(args.counts, example_counts, rank) + xs_warp();
    for (uint32_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        xs_work_ns(example_work(args.work_ns, args.slow_rank, args.slow_percent, rank));
        if (xs_thread() == 0)
            XS_STORE(XS_BUFFER_AT(args.seen, uint32_t, rank), round);
        if (xs_barrier_all(&w, &args.bar, 2 * round - 1, xs_unbounded()) != XS_RESULT_OK)
            break;
        if (xs_thread() == 0) {
            kept->signals += 2 * xs.ranks;
            kept->waits += 2 * xs.ranks;
            kept->barriers += 2;
            kept->bytes += late_ranks(&args, xs.ranks, round); /* must stay 0 */
        }
        /* A second barrier, so that nobody enters the next round while others still look. */
        if (xs_barrier_all(&w, &args.bar, 2 * round, xs_unbounded()) != XS_RESULT_OK)
            break;
    }
    xs_writer_end(&w);
}
