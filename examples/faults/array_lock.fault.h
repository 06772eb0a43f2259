/* An array lock: each takes a ticket, waits at the slot of its own for it, and hands the lock on at the slot of the next. One does not hand it on, and
 * comes back for another turn. */
#include "fault.h"

#define LOCK_SLOTS 16u
#define LOCK_TURNS 10u

XS_FN void lock_guarded(xs_writer *w, const struct fault_args *a, uint64_t ticket) {
    xs_write_begin(w, a->name_batch, 0, ticket + 1, XS_NO_PEER, 1, a->words * 4);
    fault_store(a, 0, 0, ticket + 1, 0, a->words);
    xs_work_ns(a->work_ns / 40);
    xs_payload_end(w, a->name_batch, 0);
}
XS_FN int lock_turn(xs_writer *w, const struct fault_args *a, uint32_t wrong) {
    uint64_t ticket = xs_ordered_add(xs_slot_at(&a->count, 0, 0, 0).at, 1, XS_RELAXED, XS_SCOPE_SYS, 64);
    if (ticket != 0) {
        xs_slot own = xs_slot_at(&a->turn, 0, 0, (uint32_t)(ticket % LOCK_SLOTS));
        int result = xs_core_wait(w, own, ticket, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
        if (result != XS_RESULT_OK)
            return result;
    }
    lock_guarded(w, a, ticket);
    if (!wrong)
        xs_signal_slot(w, &a->turn, 0, 0, (uint32_t)((ticket + 1) % LOCK_SLOTS), ticket + 1);
    return XS_RESULT_OK;
}

XS_KERNEL(array_lock, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), block = xs_block(xs);
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint32_t turn = 0; turn < LOCK_TURNS && result == XS_RESULT_OK; turn++) {
        xs_work_ns(fault_work_ns(&args, rank * 2 + block, turn) / 20);
        result = lock_turn(&w, &args, args.fault && rank == 2 && block == 1 && turn == LOCK_TURNS / 2);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "next", 1, 1, XS_PAD_SHARED | XS_PAD_NO_DATA);
    fault_pad(run, &run->args.turn, "serving", 1, LOCK_SLOTS, XS_PAD_SHARED);
    fault_buffers(run, 1);
}
FAULT(array_lock, .story = "an array lock that one does not hand on", .finding = "lost-supplier", FAULT_SLOT("serving", 0, 0, FAULT_ANY), FAULT_CULPRIT(2, 1),
      .judges = FAULT_SIM, .ranks = 4, .grid = 2, .words = 8, .setup = setup);
#endif
