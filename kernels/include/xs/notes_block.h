/* Notes of what blocks do: barriers, channels, fences, aborts. Part of notes.h, which includes it. */
#ifndef XS_NOTES_BLOCK_H
#define XS_NOTES_BLOCK_H

#include <xs/notes.h>

XS_FN void xs_note_barrier(xs_writer *w, uint32_t event, xs_slot slot, uint64_t generation, uint32_t participants,
                           uint32_t result) {
    if (!XS_TRACE)
        return;
    xs_how how = {event, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE, XS_CMP_GE, result};
    xs_emit_full(w, how, 0, slot.object, (uint32_t)generation, participants, xs_now());
}
XS_FN void xs_note_barrier_enter(xs_writer *w, xs_slot slot, uint64_t generation, uint32_t participants) {
    xs_note_barrier(w, XS_EV_BARRIER_ENTER, slot, generation, participants, XS_RESULT_OK);
}
XS_FN void xs_note_barrier_leave(xs_writer *w, xs_slot slot, uint64_t generation, uint32_t participants,
                                 uint32_t result) {
    xs_note_barrier(w, XS_EV_BARRIER_LEAVE, slot, generation, participants, result);
}

/* A named barrier (bar.sync id, count) of the block. */
XS_FN void xs_note_block_enter(xs_writer *w, uint32_t id, uint32_t count) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_BLOCK_ENTER, id, count, xs_now_low());
}
XS_FN void xs_note_block_leave(xs_writer *w, uint32_t id, uint32_t count) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_BLOCK_LEAVE, id, count, xs_now_low());
}

/* What stands beside the SIGNAL of a channel: sequence, batch size and depth. */
XS_FN void xs_note_channel(xs_writer *w, uint32_t event, xs_slot slot, uint64_t seq, uint64_t batch, uint32_t depth) {
    if (!XS_TRACE)
        return;
    xs_emit_full(w, xs_how_of(event, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 1, slot.object, (uint32_t)seq,
                 xs_high(batch) ? UINT32_MAX : (uint32_t)batch, xs_now());
    xs_emit_more(w, depth < XS_OBJECT_MASK ? depth : XS_OBJECT_MASK, xs_high(seq), 0);
}
XS_FN void xs_note_publish(xs_writer *w, xs_slot slot, uint64_t seq, uint64_t batch, uint32_t depth) {
    xs_note_channel(w, XS_EV_PUBLISH, slot, seq, batch, depth);
}
XS_FN void xs_note_consume(xs_writer *w, xs_slot slot, uint64_t seq, uint64_t batch, uint32_t depth) {
    xs_note_channel(w, XS_EV_CONSUME, slot, seq, batch, depth);
}

XS_FN void xs_note_fence_line(xs_writer *w, uint32_t order, uint32_t scope, uint64_t source) {
    if (!XS_TRACE)
        return;
    xs_slot file = XS_ZERO;
    file.object = XS_SOURCE_FILE(source);
    xs_note_detailed(w, xs_how_of(XS_EV_FENCE, order, scope, XS_FENCE_NONE), file, XS_SOURCE_LINE(source), false, 0,
                     xs_now_low());
}
#define xs_note_fence(w, order, scope) xs_note_fence_line(w, order, scope, XS_HERE)

XS_FN void xs_note_bus_flush(xs_writer *w, xs_slot slot, uint64_t value) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_BUS_FLUSH, slot.object, (uint32_t)value, xs_now_low());
}

/* A kernel aborts the world, or sees it aborted. reason: an xs_error, positive. */
XS_FN void xs_note_abort_line(xs_writer *w, uint32_t reason, uint64_t source) {
    if (XS_TRACE)
        xs_emit_full(w, xs_how_of(XS_EV_ABORT, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, XS_SOURCE_FILE(source),
                     reason, XS_SOURCE_LINE(source), xs_now());
}
#define xs_note_abort(w, reason) xs_note_abort_line(w, reason, XS_HERE)

#endif
