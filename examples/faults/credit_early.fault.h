/* A ring of four buffers with a credit for every second of them. Once its reader gives the credit before it reads, and the producer, who has
 * waited as it should, writes over what is being read. */
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
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a)), early = a->fault && round == 6;
    if (result != XS_RESULT_OK)
        return result;
    if (early)
        xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    fault_take_slowly(w, a, 0, (uint32_t)round % DEEP, round, fault_work_ns(a, 1, round));
    if (round % 2 == 0 && !early)
        xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(credit_early, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
FAULT(credit_early, .story = "a credit is given back before the buffer is read", .finding = "lapping", FAULT_SLOT("ack", 0, 0, 0), FAULT_CULPRIT(1, 0),
      .judges = FAULT_SIM, .race = FAULT_RACE, .rounds = 16, .setup = fault_pair);
#endif
