/* Fence behind the publication (article 001, sections 3.2 and 5.2): a relaxed store, then the fence. Nothing is released.
 * Twin: the fence stands before the store. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->ready, 1, 0, 0);
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (a->fault) {
        xs_core_store(w, slot, round, XS_RELAXED, XS_SCOPE_SYS);
        xs_core_fence(w, XS_ACQ_REL, XS_SCOPE_SYS);
    } else {
        xs_pub_release(w, slot, round);
    }
    return XS_RESULT_OK;
}

XS_KERNEL(fence_after_add, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(fence_after_add, .story = "the fence stands behind the publication, so that it orders nothing", .finding = "order-scope",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair);
#endif
