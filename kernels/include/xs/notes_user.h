/* Notes of the user's own: payload and work on it (only where XS_STARTED_PAYLOAD is set), marks and scopes. name_id
 * and id are ids of xs_mark_name. Part of notes.h, which includes it. */
#ifndef XS_NOTES_USER_H
#define XS_NOTES_USER_H

#include <xs/notes.h>

XS_FN void xs_note_payload(xs_writer *w, uint32_t event, uint32_t name_id, uint32_t index, uint64_t generation,
                           uint32_t peer, uint32_t rows, uint64_t bytes) {
    if (!XS_TRACE || !w->payload)
        return;
    xs_emit_full(w, xs_how_of(event, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 1, name_id, index,
                 (uint32_t)generation, xs_now());
    xs_emit_more(w, peer, rows, xs_high(bytes) ? UINT32_MAX : (uint32_t)bytes);
}

/* index: which tile or chunk. generation: the sequence it belongs to. peer: of payload, a writer names the rank
 * whose memory it is in, a reader the rank that wrote it; XS_NO_PEER: any of several, and on both sides what lies in
 * one place for all (under a lock). */
XS_FN void xs_read_begin(xs_writer *w, uint32_t name_id, uint32_t index, uint64_t generation, uint32_t peer,
                         uint32_t rows, uint64_t bytes) {
    xs_note_payload(w, XS_EV_READ_BEGIN, name_id, index, generation, peer, rows, bytes);
}
XS_FN void xs_write_begin(xs_writer *w, uint32_t name_id, uint32_t index, uint64_t generation, uint32_t peer,
                          uint32_t rows, uint64_t bytes) {
    xs_note_payload(w, XS_EV_WRITE_BEGIN, name_id, index, generation, peer, rows, bytes);
}
XS_FN void xs_work_begin(xs_writer *w, uint32_t name_id, uint32_t index, uint64_t generation, uint32_t peer,
                         uint32_t rows, uint64_t bytes) {
    xs_note_payload(w, XS_EV_WORK_BEGIN, name_id, index, generation, peer, rows, bytes);
}
/* Ends the read, write or work that began last. */
XS_FN void xs_payload_end(xs_writer *w, uint32_t name_id, uint32_t index) {
    if (XS_TRACE && w->payload)
        xs_emit_head(w, XS_CODE_PAYLOAD_END, name_id, index, xs_now_low());
}

XS_FN void xs_mark(xs_writer *w, uint32_t id, uint32_t word) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_MARK, id, word, xs_now_low());
}
XS_FN void xs_scope_begin(xs_writer *w, uint32_t id, uint32_t word) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_SCOPE_BEGIN, id, word, xs_now_low());
}
XS_FN void xs_scope_end(xs_writer *w, uint32_t id, uint32_t word) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_SCOPE_END, id, word, xs_now_low());
}

#endif
