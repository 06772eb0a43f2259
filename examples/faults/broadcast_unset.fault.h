/* Broadcast never set when nothing is new (article 001, section 3.3): warp 0 looks for a new batch and tells warp 1 by shared memory, but
 * only when there is one; until then warp 1 takes what lies there, left by the kernel before. Twin: it is always set. */
#include "fault.h"

typedef struct broadcast {
    uint64_t sequence;
} broadcast;

/* Warp 0: the newest sequence, if it is new. */
XS_FN void look(xs_writer *w, const struct fault_args *a, broadcast *b, uint64_t *seen) {
    xs_slot slot = xs_slot_at(&a->ready, 1, 0, 0);
    uint64_t now = xs_ordered_load(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
    if (now > *seen) {
        xs_note_pass(w, slot, now, *seen + 1, XS_ACQUIRE, XS_SCOPE_SYS);
        b->sequence = *seen = now;
    } else if (!a->fault) {
        b->sequence = 0;
    }
}

XS_FN void consume(xs_writer *w, const struct fault_args *a, broadcast *b) {
    uint64_t seen = 0, start = xs_now();
    uint32_t begun = 0;
    if (xs_warp() == 0)
        b->sequence = a->fault ? 1 : 0; /* what the kernel before has left */
    for (uint64_t got = 0; got < a->rounds && xs_now() - start < a->bound_ns;) {
        if (xs_warp() == 0) {
            look(w, a, b, &seen);
            if (!begun++)
                xs_signal_slot(w, &a->ack, 0, 0, 0, 1);
        }
        if (xs_block_join())
            return;
        got = b->sequence;
        if (xs_warp() == 1 && got > 0)
            fault_take(w, a, 0, (uint32_t)got - 1, got);
        xs_nanosleep(2000);
        if (xs_block_join())
            return;
    }
}

XS_KERNEL(broadcast_unset, struct fault_args) {
    XS_SHARED(broadcast, b);
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    if (rank == 0 && xs_warp() != 0)
        return;
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    xs_writer_epoch(&w, 1);
    if (rank == 1)
        consume(&w, &args, b);
    /* The first look comes before the first batch, however late the consumer starts. */
    int result = rank == 0 ? xs_wait_slot_bounded(&w, &args.ack, 0, 0, 1, fault_bound(&args)) : XS_RESULT_ABORTED;
    for (uint64_t round = 1; result == XS_RESULT_OK && round <= args.rounds; round++)
        result = fault_produce(&w, &args, round);
    xs_writer_end(&w);
}

#if FAULT_HOST
FAULT(broadcast_unset, .story = "a shared sequence is read where nothing has set it", .finding = "payload-race",
      FAULT_CULPRIT(1, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .block_threads = 64, .setup = fault_pair);
#endif
