/* Two launches in opposite order (PyTorch #189228): each meets its peer of the other rank, but one rank runs A before B, the other B
 * before A. Twin: both A before B. */
#include "fault.h"

/* The first launches of both ranks, whichever they are, so that their waits give up together. */
XS_FN void meet(xs_writer *w, const struct fault_args *a, uint32_t rank) {
    xs_signal_slot(w, &a->start, 1 - rank, 0, rank, 1);
    (void)xs_wait_slot_bounded(w, &a->start, 0, 1 - rank, 1, fault_bound(a));
}

XS_KERNEL(opposite_streams, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    xs_writer_epoch(&w, 1);
    if (args.base == 0)
        meet(&w, &args, rank);
    fault_work(&w, &args, args.stream + 1);
    xs_signal_slot(&w, &args.ready, 1 - rank, 0, args.stream, 1);
    (void)xs_wait_slot_bounded(&w, &args.ready, 0, args.stream, 1, fault_bound(&args));
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 2, 0);
    for (uint32_t r = 0; r < 2; r++)
        fault_writer(run, &run->args.ready, 1 - r, 0, XS_PLAN_ANY, r, run->args.role_produce);
}
static void launch(fault_run *run) {
    for (uint32_t turn = 0; turn < 2; turn++)
        for (uint32_t rank = 0; rank < 2; rank++) {
            run->args.base = turn;
            run->args.stream = run->args.fault && rank == 1 ? 1 - turn : turn;
            fault_launch(run, rank, 1, 0);
        }
}
FAULT(opposite_streams, .story = "two ranks run two launches in opposite order", .finding = "wait-cycle",
      FAULT_SLOT("ready", FAULT_ANY, 0, FAULT_ANY), FAULT_CULPRIT(FAULT_ANY, 0), .judges = FAULT_EVERYWHERE, .work_ns = 2000000,
      .setup = setup, .launch = launch);
#endif
