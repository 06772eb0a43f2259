/* A ring of three buffers whose reader counts its credits up. On three occasions it leaves one out; the ring has a buffer less each time, and
 * at last none. Then both wait for each other, but that is an effect. */
#include "fault.h"

#define DEEP 3u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = round > DEEP ? xs_wait_slot_bounded(w, &a->count, 0, 0, round - DEEP, fault_bound(a)) : XS_RESULT_OK;
    if (result != XS_RESULT_OK)
        return result;
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round % DEEP, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot credits = xs_slot_at(&a->count, 0, 0, 0);
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, 0, (uint32_t)round % DEEP, round);
    if (!a->fault || (round != 5 && round != 8 && round != 11))
        xs_note_gate(w, credits, xs_ordered_add(credits.at, 1, XS_RELEASE, XS_SCOPE_SYS, 64), 1, XS_RELEASE, XS_SCOPE_SYS);
    return result;
}

XS_KERNEL(credit_left_out, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    fault_pad(run, &run->args.count, "credits", 1, 1, XS_PAD_SHARED);
}
FAULT(credit_left_out, .story = "credits are left out until the ring has no buffer left", .finding = "count-mismatch", FAULT_SLOT("credits", 0, 0, 0),
      FAULT_CULPRIT(1, 0), .judges = FAULT_SIM, .rounds = 16, .setup = setup);
#endif
