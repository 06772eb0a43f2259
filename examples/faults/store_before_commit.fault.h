/* Asynchronous store published before its commit (article 000, section 3): the copy is begun, the signal goes out, then the copy
 * is waited for. Twin: the commit is waited for first. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint32_t slot = (uint32_t)round - 1;
    fault_work(w, a, round);
    fault_put_begin(w, a, 1, slot, round);
    fault_store(a, 1, slot, round, 0, a->words / 2);
    if (a->fault)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    fault_store(a, 1, slot, round, a->words / 2, a->words); /* the rest of the asynchronous copy lands here */
    xs_payload_end(w, a->name_batch, slot);
    if (!a->fault)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(store_before_commit, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(store_before_commit, .story = "an asynchronous copy is signalled before it is committed", .finding = "partial-publish",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair);
#endif
