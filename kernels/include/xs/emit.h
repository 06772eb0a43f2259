/* One record into the writer's ring: a 16-byte store (or two of 8, record.h), predicated, with no branch, no fence
 * and nothing shared. Weak, so that tracing orders nothing that the traced code forgot to order. Used by notes.h
 * alone. */
#ifndef XS_EMIT_H
#define XS_EMIT_H

#include <stdbool.h>
#include <xs/self.h>

/* Traps on a record call from a lane that is not the writer. */
#ifndef XS_DEBUG
#define XS_DEBUG 0
#endif

/* xs_writer.base: where the ring's slot 0 is, counted in records from the launch's first rank; a multiple of the
 * ring's size, which is 4 at least, so that two low bits are free for flags. A record is stored where both are 0. Or
 * one of two that are no ring, whose low bits say the same to xs_emit. */
#define XS_RING_FILTERED 1u /* a filter excludes the writer, or another lane is it: not stored */
#define XS_RING_OFF 2u      /* not started, filtered out, or without a ring: the cursor does not move either */
#define XS_RING_NONE 0xfffffffeu    /* records nothing, on purpose or since no ring was free */
#define XS_RING_FOREIGN 0xfffffffdu /* another lane of the warp is the writer: calls are counted */

/* The form of signals that the next one does not wait for; it takes registers. Measured up to sm_90. */
#define XS_SIGNAL_AHEAD (!XS_SAVE_REGISTERS && XS_ARCH < 1000)

#if defined(__cplusplus)
#define XS_ZERO {}
#else
#define XS_ZERO {0}
#endif

/* The one thread that records: the lowest lane that was active at writer-begin. Local to the kernel and passed by
 * address into inlined code only, so that it lives in registers. Only the first member matters in a plain build. */
typedef struct xs_writer {
    const xs_handle *xs;
    uint32_t base;   /* see above; no flag in it while records are stored */
    /* next sequence, low 32 bits; on a foreign lane how many records the calls there would have made */
    uint32_t cursor;
    uint32_t payload; /* not 0: payload and work events too */
    uint32_t consumed; /* discard mode: what the collector had taken when last asked */
    uint64_t epoch;
    uint32_t role, word; /* word: the user's, for status lines */
    uint64_t lines;      /* bit i: status line i is in use */
    uint32_t signal_object; /* the slot signalled last, for status lines */
    xs_tsan_polls polls;
} xs_writer;

XS_FN bool xs_emit_stores(const xs_writer *w) { return (w->base & (XS_RING_FILTERED | XS_RING_OFF)) == 0; }
XS_FN bool xs_emit_moves(const xs_writer *w) { return (w->base & XS_RING_OFF) == 0; }

/* Where the next record goes. In discard mode a full ring sends it to the overflow slot, as a DROP that holds the last
 * sequence dropped; whether it is full is looked up once a record, and only when the remembered position says so. */
XS_FN char *xs_emit_at(xs_writer *w, bool *dropped) {
    uint32_t mask = w->xs->ring_mask;
    char *at = xs_element(w->xs->records, xs_masked_or(w->cursor, mask, w->base), sizeof(xs_record));
    *dropped = false;
#if XS_RING_MODE == 1 /* XS_DISCARD */
    if (xs_emit_stores(w) && w->cursor - w->consumed > mask + 1) {
        xs_ring_header *ring = &w->xs->rings[w->base >> w->xs->ring_shift];
        w->consumed = (uint32_t)xs_load_relaxed_sys(&ring->consumed);
        *dropped = w->cursor - w->consumed > mask + 1;
        if (*dropped)
            at = (char *)&ring->overflow;
    }
#endif
    return at;
}

XS_FN void xs_emit_check(const xs_writer *w) {
#if XS_DEBUG && XS_CUDA
    if (w->base == XS_RING_FOREIGN)
        __trap();
#elif XS_DEBUG
    if (w->base == XS_RING_FOREIGN)
        __builtin_trap();
#else
    (void)w;
#endif
}

/* In either form (record.h). dropped: into the overflow slot. */
XS_FN void xs_emit_put(const xs_writer *w, bool on, char *at, uint32_t cursor, bool dropped, uint32_t code_object,
                       uint32_t value, uint32_t time) {
    uint32_t sequence = cursor & XS_SEQUENCE_MASK;
#if XS_RECORD_WORDS == 2
    uint32_t stamp = (dropped ? sequence : sequence >> w->xs->ring_shift) + 1;
    xs_store_stamped_if(on, at, stamp, code_object, dropped ? sequence : value, time);
#else
    (void)w, (void)dropped;
    xs_store16_if(on, at, sequence, code_object, value, time);
#endif
}

XS_FN void xs_emit_store(xs_writer *w, bool on, uint32_t code_object, uint32_t value, uint32_t time) {
    bool dropped;
    char *at = xs_emit_at(w, &dropped);
    if (dropped)
        code_object = XS_HEAD(XS_CODE_DROP, 0), value = 0;
    xs_emit_put(w, on, at, w->cursor, dropped, code_object, value, time);
}

