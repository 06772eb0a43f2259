/* One rank killed (moe_bench docs/06): rank 0 is gone in the middle of a round, with no word and no heartbeat. Emulated: its writer does not
 * end. Twin: it works for long in that round, but its heart beats. */
#include "fault.h"

enum { BEATS = 8 };

/* A round of work in steps, with a beat each. 1: killed. */
XS_FN int work(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int middle = round == a->rounds / 2;
    for (uint32_t i = 0; i < BEATS; i++) {
        xs_work_ns(fault_work_ns(a, 0, round) / BEATS * (middle ? 20 : 1));
        if (a->fault && middle && i == BEATS / 2)
            return 1;
        xs_heartbeat(w, &a->beat, round * BEATS + i);
    }
    return 0;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_bound bound = xs_bound_heartbeat(w, &a->beat, 0, a->bound_ns / 4);
    bound.ns = a->bound_ns;
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, bound);
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(rank_killed, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (rank == 1) {
            result = consume(&w, &args, round);
        } else if (work(&w, &args, round)) {
            return;
        } else {
            fault_put(&w, &args, 1, (uint32_t)round - 1, round);
            xs_signal_slot(&w, &args.ready, 1, 0, 0, round);
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.beat, "beat", 1, 2, XS_PAD_NO_DATA);
}
FAULT(rank_killed, .story = "one rank dies in the middle of a round", .finding = "dead-peer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
