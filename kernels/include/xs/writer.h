/* The writer: takes a ring at its begin and gives it back at its end, by one atomic each. A ring has one owner at a time;
 * its sequence goes on from owner to owner. */
#ifndef XS_WRITER_H
#define XS_WRITER_H

#include <xs/emit.h>

XS_FN uint32_t xs_writer_rank(const xs_writer *w) { return w->xs->rank + xs_writer_grid_block() / w->xs->blocks; }
XS_FN uint32_t xs_writer_block(const xs_writer *w) { return xs_writer_grid_block() % w->xs->blocks; }

/* Both by counting, without a division: the slow paths have no registers for one, and the ranks of a launch are few. */
XS_FN void xs_writer_place(const xs_writer *w, uint32_t *rank, uint32_t *block) {
    *rank = w->xs->rank;
    XS_NO_UNROLL
    for (*block = xs_writer_grid_block(); *block >= w->xs->blocks; *block -= w->xs->blocks)
        ++*rank;
}

XS_FN bool xs_writer_has_ring(const xs_writer *w) { return xs_opaque(w->base) < XS_RING_NONE; }
/* Index from the launch's first rank. */
XS_FN uint32_t xs_writer_ring(const xs_writer *w) { return xs_opaque(w->base) >> w->xs->ring_shift; }

