/* The fault zoo: what its files share. A fault is one file, NAME.fault.h: a kernel with one mistake that a run-time argument
 * switches on (fault = 1) or off (its healthy twin), the host side of it, and what must be found. Kernels run one lane a warp
 * and wait with bounds only, so that every run ends. */
#ifndef FAULT_H
#define FAULT_H

#include <xs/kernel.h>

/* One argument struct for all: each fault uses what it needs of it. */
struct fault_args {
    xs_pad start, ready, ack, count, turn, beat, extra;
    xs_buffer data, stale; /* data: a batch per round, words each; stale: per round, 1 + index of the first stale element */
    uint32_t fault;        /* 1: with the mistake, 0: the healthy twin */
    uint32_t rounds, words, depth, blocks, pollers, writers;
    uint32_t role_produce, role_consume;
    uint32_t name_batch, name_stale;
    uint32_t stream;       /* which of two launches */
    uint32_t emulate;      /* 1: on the host backend, where what needs a GPU is played */
    uint64_t seed, work_ns, bound_ns, late_ns, base;
};

#define FAULT_ROUNDS_MAX 4096u /* rounds that `stale` has room for */

#define FAULT_ONE_LANE()  \
    if (xs_lane() != 0)   \
        return

/* Payload: differs from word to word and from round to round. */
XS_INLINE uint32_t fault_word(uint64_t round, uint32_t i) { return (uint32_t)round * 0x9e3779b9u ^ (i * 0x85ebca6bu + 1); }

/* 75 .. 125 % of work_ns, by seed, rank and round. */
XS_INLINE uint64_t fault_work_ns(const struct fault_args *a, uint32_t rank, uint64_t round) {
    uint64_t x = (a->seed + 1) * 0x9e3779b97f4a7c15ull ^ (round << 8 | rank) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebull;
    return a->work_ns * (768 + (x >> 32) % 512) / 1024;
}
XS_FN void fault_work(const xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_work_ns(fault_work_ns(a, xs_handle_rank(w->xs), round));
}

XS_FN xs_bound fault_bound(const struct fault_args *a) { return xs_bound_ns(a->bound_ns); }

/* The stores of elements first .. end of a batch in rank dst's copy of data. */
XS_FN void fault_store(const struct fault_args *a, uint32_t dst, uint32_t slot, uint64_t round, uint32_t first, uint32_t end) {
    uint32_t *to = XS_BUFFER_AT(a->data, uint32_t, dst) + (uint64_t)slot * a->words;
    for (uint32_t i = first; i < end; i++)
        XS_STORE(&to[i], fault_word(round, i));
}
XS_FN void fault_put_begin(xs_writer *w, const struct fault_args *a, uint32_t dst, uint32_t slot, uint64_t round) {
    xs_write_begin(w, a->name_batch, slot, round, dst, 1, a->words * 4);
}
/* A whole batch, noted. */
XS_FN void fault_put(xs_writer *w, const struct fault_args *a, uint32_t dst, uint32_t slot, uint64_t round) {
    fault_put_begin(w, a, dst, slot, round);
    fault_store(a, dst, slot, round, 0, a->words);
    xs_payload_end(w, a->name_batch, slot);
}
/* Reads the own copy of a batch and says which element is the first stale one: into `stale`, and as a mark. hold: for how long
 * it reads. */
XS_FN void fault_take_slowly(xs_writer *w, const struct fault_args *a, uint32_t src, uint32_t slot, uint64_t round, uint64_t hold_ns) {
    uint32_t rank = xs_handle_rank(w->xs), first = a->words;
    const uint32_t *from = XS_BUFFER_AT(a->data, const uint32_t, rank) + (uint64_t)slot * a->words;
    xs_read_begin(w, a->name_batch, slot, round, src, 1, a->words * 4);
    for (uint32_t i = 0; i < a->words; i++) {
        if (i == a->words / 2)
            xs_work_ns(hold_ns);
        if (XS_LOAD(&from[i]) != fault_word(round, i) && first == a->words)
            first = i;
    }
    xs_payload_end(w, a->name_batch, slot);
    if (first == a->words)
        return;
    XS_BUFFER_AT(a->stale, uint32_t, rank)[(round - 1) % FAULT_ROUNDS_MAX] = first + 1;
    xs_mark(w, a->name_stale, first);
}
XS_FN void fault_take(xs_writer *w, const struct fault_args *a, uint32_t src, uint32_t slot, uint64_t round) {
    fault_take_slowly(w, a, src, slot, round, 0);
}

