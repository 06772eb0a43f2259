/* Core: does an ordered store, add, wait or fence, and notes it. Every primitive is a few lines over this. order and
 * scope are xs_order and xs_scope and must be compile-time constants; `_u32` forms are for pads of 32-bit slots. */
#ifndef XS_CORE_H
#define XS_CORE_H

#include <xs/backoff.h>
#include <xs/notes.h>
#include <xs/ordered.h>

/* ---- signals ---- */

/* A traced release is taken apart, where its fence is the same instructions (XS_FENCE_ONE_WAY): the time is read
 * behind it, in the shadow of the store or the add. Returns the order that is left for these. */
XS_FN uint32_t xs_core_apart(uint32_t order, uint32_t scope) {
    if (!XS_TRACE || !XS_FENCE_ONE_WAY || (order != XS_RELEASE && order != XS_ACQ_REL))
        return order;
    xs_ordered_fence(XS_RELEASE, scope);
    return order == XS_RELEASE ? XS_RELAXED : XS_ACQUIRE;
}

/* how: the event, its fence what stands directly before this store (xs_fence_flag). Noted ahead of a relaxed store,
 * which does not wait for the record, and behind a release, which would wait for its way to the host; with the time
 * from before the store either way. */
XS_FN void xs_core_publish(xs_writer *w, xs_slot slot, uint64_t value, xs_how how, bool detailed, uint32_t detail,
                           uint32_t bits) {
    xs_ready_note r = xs_note_ready(w, slot);
    uint32_t order = xs_core_apart(how.order, how.scope), time = xs_note_time();
    bool ahead = XS_SIGNAL_AHEAD && order == XS_RELAXED;
    if (XS_TRACE && ahead)
        xs_note_detailed_to(w, r, how, slot, value, detailed, detail, time);
    xs_ordered_store(slot.at, value, order, how.scope, bits);
    if (!XS_TRACE)
        return;
    if (!ahead)
        xs_note_detailed_to(w, r, how, slot, value, detailed, detail, time);
    w->signal_object = slot.object;
}
XS_FN void xs_core_store_bits(xs_writer *w, xs_slot slot, uint64_t value, uint32_t order, uint32_t scope,
                              uint32_t fence, uint32_t bits) {
    xs_core_publish(w, slot, value, xs_how_of(XS_EV_SIGNAL, order, scope, fence), false, 0, bits);
}
XS_FN void xs_core_store(xs_writer *w, xs_slot slot, uint64_t value, uint32_t order, uint32_t scope) {
    xs_core_store_bits(w, slot, value, order, scope, XS_FENCE_NONE, 64);
}
XS_FN void xs_core_store_u32(xs_writer *w, xs_slot slot, uint32_t value, uint32_t order, uint32_t scope) {
    xs_core_store_bits(w, slot, value, order, scope, XS_FENCE_NONE, 32);
}
/* A relaxed store behind a fence of at least that scope: the fence belongs to the signal and is no event of its own. */
XS_FN void xs_core_store_fenced(xs_writer *w, xs_slot slot, uint64_t value, uint32_t scope, uint32_t fence) {
    xs_core_store_bits(w, slot, value, XS_RELAXED, scope, fence, 64);
}

/* ---- arrivals: an election counts up to base + expected, a gate up to what is waited for ---- */

/* The time of an arrival is read before the add where its fence stands apart, else behind it: no fence lies between
 * them. */
XS_FN uint64_t xs_core_add_timed(void *at, uint32_t n, uint32_t order, uint32_t scope, uint32_t *time) {
    uint32_t left = xs_core_apart(order, scope);
    if (XS_FENCE_ONE_WAY)
        *time = xs_note_time();
    uint64_t old = xs_ordered_add(at, n, left, scope, 64);
    if (!XS_FENCE_ONE_WAY)
        *time = xs_note_time();
    return old;
}

/* Returns the value before. */
XS_FN uint64_t xs_core_add(xs_writer *w, xs_slot slot, uint32_t weight, uint64_t base, uint32_t expected,
                           uint32_t order, uint32_t scope) {
    xs_ready_note r = xs_note_ready(w, slot);
    uint32_t time;
    uint64_t old = xs_core_add_timed(slot.at, weight, order, scope, &time);
    xs_note_arrive_to(w, r, time, slot, old, base, weight, expected, order, scope);
    return old;
}

/* Traced builds use atom: the record holds the count before. */
XS_FN void xs_core_gate(xs_writer *w, xs_slot slot, uint32_t n, uint32_t order, uint32_t scope) {
    if (!XS_TRACE) {
        xs_ordered_red(slot.at, n, order, scope, 64);
        return;
    }
    xs_ready_note r = XS_ZERO;
    uint32_t time;
    if (!XS_SAVE_REGISTERS)
        r = xs_note_ready(w, slot);
    uint64_t old = xs_core_add_timed(slot.at, n, order, scope, &time);
    if (XS_SAVE_REGISTERS) /* nothing of it is kept over the add */
        r = xs_note_ready(w, slot);
    xs_note_gate_to(w, r, time, slot, old, n, order, scope);
}

