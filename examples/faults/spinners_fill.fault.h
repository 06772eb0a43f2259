/* Spinners that fill the device (article 000, section 6.1; article 001, section 5.3): the blocks of both ranks spin on a signal of the last
 * block of rank 1, and leave it no room. Twin: grids that fit. On a GPU, where a launch that does not fit is refused, rank 0's launch takes all
 * the room that there is, and rank 1's, with no spinners of its own, comes behind it. */
#include "fault.h"

XS_KERNEL(spinners_fill, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), produces = rank == 1 && xs_block(xs) == xs.blocks - 1;
    if (xs_warp() != 0 || (args.stream == 1 && !produces))
        return;
    xs_writer w = xs_writer_begin(&xs, produces ? args.role_produce : args.role_consume);
    xs_writer_epoch(&w, 1);
    if (!args.emulate && rank == 0 && xs_block(xs) == 0)
        xs_signal_slot(&w, &args.start, 0, 0, 0, 1);
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
#include <time.h>
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 1, 0);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, 0, 0, 1, run->args.role_produce);
}
/* All blocks of a launch start together on a GPU: one has said that it runs. */
static void wait_until_it_runs(fault_run *run) {
    uint64_t runs = 0;
    for (uint32_t i = 0; i < 20000 && runs == 0 && run->error == 0; i++) {
        run->error = xs_slot_read(run->world, &run->args.start, 0, 0, 0, &runs);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}
static void launch(fault_run *run) {
    if (!run->cuda || !run->args.fault) {
        fault_launch(run, 0, 0, run->fault->grid - !run->args.fault);
        return;
    }
    fault_launch_filling(run, 0, 512);
    wait_until_it_runs(run);
    run->args.stream = 1;
    fault_launch(run, 1, 1, 0);
}
FAULT(spinners_fill, .story = "spinning blocks leave no room for the one that would signal them", .finding = "non-resident-supplier",
      FAULT_SLOT("ready", FAULT_ANY, 0, 0), FAULT_CULPRIT(1, 2), .judges = FAULT_EVERYWHERE, .grid = 3, .residency = 4, .rings = 512,
      .cuda = {.block_threads = 1024, .green = -1, .start_ns = 20000000}, .setup = setup, .launch = launch);
#endif
