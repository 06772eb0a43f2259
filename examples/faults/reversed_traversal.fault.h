/* Reversed traversal (article 000, section 6.3): ranks 0 and 2 finish their chunks in order; rank 1 takes those of each in reverse, and
 * stands before the last one while all others are ready. Twin: the same order. */
#include "fault.h"

enum { CHUNKS = 8 };

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t i, uint64_t round) {
    fault_work(w, a, round * CHUNKS + i);
    xs_watermark_advance(w, &a->ready, 1, i, round, 64);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint32_t i, uint64_t round) {
    uint32_t chunk = a->fault ? CHUNKS - 1 - i : i;
    int result = XS_RESULT_OK;
    for (uint32_t src = 0; src <= 2 && result == XS_RESULT_OK; src += 2)
        result = xs_watermark_wait_bounded(w, &a->ready, src, chunk, round, fault_bound(a));
    xs_work_ns(fault_work_ns(a, 1, round * CHUNKS + i) / 2);
    return result;
}

XS_KERNEL(reversed_traversal, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 1 ? args.role_consume : args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        for (uint32_t i = 0; i < CHUNKS && result == XS_RESULT_OK; i++)
            result = rank == 1 ? consume(&w, &args, i, round) : produce(&w, &args, i, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "done", 3, CHUNKS, 0);
    fault_writer(run, &run->args.ready, 1, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ROW, run->args.role_produce);
}
FAULT(reversed_traversal, .story = "the consumer takes the chunks in the reverse order", .finding = "head-of-line",
      FAULT_SLOT("done", 1, FAULT_ANY, CHUNKS - 1), FAULT_CULPRIT(1, FAULT_ANY), .judges = FAULT_TIMED, .ranks = 3, .rounds = 6, .setup = setup);
#endif
