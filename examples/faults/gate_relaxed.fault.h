/* A gate that four blocks arrive at, one of them by a relaxed add. Whoever waits sees the count that all of them made, and so relies on the
 * release of each: the others' carry nothing of what that one wrote, be they before it or behind it. */
#include "fault.h"

#define PARTS 4u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    xs_slot gate = xs_slot_at(&a->count, 1, 0, 0);
    uint32_t order = a->fault && block == 1 ? XS_RELAXED : XS_RELEASE;
    xs_work_ns(fault_work_ns(a, block, round));
    fault_put(w, a, 1, ((uint32_t)round - 1) * PARTS + block, round);
    xs_note_gate(w, gate, xs_ordered_add(gate.at, 1, order, XS_SCOPE_SYS, 64), 1, order, XS_SCOPE_SYS);
    return xs_wait_slot_bounded(w, &a->ack, 0, 0, round, fault_bound(a));
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->count, 0, 0, round * PARTS, fault_bound(a));
    for (uint32_t block = 0; block < PARTS && result == XS_RESULT_OK; block++)
        fault_take(w, a, 0, ((uint32_t)round - 1) * PARTS + block, round);
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(gate_relaxed, struct fault_args) { FAULT_BLOCKS(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "gate", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &run->args.ack, "ack", 1, 1, 0);
    fault_buffers(run, run->args.rounds * PARTS);
}
FAULT(gate_relaxed, .story = "one of several arrives at a gate by a relaxed add", .finding = "order-scope", FAULT_SLOT("gate", 1, 0, 0), FAULT_CULPRIT(0, 1),
      .judges = FAULT_SIM, .race = FAULT_RACE, .grid = PARTS, .words = 8, .setup = setup);
#endif
