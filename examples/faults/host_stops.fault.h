/* The host program signals too (article 001, section 5.4 leaves the pace to it): rank 0 takes a batch when the host has staged it, and hands it to
 * rank 1. The host stops in mid-way. Twin: it stages them all. */
#include "fault.h"

/* extra: staged, by the host. */
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->extra, 0, 0, round, fault_bound(a));
    return result == XS_RESULT_OK ? fault_produce(w, a, round) : result;
}

XS_KERNEL(host_stops, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.extra, "staged", 1, 1, 0);
    fault_plan(run, XS_PLAN_HOST_SUPPLIER, &run->args.extra, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, 0, 0);
}
/* On `sim` the kernels run only when the host has done its part. */
static void launch(fault_run *run) {
    uint32_t last = run->args.fault ? run->args.rounds / 2 : run->args.rounds;
    fault_launch(run, 0, 0, 0);
    for (uint32_t round = 1; round <= last; round++)
        fault_slot_write(run, &run->args.extra, 0, 0, 0, round);
}
FAULT(host_stops, .story = "the host signals a slot that kernels wait for, and stops", .finding = "lost-supplier",
      FAULT_SLOT("staged", 0, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .setup = setup, .launch = launch);
#endif
