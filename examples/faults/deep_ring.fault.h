/* A ring of five buffers with credit. The producer counts its credit from two too far back, and laps the reader. */
#include "fault.h"

#define DEEP 5u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint64_t ahead = a->fault ? DEEP + 2 : DEEP;
    int result = XS_RESULT_OK;
    if (round > ahead)
        result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - ahead, fault_bound(a));
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
    fault_take_slowly(w, a, 0, (uint32_t)round % DEEP, round, fault_work_ns(a, 1, round));
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(deep_ring, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_plan(run, XS_PLAN_DEPTH, &run->args.ready, 1, 0, 0, DEEP, 0);
}
FAULT(deep_ring, .story = "a ring of five buffers whose producer runs seven ahead", .finding = "lapping", FAULT_SLOT("ready", 1, 0, 0),
      FAULT_CULPRIT(0, 0), .judges = FAULT_SIM, .race = FAULT_RACE, .setup = setup);
#endif
