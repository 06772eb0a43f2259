/* A wait loop that xs did not write, traced by two lines: one behind its first poll, one behind the loop. */
#ifndef XS_NOTES_WAIT_H
#define XS_NOTES_WAIT_H

#include <xs/notes.h>

/* Behind the first poll, which saw `observed`: notes a pass if that is enough (>= need), else a wait that begins
 * here. */
XS_FN xs_wait_note xs_note_wait_first_line(xs_writer *w, xs_slot slot, uint64_t need, uint64_t observed, uint32_t order,
                                           uint32_t scope, uint64_t source) {
    xs_wait_note n = XS_ZERO;
    if (observed >= need)
        xs_note_pass(w, slot, observed, need, order, scope);
    else
        n = xs_note_wait_begin_line(w, slot, need, observed, order, scope, XS_CMP_GE, source);
    return n;
}
#define xs_note_wait_first(w, slot, need, observed, order, scope) \
    xs_note_wait_first_line(w, slot, need, observed, order, scope, XS_HERE)

/* Behind the loop, which ended when it saw `observed`. Polls in between are not counted: their number is reported as
 * 1. */
XS_FN void xs_note_wait_last(xs_writer *w, xs_wait_note *n, uint64_t observed, uint32_t result) {
    if (n->polls != 0)
        xs_note_wait_end(w, n, observed, result);
}

#endif
