/* Release too narrow (article 001, section 5.2; DeepEP #715): the signal to another device is released at gpu scope, so that nothing
 * written before it is ordered for the peer. Twin: sys scope. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (a->fault)
        xs_signal_slot_gpu(w, &a->ready, 1, 0, 0, round);
    else
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(narrow_release, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(narrow_release, .story = "the release is narrower than the way to the peer", .finding = "order-scope",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE_UNSEEN, .cuda.cpu_ranks = "1",
      .setup = fault_pair);
#endif
