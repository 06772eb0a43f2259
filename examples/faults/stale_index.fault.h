/* A ring of four buffers with credit. Once its reader looks where the batch of the round before was: its index is stale. */
#include "fault.h"

#define DEEP 4u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = round > DEEP ? xs_wait_slot_bounded(w, &a->ack, 0, 0, round - DEEP, fault_bound(a)) : XS_RESULT_OK;
    if (result != XS_RESULT_OK)
        return result;
    xs_work_ns(fault_work_ns(a, 0, round) / 4);
    fault_put(w, a, 1, (uint32_t)round % DEEP, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    uint32_t index = (uint32_t)(a->fault && round == 8 ? round - 1 : round) % DEEP;
    fault_take_slowly(w, a, 0, index, round, fault_work_ns(a, 1, round));
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(stale_index, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(stale_index, .story = "a batch is looked for where the one of the round before was", .finding = "payload-race", FAULT_SLOT("ready", 1, 0, 0),
      FAULT_CULPRIT(1, 0), .judges = FAULT_SIM, .race = FAULT_RACE, .rounds = 16, .setup = fault_pair);
#endif
