/* A kernel's own check fails (xs_assert): rank 0 stops in the middle of a round, the world is aborted, and its GPU is spoiled for the
 * process. The trace says who it was and where. On the host: the abort without the trap, and a writer that never ends. Twin: the check
 * holds. */
#include "fault.h"

/* The batch of the middle round is not what it should be. */
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (a->fault && round == a->rounds / 2)
        return XS_RESULT_ABORTED;
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(failed_check, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        result = rank == 0 ? produce(&w, &args, round) : fault_consume(&w, &args, round);
        if (rank == 0 && result != XS_RESULT_OK) {
            FAULT_TRAP(&w);
            return;
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
FAULT(failed_check, .story = "a check of the kernel's own fails, and it traps", .finding = "dead-peer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .cuda.spoils = 1, .setup = fault_pair);
#endif
