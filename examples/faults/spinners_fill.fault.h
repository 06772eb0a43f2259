/* Spinners that fill the device (article 000, section 6.1; article 001, section 5.3): the blocks of both ranks spin on a signal of the last
 * block of rank 1, and leave it no room. Twin: grids that fit. On a GPU, where a launch that does not fit is refused, rank 0's launch takes all
 * the room that there is, and rank 1's, with no spinners of its own, comes behind it. */
#include "fault.h"

/* On a GPU warps that have ended may leave room for others: all of a block stay as long as it does. A block of the host is one thread. */
#if XS_CUDA
#define STAY() (void)xs_block_join()
#else
#define STAY() (void)0
#endif

XS_FN void play(const xs_handle *xs, const struct fault_args *a, int produces) {
    xs_writer w = xs_writer_begin(xs, produces ? a->role_produce : a->role_consume);
    xs_writer_epoch(&w, 1);
    if (!a->emulate && xs_handle_rank(xs) == 0 && xs_handle_block(xs) == 0)
        xs_signal_slot(&w, &a->start, 0, 0, 0, 1);
    if (produces) {
        fault_work(&w, a, 1);
        for (uint32_t dst = 0; dst < xs->ranks; dst++)
            xs_signal_slot(&w, &a->ready, dst, 0, 0, 1);
    } else {
        (void)xs_wait_slot_bounded(&w, &a->ready, 0, 0, 1, fault_bound(a));
    }
    xs_writer_end(&w);
}

XS_KERNEL(spinners_fill, struct fault_args) {
    FAULT_ONE_LANE();
    int produces = xs_rank(xs) == 1 && xs_block(xs) == xs.blocks - 1;
    if (args.stream == 1 && !produces)
        return;
    if (xs_warp() == 0)
        play(&xs, &args, produces);
    STAY();
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
