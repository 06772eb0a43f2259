/* Watermarks (article 000, section 4): one slot per (producer, chunk of 64 rows) at each consumer. The watermark is the
 * longest finished prefix; chunks may finish out of order. Caller: a thread. Pads: rows are sources, columns chunks. */
#ifndef XS_WATERMARK_H
#define XS_WATERMARK_H

#include <xs/slot.h>

/* st.release.sys into dst's copy, row = own rank: `rows` rows of the chunk are finished for sequence seq. */
XS_FN void xs_watermark_advance(xs_writer *w, const xs_pad *pad, uint32_t dst, uint32_t chunk, uint64_t seq,
                                uint32_t rows) {
    xs_how how = xs_how_of(XS_EV_WATERMARK, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE);
    xs_core_publish(w, xs_slot_at(pad, dst, xs_handle_rank(w->xs), chunk), seq, how, rows != XS_CHUNK_ROWS, rows, 64);
}

/* ld.acquire.sys of the own copy until chunk `chunk` of rank src is finished for seq. Returns xs_result. */
#define xs_watermark_wait(w, pad, src, chunk, seq) xs_wait_slot(w, pad, src, chunk, seq)
#define xs_watermark_wait_bounded(w, pad, src, chunk, seq, bound) xs_wait_slot_bounded(w, pad, src, chunk, seq, bound)

/* How many chunks of src, from 0 on, are finished for seq; `from` of them are known to be. ld.relaxed.sys: it only
 * looks. xs_watermark_wait before the rows are read (it passes at once). */
XS_FN uint32_t xs_watermark_prefix(const xs_pad *pad, uint32_t self, uint32_t src, uint64_t seq, uint32_t from) {
    while (from < pad->columns &&
           xs_ordered_load(xs_slot_at(pad, self, src, from).at, XS_RELAXED, XS_SCOPE_SYS, 64) >= seq)
        from++;
    return from;
}

#endif
