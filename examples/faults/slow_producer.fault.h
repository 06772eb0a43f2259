/* Slow round (D1): one round takes very much longer than the others; nothing is lost. Twin: all rounds alike. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    if (a->fault && round == a->rounds - 2)
        xs_work_ns(a->late_ns);
    return fault_produce(w, a, round);
}

XS_KERNEL(slow_producer, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
FAULT(slow_producer, .story = "one round takes a thousand times longer than the others", .finding = "stall",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_TIMED, .rounds = 40, .late_ns = 20000000, .setup = fault_pair);
#endif
