/* A ring of three buffers with credit. One batch is written beside the ring, and told of as if it were in it. */
#include "fault.h"

#define DEEP 3u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = round > DEEP ? xs_wait_slot_bounded(w, &a->ack, 0, 0, round - DEEP, fault_bound(a)) : XS_RESULT_OK;
    if (result != XS_RESULT_OK)
        return result;
    fault_work(w, a, round);
    fault_put(w, a, 1, a->fault && round == 7 ? DEEP : (uint32_t)round % DEEP, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, 0, (uint32_t)round % DEEP, round);
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(batch_misplaced, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(batch_misplaced, .story = "a batch is written to another place than its reader looks at", .finding = "partial-publish", FAULT_SLOT("ready", 1, 0, 0),
      FAULT_CULPRIT(0, 0), .judges = FAULT_SIM, .race = FAULT_RACE_UNSEEN, .setup = fault_pair);
#endif
