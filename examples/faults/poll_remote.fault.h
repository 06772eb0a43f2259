/* Polling a remote copy (article 000, section 2): the consumer polls the producer's copy of the slot over the link instead of its own.
 * Twin: the own copy. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, a->fault ? 0 : 1, 0, 0, round);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->ready, a->fault ? 0 : 1, 0, 0);
    int result = xs_core_wait(w, slot, round, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(poll_remote, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(poll_remote, .story = "the consumer polls the producer's copy over the link", .finding = "poll-pressure",
      FAULT_SLOT("ready", 0, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_TIMED, .rounds = 24, .cuda.cpu_ranks = "0",
      .setup = fault_pair);
#endif
