/* Waiting for equality while versions are skipped (article 004, section 3.1): the producer publishes every second version only, and the
 * consumer waits for its own one to come by. Twin: it waits for >=. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (round % 2 == 0)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint32_t cmp = a->fault ? XS_CMP_EQ : XS_CMP_GE;
    int result = xs_core_wait(w, xs_slot_at(&a->ready, 1, 0, 0), round, cmp, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(equality_skip, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(equality_skip, .story = "the consumer waits for a version that the producer skips to come by", .finding = "equality-overshoot",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
