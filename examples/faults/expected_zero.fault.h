/* Expected zero (article 000, section 3): in the last round the routing sends nothing, so nobody arrives, nobody is elected, and the
 * consumer waits all the same. Twin: it leaves the wait out. */
#include "fault.h"

XS_FN uint32_t expected_of(const struct fault_args *a, uint64_t round) { return round == a->rounds ? 0 : a->blocks; }
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    uint32_t expected = expected_of(a, round);
    if (block == 0)
        xs_note_expect(w, xs_slot_at(&a->count, 0, 0, 0), expected, round);
    if (expected == 0)
        return XS_RESULT_OK;
    int result = fault_put_share(w, a, block, round);
    if (result != XS_RESULT_OK)
        return result;
    if (xs_elect_and_publish(w, &a->count, 0, 0, 1, round * a->blocks, expected, &a->ready, 1, 0, 0, round))
        fault_next_round(w, a, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    if (expected_of(a, round) != 0 || a->fault)
        return fault_consume(w, a, round);
    return xs_wait_expected(w, &a->ready, 0, 0, round, 0);
}

XS_KERNEL(expected_zero, struct fault_args) { FAULT_BLOCKS(produce, consume); }

#if FAULT_HOST
FAULT(expected_zero, .story = "nothing is expected, nobody publishes, and somebody waits", .finding = "count-mismatch",
      FAULT_SLOT("count", 0, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .grid = 4, .setup = fault_election);
#endif
