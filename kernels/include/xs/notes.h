/* Notes: they say what happened and do nothing else. Every event of kernels is written here. Public: a kernel that xs
 * did not write, on memory that xs did not allocate, is traced by them. With XS_TRACE=0 they are nothing.
 *
 * All take the writer and are called on its lane; a call from another lane is counted (control.foreign). Slots come
 * from xs_slot_at. order, scope and fence are xs_order, xs_scope and xs_fence_flag: what the code around the note
 * does. */
#ifndef XS_NOTES_H
#define XS_NOTES_H

#include <xs/backoff.h>
#include <xs/status.h>

XS_FN uint32_t xs_high(uint64_t value) { return (uint32_t)(value >> 32); }
XS_FN bool xs_slot_wide(xs_slot slot) { return (xs_opaque(slot.flags) & XS_PAD_WIDE) != 0; }

/* All 64 bits of a time whose low half was read less than 4 s ago. */
XS_FN uint64_t xs_note_full_time(uint32_t low) {
    uint64_t now = xs_now();
    return now - (uint32_t)((uint32_t)now - low);
}

/* What a note needs that does not depend on what is noted, made ahead of a fence, an atomic or a poll: those take
 * long, and what stands behind them waits for them. No other record may come between. */
typedef struct xs_ready_note {
    char *at;
    bool wide;
} xs_ready_note;
XS_FN xs_ready_note xs_note_ready(xs_writer *w, xs_slot slot) {
    xs_ready_note r = XS_ZERO;
    if (!XS_TRACE)
        return r;
    r.at = xs_emit_ready(w);
    r.wide = xs_slot_wide(slot);
    return r;
}

/* One record where the table has a code for it and `detailed` is false, else two; wide pads take a third one with
 * the high half. */
XS_FN void xs_note_detailed_to(xs_writer *w, xs_ready_note r, xs_how how, xs_slot slot, uint64_t value, bool detailed,
                               uint32_t detail, uint32_t time) {
    bool full = xs_how_code(how) == XS_CODE_FULL || r.wide || detailed;
    xs_emit_to_ahead(w, r.at, XS_HEAD(full ? (uint32_t)XS_CODE_FULL : xs_how_code(how), xs_opaque(slot.object)),
                     (uint32_t)value, time);
    if (!full)
        return;
    xs_emit_slow(w, xs_how_detail(how, r.wide), detail, xs_high(xs_note_full_time(time)));
    if (r.wide)
        xs_emit_slow(w, XS_MORE(0), xs_high(value), 0);
}
XS_FN void xs_note_detailed(xs_writer *w, xs_how how, xs_slot slot, uint64_t value, bool detailed, uint32_t detail,
                            uint32_t time) {
    xs_note_detailed_to(w, xs_note_ready(w, slot), how, slot, value, detailed, detail, time);
}

/* ---- signals. The time of a signal is read before its store: where the store comes between, take the time first. ---- */

XS_FN uint32_t xs_note_time(void) { return XS_TRACE ? xs_now_low() : 0; }

XS_FN void xs_note_signal_at(xs_writer *w, uint32_t time, xs_slot slot, uint64_t value, uint32_t order, uint32_t scope,
                             uint32_t fence) {
    if (!XS_TRACE)
        return;
    xs_note_detailed(w, xs_how_of(XS_EV_SIGNAL, order, scope, fence), slot, value, false, 0, time);
    w->signal_object = slot.object;
}
/* Directly before the store. */
XS_FN void xs_note_signal(xs_writer *w, xs_slot slot, uint64_t value, uint32_t order, uint32_t scope, uint32_t fence) {
    xs_note_signal_at(w, xs_note_time(), slot, value, order, scope, fence);
}

/* A chunk of `rows` rows is finished. A whole chunk (64 rows) is one record, in which rows are not stored. */
#define XS_CHUNK_ROWS 64u
XS_FN void xs_note_watermark_at(xs_writer *w, uint32_t time, xs_slot slot, uint64_t seq, uint32_t rows, uint32_t order,
                                uint32_t scope) {
    if (!XS_TRACE)
        return;
    w->signal_object = slot.object;
    xs_note_detailed(w, xs_how_of(XS_EV_WATERMARK, order, scope, XS_FENCE_NONE), slot, seq, rows != XS_CHUNK_ROWS, rows,
                     time);
}
XS_FN void xs_note_watermark(xs_writer *w, xs_slot slot, uint64_t seq, uint32_t rows, uint32_t order, uint32_t scope) {
    xs_note_watermark_at(w, xs_note_time(), slot, seq, rows, order, scope);
}