XS_FN void xs_emit(xs_writer *w, uint32_t code_object, uint32_t value, uint32_t time) {
    xs_emit_check(w);
    xs_emit_store(w, xs_emit_stores(w), code_object, value, time);
    w->cursor = xs_add_if(xs_emit_moves(w), w->cursor);
}

/* Where the next record will go, made ahead of a load whose answer it notes: then it costs no time. Discard mode
 * asks for room later. */
#if XS_CUDA && XS_RING_MODE == 0 /* XS_OVERWRITE */
XS_FN char *xs_emit_ready(xs_writer *w) {
    bool dropped;
    return (char *)(uintptr_t)xs_opaque_u64((uint64_t)(uintptr_t)xs_emit_at(w, &dropped));
}
XS_FN void xs_emit_to(xs_writer *w, char *at, uint32_t code_object, uint32_t value, uint32_t time) {
    xs_emit_check(w);
    xs_emit_put(w, xs_emit_stores(w), at, w->cursor, false, code_object, value, time);
    w->cursor = xs_add_if(xs_emit_moves(w), w->cursor);
}
/* For signals: the cursor moves on in another register than the record is stored from, else it waits until the store
 * has read that. Waits are slower by it. */
XS_FN void xs_emit_to_ahead(xs_writer *w, char *at, uint32_t code_object, uint32_t value, uint32_t time) {
    uint32_t cursor = w->cursor;
    if (!XS_SIGNAL_AHEAD) {
        xs_emit_to(w, at, code_object, value, time);
        return;
    }
    xs_emit_check(w);
    w->cursor = xs_opaque(xs_add_if(xs_emit_moves(w), cursor));
    xs_emit_put(w, xs_emit_stores(w), at, cursor, false, code_object, value, time);
}
#else
XS_FN char *xs_emit_ready(xs_writer *w) {
    (void)w;
    return NULL;
}
XS_FN void xs_emit_to(xs_writer *w, char *at, uint32_t code_object, uint32_t value, uint32_t time) {
    (void)at;
    xs_emit(w, code_object, value, time);
}
XS_FN void xs_emit_to_ahead(xs_writer *w, char *at, uint32_t code_object, uint32_t value, uint32_t time) {
    xs_emit_to(w, at, code_object, value, time);
}
#endif

/* The same by a branch, for slow paths: what the address is made of is then not kept in registers for the next
 * record. */
XS_FN void xs_emit_slow(xs_writer *w, uint32_t code_object, uint32_t value, uint32_t time) {
    xs_emit_check(w);
    if (xs_emit_stores(w))
        xs_emit_store(w, true, code_object, value, time);
    w->cursor = xs_add_if(xs_emit_moves(w), w->cursor);
}

/* The first or only record of an event. */
XS_FN void xs_emit_head(xs_writer *w, uint32_t code, uint32_t object, uint32_t value, uint32_t time) {
    xs_emit(w, XS_HEAD(code, xs_opaque(object)), value, time);
}

/* How an event was done, for its code or its detail record. Compile-time constants in every primitive. */
typedef struct xs_how {
    uint32_t event, order, scope, fence, cmp, result;
} xs_how;

XS_FN xs_how xs_how_of(uint32_t event, uint32_t order, uint32_t scope, uint32_t fence) {
    xs_how how = {event, order, scope, fence, XS_CMP_GE, XS_RESULT_OK};
    return how;
}

/* The one-record code, or XS_CODE_FULL where the table has none. */
XS_FN uint32_t xs_how_code(xs_how how) {
#define XS_CODE_PICK(code, name, event_, order_, scope_, fence_)                                             \
    if (how.event == XS_EV_##event_ && how.order == order_ && how.scope == XS_SCOPE_##scope_ &&              \
        how.fence == XS_FENCE_##fence_)                                                                      \
        return code;
    XS_CODES(XS_CODE_PICK)
#undef XS_CODE_PICK
    return XS_CODE_FULL;
}

XS_FN uint32_t xs_how_detail(xs_how how, uint32_t further) {
    return XS_DETAIL(how.event, how.order, how.scope, how.fence, how.cmp, how.result, xs_opaque(further));
}

/* Head and detail; `further` more records follow by xs_emit_more. */
XS_FN void xs_emit_full(xs_writer *w, xs_how how, uint32_t further, uint32_t object, uint32_t value, uint32_t detail,
                        uint64_t time) {
    xs_emit_head(w, XS_CODE_FULL, object, value, (uint32_t)time);
    xs_emit(w, xs_how_detail(how, further), detail, (uint32_t)(time >> 32));
}
XS_FN void xs_emit_more(xs_writer *w, uint32_t a, uint32_t b, uint32_t c) { xs_emit(w, XS_MORE(a), b, c); }

#endif
