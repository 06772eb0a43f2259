/* Control block copied and read stale (article 001, section 3.1): the consumer polls a copy of the control block that was made once.
 * Twin: the control block itself. */
#include "fault.h"

XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot control = xs_slot_at(&a->ready, 1, 0, 0), copy = xs_slot_at(&a->extra, 1, 0, 0);
    if (round == 1) {
        xs_ordered_store(copy.at, xs_ordered_load(control.at, XS_RELAXED, XS_SCOPE_SYS, 64), XS_RELAXED, XS_SCOPE_SYS, 64);
        xs_signal_slot(w, &a->ack, 0, 0, 0, 1);
    }
    int result = xs_core_wait(w, a->fault ? copy : control, round, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}
/* Begins once the copy is made. */
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ack, 0, 0, 1, fault_bound(a));
    return result == XS_RESULT_OK ? fault_produce(w, a, round) : result;
}

XS_KERNEL(stale_control_copy, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.extra, "copy", 1, 1, 0);
}
FAULT(stale_control_copy, .story = "the consumer polls a copy of the control block that nobody renews", .finding = "lost-supplier",
      FAULT_SLOT("copy", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .setup = setup);
#endif
