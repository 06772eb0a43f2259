/* Equality gate with its seed off by one (article 000, section 5): four blocks bring two rows each onto a padding of three instead of
 * two, so that the counter jumps over the row block that is waited for. Twin: the right seed, and >=. */
#include "fault.h"

enum { PADDING = 2, BROUGHT = 2 };

XS_KERNEL(equality_seed, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t block = xs_block(xs), waits = block == xs.blocks - 1;
    uint64_t row_block = PADDING + BROUGHT * (args.blocks - 1);
    xs_slot gate = xs_slot_at(&args.count, 0, 0, 0);
    xs_writer w = xs_writer_begin(&xs, waits ? args.role_consume : args.role_produce);
    fault_meet(&w, &args);
    xs_writer_epoch(&w, 1);
    if (!waits) {
        xs_work_ns(fault_work_ns(&args, block, 1));
        xs_gate_arrive(&w, &args.count, 0, 0, BROUGHT);
    } else if (args.fault) {
        (void)xs_core_wait(&w, gate, row_block, XS_CMP_EQ, XS_ACQUIRE, XS_SCOPE_GPU, fault_bound(&args));
    } else {
        (void)xs_gate_wait_bounded(&w, &args.count, 0, 0, row_block, fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "gate", 1, 1, XS_PAD_SHARED);
    fault_slot_write(run, &run->args.count, 0, 0, 0, PADDING + run->args.fault);
}
FAULT(equality_seed, .story = "a gate waits for equality and its counter jumps over it", .finding = "equality-overshoot",
      FAULT_SLOT("gate", 0, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .ranks = 1, .grid = 5, .setup = setup);
#endif
