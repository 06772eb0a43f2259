/* A barrier of two levels, twice a round: all ranks of a node arrive at their leader's count, leaders signal each other, and release their own. One rank
 * arrives only once in its last round. */
#include "fault.h"

#define NODE_RANKS 8u
#define NODE 4u

XS_FN int node_lead(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t generation) {
    int result = xs_wait_slot_bounded(w, &a->count, 0, 0, generation * NODE, fault_bound(a));
    uint32_t other = NODE - self; /* leaders are ranks 0 and 4 */
    if (result != XS_RESULT_OK)
        return result;
    xs_signal_slot(w, &a->ready, other, 0, 0, generation);
    result = xs_wait_slot_bounded(w, &a->ready, 0, 0, generation, fault_bound(a));
    for (uint32_t i = 1; i < NODE && result == XS_RESULT_OK; i++)
        xs_signal_slot(w, &a->turn, self + i, 0, 0, generation);
    return result;
}
XS_FN int node_barrier(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t generation) {
    uint32_t leader = self / NODE * NODE;
    if (!(a->fault && self == 6 && generation == 2 * a->rounds))
        xs_core_gate(w, xs_slot_at(&a->count, leader, 0, 0), 1, XS_RELEASE, XS_SCOPE_SYS);
    return self == leader ? node_lead(w, a, self, generation) : xs_wait_slot_bounded(w, &a->turn, 0, 0, generation, fault_bound(a));
}
XS_FN int node_round(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    uint32_t away = 1 + (uint32_t)round * 3 % (NODE_RANKS - 1), src = (self + NODE_RANKS - away) % NODE_RANKS;
    fault_work(w, a, round * 8 + self);
    fault_put(w, a, (self + away) % NODE_RANKS, self, round);
    int result = node_barrier(w, a, self, 2 * round - 1);
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, src, src, round);
    return node_barrier(w, a, self, 2 * round);
}

XS_KERNEL(node_short, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS_BEHIND((void)0, node_round(&w, &args, rank, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "inside", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &run->args.ready, "between", 1, 1, 0);
    fault_pad(run, &run->args.turn, "release", 1, 1, 0);
    fault_buffers(run, NODE_RANKS);
}
FAULT(node_short, .story = "a barrier of two levels at which one rank arrives once less", .finding = "count-mismatch", FAULT_SLOT("inside", 4, 0, 0),
      FAULT_CULPRIT(6, 0), .judges = FAULT_SIM, .ranks = NODE_RANKS, .words = 8, .setup = setup);
#endif
