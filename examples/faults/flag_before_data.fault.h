/* Flag before data (article 004, section 1.1): the batch is signalled, then written. Twin: written, then signalled. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    if (a->fault)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (!a->fault)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(flag_before_data, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(flag_before_data, .story = "the batch is signalled before it is written", .finding = "partial-publish",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair);
#endif
