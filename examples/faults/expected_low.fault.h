/* Expected count one too low (article 000, section 3): in the middle round three arrivals are expected of four blocks, so the batch is
 * published before the last share is written. Twin: four. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    uint32_t expected = a->blocks - (a->fault && round == a->rounds / 2);
    int result = fault_put_share(w, a, block, round);
    if (result != XS_RESULT_OK)
        return result;
    if (xs_elect_and_publish(w, &a->count, 0, 0, 1, (round - 1) * a->blocks + expected, expected, &a->ready, 1, 0, 0, round))
        fault_next_round(w, a, round);
    return result;
}

XS_KERNEL(expected_low, struct fault_args) { FAULT_BLOCKS(produce, fault_consume); }

#if FAULT_HOST
FAULT(expected_low, .story = "fewer arrivals are expected than come: published too early", .finding = "count-mismatch",
      FAULT_SLOT("count", 0, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .grid = 4, .setup = fault_counted_election);
#endif
