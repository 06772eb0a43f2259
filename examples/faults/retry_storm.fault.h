/* Retry storm (article 001, section 5.4): every block of the consumer reads the producer's counter over the link by atomic adds of 0, at
 * full speed. Twin: one block waits on its own copy with back-off. */
#include "fault.h"

XS_FN int storm(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_slot slot = xs_slot_at(&a->ready, 0, 0, 0);
    uint64_t start = xs_now(), seen = xs_ordered_add(slot.at, 0, XS_ACQ_REL, XS_SCOPE_SYS, 64);
    xs_wait_note n = xs_note_wait_first(w, slot, round, seen, XS_ACQUIRE, XS_SCOPE_SYS);
    while (seen < round && xs_now() - start < a->bound_ns) {
        n.last_fail = xs_now_low();
        n.polls++;
        seen = xs_ordered_add(slot.at, 0, XS_ACQ_REL, XS_SCOPE_SYS, 64);
    }
    xs_note_wait_last(w, &n, seen, seen < round ? XS_RESULT_TIMEOUT : XS_RESULT_OK);
    return seen < round ? XS_RESULT_TIMEOUT : XS_RESULT_OK;
}

XS_KERNEL(retry_storm, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), block = xs_block(xs);
    if (block != 0 && (rank == 0 || !args.fault))
        return;
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (rank == 1)
            result = args.fault ? storm(&w, &args, round) : xs_wait_slot_bounded(&w, &args.ready, 0, 0, round, fault_bound(&args));
        if (rank == 0) {
            fault_work(&w, &args, round);
            xs_signal_slot(&w, &args.ready, !args.fault, 0, 0, round);
        }
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
FAULT(retry_storm, .story = "all blocks poll a remote counter by atomics, at full speed", .finding = "poll-pressure",
      FAULT_SLOT("ready", 0, 0, 0), FAULT_CULPRIT(1, FAULT_ANY), .judges = FAULT_TIMED, .grid = 16, .rounds = 3,
      .cuda = {.grid = 300, .work_ns = 2000000}, .rings = 320, .setup = fault_pair);
#endif
