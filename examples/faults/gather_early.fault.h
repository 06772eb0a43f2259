/* An all-gather: each rank writes to all, signals all, waits for all, and only then reads what they wrote, from two buffers in turn. One signals
 * one of the others before it has written. Its reader waits for two more before it reads. */
#include "fault.h"

#define GATHER_RANKS 6u

XS_FN void gather_send(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    uint32_t early = a->fault && self == 4 && round == a->rounds / 2 ? 1 : GATHER_RANKS;
    for (uint32_t dst = 0; dst < GATHER_RANKS; dst++) {
        if (dst == early)
            xs_signal_slot(w, &a->ready, dst, 0, self, round);
        if (dst != self)
            fault_put(w, a, dst, self * 2 + (uint32_t)round % 2, round);
    }
    for (uint32_t dst = 0; dst < GATHER_RANKS; dst++)
        if (dst != self && dst != early)
            xs_signal_slot(w, &a->ready, dst, 0, self, round);
}
XS_FN int gather_round(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    int result = XS_RESULT_OK;
    fault_work(w, a, round * 8 + self);
    gather_send(w, a, self, round);
    for (uint32_t i = 1; i < GATHER_RANKS && result == XS_RESULT_OK; i++)
        result = xs_wait_slot_bounded(w, &a->ready, 0, (self + i) % GATHER_RANKS, round, fault_bound(a));
    for (uint32_t src = 0; src < GATHER_RANKS && result == XS_RESULT_OK; src++)
        if (src != self)
            fault_take(w, a, src, src * 2 + (uint32_t)round % 2, round);
    return result;
}

XS_KERNEL(gather_early, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS_BEHIND((void)0, gather_round(&w, &args, rank, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "here", 1, GATHER_RANKS, 0);
    fault_buffers(run, 2 * GATHER_RANKS);
}
FAULT(gather_early, .story = "an all-gather whose readers wait for all and then read: one is told before its part is written", .finding = "partial-publish",
      FAULT_SLOT("here", 1, 0, 4), FAULT_CULPRIT(4, 0), .judges = FAULT_SIM, .race = FAULT_RACE, .ranks = GATHER_RANKS, .words = 8, .setup = setup);
#endif
