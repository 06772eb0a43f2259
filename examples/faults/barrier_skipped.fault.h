/* Barrier skipped (DeepEP #570, D17): rank 2 leaves out one generation of a barrier of all ranks. Twin: it takes part in all. */
#include "fault.h"

XS_KERNEL(barrier_skipped, struct fault_args) {
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        xs_work_ns(fault_work_ns(&args, rank, round));
        if (args.fault && rank == 2 && round == args.rounds / 2)
            continue;
        result = xs_barrier_all(&w, &args.ready, round, fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "barrier", 1, run->fault->ranks, 0);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, 0);
    fault_plan(run, XS_PLAN_PARTICIPANTS, &run->args.ready, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, run->fault->ranks, 0);
}
FAULT(barrier_skipped, .story = "one rank leaves out one generation of a barrier", .finding = "barrier-mismatch",
      FAULT_SLOT("barrier", FAULT_ANY, 0, FAULT_ANY), FAULT_CULPRIT(2, FAULT_ANY), .judges = FAULT_EVERYWHERE, .ranks = 4,
      .setup = setup);
#endif
