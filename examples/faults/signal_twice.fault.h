/* One path signals twice (article 000, section 2: how often a producer signals must be countable): in one round there are two where the plan
 * has one. Sequences leave room for it, so that nobody passes too early. Twin: once in every round. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint64_t twice = a->fault && round == a->rounds / 2;
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, 2 * round - 1);
    if (twice)
        xs_signal_slot(w, &a->ready, 1, 0, 0, 2 * round);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, 2 * round - 1, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(signal_twice, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_plan(run, XS_PLAN_SIGNALS, &run->args.ready, XS_PLAN_ANY, 0, 0, 1, 0);
}
FAULT(signal_twice, .story = "on one path a signal is made twice in a round", .finding = "count-mismatch",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
