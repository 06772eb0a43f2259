/* Pollers by the ten thousand against one monitor (article 004, section 6.1): every thread of the consumer polls the slot itself. Twin: one block
 * polls for all. Those without a ring are not recorded: 1 000 say it as well as all of them. */
#include "fault.h"

XS_KERNEL(pollers, struct fault_args) {
    uint32_t rank = xs_rank(xs), block = xs_block(xs), alone = rank == 0 || !args.fault;
    if (alone && (block != 0 || xs_thread() != 0))
        return;
    int records = xs_lane() == 0 && block * xs_warps() + xs_warp() < args.writers;
    xs_writer w = records ? xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume) : xs_writer_none(&xs);
    xs_writer_epoch(&w, 1);
    if (rank == 1) {
        (void)xs_wait_slot_bounded(&w, &args.ready, 0, 0, 1, fault_bound(&args));
    } else {
        fault_work(&w, &args, 1);
        xs_signal_slot(&w, &args.ready, 1, 0, 0, 1);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
/* A host warp is one thread: there a poller is a block of its own. On a GPU it is one launch, in which rank 0 has blocks to
 * spare, and 32 pollers are one record: more of them are needed before it is a crowd. */
static void launch(fault_run *run) {
    uint32_t threads = run->fault->cuda.block_threads, grid = run->cuda ? (run->args.pollers + threads - 1) / threads : run->args.pollers;
    if (!run->cuda)
        fault_launch(run, 0, 1, 1);
    fault_launch(run, !run->cuda, !run->cuda, run->args.fault ? grid : 1);
}
FAULT(pollers, .story = "every thread polls the slot instead of one monitor", .finding = "poll-pressure",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(1, FAULT_ANY), .judges = FAULT_TIMED, .pollers = 1000, .many_pollers = 80000, .rings = 1024,
      .cuda = {.block_threads = 256, .pollers = 16384, .work_ns = 20000000}, .setup = fault_pair, .launch = launch);
#endif