XS_FN void xs_note_heartbeat(xs_writer *w, xs_slot slot, uint64_t beat) {
    if (XS_TRACE)
        xs_emit_head(w, XS_CODE_HEARTBEAT, slot.object, (uint32_t)beat, xs_now_low());
}

/* Slots (`slots` of them from this one on) were set to a value, not advanced. */
XS_FN void xs_note_reset(xs_writer *w, xs_slot slot, uint64_t value, uint32_t slots) {
    if (!XS_TRACE)
        return;
    bool high = xs_high(value) != 0;
    xs_emit_full(w, xs_how_of(XS_EV_RESET, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), high, slot.object,
                 (uint32_t)value, slots, xs_now());
    if (high)
        xs_emit_more(w, 0, xs_high(value), 0);
}

/* ---- arrivals ---- */

/* One arrival of `weight` at an election: old is the counter before (as the add returned it), base its value when this
 * epoch began, expected the epoch's arrivals. Elected where old + weight == base + expected. One record where the
 * numbers are small. After the add. */
XS_FN void xs_note_arrive_to(xs_writer *w, xs_ready_note r, uint32_t time, xs_slot slot, uint64_t old, uint64_t base,
                             uint32_t weight, uint32_t expected, uint32_t order, uint32_t scope) {
    if (!XS_TRACE)
        return;
    xs_how how = xs_how_of(XS_EV_ARRIVE, order, scope, XS_FENCE_NONE);
    uint64_t count = old - base, target = base + expected;
    bool full = xs_how_code(how) == XS_CODE_FULL || r.wide || !XS_ARRIVE_FITS(count, weight, expected);
    uint32_t packed = XS_ARRIVE_PACK((uint32_t)count, weight, expected);
    xs_emit_to(w, r.at, XS_HEAD(full ? (uint32_t)XS_CODE_FULL : xs_how_code(how), xs_opaque(slot.object)),
               full ? (uint32_t)old : packed, time);
    if (!full)
        return;
    xs_emit_slow(w, xs_how_detail(how, 1), expected, xs_high(xs_note_full_time(time)));
    xs_emit_slow(w, XS_MORE(weight < XS_OBJECT_MASK ? weight : XS_OBJECT_MASK), xs_high(old), (uint32_t)target);
}
/* time: from before the add (xs_note_time), behind a fence that belongs to it. */
XS_FN void xs_note_arrive_at(xs_writer *w, uint32_t time, xs_slot slot, uint64_t old, uint64_t base, uint32_t weight,
                             uint32_t expected, uint32_t order, uint32_t scope) {
    xs_note_arrive_to(w, xs_note_ready(w, slot), time, slot, old, base, weight, expected, order, scope);
}
XS_FN void xs_note_arrive(xs_writer *w, xs_slot slot, uint64_t old, uint64_t base, uint32_t weight, uint32_t expected,
                          uint32_t order, uint32_t scope) {
    xs_note_arrive_at(w, xs_note_time(), slot, old, base, weight, expected, order, scope);
}

/* `add` arrivals at a gate: one record for an arrival of 1. After the add. */
XS_FN void xs_note_gate_to(xs_writer *w, xs_ready_note r, uint32_t time, xs_slot slot, uint64_t old, uint32_t add,
                           uint32_t order, uint32_t scope) {
    if (XS_TRACE)
        xs_note_detailed_to(w, r, xs_how_of(XS_EV_GATE_ARRIVE, order, scope, XS_FENCE_NONE), slot, old, add != 1, add,
                            time);
}
/* time: likewise. */
XS_FN void xs_note_gate_at(xs_writer *w, uint32_t time, xs_slot slot, uint64_t old, uint32_t add, uint32_t order,
                           uint32_t scope) {
    xs_note_gate_to(w, xs_note_ready(w, slot), time, slot, old, add, order, scope);
}
XS_FN void xs_note_gate(xs_writer *w, xs_slot slot, uint64_t old, uint32_t add, uint32_t order, uint32_t scope) {
    xs_note_gate_at(w, xs_note_time(), slot, old, add, order, scope);
}

/* ---- waits. Satisfied at the first poll: xs_note_pass. Else begin, poll at back-off stages, end. ---- */

