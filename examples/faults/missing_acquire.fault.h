/* Missing acquire (article 004, section 4.2): the consumer polls relaxed and reads the batch with no fence behind the wait. Twin:
 * acq_fence. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_ge_bounded(w, xs_slot_at(&a->ready, 1, 0, 0), round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    if (!a->fault)
        xs_acq_fence(w);
    fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(missing_acquire, struct fault_args) { FAULT_PAIR(fault_produce, consume); }

#if FAULT_HOST
FAULT(missing_acquire, .story = "the batch is read behind a relaxed poll with no fence", .finding = "order-scope",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair);
#endif
