/* Batch size changed between rounds (article 004, preface): the last batch is smaller; the gate of the consumer still counts with the
 * size of the one before. Twin: with its own size. */
#include "fault.h"

XS_FN uint32_t rows_of(const struct fault_args *a, uint64_t round) { return round < a->rounds ? a->blocks - 1 : a->blocks - 2; }
XS_FN uint64_t rows_until(const struct fault_args *a, uint64_t round) {
    return (round - 1) * (a->blocks - 1) + rows_of(a, round);
}

XS_KERNEL(batch_size_changed, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t block = xs_block(xs), waits = block == xs.blocks - 1;
    xs_writer w = xs_writer_begin(&xs, waits ? args.role_consume : args.role_produce);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        uint64_t stale = args.fault && round == args.rounds;
        xs_writer_epoch(&w, round);
        if (waits) {
            xs_note_expect(&w, xs_slot_at(&args.count, 0, 0, 0), rows_of(&args, round), round);
            result = xs_gate_wait_bounded(&w, &args.count, 0, 0, rows_until(&args, round) + stale, fault_bound(&args));
        } else if (block < rows_of(&args, round)) {
            xs_work_ns(fault_work_ns(&args, block, round));
            xs_gate_arrive(&w, &args.count, 0, 0, 1);
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) { fault_pad(run, &run->args.count, "gate", 1, 1, XS_PAD_SHARED); }
FAULT(batch_size_changed, .story = "a gate counts with the size of the batch before", .finding = "count-mismatch",
      FAULT_SLOT("gate", 0, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .ranks = 1, .grid = 5, .setup = setup);
#endif