/* One record where observed is what was needed, else two. After the poll: control must depend on the loaded value. */
XS_FN void xs_note_passed(xs_writer *w, xs_ready_note r, xs_slot slot, uint64_t observed, uint64_t need, uint32_t order,
                          uint32_t scope) {
    if (!XS_TRACE)
        return;
    xs_how how = xs_how_of(XS_EV_PASS, order, scope, XS_FENCE_NONE);
    bool full = xs_how_code(how) == XS_CODE_FULL || r.wide || observed != need;
    uint64_t time = xs_now();
    uint32_t code = full ? (uint32_t)XS_CODE_FULL : xs_how_code(how);
    xs_emit_to(w, r.at, XS_HEAD(code, xs_opaque(slot.object)), (uint32_t)observed, (uint32_t)time);
    if (!full)
        return;
    xs_emit(w, xs_how_detail(how, r.wide), (uint32_t)need, xs_high(time));
    if (r.wide)
        xs_emit(w, XS_MORE(0), xs_high(observed), xs_high(need));
}
XS_FN void xs_note_pass(xs_writer *w, xs_slot slot, uint64_t observed, uint64_t need, uint32_t order, uint32_t scope) {
    xs_note_passed(w, xs_note_ready(w, slot), slot, observed, need, order, scope);
}

XS_FN xs_how xs_wait_how(const xs_wait_note *n, uint32_t event, uint32_t result) {
    xs_how how = {event, n->order, n->scope, XS_FENCE_NONE, n->cmp, result};
    return how;
}

/* What the wait is for; n->slot and n->line are set beside. */
XS_FN void xs_note_wait_asks(xs_wait_note *n, uint64_t need, uint32_t order, uint32_t scope, uint32_t cmp,
                             uint64_t source) {
    n->need = need;
    n->order = order;
    n->scope = scope;
    n->cmp = cmp;
    n->source = source;
    n->polls = 1;
    n->stage = 0;
}
/* The event alone; the line is written by xs_note_wait_tell. file: its number where the end has no room for it, else
 * 0. */
XS_FN void xs_note_wait_start(xs_writer *w, xs_wait_note *n, uint64_t observed, uint32_t file) {
    uint64_t now = xs_now();
    n->last_fail = (uint32_t)now;
    xs_line_began(w, n->line, now);
    bool more = file || xs_slot_wide(n->slot);
    xs_how how = xs_wait_how(n, XS_EV_WAIT_START, XS_RESULT_OK);
    XS_NO_UNROLL /* as in xs_note_wait_ended */
    for (uint32_t part = 0; part < 2u + more; part++) {
        uint32_t word[3];
        switch (part) {
        case 0:
            word[0] = XS_HEAD(XS_CODE_FULL, xs_opaque(n->slot.object)), word[1] = (uint32_t)n->need,
            word[2] = (uint32_t)now;
            break;
        case 1:
            word[0] = xs_how_detail(how, more), word[1] = (uint32_t)observed, word[2] = xs_high(now);
            break;
        default:
            word[0] = XS_MORE(file), word[1] = xs_high(n->need), word[2] = xs_high(observed);
        }
        xs_emit(w, word[0], word[1], word[2]);
    }
}

/* Writes the status line, and does what else is due at its begin, at back-off stages and when it gives up. */
XS_FN void xs_note_wait_tell(xs_writer *w, const xs_wait_note *n, uint32_t state, uint32_t result, uint64_t observed) {
    if (state != XS_LINE_WAITING)
        xs_writer_refresh(w); /* ahead of the line, over which its address would be kept in registers */
    else if (xs_writer_has_ring(w) && n->line >= w->xs->lines_per_ring)
        xs_control_count(&xs_writer_control(w)->no_line, 1);
    xs_writer_count_foreign(w);
    xs_line_write(w, n, state, result, observed);
}

/* When the first poll failed. cmp: xs_cmp. */
XS_FN xs_wait_note xs_note_wait_begin_line(xs_writer *w, xs_slot slot, uint64_t need, uint64_t observed, uint32_t order,
                                           uint32_t scope, uint32_t cmp, uint64_t source) {
    xs_wait_note n = XS_ZERO;
    if (!XS_TRACE)
        return n;
    n.slot = slot;
    n.line = xs_line_take(w);
    xs_note_wait_asks(&n, need, order, scope, cmp, source);
    xs_note_wait_start(w, &n, observed, XS_SOURCE_FILE(source));
    xs_note_wait_tell(w, &n, XS_LINE_WAITING, XS_RESULT_OK, observed);
    return n;
}
#define xs_note_wait_begin(w, slot, need, observed, order, scope, cmp) \
    xs_note_wait_begin_line(w, slot, need, observed, order, scope, cmp, XS_HERE)

