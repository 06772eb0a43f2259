/* Self-dependency (article 000, section 6.2): before its last signal, rank 0 waits for all shards, its own included, which it has
 * not signalled yet. Twin: it signals first. */
#include "fault.h"

XS_FN void tell(xs_writer *w, const struct fault_args *a, uint32_t rank, uint64_t round) {
    for (uint32_t dst = 0; dst < a->ready.columns; dst++)
        xs_signal_slot(w, &a->ready, dst, 0, rank, round);
}
XS_FN int hear(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = XS_RESULT_OK;
    for (uint32_t src = 0; src < a->ready.columns && result == XS_RESULT_OK; src++)
        result = xs_wait_slot_bounded(w, &a->ready, 0, src, round, fault_bound(a));
    return result;
}

XS_KERNEL(self_wait, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        fault_work(&w, &args, round);
        if (args.fault && rank == 0 && round == args.rounds)
            result = hear(&w, &args, round);
        if (result != XS_RESULT_OK)
            break;
        tell(&w, &args, rank, round);
        result = hear(&w, &args, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "ready", 1, 2, 0);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_produce);
}
FAULT(self_wait, .story = "a block waits for the signal that it would send next", .finding = "wait-cycle",
      FAULT_SLOT("ready", 0, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
