/* Sixteen ranks in a ring: each sends a batch to the next and waits for that of the one before. One leaves out its last signal. */
#include "fault.h"

#define RING_RANKS 16u

XS_FN int ring_round(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    uint32_t next = (self + 1) % RING_RANKS, before = (self + RING_RANKS - 1) % RING_RANKS;
    fault_work(w, a, round);
    fault_put(w, a, next, (uint32_t)round - 1, round);
    if (!(a->fault && self == 11 && round == a->rounds))
        xs_signal_slot(w, &a->ready, next, 0, 0, round);
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, before, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(ring_sixteen, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS(ring_round(&w, &args, rank, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "token", 1, 1, 0);
    fault_buffers(run, run->args.rounds);
    for (uint32_t rank = 0; rank < RING_RANKS; rank++)
        fault_writer(run, &run->args.ready, (rank + 1) % RING_RANKS, 0, 0, rank, run->args.role_produce);
}
FAULT(ring_sixteen, .story = "one of sixteen ranks in a ring leaves out its last signal", .finding = "lost-supplier", FAULT_SLOT("token", 12, 0, 0),
      FAULT_CULPRIT(11, 0), .judges = FAULT_SIM, .ranks = RING_RANKS, .setup = setup);
#endif