/* At back-off stages, and every so often in the last one. `started` is read again here. */
XS_FN void xs_note_wait_poll(xs_writer *w, xs_wait_note *n, uint64_t observed, uint32_t stage) {
    if (!XS_TRACE)
        return;
    n->stage = stage;
    xs_note_wait_tell(w, n, XS_LINE_SLOW, XS_RESULT_OK, observed);
}

/* The event and the line's end; the line of a wait that gave up is written before. */
XS_FN void xs_note_wait_ended(xs_writer *w, xs_wait_note *n, uint64_t observed, uint32_t result) {
    uint32_t now = xs_now_low();
    uint64_t slept = n->backoff ? UINT64_MAX : n->slept < XS_SLEPT_MOST ? n->slept : XS_SLEPT_MOST;
    uint32_t polls_high = xs_high(n->polls) < 0xff ? xs_high(n->polls) : 0xff;
    bool named = n->backoff && XS_SOURCE_FILE(n->source); /* others said it when they began */
    bool high = (xs_high(observed) | xs_high(n->need) | polls_high | (n->backoff ? 0 : xs_high(slept))) != 0;
    xs_how how = xs_wait_how(n, XS_EV_WAIT_END, result);
    /* In a loop that is not unrolled: side by side the records would take the registers of all at once. */
    XS_NO_UNROLL
    for (uint32_t part = 0; part < 3u + high; part++) {
        uint32_t word[3], polls = (uint32_t)n->polls, stage = n->stage;
#if XS_WAITS_SHORT
        uint32_t zero =
            /* 0, but for all that ptxas knows another in each round: it makes nothing of these ahead of the loop */
            part >> 8;
        polls |= zero;
        high = (xs_high(observed) | xs_high(n->need) | polls_high | (n->backoff ? 0 : xs_high(slept)) | zero) != 0;
        how.result = result | zero;
        if (n->backoff)
            stage = xs_backoff_stage(polls);
#endif
        switch (part) {
        case 0:
            word[0] = XS_HEAD(XS_CODE_FULL, xs_opaque(n->slot.object)), word[1] = (uint32_t)observed, word[2] = now;
            break;
        case 1:
            word[0] = xs_how_detail(how, 1u + high), word[1] = polls, word[2] = xs_high(xs_note_full_time(now));
            break;
        case 2:
            word[0] = XS_MORE((XS_SOURCE_LINE(n->source) & 0xffff) | (stage & XS_STAGE_MOST) << 16 |
                              (named ? XS_END_NAMED : 0));
            word[1] = named ? XS_SOURCE_FILE(n->source) : (uint32_t)slept, word[2] = now - n->last_fail;
            break;
        default:
            word[0] = XS_MORE((xs_high(slept) & 0xffff) | polls_high << 16), word[1] = xs_high(observed),
            word[2] = xs_high(n->need);
        }
        xs_emit_slow(w, word[0], word[1], word[2]);
    }
    if (result == XS_RESULT_OK && (!n->backoff || n->polls >= XS_LINE_READS)) /* else it was not written */
        xs_line_over(w, n, now);
    xs_line_give(w, n->line);
}

/* After the poll that ended it, or when it gives up: result is xs_result. Three or four records: it has had the
 * time. */
XS_FN void xs_note_wait_end(xs_writer *w, xs_wait_note *n, uint64_t observed, uint32_t result) {
    if (!XS_TRACE)
        return;
    if (result != XS_RESULT_OK)
        xs_note_wait_tell(w, n, XS_LINE_GIVEN_UP, result, observed);
    xs_note_wait_ended(w, n, observed, result);
}

/* A wait is left out, since nobody owes the signal. */
XS_FN void xs_note_skip(xs_writer *w, xs_slot slot, uint64_t need) {
    if (XS_TRACE && XS_SAVE_REGISTERS)
        xs_emit_slow(w, XS_HEAD(XS_CODE_SKIP, xs_opaque(slot.object)), (uint32_t)need, xs_now_low());
    else if (XS_TRACE)
        xs_emit_head(w, XS_CODE_SKIP, slot.object, (uint32_t)need, xs_now_low());
}

/* The plan as the kernel computed it: so many arrivals this epoch. */
XS_FN void xs_note_expect(xs_writer *w, xs_slot slot, uint32_t expected, uint64_t epoch) {
    if (XS_TRACE)
        xs_emit_full(w, xs_how_of(XS_EV_EXPECT, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, slot.object, expected,
                     (uint32_t)epoch, xs_now());
}

#include <xs/notes_block.h>
#include <xs/notes_user.h>

#endif
