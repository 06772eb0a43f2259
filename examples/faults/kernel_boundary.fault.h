/* Reading across a kernel boundary (article 001, section 5.1): the consumer's kernel is launched behind the producer's and takes it
 * that the batch is there. Twin: it waits for it. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    if (!a->fault)
        return fault_consume(w, a, round);
    fault_take(w, a, 0, (uint32_t)round - 1, round);
    return XS_RESULT_OK;
}

/* On a GPU the second launch may begin when the first has ended: there the two do not meet first. The producer waits until the host
 * has launched both, or its end would be the host's order. */
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    if (!a->emulate && round == 1)
        (void)xs_wait_slot_bounded(w, &a->extra, 0, 0, 1, fault_bound(a));
    return fault_produce(w, a, round);
}

XS_KERNEL(kernel_boundary, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS_BEHIND(if (args.emulate) fault_meet(&w, &args), rank == 0 ? produce(&w, &args, round) : consume(&w, &args, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.extra, "launched", 1, 1, 0);
    fault_plan(run, XS_PLAN_HOST_SUPPLIER, &run->args.extra, 0, 0, 0, 0, 0);
}
static void launch(fault_run *run) {
    fault_launch(run, 0, 1, 0);
    fault_launch(run, 1, 1, 0);
    if (run->cuda)
        fault_slot_write(run, &run->args.extra, 0, 0, 0, 1);
}
FAULT(kernel_boundary, .story = "a kernel reads what another one, launched before it, publishes", .finding = "payload-race",
      FAULT_CULPRIT(1, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = setup, .launch = launch);
#endif
