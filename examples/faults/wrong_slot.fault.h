/* Signal to another slot (PyTorch #163194): the last batch is signalled to a column that nobody waits for. Twin: to the right one. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, 1, 0, a->fault && round == a->rounds, round);
    return XS_RESULT_OK;
}

XS_KERNEL(wrong_slot, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(wrong_slot, .story = "the last signal goes to a slot that nobody waits for", .finding = "lost-supplier",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
