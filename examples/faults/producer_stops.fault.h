/* Producer stops (article 004, section 7): it ends in the middle; the consumer waits for a batch that nobody will publish. Twin: it
 * goes on to the end. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    if (a->fault && round > a->rounds / 2)
        return XS_RESULT_ABORTED; /* ends its loop */
    return fault_produce(w, a, round);
}

XS_KERNEL(producer_stops, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(producer_stops, .story = "the producer ends before its last batch", .finding = "lost-supplier",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
