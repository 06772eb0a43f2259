/* The writer: takes a ring at its begin and gives it back at its end, by one atomic each. A ring has one owner at a time;
 * its sequence goes on from owner to owner. */
#ifndef XS_WRITER_H
#define XS_WRITER_H

#include <xs/emit.h>

#if XS_CUDA
/* Kernels that xs did not write may have grids and blocks of more dimensions. */
XS_FN uint32_t xs_writer_grid_block(void) { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
XS_FN uint32_t xs_writer_warp(void) {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / XS_WARP;
}
#else
XS_FN uint32_t xs_writer_grid_block(void) { return xs_grid_block(); }
XS_FN uint32_t xs_writer_warp(void) { return xs_warp(); }
#endif
XS_FN uint32_t xs_writer_rank(const xs_writer *w) { return w->xs->rank + xs_writer_grid_block() / w->xs->blocks; }
XS_FN uint32_t xs_writer_block(const xs_writer *w) { return xs_writer_grid_block() % w->xs->blocks; }

XS_FN bool xs_writer_has_ring(const xs_writer *w) { return w->ring < XS_RING_FOREIGN; }

/* Bookkeeping of xs itself: no scheduling point on the host, so that a traced `sim` run takes the plain run's path. */
#if XS_CUDA
XS_FN uint64_t xs_control_load(const uint64_t *at) { return xs_load_relaxed_sys(at); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return xs_load_relaxed_sys_u32(at); }
XS_FN void xs_control_store(uint64_t *at, uint64_t value) { xs_store_relaxed_sys(at, value); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { xs_store_relaxed_sys_u32(at, value); }
XS_FN void xs_control_publish_u32(uint32_t *at, uint32_t value) { xs_store_release_sys_u32(at, value); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { xs_red_relaxed_sys(at, n); }
#else
XS_FN uint64_t xs_control_load(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN void xs_control_store(uint64_t *at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
XS_FN void xs_control_publish_u32(uint32_t *at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
#endif

/* Reads `started` and the filters. At writer-begin, xs_writer_epoch and back-off stages. */
XS_FN void xs_writer_refresh(xs_writer *w) {
    if (!xs_writer_has_ring(w))
        return;
    const xs_control *c = w->xs->control;
    uint32_t started = xs_control_load_u32(&c->started), rank = xs_writer_rank(w), block = xs_writer_block(w);
    w->on = (started & XS_STARTED) && !xs_control_load_u32(&c->freeze) && rank >= xs_control_load_u32(&c->rank_first) &&
            rank <= xs_control_load_u32(&c->rank_last) && block >= xs_control_load_u32(&c->block_first) &&
            block <= xs_control_load_u32(&c->block_last) && w->epoch >= xs_control_load(&c->epoch_first) &&
            w->epoch <= xs_control_load(&c->epoch_last);
    w->counts = w->on;
    w->payload = w->on && (started & XS_STARTED_PAYLOAD);
}

/* Adds the records asked for on lanes that are not the writer to the counter that says so. */
XS_FN void xs_writer_count_foreign(xs_writer *w) {
    if (w->ring == XS_RING_FOREIGN && w->cursor) {
        xs_control_count(&w->xs->control->foreign, w->cursor);
        w->cursor = 0;
    }
}

/* Claims a ring of the rank. One atomic where the first try is free: writers start at a bit of their own. */
XS_FN uint32_t xs_ring_claim(uint64_t *groups, uint32_t count, uint32_t seed) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = (seed / 64 + i) % count;
        uint64_t bit = 1ull << (seed % 64);
        for (;;) {
            uint64_t taken = xs_or_acquire_sys(&groups[group], bit);
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
    uint32_t rank = xs_writer_grid_block() / xs->blocks, groups = xs->rings_per_rank / 64;
    uint32_t seed = xs_writer_block(w) * ((xs_threads() + XS_WARP - 1) / XS_WARP) + xs_writer_warp();
    uint32_t ring = xs_ring_claim(xs->groups + (uint64_t)rank * groups, groups, seed);
    w->counts = w->payload = false;
    w->ring = XS_RING_NONE;
    if (ring == XS_RING_NONE) {
        xs_control_count(&xs->control->no_ring, 1);
        return;
    }
    w->ring = rank * xs->rings_per_rank + ring;
    w->records = xs->records + (uint64_t)w->ring * xs->records_stride;
    xs_ring_header *header = &xs->rings[w->ring];
    uint64_t next = xs_control_load(&header->next), now = xs_now();
    if (next == 0)
        next = 1; /* zeroed memory: sequences start at 1 */
    w->cursor = (uint32_t)next;
    w->consumed = (uint32_t)xs_control_load(&header->consumed);
    w->generation = (uint32_t)now; /* so that two owners' status lines never share one */
    xs_ring_enter_owner(w, header, next, now);
    xs_writer_refresh(w);
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
    w.ring = XS_RING_FOREIGN;
    w.counts = w.payload = true;
    if (xs_warp_leads(xs_warp_active()))
        xs_writer_take(&w);
    return w;
}

/* For warps that do not record: no ring, nothing counted, still fit for every primitive. */
XS_FN xs_writer xs_writer_none(const xs_handle *xs) {
    xs_writer w = XS_ZERO;
    w.xs = xs;
    w.ring = XS_RING_NONE;
    return w;
}

/* Gives the ring back. By the lanes that began. The writer records nothing afterwards. */
XS_FN void xs_writer_end(xs_writer *w) {
    if (!XS_TRACE)
        return;
    xs_writer_count_foreign(w);
    if (xs_writer_has_ring(w)) {
        xs_ring_header *header = &w->xs->rings[w->ring];
        uint64_t next = xs_ring_next(header, w->cursor + (w->on ? 2 : 0)); /* behind this event's own two records */
        xs_emit_full(w, xs_how_of(XS_EV_WRITER_END, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, w->role, (uint32_t)next,
                     (uint32_t)(next >> 32), xs_now());
        xs_control_store(&header->next, next);
        /* Release: whoever takes the ring next, or reads it while it is free, sees `next` and the records. */
        xs_and_release_sys(&w->xs->groups[w->ring / 64], ~(1ull << (w->ring % 64)));
    }
    w->ring = XS_RING_NONE;
    w->on = w->counts = w->payload = false;
}

/* These two may be called by all lanes of the warp, like begin and end, or by the writer alone. */
XS_FN void xs_writer_role(xs_writer *w, uint32_t role) {
    if (!XS_TRACE || !xs_writer_has_ring(w))
        return;
    w->role = role;
    xs_emit(w, XS_HEAD(XS_CODE_ROLE, role), 0, xs_now_low());
}

/* The writer enters epoch `epoch`: `started` and the filters are read again here. */
XS_FN void xs_writer_epoch(xs_writer *w, uint64_t epoch) {
    if (!XS_TRACE || !xs_writer_has_ring(w))
        return;
    w->epoch = epoch;
    xs_writer_refresh(w);
    xs_emit_full(w, xs_how_of(XS_EV_EPOCH, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, 0, (uint32_t)epoch,
                 (uint32_t)(epoch >> 32), xs_now());
}

/* The user's word (a tile, an expert) in the status lines of waits that begin from here on. */
XS_FN void xs_writer_word(xs_writer *w, uint32_t word) { w->word = word; }

#endif
