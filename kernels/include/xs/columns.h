/* Waiting for several columns of one row at the same time: all are polled in turn, and each counts as one wait, with
 * its records and its status line, whether it passes or has to wait. For barriers and channels. */
#ifndef XS_COLUMNS_H
#define XS_COLUMNS_H

#include <xs/core.h>

typedef struct xs_columns {
    const xs_pad *pad;
    uint32_t owner, row, first; /* column first + i belongs to bit i */
    uint64_t open;              /* at most 64 at a time */
    uint64_t need;
    uint32_t line; /* status line of bit 0 */
    uint64_t source;
} xs_columns;

XS_FN xs_slot xs_columns_slot(const xs_columns *c, uint32_t i) {
    return xs_slot_at(c->pad, c->owner, c->row, c->first + i);
}

/* The first poll of all: leaves open those that have to wait. */
XS_FN xs_wait_note xs_columns_first(xs_writer *w, xs_columns *c) {
    xs_wait_note n = XS_ZERO;
    uint64_t all = c->open;
    /* the same from bit i on; traced, no copy is kept over the notes */
    const uint64_t *open = XS_TRACE ? &c->open : &all;
    if (XS_TRACE) {
        /* above those in use: bit i has the i-th. Not marked: no other wait can begin in here */
        c->line = xs_bits_end(w->lines);
        /* here: constants in all that follows */
        xs_note_wait_asks(&n, c->need, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE, c->source);
    }
    XS_NO_UNROLL
    for (uint32_t i = 0; i < 64 && *open >> i; i++) {
        if (!(*open >> i & 1))
            continue;
        xs_slot slot = xs_columns_slot(c, i);
        uint64_t seen = xs_ordered_poll(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
        if (seen >= c->need) {
            c->open &= ~(1ull << i);
            xs_core_satisfied(w, slot, XS_ACQUIRE, XS_SCOPE_SYS);
            xs_note_pass(w, slot, seen, c->need, XS_ACQUIRE, XS_SCOPE_SYS);
        } else if (XS_TRACE) {
            n.slot = slot, n.line = c->line + i;
            xs_note_wait_start(w, &n, seen, 0);
            if (XS_LINE_READS == 1)
                xs_note_wait_tell(w, &n, XS_LINE_WAITING, XS_RESULT_OK, seen);
        }
    }
    return n;
}

/* One poll of all that are open, the reads-th of each; of those that stay open the status line is written where it
 * is due. With a result that is not OK all of them end, and only what is told of them is done here. One place in the
 * code for all. */
XS_FN void xs_columns_poll(xs_writer *w, xs_columns *c, xs_wait_note *n, const xs_bound_state *s, uint32_t reads,
                           uint32_t result) {
    XS_NO_UNROLL
    for (uint32_t i = 0; i < 64 && c->open >> i; i++) {
        if (!(c->open >> i & 1))
            continue;
        xs_slot slot = xs_columns_slot(c, i);
        uint64_t seen = xs_ordered_poll(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
        bool over = seen >= c->need && (!XS_TRACE || result == XS_RESULT_OK);
        if (over) {
            c->open &= ~(1ull << i);
            xs_core_satisfied(w, slot, XS_ACQUIRE, XS_SCOPE_SYS);
        }
        if (!XS_TRACE)
            continue;
        c->open = xs_opaque_u64(c->open); /* now: behind what is told, its mask would be kept meanwhile */
        n->slot = slot, n->line = c->line + i;
        if (!over && (xs_core_line_due(reads) || result != XS_RESULT_OK))
            xs_core_tell(w, n, s, seen, reads,
                         result != XS_RESULT_OK ? (uint32_t)XS_LINE_GIVEN_UP : xs_core_line_state(reads), result);
        if (over || result != XS_RESULT_OK)
            xs_core_ended(w, n, seen, reads, result);
    }
    xs_core_failed(n);
}

/* Until every column in `open` is at least need: ld.acquire.sys. Returns xs_result. */
XS_FN int xs_columns_wait(xs_writer *w, xs_columns c, xs_bound bound) {
    xs_step();
    xs_wait_note n = xs_columns_first(w, &c);
    uint32_t reads = 1, result = XS_RESULT_OK;
    if (c.open) {
        xs_bound_state state = xs_bound_begin(bound);
        while (c.open && result == XS_RESULT_OK) {
            result = xs_bound_check(w, bound, &state, reads);
            if (!XS_TRACE && result != XS_RESULT_OK)
                break;
            if (result == XS_RESULT_OK) {
                xs_core_pause(xs_columns_slot(&c, xs_bits_lowest(c.open)).at, reads, xs_bound_any(bound));
                reads = xs_backoff_next(reads);
            }
            xs_columns_poll(w, &c, &n, &state, reads, result);
        }
    }
    return (int)result;
}

#endif
