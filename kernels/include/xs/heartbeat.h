/* heartbeat and aborted (article 004, section 3.2): a rank says that it lives, so that who waits for it can tell
 * slow from dead; and a wait gives up softly when the world is aborted, which every primitive does at its back-off
 * stages. Caller: a thread. Pad: 1 row, a column per rank (the sender), XS_PAD_NO_DATA. */
#ifndef XS_HEARTBEAT_H
#define XS_HEARTBEAT_H

#include <xs/errors.h>
#include <xs/slot.h>

/* st.relaxed.sys to every rank's copy: guards no data. One record. beat rises each time. */
XS_FN void xs_heartbeat(xs_writer *w, const xs_pad *pad, uint64_t beat) {
    uint32_t self = xs_handle_rank(w->xs);
    xs_note_heartbeat(w, xs_slot_at(pad, self, 0, self), beat);
    for (uint32_t rank = 0; rank < pad->columns; rank++)
        xs_ordered_store(xs_slot_at(pad, rank, 0, self).at, beat, XS_RELAXED, XS_SCOPE_SYS, 64);
}

/* A bound that ends when the beat of rank `peer` has not moved for ns nanoseconds. */
XS_FN xs_bound xs_bound_heartbeat(const xs_writer *w, const xs_pad *pad, uint32_t peer, uint64_t ns) {
    xs_bound bound = {0, 0, ns, (const uint64_t *)xs_own_slot(w, pad, 0, peer).at};
    return bound;
}

/* 1 once the world is aborted. On a GPU XS_LOOKOUT_NS later at most (lookout.h), for the price of a load from its
 * own memory. */
XS_FN int xs_aborted_line(xs_writer *w, uint64_t source) {
    xs_step();
    uint32_t reason = xs_lookout_aborted(w->xs);
    if (reason)
        xs_note_abort_line(w, reason, source);
    return reason != 0;
}
#define xs_aborted(w) xs_aborted_line(w, XS_HERE)

/* The world is over: every wait of every rank ends with ABORTED. reason: an xs_error, of either sign. The first reason
 * stays, but for two that race: there is no atomic exchange with the host on every bus. */
XS_FN void xs_kernel_abort_line(xs_writer *w, int reason, uint64_t source) {
    uint32_t positive = (uint32_t)(reason < 0 ? -reason : reason), *word = (uint32_t *)(uintptr_t)w->xs->abort;
    xs_note_abort_line(w, positive, source);
    if (XS_TRACE)
        xs_control_store_u32(&xs_writer_control(w)->aborted, positive);
    uint32_t first = xs_load_relaxed_sys_u32(word);
    if (first == 0)
        xs_store_release_sys_u32(word, positive);
    xs_lookout_abort(w->xs, first ? first : positive);
}
#define xs_kernel_abort(w, reason) xs_kernel_abort_line(w, reason, XS_HERE)

#endif
