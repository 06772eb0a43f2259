/* The plan names the wrong supplier (article 000, sections 6.2 and 7): all signals come, from a rank that it does not name; whoever asks who
 * owes the slot asks the wrong one. Twin: it names the one that signals. */
#include "fault.h"

XS_KERNEL(plan_supplier, struct fault_args) { FAULT_PAIR(fault_produce, fault_consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    struct fault_args *a = &run->args;
    fault_pad(run, &a->ready, "ready", 1, 2, 0);
    fault_buffers(run, a->rounds);
    fault_writer(run, &a->ready, 1, 0, XS_PLAN_ANY, a->fault ? 1 : 0, 0);
    fault_plan(run, XS_PLAN_SIGNALS, &a->ready, 1, 0, 0, 1, 0);
}
FAULT(plan_supplier, .story = "the plan names another rank than the one that signals", .finding = "multi-writer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
