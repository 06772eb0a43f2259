/* Back-off too long (article 004, section 3.3): the consumer sleeps 1 ms between polls and sees each signal that much later. Twin: the
 * back-off of xs. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = a->fault ? fault_poll(w, xs_slot_at(&a->ready, 1, 0, 0), round, XS_CMP_GE, XS_ACQUIRE, 1000000, a->bound_ns)
                          : xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, 0, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - 1, fault_bound(a));
    return result == XS_RESULT_OK ? fault_produce(w, a, round) : result;
}

XS_KERNEL(backoff_too_long, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(backoff_too_long, .story = "the consumer sleeps 1 ms between polls", .finding = "detection-lag",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_TIMED, .rounds = 16, .work_ns = 50000, .setup = fault_pair);
#endif
