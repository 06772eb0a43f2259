/* Spinners that fill the device (article 000, section 6.1; article 001, section 5.3): the blocks of one launch spin on a signal of
 * another launch, which no room is left for. Twin: one block fewer. */
#include "fault.h"

XS_KERNEL(spinners_fill, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_consume : args.role_produce);
    xs_writer_epoch(&w, 1);
    if (rank == 0) {
        (void)xs_wait_slot_bounded(&w, &args.ready, 0, 0, 1, fault_bound(&args));
    } else {
        fault_work(&w, &args, 1);
        xs_signal_slot(&w, &args.ready, 0, 0, 0, 1);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    fault_writer(run, &run->args.ready, 0, 0, 0, 1, run->args.role_produce);
}
static void launch(fault_run *run) {
    fault_launch(run, 0, 1, run->fault->residency - !run->args.fault);
    fault_launch(run, 1, 1, 1);
}
FAULT(spinners_fill, .story = "spinning blocks leave no room for the one that would signal them", .finding = "non-resident-supplier",
      FAULT_SLOT("ready", 0, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_ON_HOST, .residency = 4, .setup = setup, .launch = launch);
#endif
