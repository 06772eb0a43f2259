/* Waiting for a signal that cannot come (article 001, section 5.3): two ranks publish to rank 1; rank 2 has nothing new in the last
 * round, takes the branch without a signal and ends, and nobody told the consumer. Twin: it publishes what it has. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result == XS_RESULT_OK)
        result = xs_wait_slot_bounded(w, &a->ready, 0, 2, round, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t rank, uint64_t round) {
    fault_work(w, a, round);
    if (rank == 2 && a->fault && round == a->rounds)
        return XS_RESULT_OK;
    if (rank == 0)
        fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, 1, 0, rank, round);
    return XS_RESULT_OK;
}

XS_KERNEL(no_signal, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 1 ? args.role_consume : args.role_produce);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        result = rank == 1 ? consume(&w, &args, round) : produce(&w, &args, rank, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 3, 0);
    fault_buffers(run, run->args.rounds);
    fault_writer(run, &run->args.ready, 1, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_produce);
}
FAULT(no_signal, .story = "a producer with nothing new ends without its signal", .finding = "lost-supplier",
      FAULT_SLOT("ready", 1, 0, 2), FAULT_CULPRIT(2, 0), .judges = FAULT_EVERYWHERE, .ranks = 3, .setup = setup);
#endif
