/* One rank late (DeepGEMM #57): rank 2 starts very much later than the others, which wait for it: late, not dead. Twin: it starts with
 * them. */
#include "fault.h"

XS_KERNEL(late_rank, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    if (rank == 2 && args.fault)
        xs_work_ns(args.late_ns); /* ahead of its first event */
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        fault_work(&w, &args, round);
        for (uint32_t dst = 0; dst < xs.ranks; dst++)
            xs_signal_slot(&w, &args.ready, dst, 0, rank, round);
        for (uint32_t src = 0; src < xs.ranks && result == XS_RESULT_OK; src++)
            result = xs_wait_slot_bounded(&w, &args.ready, 0, src, round, xs_bound_ns(args.bound_ns + 2 * args.late_ns));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, run->fault->ranks, 0);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_produce);
}
FAULT(late_rank, .story = "one rank starts very much later than the others", .finding = "late-rank",
      FAULT_SLOT("ready", FAULT_ANY, 0, 2), FAULT_CULPRIT(2, FAULT_ANY), .judges = FAULT_TIMED, .ranks = 3, .rounds = 6,
      .late_ns = 100000000, .long_late_ns = 5000000000, .setup = setup);
#endif
