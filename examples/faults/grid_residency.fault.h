/* Grid larger than residency, producer last (FlashMoE #3): the last block signals all others, and it is not resident while they wait.
 * Twin: a grid that fits. */
#include "fault.h"

XS_KERNEL(grid_residency, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t produces = xs_block(xs) == xs.blocks - 1;
    xs_writer w = xs_writer_begin(&xs, produces ? args.role_produce : args.role_consume);
    xs_writer_epoch(&w, 1);
    if (produces) {
        fault_work(&w, &args, 1);
        xs_signal_slot(&w, &args.ready, xs_rank(xs), 0, 0, 1);
    } else {
        (void)xs_wait_slot_bounded(&w, &args.ready, 0, 0, 1, fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    uint32_t last = run->fault->grid - 1 - !run->args.fault;
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    fault_writer(run, &run->args.ready, 0, 0, 0, 0, run->args.role_produce);
    fault_plan(run, XS_PLAN_ROLE_BLOCKS, NULL, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, run->args.role_produce, last | 1ull << 32);
    fault_plan(run, XS_PLAN_ROLE_BLOCKS, NULL, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, run->args.role_consume, (uint64_t)last << 32);
}
/* A GPU holds more than four blocks; a grid beyond it is refused before anything runs. */
static void launch(fault_run *run) {
    uint32_t all = run->cuda && run->args.fault ? 1u << 16 : run->fault->grid;
    fault_launch(run, 0, 1, all - !run->args.fault);
}
FAULT(grid_residency, .story = "the block that signals is last in a grid that does not fit", .finding = "non-resident-supplier",
      FAULT_SLOT("ready", 0, 0, 0), FAULT_CULPRIT(0, 4), .judges = FAULT_EVERYWHERE, .ranks = 1, .grid = 5, .residency = 4,
      .cuda.refused = XS_E_NOT_RESIDENT, .setup = setup, .launch = launch);
#endif
