/* Lock holder stops (article 004, section 1.2): rank 1 takes the lock and ends without handing it on; all others wait for ever. Twin: it
 * hands it on. */
#include "fault.h"

enum { TURNS = 8 };

/* Ticket lock: turn[0] is the ticket that may enter. */
XS_FN int ticket_enter(xs_writer *w, const struct fault_args *a, uint64_t *ticket) {
    *ticket = xs_ordered_add(xs_slot_at(&a->count, 0, 0, 0).at, 1, XS_RELAXED, XS_SCOPE_SYS, 64);
    return xs_core_wait(w, xs_slot_at(&a->turn, 0, 0, 0), *ticket, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
}
XS_FN void ticket_leave(xs_writer *w, const struct fault_args *a, uint64_t ticket) {
    xs_signal_slot(w, &a->turn, 0, 0, 0, ticket + 1);
}
XS_KERNEL(lock_holder_stops, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    uint64_t ticket = 0;
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    xs_writer_epoch(&w, 1);
    for (uint32_t turn = 0; turn < TURNS && ticket_enter(&w, &args, &ticket) == XS_RESULT_OK; turn++) {
        xs_work_ns(fault_work_ns(&args, rank, turn) / 4);
        if (args.fault && rank == 1 && turn == TURNS / 2)
            break;
        ticket_leave(&w, &args, ticket);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "lock", 1, 1, XS_PAD_SHARED | XS_PAD_NO_DATA);
    fault_pad(run, &run->args.turn, "turn", 1, 1, XS_PAD_SHARED);
}
FAULT(lock_holder_stops, .story = "the holder of a lock ends without handing it on", .finding = "lost-supplier",
      FAULT_SLOT("turn", 0, 0, 0), FAULT_CULPRIT(1, 0), .judges = FAULT_EVERYWHERE, .ranks = 3, .setup = setup);
#endif
