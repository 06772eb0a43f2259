/* Elected and silent (D23): in the last round the elected block does not publish. Twin: it does. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    int result = fault_put_share(w, a, block, round);
    if (result != XS_RESULT_OK)
        return result;
    if (xs_elect(w, &a->count, 0, 0, 1, round * a->blocks, a->blocks) && !(a->fault && round == a->rounds)) {
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
        fault_next_round(w, a, round);
    }
    return result;
}

XS_KERNEL(elected_silent, struct fault_args) { FAULT_BLOCKS(produce, fault_consume); }

#if FAULT_HOST
FAULT(elected_silent, .story = "the elected block does not publish", .finding = "stuck-chain",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .grid = 4, .setup = fault_counted_election);
#endif
