/* Second writer: rank 2 signals the slot that belongs to rank 0. Twin: a column of its own. */
#include "fault.h"

XS_KERNEL(second_writer, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 1 ? args.role_consume : args.role_produce);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (rank == 1) {
            result = fault_consume(&w, &args, round);
        } else if (rank == 0) {
            result = fault_produce(&w, &args, round);
        } else {
            fault_work(&w, &args, round);
            xs_signal_slot(&w, &args.ready, 1, 0, args.fault ? 0 : 2, round);
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 3, 0);
    fault_buffers(run, run->args.rounds);
    fault_writer(run, &run->args.ready, 1, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_produce);
}
FAULT(second_writer, .story = "another rank signals a slot that is not its own", .finding = "multi-writer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(2, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .ranks = 3, .setup = setup);
#endif
