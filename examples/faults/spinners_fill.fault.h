/* Spinners that fill the device (article 000, section 6.1; article 001, section 5.3): the blocks of both ranks spin on a signal of the last
 * block of rank 1, and leave it no room. Twin: grids that fit. */
#include "fault.h"

XS_KERNEL(spinners_fill, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), produces = rank == 1 && xs_block(xs) == xs.blocks - 1;
    xs_writer w = xs_writer_begin(&xs, produces ? args.role_produce : args.role_consume);
    xs_writer_epoch(&w, 1);
    if (produces) {
        fault_work(&w, &args, 1);
        for (uint32_t dst = 0; dst < xs.ranks; dst++)
            xs_signal_slot(&w, &args.ready, dst, 0, 0, 1);
    } else {
        (void)xs_wait_slot_bounded(&w, &args.ready, 0, 0, 1, fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, 0, 0, 1, run->args.role_produce);
}
static void launch(fault_run *run) { fault_launch(run, 0, 0, run->fault->grid - !run->args.fault); }
FAULT(spinners_fill, .story = "spinning blocks leave no room for the one that would signal them", .finding = "non-resident-supplier",
      FAULT_SLOT("ready", FAULT_ANY, 0, 0), FAULT_CULPRIT(1, 2), .judges = FAULT_ON_HOST, .grid = 3, .residency = 4, .setup = setup,
      .launch = launch);
#endif
