/* Producer skips versions (article 004, section 3.1): it publishes every third version only, and the consumer jumps to the newest.
 * Nothing is wrong: waiting for >= is made for it. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    if (!a->fault || round % 3 == 0 || round == a->rounds)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(producer_skips, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(producer_skips, .story = "the producer publishes every third version only: clean", .judges = FAULT_EVERYWHERE, .setup = fault_pair);
#endif
