/* Lock with unfair hand-over (article 001, section 4.2): who is near tries again at once and gets the lock before who is far, again and
 * again. Twin: a ticket lock, which serves in order. */
#include "fault.h"

enum { FAR = 2, NEAR_NS = 100, FAR_NS = 20000, HELD_NS = 1000, TURNS = 40 };

/* Ticket lock: turn[0] is the ticket that may enter. */
XS_FN int ticket_enter(xs_writer *w, const struct fault_args *a, uint64_t *ticket) {
    *ticket = xs_ordered_add(xs_slot_at(&a->count, 0, 0, 0).at, 1, XS_RELAXED, XS_SCOPE_SYS, 64);
    return xs_core_wait(w, xs_slot_at(&a->turn, 0, 0, 0), *ticket, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
}
XS_FN void ticket_leave(xs_writer *w, const struct fault_args *a, uint64_t ticket) {
    xs_signal_slot(w, &a->turn, 0, 0, 0, ticket + 1);
}
/* Test and set: the word counts who holds it and who just tries. The wait for the hand-over is noted as one. */
XS_FN int grab(xs_writer *w, const struct fault_args *a, uint32_t rank) {
    xs_slot lock = xs_slot_at(&a->count, 0, 0, 0), turn = xs_slot_at(&a->turn, 0, 0, 0);
    uint64_t start = xs_now(), seen = xs_ordered_load(turn.at, XS_ACQUIRE, XS_SCOPE_SYS, 64), need = seen + 1;
    xs_wait_note n = XS_ZERO;
    int waits = 0;
    while (xs_ordered_add(lock.at, 1, XS_ACQ_REL, XS_SCOPE_SYS, 64) != 0) {
        (void)xs_ordered_add(lock.at, (uint64_t)-1, XS_RELAXED, XS_SCOPE_SYS, 64);
        if (!waits)
            n = xs_note_wait_begin(w, turn, need, seen, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE), waits = 1;
        n.polls++;
        n.last_fail = xs_now_low();
        if (xs_now() - start > a->bound_ns)
            break;
        xs_nanosleep(rank == FAR ? FAR_NS : NEAR_NS);
    }
    seen = xs_ordered_load(turn.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
    int result = xs_now() - start > a->bound_ns ? XS_RESULT_TIMEOUT : XS_RESULT_OK;
    if (waits)
        xs_note_wait_end(w, &n, seen, (uint32_t)result);
    return result;
}
XS_FN void let_go(xs_writer *w, const struct fault_args *a) {
    uint64_t turn = xs_ordered_load(xs_slot_at(&a->turn, 0, 0, 0).at, XS_RELAXED, XS_SCOPE_SYS, 64);
    xs_signal_slot(w, &a->turn, 0, 0, 0, turn + 1);
    (void)xs_ordered_add(xs_slot_at(&a->count, 0, 0, 0).at, (uint64_t)-1, XS_RELEASE, XS_SCOPE_SYS, 64);
}

XS_KERNEL(unfair_lock, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    uint64_t ticket = 0;
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    xs_writer_epoch(&w, 1);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        if ((args.fault ? grab(&w, &args, rank) : ticket_enter(&w, &args, &ticket)) != XS_RESULT_OK)
            break;
        xs_work_ns(HELD_NS);
        if (args.fault)
            let_go(&w, &args);
        else
            ticket_leave(&w, &args, ticket);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "lock", 1, 1, XS_PAD_SHARED | XS_PAD_NO_DATA);
    fault_pad(run, &run->args.turn, "turn", 1, 1, XS_PAD_SHARED);
}
FAULT(unfair_lock, .story = "a lock goes to who is nearest, not to who waits longest", .finding = "unfairness",
      FAULT_SLOT("turn", 0, 0, 0), FAULT_CULPRIT(FAULT_ANY, FAULT_ANY), .judges = FAULT_TIMED, .ranks = 3, .setup = setup);
#endif
