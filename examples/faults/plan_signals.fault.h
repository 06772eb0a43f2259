/* The plan declares a wrong number of signals (article 000, section 7): two an epoch, where the kernel makes one. Nothing breaks, but
 * whoever computes a sequence or a size from the plan is off. Twin: one. */
#include "fault.h"

XS_KERNEL(plan_signals, struct fault_args) { FAULT_PAIR(fault_produce, fault_consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_plan(run, XS_PLAN_SIGNALS, &run->args.ready, 1, 0, 0, run->args.fault ? 2 : 1, 0);
}
FAULT(plan_signals, .story = "the plan declares more signals an epoch than are made", .finding = "count-mismatch",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
