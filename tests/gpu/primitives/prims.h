/* What the kernels of this folder share: every rank sends to the next one, round after round, in memory that is used again,
 * so that what arrives late or stale shows as a wrong word. */
#ifndef PRIMS_H
#define PRIMS_H

#include <example.h>
#include <xs/kernel.h>

enum { PRIM_WORDS = 512, PRIM_BLOCKS = 4, PRIM_THREADS = 128, PRIM_ROWS = PRIM_BLOCKS * PRIM_THREADS, PRIM_CHUNKS = 4, PRIM_NARROW_FIRST = 0xfffffff0 };

struct prim_args {
    xs_pad data, ack;      /* [0][from] */
    xs_pad narrow, nack;   /* the same, 32 bits wide, adopted; start before the wrap */
    xs_pad counter, mark;  /* [2][1] shared; [from][chunk] */
    xs_pad bar, beat;      /* [0][from] */
    xs_channel channel;    /* rank 0 to all others, depth 4 */
    xs_buffer payload;     /* [from][PRIM_WORDS] */
    xs_buffer wrong;       /* a word a thread: what it found wrong */
    xs_buffer counts;      /* example_counts, a row a thread */
    uint32_t rounds, role;
    uint64_t seed, life_ns;
};

typedef struct prim_self {
    const struct prim_args *a;
    const xs_handle *xs;
    example_counts *kept;
    uint32_t *wrong;
    uint32_t rank, next, before;
} prim_self;

XS_FN prim_self prim_begin(const struct prim_args *a, const xs_handle *xs) {
    prim_self s;
    s.a = a, s.xs = xs;
    s.rank = xs_rank(*xs), s.next = (s.rank + 1) % xs->ranks, s.before = (s.rank + xs->ranks - 1) % xs->ranks;
    uint32_t thread = xs_block(*xs) * xs_threads() + xs_thread();
    s.kept = XS_BUFFER_AT(a->counts, example_counts, s.rank) + thread;
    s.wrong = XS_BUFFER_AT(a->wrong, uint32_t, s.rank) + thread;
    return s;
}

XS_FN uint32_t prim_pattern(const prim_self *s, uint32_t to, uint32_t from, uint32_t round, uint32_t i) {
    return example_pattern(s->a->seed, to, from, round, i);
}

/* The calling block's threads write, or compare, part `part` of `parts` of what `from` sends `to`. */
XS_FN void prim_write(const prim_self *s, uint32_t to, uint32_t from, uint32_t round, uint32_t part, uint32_t parts) {
    uint32_t *at = XS_BUFFER_AT(s->a->payload, uint32_t, to) + from * PRIM_WORDS, size = PRIM_WORDS / parts;
    for (uint32_t i = part * size + xs_thread(); i < (part + 1) * size; i += xs_threads())
        XS_STORE(&at[i], prim_pattern(s, to, from, round, i));
}
XS_FN void prim_compare(const prim_self *s, uint32_t to, uint32_t from, uint32_t round, uint32_t part, uint32_t parts) {
    const uint32_t *at = XS_BUFFER_AT(s->a->payload, const uint32_t, to) + from * PRIM_WORDS;
    uint32_t size = PRIM_WORDS / parts, wrong = 0;
    for (uint32_t i = part * size + xs_thread(); i < (part + 1) * size; i += xs_threads())
        wrong += XS_LOAD(&at[i]) != prim_pattern(s, to, from, round, i);
    *s->wrong += wrong;
}

/* What the first thread's call returned, for the block; anything but OK counts as wrong. */
XS_FN bool prim_failed(const prim_self *s, int result) {
    result = xs_block_broadcast(result);
    if (result != XS_RESULT_OK)
        *s->wrong += 1;
    return result != XS_RESULT_OK;
}

#endif
