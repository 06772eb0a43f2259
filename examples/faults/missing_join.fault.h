/* No block join before the signal (order by omission): four warps write a quarter of the batch each, and thread 0 signals without waiting
 * for the others. Twin: the block joins first. */
#include "fault.h"

enum { WARPS = 4 };

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint32_t slot = (uint32_t)round - 1, share = a->words / WARPS, warp = xs_warp();
    xs_work_ns(fault_work_ns(a, 0, round) / (warp == 0 ? 2 : 1));
    fault_put_begin(w, a, 1, slot, round);
    fault_store(a, 1, slot, round, warp * share, (warp + 1) * share);
    xs_payload_end(w, a->name_batch, slot);
    if (!a->fault && xs_block_join())
        return XS_RESULT_ABORTED;
    if (warp == 0)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(missing_join, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    if (rank == 1 && xs_warp() != 0)
        return;
    FAULT_ROUNDS(rank == 0 ? produce(&w, &args, round) : fault_consume(&w, &args, round));
}

#if FAULT_HOST
FAULT(missing_join, .story = "thread 0 signals what other warps of its block still write", .finding = "partial-publish",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .block_threads = WARPS * 32, .setup = fault_pair);
#endif