/* A wait loop as people write it: a fixed sleep between polls, any comparison, no back-off. bits: 64 or 32. */
XS_FN int fault_poll_line(xs_writer *w, xs_slot slot, uint64_t need, uint32_t cmp, uint32_t order, uint64_t sleep_ns, uint64_t bound_ns,
                          uint64_t source) {
    uint64_t start = xs_now(), seen = xs_ordered_load(slot.at, order, XS_SCOPE_SYS, 64);
    if (xs_core_holds(seen, need, cmp, 64)) {
        xs_note_pass(w, slot, seen, need, order, XS_SCOPE_SYS);
        return XS_RESULT_OK;
    }
    xs_wait_note n = xs_note_wait_begin_line(w, slot, need, seen, order, XS_SCOPE_SYS, cmp, source);
    int result = XS_RESULT_OK;
    while (!xs_core_holds(seen, need, cmp, 64)) {
        n.last_fail = xs_now_low();
        if (xs_now() - start >= bound_ns || xs_core_aborted(w)) {
            result = XS_RESULT_TIMEOUT;
            break;
        }
        if (sleep_ns)
            xs_nanosleep((uint32_t)sleep_ns);
        n.polls++;
        n.slept += sleep_ns;
        seen = xs_ordered_load(slot.at, order, XS_SCOPE_SYS, 64);
    }
    xs_note_wait_end(w, &n, seen, (uint32_t)result);
    return result;
}
#define fault_poll(w, slot, need, cmp, order, sleep_ns, bound_ns) \
    fault_poll_line(w, slot, need, cmp, order, sleep_ns, bound_ns, XS_HERE)

/* The kernel stops here. The host plays it: the abort, without the trap, by which the process would be lost. */
#if XS_CUDA
#define FAULT_TRAP(w) xs_trap(w)
#else
#define FAULT_TRAP(w) xs_kernel_abort(w, XS_E_TRAPPED)
#endif

/* The right producer and consumer of a pair: rank 0 writes batch `round` into rank 1's memory and signals; a batch has memory
 * of its own, so there is no credit. */
XS_FN int fault_produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}
XS_FN int fault_consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)round - 1, round);
    return result;
}
/* All ranks meet before their first round: threads of an operating system start milliseconds apart, and what one rank does alone
 * is no fault between two. */
XS_FN void fault_meet(xs_writer *w, const struct fault_args *a) {
    uint32_t self = xs_handle_rank(w->xs);
    for (uint32_t dst = 0; dst < a->start.columns && xs_handle_block(w->xs) == 0 && xs_warp() == 0; dst++)
        xs_signal_slot(w, &a->start, dst, 0, self, a->stream + 1);
    for (uint32_t src = 0; src < a->start.columns; src++)
        (void)xs_wait_slot_bounded(w, &a->start, 0, src, a->stream + 1, fault_bound(a));
}
/* A writer that goes round by round until one gives up; `part` is what it does in a round, `begin` what comes before the first. */
#define FAULT_ROUNDS(part) FAULT_ROUNDS_BEHIND(fault_meet(&w, &args), part)
#define FAULT_ROUNDS_BEHIND(begin, part)                                                                        \
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);                      \
    int result = XS_RESULT_OK;                                                                                  \
    begin;                                                                                                      \
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {                         \
        xs_writer_epoch(&w, round);                                                                             \
        result = (part);                                                                                        \
    }                                                                                                           \
    xs_writer_end(&w)
/* The kernel of a pair: its two ranks do their part. */
#define FAULT_PAIR(produce, consume)                                                                            \
    FAULT_ONE_LANE();                                                                                           \
    uint32_t rank = xs_rank(xs);                                                                                \
    FAULT_ROUNDS(rank == 0 ? produce(&w, &args, round) : consume(&w, &args, round))
/* Rank 0 with all its blocks, and one block of rank 1. */
#define FAULT_BLOCKS(produce, consume)                                                                          \
    FAULT_ONE_LANE();                                                                                           \
    uint32_t rank = xs_rank(xs), block = xs_block(xs);                                                          \
    if (rank == 1 && block != 0)                                                                                \
        return;                                                                                                 \
    FAULT_ROUNDS(rank == 0 ? produce(&w, &args, block, round) : consume(&w, &args, round))

/* An election on rank 0: each block writes its share of the batch once the round before is published, and arrives. */
XS_FN int fault_put_share(xs_writer *w, const struct fault_args *a, uint32_t block, uint64_t round) {
    uint32_t slot = (uint32_t)round - 1, share = a->words / a->blocks;
    int result = xs_wait_slot_bounded(w, &a->turn, 0, 0, round - 1, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    xs_work_ns(fault_work_ns(a, block, round));
    fault_put_begin(w, a, 1, slot, round);
    fault_store(a, 1, slot, round, block * share, (block + 1) * share);
    xs_payload_end(w, a->name_batch, slot);
    return result;
}
/* By the elected block, behind its signal. */
XS_FN void fault_next_round(xs_writer *w, const struct fault_args *a, uint64_t round) {
    xs_signal_slot(w, &a->turn, 0, 0, 0, round);
}

#if XS_CUDA
#define FAULT_HOST 0
#else
#define FAULT_HOST 1
#include "fault_host.h"
#endif

#endif
