/* A ticket lock, and one table for all under it, in rank 0's memory: each turn reads what the turn before wrote, and writes it anew. What
 * faults do wrong with it, one block does, in its fifth turn. */
#ifndef TURNS_H
#define TURNS_H

#include "fault.h"

#define TURNS 10u
#define TURNS_RANKS 4
#define TURNS_BLOCKS 2

XS_FN int turns_enter(xs_writer *w, const struct fault_args *a, uint64_t *ticket) {
    *ticket = xs_ordered_add(xs_slot_at(&a->count, 0, 0, 0).at, 1, XS_RELAXED, XS_SCOPE_SYS, 64);
    return xs_core_wait(w, xs_slot_at(&a->turn, 0, 0, 0), *ticket, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, fault_bound(a));
}
XS_FN void turns_leave(xs_writer *w, const struct fault_args *a, uint64_t next) { xs_signal_slot(w, &a->turn, 0, 0, 0, next); }

/* The place is one for all: neither side names a peer. */
XS_FN void turns_read(xs_writer *w, const struct fault_args *a, uint64_t generation) {
    const uint32_t *from = XS_BUFFER_AT(a->data, const uint32_t, 0);
    uint32_t odd = 0;
    xs_read_begin(w, a->name_batch, 0, generation, XS_NO_PEER, 1, a->words * 4);
    for (uint32_t i = 0; i < a->words; i++)
        odd += XS_LOAD(&from[i]) != fault_word(generation, i);
    xs_work_ns(a->work_ns / 20);
    xs_payload_end(w, a->name_batch, 0);
    if (odd)
        xs_mark(w, a->name_stale, odd);
}
XS_FN void turns_write(xs_writer *w, const struct fault_args *a, uint64_t generation) {
    xs_write_begin(w, a->name_batch, 0, generation, XS_NO_PEER, 1, a->words * 4);
    fault_store(a, 0, 0, generation, 0, a->words);
    xs_work_ns(a->work_ns / 40);
    xs_payload_end(w, a->name_batch, 0);
}

/* `leave` is what a turn does behind its write. */
#define TURNS_KERNEL(name, leave)                                                                                                    \
    XS_KERNEL(name, struct fault_args) {                                                                                             \
        FAULT_ONE_LANE();                                                                                                            \
        uint32_t rank = xs_rank(xs), block = xs_block(xs);                                                                           \
        uint64_t ticket = 0;                                                                                                         \
        xs_writer w = xs_writer_begin(&xs, args.role_produce);                                                                       \
        fault_meet(&w, &args);                                                                                                       \
        for (uint32_t turn = 0; turn < TURNS; turn++) {                                                                              \
            xs_work_ns(fault_work_ns(&args, rank * TURNS_BLOCKS + block, turn) / 20);                                                \
            if (turns_enter(&w, &args, &ticket) != XS_RESULT_OK)                                                                     \
                break;                                                                                                               \
            if (ticket != 0)                                                                                                         \
                turns_read(&w, &args, ticket);                                                                                       \
            turns_write(&w, &args, ticket + 1);                                                                                      \
            leave(&w, &args, args.fault && rank == 2 && block == 1 && turn == 4, ticket + 1);                                        \
        }                                                                                                                            \
        xs_writer_end(&w);                                                                                                           \
    }

#if FAULT_HOST
static void turns_setup(fault_run *run) {
    fault_pad(run, &run->args.count, "next", 1, 1, XS_PAD_SHARED | XS_PAD_NO_DATA);
    fault_pad(run, &run->args.turn, "serving", 1, 1, XS_PAD_SHARED);
    fault_buffers(run, 1);
}
#define TURNS_FAULT                                                                                                            \
    FAULT_SLOT("serving", 0, 0, 0), FAULT_CULPRIT(2, 1), .judges = FAULT_SIM, .ranks = TURNS_RANKS, .grid = TURNS_BLOCKS, .words = 8, \
        .setup = turns_setup
#endif
#endif
