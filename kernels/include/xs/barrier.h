/* barrier_all (article 000, section 2): every rank stores seq to every rank's copy, its own included, and waits for
 * all of them. The article's neither joins its block before and after nor acquires: other threads' writes are not
 * covered there, and what was waited for is not ordered. Covers the calling block; the grid only after an election.
 * Caller: the block. Pad: 1 row, a column per rank (the sender). seq rises by any amount each time, the same on all
 * ranks. */
#ifndef XS_BARRIER_H
#define XS_BARRIER_H

#include <xs/cell.h>
#include <xs/columns.h>

/* fence.acq_rel.sys; st.relaxed.sys to every copy: one fence covers them all. */
XS_FN void xs_barrier_signal(xs_writer *w, const xs_pad *pad, uint64_t seq) {
    uint32_t self = xs_handle_rank(w->xs);
    xs_core_fence_before_stores(XS_SCOPE_SYS);
    XS_NO_UNROLL
    for (uint32_t rank = 0; rank < pad->columns; rank++) {
        xs_core_fence_covers(xs_slot_at(pad, rank, 0, self));
        xs_core_store_fenced(w, xs_slot_at(pad, rank, 0, self), seq, XS_SCOPE_SYS, XS_FENCE_SYS);
    }
}

/* ld.acquire.sys of all columns of the own copy, polled in turn: one wait each. */
XS_FN int xs_barrier_wait(xs_writer *w, const xs_pad *pad, uint64_t seq, xs_bound bound, uint64_t source) {
    int result = XS_RESULT_OK;
    XS_NO_UNROLL
    for (uint32_t first = 0; first < pad->columns && result == XS_RESULT_OK; first += 64) {
        uint32_t left = pad->columns - first;
        xs_columns c = {pad, xs_handle_rank(w->xs), 0, first, left < 64 ? (1ull << left) - 1 : ~0ull, seq, 0, source};
        result = xs_columns_wait(w, c, bound);
    }
    return result;
}

/* Names the barrier in its events. Made anew for each: kept, it would cost registers in the wait. */
XS_FN xs_slot xs_barrier_own(const xs_writer *w, const xs_pad *pad) {
    uint32_t self = xs_handle_rank(w->xs);
    return xs_slot_at(pad, self, 0, self);
}

/* Joins the block, signals, waits, joins. All threads return the same xs_result. */
XS_FN int xs_barrier_all_line(xs_writer *w, const xs_pad *pad, uint64_t seq, xs_bound bound, uint64_t source) {
    XS_SHARED(xs_cell, cell);
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads()) {
        xs_note_barrier_enter(w, xs_barrier_own(w, pad), seq, pad->columns);
        xs_barrier_signal(w, pad, seq);
        cell->result = xs_barrier_wait(w, pad, seq, bound, source);
        xs_note_barrier_leave(w, xs_barrier_own(w, pad), seq, pad->columns, (uint32_t)cell->result);
    }
    return xs_cell_read(cell, NULL);
}
#define xs_barrier_all(w, pad, seq, bound) xs_barrier_all_line(w, pad, seq, bound, XS_HERE)

#endif
