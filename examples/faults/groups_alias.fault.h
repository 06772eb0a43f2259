/* Two groups on one slot (uccl #986): two blocks of rank 0 number their rounds each for itself and signal the same slot. Twin: a column
 * each. */
#include "fault.h"

XS_KERNEL(groups_alias, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), group = xs_block(xs), column = args.fault ? 0 : group;
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (rank == 0) {
            xs_work_ns(fault_work_ns(&args, group, round));
            xs_signal_slot(&w, &args.ready, 1, 0, column, round);
        } else {
            result = xs_wait_slot_bounded(&w, &args.ready, 0, column, round, fault_bound(&args));
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 2, 0);
    fault_writer(run, &run->args.ready, 1, 0, XS_PLAN_ANY, 0, run->args.role_produce);
}
FAULT(groups_alias, .story = "two groups of one rank share a slot without knowing", .finding = "multi-writer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .grid = 2, .setup = setup);
#endif
