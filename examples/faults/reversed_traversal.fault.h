/* Reversed traversal (article 000, section 6.3): rank 1 takes the chunks in the reverse of the order in which they are finished, and
 * stands before the last one while all others are ready. Twin: the same order. */
#include "fault.h"

enum { CHUNKS = 8 };

XS_FN int chunk_in_turn(xs_writer *w, const struct fault_args *a, uint32_t rank, uint32_t i, uint64_t round) {
    if (rank == 0) {
        fault_work(w, a, round * CHUNKS + i);
        xs_watermark_advance(w, &a->ready, 1, i, round, 64);
        return XS_RESULT_OK;
    }
    uint32_t chunk = a->fault ? CHUNKS - 1 - i : i;
    int result = xs_watermark_wait_bounded(w, &a->ready, 0, chunk, round, fault_bound(a));
    xs_work_ns(fault_work_ns(a, rank, round * CHUNKS + i) / 2);
    return result;
}

XS_KERNEL(reversed_traversal, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        for (uint32_t i = 0; i < CHUNKS && result == XS_RESULT_OK; i++)
            result = chunk_in_turn(&w, &args, rank, i, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "done", 2, CHUNKS, 0);
    fault_writer(run, &run->args.ready, 1, 0, XS_PLAN_ANY, 0, run->args.role_produce);
}
FAULT(reversed_traversal, .story = "the consumer takes the chunks in the reverse order", .finding = "head-of-line",
      FAULT_SLOT("done", 1, 0, CHUNKS - 1), FAULT_CULPRIT(1, 0), .judges = FAULT_TIMED, .rounds = 6, .setup = setup);
#endif
