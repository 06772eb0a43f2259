/* Slots that xs did not make: 32-bit words of the user's, adopted with a stride of their own. The producer falls back by two, once. */
#include "fault.h"

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = fault_produce(w, a, round);
    if (a->fault && round == a->rounds / 2)
        xs_signal_slot(w, &a->ready, 1, 0, 0, round - 2);
    return result;
}

XS_KERNEL(adopted_back, struct fault_args) { FAULT_PAIR(produce, fault_consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_adopt_32(run, &run->args.ready, "flags", 2, 0);
    fault_buffers(run, run->args.rounds);
    fault_writer(run, &run->args.ready, 1, 0, 0, 0, run->args.role_produce);
}
FAULT(adopted_back, .story = "a sequence in adopted memory falls back", .finding = "regression", FAULT_SLOT("flags", 1, 0, 0), FAULT_CULPRIT(0, 0),
      .judges = FAULT_SIM, .setup = setup);
#endif
