/* Two roles that hang, or do not, in ways that are known. */
#ifndef HANGING_KERNEL_H
#define HANGING_KERNEL_H

#include <xs/kernel.h>

enum hanging_way {
    HANGING_MISSING,
    HANGING_CYCLE,
    HANGING_AWAY,
    HANGING_SLOW,
    HANGING_BUSY,
    HANGING_ENDS,
    HANGING_SKIPS,
    HANGING_SELF,
    HANGING_GATE,
    HANGING_NOTED,
    HANGING_HOST
};

struct hanging_args {
    xs_pad done, bar, gate, go;
    uint32_t way, role;
    uint64_t last; /* the sequence that comes, or at which it hangs */
};

/* Every rank signals the next one in the ring: done[from] of rank r is written by rank `from`. */
XS_FN void hanging_signal(xs_writer *w, const xs_handle *xs, const xs_pad *done, uint64_t seq) {
    uint32_t next = (xs_rank(*xs) + 1) % xs->ranks;
    xs_signal_slot(w, done, next, 1, xs_rank(*xs), seq);
}
XS_FN void hanging_wait(xs_writer *w, const xs_handle *xs, const xs_pad *done, uint64_t seq) {
    uint32_t before = (xs_rank(*xs) + xs->ranks - 1) % xs->ranks;
    xs_wait_slot(w, done, 1, before, seq);
}

/* The host lets rank 0 into a round, and that one rank 1. */
XS_FN void hanging_by_host(xs_writer *w, const xs_handle *xs, const struct hanging_args *a, uint64_t seq) {
    if (xs_rank(*xs) == 0) {
        xs_wait_slot(w, &a->go, 0, 0, seq);
        hanging_signal(w, xs, &a->done, seq);
    } else if (xs_rank(*xs) == 1) {
        hanging_wait(w, xs, &a->done, seq);
    }
}

XS_KERNEL(hanging, struct hanging_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    uint32_t last_rank = xs.ranks - 1, rank = xs_rank(xs);
    for (uint64_t seq = 1; seq <= args.last; seq++) {
        xs_writer_epoch(&w, seq);
        xs_writer_word(&w, 7000 + (uint32_t)seq);
        if (args.way == HANGING_SLOW && rank == last_rank)
            xs_work_ns(20000000);
        if (args.way != HANGING_AWAY && args.way < HANGING_SELF) {
            hanging_signal(&w, &xs, &args.done, seq);
            hanging_wait(&w, &xs, &args.done, seq);
        }
        if (args.way == HANGING_HOST)
            hanging_by_host(&w, &xs, &args, seq);
    }
    xs_writer_epoch(&w, args.last + 1);
    xs_writer_word(&w, args.way == HANGING_SELF ? 0 : 7777);
    if (args.way == HANGING_BUSY && rank == last_rank)
        for (;;)
            xs_work_ns(1000000);
    if ((args.way == HANGING_MISSING || args.way == HANGING_BUSY) && rank != last_rank)
        hanging_signal(&w, &xs, &args.done, args.last + 1);
    if (args.way == HANGING_CYCLE || ((args.way == HANGING_MISSING || args.way == HANGING_BUSY) && rank != last_rank))
        hanging_wait(&w, &xs, &args.done, args.last + 1);
    if (args.way == HANGING_SKIPS && rank != last_rank)
        hanging_signal(&w, &xs, &args.done, args.last + 1);
    for (uint64_t more = 1; args.way == HANGING_SKIPS && more <= 2; more++) /* the last rank goes on without its signal, and waits for the next */
        hanging_wait(&w, &xs, &args.done, args.last + more);
    if (args.way == HANGING_SELF && rank == 0)
        xs_wait_slot(&w, &args.bar, 0, 0, 1);
    if (args.way == HANGING_GATE && rank == 0) { /* one arrival of two */
        xs_gate_arrive(&w, &args.gate, 0, 0, 1);
        xs_gate_wait(&w, &args.gate, 0, 0, 2);
    }
    if (args.way == HANGING_NOTED && rank == 0) { /* a loop that xs did not write */
        xs_wait_note note = xs_note_wait_first(&w, xs_slot_at(&args.bar, 0, 0, last_rank), 1, 0, XS_ACQUIRE, XS_SCOPE_SYS);
        for (;;) {
            xs_work_ns(1000000);
            xs_note_wait_poll(&w, &note, 0, 0);
        }
    }
    if (args.way == HANGING_HOST)
        hanging_by_host(&w, &xs, &args, args.last + 1);
    if (args.way == HANGING_AWAY && rank != last_rank)
        (void)xs_barrier_all(&w, &args.bar, 5, xs_unbounded());
    xs_writer_end(&w);
}

#endif