/* Bookkeeping of xs itself: no scheduling point on the host, so that a traced `sim` run takes the plain run's path. */
#if XS_CUDA
XS_FN uint64_t xs_control_load(const uint64_t *at) { return xs_load_relaxed_sys(at); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return xs_load_relaxed_sys_u32(at); }
XS_FN void xs_control_store(uint64_t *at, uint64_t value) { xs_store_relaxed_sys(at, value); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { xs_store_relaxed_sys_u32(at, value); }
XS_FN void xs_control_publish_u32(uint32_t *at, uint32_t value) { xs_store_release_sys_u32(at, value); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { xs_red_relaxed_gpu(at, n); }
#else
XS_FN uint64_t xs_control_load(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN void xs_control_store(uint64_t *at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
XS_FN void xs_control_publish_u32(uint32_t *at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
#endif

XS_FN xs_control *xs_writer_control(const xs_writer *w) {
    return (xs_control *)(uintptr_t)xs_opaque_u64((uint64_t)(uintptr_t)w->xs->control);
}

/* `started` and `freeze`, read as one word. Tracing goes on or off here, at writer-begin, xs_writer_epoch and back-off
 * stages alike. */
XS_FN void xs_writer_refresh(xs_writer *w) {
    if (!xs_writer_has_ring(w))
        return;
    const xs_control *c = xs_writer_control(w);
    uint64_t both = xs_control_load((const uint64_t *)(const void *)&c->started);
    bool on = ((uint32_t)both & XS_STARTED) && both >> 32 == 0 && !(w->base & XS_RING_FILTERED);
    w->step = on ? XS_STEP_ON : XS_STEP_OFF;
    w->payload = on ? (uint32_t)both & XS_STARTED_PAYLOAD : 0;
}

/* The filters too, at writer-begin and xs_writer_epoch. */
XS_FN void xs_writer_refresh_filters(xs_writer *w) {
    if (!xs_writer_has_ring(w))
        return;
    const xs_control *c = xs_writer_control(w);
    uint32_t grid_block = xs_writer_grid_block(), rank = w->xs->rank + grid_block / w->xs->blocks;
    bool in = rank >= xs_control_load_u32(&c->rank_first) && rank <= xs_control_load_u32(&c->rank_last);
    uint32_t block = grid_block % w->xs->blocks;
    in = in && block >= xs_control_load_u32(&c->block_first) && block <= xs_control_load_u32(&c->block_last);
    in = in && w->epoch >= xs_control_load(&c->epoch_first) && w->epoch <= xs_control_load(&c->epoch_last);
    w->base = in ? w->base & ~XS_RING_FILTERED : w->base | XS_RING_FILTERED;
    xs_writer_refresh(w);
}

/* Adds the records asked for on lanes that are not the writer to the counter that says so. */
XS_FN void xs_writer_count_foreign(xs_writer *w) {
    if (w->base == XS_RING_FOREIGN && w->cursor) {
        xs_control_count(&xs_writer_control(w)->foreign, w->cursor / XS_STEP_FOREIGN);
        w->cursor = 0;
    }
}

/* gpu scope: a rank lives on one device, and system atomics on host memory need native atomics on the link. Claims a ring of the rank. One atomic where the first try is free: writers start at a bit of their own. */
XS_FN uint32_t xs_ring_claim(uint64_t *groups, uint32_t count, uint32_t seed) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = (seed / 64 + i) % count;
        uint64_t bit = 1ull << (seed % 64);
        for (;;) {
            uint64_t taken = xs_or_acquire_gpu(&groups[group], bit);
            if (!(taken & bit))
                return group * 64 + xs_bits_lowest(bit);
            bit = ~taken & (taken + 1); /* the lowest free one */
            if (bit == 0)
                break;
        }
    }
    return XS_RING_NONE;
}

XS_FN uint64_t xs_ring_next(const xs_ring_header *ring, uint32_t cursor) {
    /* The cursor has 32 bits: it is unwrapped from the begin of this owner or from what the collector has taken. */
    uint64_t base = xs_control_load(&ring->next), consumed = xs_control_load(&ring->consumed);
    if (base < consumed)
        base = consumed;
    return base + (uint32_t)(cursor - (uint32_t)base);
}

XS_FN void xs_ring_enter_owner(xs_writer *w, xs_ring_header *ring, uint64_t first, uint64_t now) {
    uint32_t owners = xs_control_load_u32(&ring->owners), warp_sm = xs_writer_warp() | xs_sm() << 16;
    char *entry = (char *)&ring->owner[owners % XS_RING_OWNERS];
    xs_store16_if(1, entry, (uint32_t)first, (uint32_t)(first >> 32), (uint32_t)now, (uint32_t)(now >> 32));
    xs_store16_if(1, entry + 16, w->xs->launch, xs_writer_block(w), warp_sm, w->role);
    xs_control_store_u32(&ring->mode, XS_RING_MODE);
    xs_control_publish_u32(&ring->owners, owners + 1);
}

XS_FN void xs_writer_take(xs_writer *w) {
    const xs_handle *xs = w->xs;
    uint64_t now = xs_now(); /* of the call: what follows takes microseconds on a GPU, and not always as many */
    uint32_t rank = xs_writer_grid_block() / xs->blocks, groups = xs->rings_per_rank / 64;
    uint32_t seed = xs_writer_block(w) * ((xs_threads() + XS_WARP - 1) / XS_WARP) + xs_writer_warp();
    uint32_t ring = xs_ring_claim(xs->groups + (uint64_t)rank * groups, groups, seed);
    w->step = w->payload = XS_STEP_OFF;
    w->base = XS_RING_NONE;
    if (ring == XS_RING_NONE) {
        xs_control_count(&xs->control->no_ring, 1);
        return;
    }
    ring += rank * xs->rings_per_rank;
    w->base = ring << xs->ring_shift;
    xs_ring_header *header = &xs->rings[ring];
    uint64_t next = xs_control_load(&header->next);
    if (next == 0)
        next = 1; /* zeroed memory: sequences start at 1 */
    w->cursor = (uint32_t)next;
    w->consumed = (uint32_t)xs_control_load(&header->consumed);
    xs_ring_enter_owner(w, header, next, now);
    xs_writer_refresh_filters(w);
    xs_emit_full(w, xs_how_of(XS_EV_WRITER_BEGIN, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 1, w->role, xs_writer_block(w),
                 xs->launch, now);
    xs_emit_more(w, xs_writer_rank(w), xs_writer_warp() | xs_sm() << 16, 0);
}

/* One call per warp, by all of its active lanes together; the lowest of them records from here on. role: an id of xs_role,
 * 0 for none. Where no ring is free it is counted and the kernel goes on unrecorded, without status lines too. */
XS_FN xs_writer xs_writer_begin(const xs_handle *xs, uint32_t role) {
    xs_writer w = XS_ZERO;
    w.xs = xs;
    if (!XS_TRACE)
        return w;
    w.role = role;
    w.base = XS_RING_FOREIGN;
    w.step = w.payload = XS_STEP_FOREIGN;
    if (xs_warp_leads(xs_warp_active()))
        xs_writer_take(&w);
    return w;
}

/* For warps that do not record: no ring, nothing counted, still fit for every primitive. */
XS_FN xs_writer xs_writer_none(const xs_handle *xs) {
    xs_writer w = XS_ZERO;
    w.xs = xs;
    w.base = XS_RING_NONE;
    return w;
}

/* Gives the ring back. By the lanes that began. The writer records nothing afterwards. */
XS_FN void xs_writer_end(xs_writer *w) {
    if (!XS_TRACE)
        return;
    xs_writer_count_foreign(w);
    if (xs_writer_has_ring(w)) {
        uint64_t now = xs_now(); /* as in xs_writer_take */
        xs_ring_header *header = &w->xs->rings[xs_writer_ring(w)];
        uint64_t next = xs_ring_next(header, w->cursor + 2 * w->step); /* behind this event's own two records */
        xs_emit_full(w, xs_how_of(XS_EV_WRITER_END, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, w->role, (uint32_t)next,
                     (uint32_t)(next >> 32), now);
        xs_control_store(&header->next, next);
        /* Release: whoever takes the ring next, or reads it while it is free, sees `next` and the records. */
        xs_and_release_gpu(&w->xs->groups[xs_writer_ring(w) / 64], ~(1ull << (xs_writer_ring(w) % 64)));
    }
    w->base = XS_RING_NONE;
    w->step = w->payload = XS_STEP_OFF;
}

/* These two may be called by all lanes of the warp, like begin and end, or by the writer alone. */
XS_FN void xs_writer_role(xs_writer *w, uint32_t role) {
    if (!XS_TRACE || !xs_writer_has_ring(w))
        return;
    w->role = role;
    xs_emit_head(w, XS_CODE_ROLE, role, 0, xs_now_low());
}

/* The writer enters epoch `epoch`: `started` and the filters are read again here. */
XS_FN void xs_writer_epoch(xs_writer *w, uint64_t epoch) {
    if (!XS_TRACE || !xs_writer_has_ring(w))
        return;
    w->epoch = epoch;
    xs_writer_refresh_filters(w);
    xs_emit_full(w, xs_how_of(XS_EV_EPOCH, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, 0, (uint32_t)epoch,
                 (uint32_t)(epoch >> 32), xs_now());
}

/* The user's word (a tile, an expert) in the status lines of waits that begin from here on. */
XS_FN void xs_writer_word(xs_writer *w, uint32_t word) { w->word = word; }

#endif