/* ---- fences ---- */

XS_FN void xs_core_fence_line(xs_writer *w, uint32_t order, uint32_t scope, uint64_t source) {
    xs_ordered_fence(order, scope);
    if (order != XS_RELEASE)
        xs_tsan_acquire_polled(&w->polls);
    xs_note_fence_line(w, order, scope, source);
}
#define xs_core_fence(w, order, scope) xs_core_fence_line(w, order, scope, XS_HERE)

/* The release fence of the relaxed stores that follow, to slots that the sanitizer is told of one by one. */
XS_FN void xs_core_fence_before_stores(uint32_t scope) { xs_ordered_fence_before_stores(scope); }
XS_FN void xs_core_fence_covers(xs_slot slot) { xs_tsan_release(slot.at); }

/* ---- waits ---- */

/* 32-bit sequences compare by distance, so that they may wrap. */
XS_FN bool xs_core_holds(uint64_t seen, uint64_t need, uint32_t cmp, uint32_t bits) {
    int64_t distance = bits == 32 ? (int32_t)((uint32_t)seen - (uint32_t)need) : 0;
    if (cmp == XS_CMP_EQ)
        return seen == need;
    if (cmp == XS_CMP_NE)
        return seen != need;
    if (cmp == XS_CMP_LT)
        return bits == 32 ? distance < 0 : seen < need;
    if (cmp == XS_CMP_GT)
        return bits == 32 ? distance > 0 : seen > need;
    return bits == 32 ? distance >= 0 : seen >= need;
}

XS_FN bool xs_core_aborted(const xs_writer *w) { return xs_lookout_aborted(w->xs) != 0; }

XS_FN bool xs_bound_any(xs_bound bound) { return bound.polls || bound.ns || bound.heartbeat_ns; }

/* Bounds in ns below this are measured in 32 bits: one register less. Two reads of a wait are much closer than its
 * wrap. */
#define XS_BOUND_LOW 0x80000000u

/* What bounds keep while a wait goes on. */
typedef struct xs_bound_state {
    uint64_t start, beat, beat_time;
    uint32_t start_low; /* instead of start: bounds below XS_BOUND_LOW */
} xs_bound_state;

XS_FN xs_bound_state xs_bound_begin(xs_bound bound) {
    xs_bound_state s = XS_ZERO;
    if (bound.heartbeat_ns)
        s.beat_time = xs_now();
    if (bound.ns && bound.ns < XS_BOUND_LOW)
        s.start_low = xs_now_low();
    else if (bound.ns)
        s.start = xs_now();
    return s;
}

/* After every failed read. A poll bound above 2^32 - 1 reads (a day of slow polling) counts as that. */
XS_FN uint32_t xs_bound_check(const xs_writer *w, xs_bound bound, xs_bound_state *s, uint32_t reads) {
    if (bound.polls && reads >= (bound.polls < UINT32_MAX ? bound.polls : UINT32_MAX))
        return XS_RESULT_TIMEOUT;
    if (bound.ns &&
        (bound.ns < XS_BOUND_LOW ? xs_now_low() - s->start_low >= (uint32_t)bound.ns : xs_now() - s->start >= bound.ns))
        return XS_RESULT_TIMEOUT;
    /* The host looks at the abort word after every read: it has handed over the processor there. */
    if (XS_CUDA && !xs_backoff_due(reads))
        return XS_RESULT_OK;
    if (xs_core_aborted(w))
        return XS_RESULT_ABORTED;
    if (bound.heartbeat_ns && bound.heartbeat) {
        uint64_t beat = xs_ordered_poll(bound.heartbeat, XS_RELAXED, XS_SCOPE_SYS, 64), now = xs_now();
        if (beat != s->beat)
            s->beat = beat, s->beat_time = now;
        else if (now - s->beat_time >= bound.heartbeat_ns)
            return XS_RESULT_PEER_DEAD;
    }
    return XS_RESULT_OK;
}

XS_FN void xs_core_pause(const void *at, uint32_t reads, bool bounded) {
    uint32_t ns = xs_backoff_ns(xs_backoff_stage(reads));
#if XS_CUDA
    (void)at, (void)bounded;
    if (ns)
        xs_nanosleep(ns);
#else
    xs_host_poll_failed(at, ns, bounded);
#endif
}

