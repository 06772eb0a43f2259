/* Writers without a ring: more warps want to record than there are rings; what they did is not in the trace, and that must be said. Twin:
 * rings enough. */
#include "fault.h"

XS_KERNEL(too_few_rings, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t block = xs_block(xs);
    if (!args.fault && block >= 32)
        return;
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    xs_writer_epoch(&w, 1);
    xs_gate_arrive(&w, &args.count, 0, 0, 1);
    (void)xs_gate_wait_bounded(&w, &args.count, 0, 0, args.fault ? xs.blocks : 32, fault_bound(&args));
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) { fault_pad(run, &run->args.count, "count", 1, 1, XS_PAD_SHARED); }
FAULT(too_few_rings, .story = "more warps record than there are rings", .finding = "trace-health", FAULT_CULPRIT(FAULT_ANY, FAULT_ANY),
      .judges = FAULT_EVERYWHERE, .ranks = 1, .grid = 80, .rings = 64, .setup = setup);
#endif
