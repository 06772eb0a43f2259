/* Missing device fence (article 004, section 6.2): a relaxed store publishes a batch that nothing orders before it. The consumer
 * says for each round which element was the first stale one. Twin: pub_release. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->ready, 1, 0, 0);
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (a->fault)
        xs_core_store(w, slot, round, XS_RELAXED, XS_SCOPE_SYS);
    else
        xs_pub_release(w, slot, round);
    return XS_RESULT_OK;
}

XS_KERNEL(missing_fence, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(missing_fence, .story = "no fence between the batch and the store that publishes it", .finding = "order-scope",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair);
#endif
