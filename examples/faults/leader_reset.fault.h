/* Leader resets early (flashinfer #3615): four blocks meet at a counter, and the leader zeroes it for the next round as soon as it has
 * passed itself, while others still poll. Twin: it waits until all have passed, and says when it is done. */
#include "fault.h"

XS_FN int meet(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    xs_slot count = xs_slot_at(&a->count, 0, 0, 0);
    xs_gate_arrive(w, &a->count, 0, 0, 1);
    int result = xs_gate_wait_bounded(w, &a->count, 0, 0, a->blocks, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    if (!a->fault)
        xs_gate_arrive(w, &a->extra, 0, 0, 1);
    if (block != 0)
        return xs_wait_slot_bounded(w, &a->turn, 0, 0, round, fault_bound(a));
    if (!a->fault)
        result = xs_gate_wait_bounded(w, &a->extra, 0, 0, round * a->blocks, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    xs_note_reset(w, count, 0, 1);
    xs_ordered_store(count.at, 0, XS_RELAXED, XS_SCOPE_GPU, 64);
    xs_signal_slot(w, &a->turn, 0, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(leader_reset, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t block = xs_block(xs);
    xs_writer w = xs_writer_begin(&xs, block == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        xs_work_ns(fault_work_ns(&args, block, round));
        result = meet(&w, &args, block, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    struct fault_args *a = &run->args;
    fault_pad(run, &a->count, "count", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &a->extra, "passed", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &a->turn, "next", 1, 1, 0);
    fault_writer(run, &a->turn, 0, 0, 0, 0, a->role_produce);
    fault_plan(run, XS_PLAN_ROLE_BLOCKS, NULL, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, a->role_produce, 1ull << 32);
}
FAULT(leader_reset, .story = "the leader zeroes a counter that others still poll", .finding = "reset-race",
      FAULT_SLOT("count", 0, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .ranks = 1, .grid = 4, .setup = setup);
#endif
