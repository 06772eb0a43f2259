/* Sequence baked into a replay (aiter #3928): a launch is made again with the same sequences; every wait passes at once on what the
 * first one left. Twin: the second launch goes on where the first ended. */
#include "fault.h"

/* The replay's first signal comes behind the wait for it, however late a busy machine lets the consumer run: else nobody passes early. */
XS_FN bool replays(const struct fault_args *a, uint64_t round) { return a->fault && a->stream == 1 && round == 1; }

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    if (replays(a, round) && xs_wait_slot_bounded(w, &a->ack, 0, 0, 1, fault_bound(a)) != XS_RESULT_OK)
        return XS_RESULT_TIMEOUT;
    fault_put(w, a, 1, (uint32_t)round - 1, a->base + round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, a->base + round);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, a->base + round, fault_bound(a));
    if (replays(a, round))
        xs_signal_slot(w, &a->ack, 0, 0, 0, 1);
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, a->base + round);
    return result;
}

XS_KERNEL(baked_sequence, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void launch(fault_run *run) {
    fault_launch(run, 0, 0, 0);
    run->args.stream = 1;
    run->args.base = run->args.fault ? 0 : run->args.rounds;
    fault_launch(run, 0, 0, 0);
}
FAULT(baked_sequence, .story = "a replayed launch waits for sequences of the launch before", .finding = "early-pass",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .setup = fault_pair, .launch = launch);
#endif
