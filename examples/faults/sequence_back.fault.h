/* Sequence goes back: the producer starts again from an older sequence. Twin: sequences only rise. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = fault_produce(w, a, round);
    if (a->fault && round == a->rounds / 2)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round - 2);
    return result;
}

XS_KERNEL(sequence_back, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(sequence_back, .story = "the producer signals an older sequence than before", .finding = "regression",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
