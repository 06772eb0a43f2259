/* Lost remote increments (article 000, section 1; moe_bench docs/08): four blocks add to a counter of the other rank, and some
 * adds are lost on the way. Emulated: every seventh add is noted and not made. Twin: all are made. */
#include "fault.h"

XS_FN int arrive(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->count, 1, 0, 0);
    uint64_t n = (round - 1) * a->blocks + block;
    fault_work(w, a, round);
    uint64_t old = a->fault && n % 7 == 3 ? xs_ordered_load(slot.at, XS_RELAXED, XS_SCOPE_SYS, 64)
                                          : xs_ordered_add(slot.at, 1, XS_RELEASE, XS_SCOPE_SYS, 64);
    xs_note_gate(w, slot, old, 1, XS_RELEASE, XS_SCOPE_SYS);
    return XS_RESULT_OK;
}
XS_FN int wait_for_all(xs_writer *w, const struct fault_args *a, uint64_t round) {
    return xs_wait_slot_bounded(w, &a->count, 0, 0, round * a->blocks, fault_bound(a));
}

XS_KERNEL(lost_increments, struct fault_args) { FAULT_BLOCKS(arrive, wait_for_all); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.count, "count", 1, 1, XS_PAD_SHARED);
    fault_plan(run, XS_PLAN_ARRIVALS, &run->args.count, 1, 0, 0, run->args.blocks, 0);
}
FAULT(lost_increments, .story = "increments of a remote counter are lost", .finding = "vanished-signal",
      FAULT_SLOT("count", 1, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .grid = 4, .setup = setup);
#endif
