/* Flags that flip, one to each side, in place of sequences: three pairs hand a buffer to and fro. One producer flips its flag before it has
 * written, in one round. Nothing in the values tells one round from the one before the last. */
#include "fault.h"

#define FLIP_RANKS 6

XS_FN int flip_wait(xs_writer *w, const struct fault_args *a, const xs_pad *pad, uint32_t self, uint64_t round) {
    return fault_poll(w, xs_slot_at(pad, self, 0, 0), round & 1, XS_CMP_EQ, XS_ACQUIRE, 200, a->bound_ns);
}
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    int result = flip_wait(w, a, &a->ack, self, round - 1), early = a->fault && self == 2 && round == a->rounds / 2;
    if (result != XS_RESULT_OK)
        return result;
    fault_work(w, a, round);
    if (early)
        xs_signal_slot(w, &a->ready, self + 1, 0, 0, round & 1);
    fault_put(w, a, self + 1, 0, round);
    if (!early)
        xs_signal_slot(w, &a->ready, self + 1, 0, 0, round & 1);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    int result = flip_wait(w, a, &a->ready, self, round);
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, self - 1, 0, round);
    xs_signal_slot(w, &a->ack, self - 1, 0, 0, round & 1);
    return result;
}

XS_KERNEL(flip_early, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS(rank % 2 == 0 ? produce(&w, &args, rank, round) : consume(&w, &args, rank, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "flag", 1, 1, 0);
    fault_pad(run, &run->args.ack, "empty", 1, 1, 0);
    fault_buffers(run, 1);
}
FAULT(flip_early, .story = "a flag that flips is set before its buffer is written", .finding = "partial-publish", FAULT_SLOT("flag", 3, 0, 0),
      FAULT_CULPRIT(2, 0), .judges = FAULT_SIM, .race = FAULT_RACE, .ranks = FLIP_RANKS, .words = 8, .setup = setup);
#endif
