/* Producer id in the high bits (article 004, section 2.2): two producers number their batches alike and say in the high half who they are,
 * on pads that are declared wide. Nothing is wrong. */
#include "fault.h"

XS_FN uint64_t sequence(uint32_t rank, uint64_t round) { return (uint64_t)(rank + 1) << 40 | round; }

XS_KERNEL(producer_id, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 2 ? args.role_consume : args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (rank != 2) {
            fault_work(&w, &args, round);
            xs_signal_slot(&w, &args.ready, 2, 0, rank, sequence(rank, round));
        }
        for (uint32_t src = 0; rank == 2 && src < 2 && result == XS_RESULT_OK; src++)
            result = xs_wait_slot_bounded(&w, &args.ready, 0, src, sequence(src, round), fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 2, XS_PAD_WIDE);
    fault_writer(run, &run->args.ready, 2, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_produce);
}
FAULT(producer_id, .story = "the high bits of a sequence say who produces: clean", .judges = FAULT_EVERYWHERE, .ranks = 3, .setup = setup);
#endif
