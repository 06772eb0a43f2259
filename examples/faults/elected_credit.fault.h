/* Stages: blocks of a rank write their shares of a batch for the next one, whose blocks read theirs, and elect who gives the buffer back. So what a
 * stage waits for was elected in the round before. One elected block does not give it back. */
#include "fault.h"

#define STAGES 4u
#define PARTS 3u

XS_FN int stage_take(xs_writer *w, const struct fault_args *a, uint32_t self, uint32_t block, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, self - 1, block, round);
    if (xs_elect(w, &a->extra, 0, 0, 1, round * PARTS, PARTS) && !(a->fault && self == 2 && round == a->rounds - 2))
        xs_signal_slot(w, &a->ack, self - 1, 0, 0, round);
    return result;
}
XS_FN int stage_put(xs_writer *w, const struct fault_args *a, uint32_t self, uint32_t block, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - 1, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    xs_work_ns(fault_work_ns(a, self * PARTS + block, round) / 4);
    fault_put(w, a, self + 1, block, round);
    (void)xs_elect_and_publish(w, &a->count, 0, 0, 1, round * PARTS, PARTS, &a->ready, self + 1, 0, 0, round);
    return result;
}
XS_FN int stage_round(xs_writer *w, const struct fault_args *a, uint32_t self, uint32_t block, uint64_t round) {
    int result = self > 0 ? stage_take(w, a, self, block, round) : XS_RESULT_OK;
    return result == XS_RESULT_OK && self + 1 < STAGES ? stage_put(w, a, self, block, round) : result;
}

XS_KERNEL(elected_credit, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), block = xs_block(xs);
    FAULT_ROUNDS(stage_round(&w, &args, rank, block, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    fault_pad(run, &run->args.ack, "free", 1, 1, 0);
    fault_pad(run, &run->args.count, "put", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &run->args.extra, "taken", 1, 1, XS_PAD_SHARED);
    fault_buffers(run, PARTS);
}
FAULT(elected_credit, .story = "who is elected to give a buffer back does not", .finding = "stuck-chain", FAULT_SLOT("free", 1, 0, 0), FAULT_CULPRIT(2, FAULT_ANY),
      .judges = FAULT_SIM, .ranks = STAGES, .grid = PARTS, .words = 8, .setup = setup);
#endif
