/* Boolean flag with reset (article 000, section 2): the consumer sets the flag back after each round, and the producer sets it again
 * without knowing that it was. Twin: the producer waits until the reset is acknowledged. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = XS_RESULT_OK;
    fault_work(w, a, round);
    if (!a->fault)
        result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - 1, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, 1);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->ready, 1, 0, 0);
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, 1, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take_slowly(w, a, 0, (uint32_t)round - 1, round, a->work_ns / 2);
    xs_note_reset(w, slot, 0, 1);
    xs_ordered_store(slot.at, 0, XS_RELAXED, XS_SCOPE_SYS, 64);
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(flag_reset, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(flag_reset, .story = "a boolean flag is set back while the next round may set it", .finding = "reset-race",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