/* The slot was read as needed. Takes the time of the note behind the loaded value. */
XS_FN void xs_core_satisfied(xs_writer *w, xs_slot slot, uint32_t order, uint32_t scope) {
    if (order == XS_ACQUIRE)
        xs_acquired(scope);
    else
        xs_tsan_polled(&w->polls, slot.at);
}

/* The status line as it stands after so many reads. */
XS_FN void xs_core_tell(xs_writer *w, xs_wait_note *n, const xs_bound_state *s, uint64_t seen, uint32_t reads,
                        uint32_t state, uint32_t result) {
    n->polls = reads;
    n->stage = xs_backoff_stage(reads);
    n->heartbeat = (uint32_t)s->beat;
    xs_note_wait_tell(w, n, state, result, seen);
}
/* At first when a wait is no short one any more, then at every stage, or 16 reads. */
XS_FN bool xs_core_line_due(uint32_t reads) {
    return reads == XS_LINE_READS || (reads > XS_LINE_READS && xs_backoff_due(reads));
}
XS_FN uint32_t xs_core_line_state(uint32_t reads) { return reads == XS_LINE_READS ? XS_LINE_WAITING : XS_LINE_SLOW; }

/* After every failed read: where it is due. One place in the code for begin and stages. Giving up is told elsewhere,
 * so that the result is not kept in here. */
XS_FN void xs_core_tell_due(xs_writer *w, xs_wait_note *n, const xs_bound_state *s, uint64_t seen, uint32_t reads) {
    if (XS_TRACE && xs_core_line_due(reads))
        xs_core_tell(w, n, s, seen, reads, xs_core_line_state(reads), XS_RESULT_OK);
}
XS_FN void xs_core_failed(xs_wait_note *n) {
    if (XS_TRACE)
        n->last_fail = xs_now_low();
}
/* reads: all, the last one included. */
XS_FN void xs_core_ended(xs_writer *w, xs_wait_note *n, uint64_t seen, uint32_t reads, uint32_t result) {
    if (!XS_TRACE)
        return;
    n->polls = reads;
    n->stage = xs_backoff_stage(reads);
    n->backoff = 1;
    xs_note_wait_ended(w, n, seen, result);
}

XS_FN xs_wait_note xs_core_begin(xs_writer *w, xs_slot slot, uint64_t need, uint64_t seen, uint32_t order,
                                 uint32_t scope, uint32_t cmp, uint64_t source) {
    xs_wait_note n = XS_ZERO;
    if (!XS_TRACE)
        return n;
    n.slot = slot;
    n.line = xs_line_take(w);
    xs_note_wait_asks(&n, need, order, scope, cmp, source);
    xs_note_wait_start(w, &n, seen, 0);
    return n;
}

/* Polls until the slot compares with need, or gives up: returns xs_result. XS_ACQUIRE or XS_RELAXED. */
XS_FN int xs_core_wait_bits(xs_writer *w, xs_slot slot, uint64_t need, uint32_t cmp, uint32_t order, uint32_t scope,
                            xs_bound bound, uint32_t bits, uint64_t source) {
    xs_step();
    xs_ready_note pass = xs_note_ready(w, slot);
    uint64_t seen = xs_ordered_poll(slot.at, order, scope, bits);
    if (xs_core_holds(seen, need, cmp, bits)) {
        xs_core_satisfied(w, slot, order, scope);
        xs_note_passed(w, pass, slot, seen, need, order, scope);
        return XS_RESULT_OK;
    }
    xs_wait_note n = xs_core_begin(w, slot, need, seen, order, scope, cmp, source);
    xs_bound_state state = xs_bound_begin(bound);
    uint32_t result, reads = 1;
    for (;;) {
        xs_core_tell_due(w, &n, &state, seen, reads);
        result = xs_bound_check(w, bound, &state, reads);
        if (result != XS_RESULT_OK)
            break;
        xs_core_pause(slot.at, reads, xs_bound_any(bound));
        seen = xs_ordered_poll(slot.at, order, scope, bits);
        reads = xs_backoff_next(reads);
        if (xs_core_holds(seen, need, cmp, bits)) {
            xs_core_satisfied(w, slot, order, scope);
            break;
        }
        xs_core_failed(&n);
    }
    if (XS_TRACE && result != XS_RESULT_OK)
        xs_core_tell(w, &n, &state, seen, reads, XS_LINE_GIVEN_UP, result);
    xs_core_ended(w, &n, seen, reads, result);
    return (int)result;
}
#define xs_core_wait(w, slot, need, cmp, order, scope, bound) \
    xs_core_wait_bits(w, slot, need, cmp, order, scope, bound, 64, XS_HERE)
#define xs_core_wait_u32(w, slot, need, cmp, order, scope, bound) \
    xs_core_wait_bits(w, slot, need, cmp, order, scope, bound, 32, XS_HERE)

#endif
