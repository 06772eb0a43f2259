/* A kernel with flags of its own, 32 bits wide: its wait is relaxed, and no fence follows. What order such flags have by fences that nobody
 * noted xs cannot know; that what was read had been written, nothing orders. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_core_wait(w, xs_slot_at(&a->ready, 1, 0, 0), round, XS_CMP_GE, a->fault ? XS_RELAXED : XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}

XS_KERNEL(adopted_wait, struct fault_args) { FAULT_PAIR(fault_produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_adopt_32(run, &run->args.ready, "flags", 1, 0);
    fault_buffers(run, run->args.rounds);
    fault_writer(run, &run->args.ready, 1, 0, 0, 0, run->args.role_produce);
}
FAULT(adopted_wait, .story = "flags of the user's are waited for without an acquire", .finding = "order-scope", FAULT_SLOT("flags", 1, 0, 0), FAULT_CULPRIT(1, 0),
      .judges = FAULT_SIM, .race = FAULT_RACE, .setup = setup);
#endif
