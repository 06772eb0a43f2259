/* Wait cycle (article 000, section 6.2): three ranks in a ring, each waits for the one before it and then signals the next one. In
 * the last round nobody begins. Twin: rank 0 signals before it waits. */
#include "fault.h"

XS_KERNEL(wait_cycle, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), next = (rank + 1) % xs.ranks;
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        int begins = rank == 0 && !(args.fault && round == args.rounds);
        xs_writer_epoch(&w, round);
        fault_work(&w, &args, round);
        if (begins)
            xs_signal_slot(&w, &args.ready, next, 0, 0, round);
        result = xs_wait_slot_bounded(&w, &args.ready, 0, 0, round, fault_bound(&args));
        if (!begins && result == XS_RESULT_OK)
            xs_signal_slot(&w, &args.ready, next, 0, 0, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    for (uint32_t r = 0; r < run->fault->ranks; r++)
        fault_writer(run, &run->args.ready, (r + 1) % run->fault->ranks, 0, 0, r, run->args.role_produce);
}
FAULT(wait_cycle, .story = "every rank of a ring waits for the one before it", .finding = "wait-cycle",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .ranks = 3, .setup = setup);
#endif
