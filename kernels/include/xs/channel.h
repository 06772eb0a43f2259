/* publish, consume and try_consume (article 001, section 3): a ring of `depth` batches from one producer to several
 * consumers. The article fences after its relaxed add, so that nothing is released, and lets threads read a shared
 * sequence that only a new publication sets; its ring has no credit, so that a fast producer laps a reader. Here the
 * fence stands before the store, the broadcast is always set, and a slot is reused only when every consumer gave it
 * back. Caller: the block, all of its threads; thread 0 speaks for it. Sequences start at 1 and rise by 1. */
#ifndef XS_CHANNEL_H
#define XS_CHANNEL_H

#include <xs/cell.h>
#include <xs/columns.h>
#include <xs/slot.h>

/* Worlds of more than 64 ranks: all but the producer. */
XS_FN bool xs_channel_consumes(const xs_channel *ch, uint32_t rank) {
    return ch->credit.columns > 64 ? rank != ch->producer : (ch->consumers >> (rank & 63) & 1) != 0;
}
XS_FN uint64_t xs_channel_consumers(const xs_channel *ch, uint32_t first) {
    uint64_t bits = 0;
    XS_NO_UNROLL
    for (uint32_t i = 0; i < 64 && first + i < ch->credit.columns; i++)
        bits |= (uint64_t)xs_channel_consumes(ch, first + i) << i;
    return bits;
}
XS_FN uint32_t xs_channel_column(const xs_channel *ch, uint64_t seq) { return (uint32_t)(seq % ch->depth); }

/* The representative's wait until every consumer gave back the batch that held seq's slot: ld.acquire.sys. */
XS_FN int xs_channel_credit(xs_writer *w, const xs_channel *ch, uint64_t seq, xs_bound bound, uint64_t source) {
    int result = XS_RESULT_OK;
    XS_NO_UNROLL
    for (uint32_t first = 0; seq > ch->depth && first < ch->credit.columns && result == XS_RESULT_OK; first += 64) {
        xs_columns c = {&ch->credit, ch->producer, 0, first, xs_channel_consumers(ch, first), seq - ch->depth,
                        0,           source};
        result = xs_columns_wait(w, c, bound);
    }
    return result;
}

/* Before the block writes batch seq: waits until its slot is free at every consumer. All threads return the same
 * xs_result. By the producer's block. */
XS_FN int xs_publish_begin_line(xs_writer *w, const xs_channel *ch, uint64_t seq, xs_bound bound, uint64_t source) {
    XS_SHARED(xs_cell, cell);
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads())
        cell->result = xs_channel_credit(w, ch, seq, bound, source);
    return xs_cell_read(cell, NULL);
}
#define xs_publish_begin(w, ch, seq, bound) xs_publish_begin_line(w, ch, seq, bound, XS_HERE)

/* The representative's part: batch sizes, then one fence.acq_rel.sys, then the sequence to every consumer. */
XS_FN void xs_channel_store(xs_writer *w, const xs_channel *ch, uint64_t seq, uint64_t batch) {
    uint32_t column = xs_channel_column(ch, seq), ranks = ch->credit.columns;
    XS_NO_UNROLL
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (xs_channel_consumes(ch, rank))
            xs_ordered_store(xs_slot_at(&ch->batch, rank, 0, column).at, batch, XS_RELAXED, XS_SCOPE_SYS, 64);
    xs_core_fence_before_stores(XS_SCOPE_SYS);
    XS_NO_UNROLL
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (xs_channel_consumes(ch, rank)) {
            xs_slot slot = xs_slot_at(&ch->sequence, rank, 0, column);
            xs_core_fence_covers(slot);
            xs_core_store_fenced(w, slot, seq, XS_SCOPE_SYS, XS_FENCE_SYS);
            xs_note_publish(w, slot, seq, batch, ch->depth);
        }
}

/* The batch is written: joins the block, then publishes it. Returns xs_result (ABORTED: not published). */
XS_FN int xs_publish(xs_writer *w, const xs_channel *ch, uint64_t seq, uint64_t batch) {
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads())
        xs_channel_store(w, ch, seq, batch);
    return XS_RESULT_OK;
}

XS_FN uint64_t xs_channel_batch(const xs_channel *ch, uint32_t rank, uint64_t seq) {
    return xs_ordered_load(xs_slot_at(&ch->batch, rank, 0, xs_channel_column(ch, seq)).at, XS_RELAXED, XS_SCOPE_SYS,
                           64);
}

/* Of the caller's sequences. Not xs_own_slot: a consumer needs its rank besides, and would keep both kinds of it. */
XS_FN xs_slot xs_channel_slot(const xs_writer *w, const xs_channel *ch, uint32_t column) {
    return xs_slot_at(&ch->sequence, xs_handle_rank(w->xs), 0, column);
}

/* Waits for batch seq: the representative polls its own copy (ld.acquire.sys), the block gets the batch's size (0
 * unless OK). All threads return the same xs_result. By a consumer's block. */
XS_FN int xs_consume_line(xs_writer *w, const xs_channel *ch, uint64_t seq, uint64_t *batch, xs_bound bound,
                          uint64_t source) {
    XS_SHARED(xs_cell, cell);
    *batch = 0;
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads()) {
        xs_slot slot = xs_channel_slot(w, ch, xs_channel_column(ch, seq));
        cell->result = xs_core_wait_bits(w, slot, seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, bound, 64, source);
        cell->value = cell->result == XS_RESULT_OK ? xs_channel_batch(ch, xs_handle_rank(w->xs), seq) : 0;
    }
    return xs_cell_read(cell, batch);
}
#define xs_consume(w, ch, seq, batch, bound) xs_consume_line(w, ch, seq, batch, bound, XS_HERE)

/* Looks once. Returns 1 and the batch's size to all threads if batch seq is there, else 0 and 0 (nothing is
 * recorded: it did not wait). */
XS_FN int xs_try_consume(xs_writer *w, const xs_channel *ch, uint64_t seq, uint64_t *batch) {
    XS_SHARED(xs_cell, cell);
    *batch = 0;
    if (xs_block_join())
        return 0;
    if (xs_block_leads()) {
        xs_slot slot = xs_channel_slot(w, ch, xs_channel_column(ch, seq));
        uint64_t seen = xs_ordered_load(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
        cell->result = seen >= seq;
        if (seen >= seq)
            xs_note_pass(w, slot, seen, seq, XS_ACQUIRE, XS_SCOPE_SYS);
        cell->value = seen >= seq ? xs_channel_batch(ch, xs_handle_rank(w->xs), seq) : 0;
    }
    return xs_cell_read(cell, batch) == 1;
}

/* The block has read batch seq: joins, then gives the credit back (st.release.sys into the producer's copy). Returns
 * xs_result (ABORTED: not given). */
XS_FN int xs_consume_end(xs_writer *w, const xs_channel *ch, uint64_t seq) {
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads()) {
        uint32_t self = xs_handle_rank(w->xs);
        if (XS_TRACE) /* its slot may be written again as soon as the credit is given */
            xs_note_consume(w, xs_slot_at(&ch->sequence, self, 0, xs_channel_column(ch, seq)), seq,
                            xs_channel_batch(ch, self, seq), ch->depth);
        xs_core_store(w, xs_slot_at(&ch->credit, ch->producer, 0, self), seq, XS_RELEASE, XS_SCOPE_SYS);
    }
    return XS_RESULT_OK;
}

#endif
