/* Double buffer without credit (article 004, section 5): the producer writes batch n + 2 while the consumer reads batch n. Twin: it
 * waits until the consumer has given the buffer back. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = XS_RESULT_OK;
    if (!a->fault && round > a->depth)
        result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - a->depth, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    xs_work_ns(fault_work_ns(a, 0, round) / 4);
    fault_put(w, a, 1, (uint32_t)round % a->depth, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take_slowly(w, a, 0, (uint32_t)round % a->depth, round, fault_work_ns(a, 1, round));
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(double_buffer, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_plan(run, XS_PLAN_DEPTH, &run->args.ready, 1, 0, 0, run->args.depth, 0);
}
FAULT(double_buffer, .story = "a double buffer without credit: the producer laps the reader", .finding = "lapping",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = setup);
#endif
