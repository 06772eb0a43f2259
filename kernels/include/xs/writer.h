/* The writer: takes a ring at its begin and gives it back at its end, by one atomic each, and says so to the host in
 * the ring's header. A ring has one owner at a time; its sequence goes on from owner to owner. */
#ifndef XS_WRITER_H
#define XS_WRITER_H

#include <xs/emit.h>
#include <xs/lookout.h>

XS_FN uint32_t xs_writer_block(const xs_writer *w) { return xs_writer_grid_block() % w->xs->blocks; }

/* Both by counting, without a division: the slow paths have no registers for one, and the ranks of a launch are few. */
XS_FN void xs_writer_place(const xs_writer *w, uint32_t *rank, uint32_t *block) {
    *rank = w->xs->rank;
    XS_NO_UNROLL
    for (*block = xs_writer_grid_block(); *block >= w->xs->blocks; *block -= w->xs->blocks)
        ++*rank;
}

XS_FN bool xs_writer_has_ring(const xs_writer *w) { return xs_opaque(w->base) < XS_RING_FOREIGN; }
/* Index from the launch's first rank. */
XS_FN uint32_t xs_writer_ring(const xs_writer *w) { return xs_opaque(w->base) >> w->xs->ring_shift; }

#if XS_CUDA
/* Ahead of the end of a ring's owner: its records in memory of the device are there before whoever copies them sees
 * the end. */
XS_FN void xs_ring_records_first(void) { xs_fence_acq_rel_gpu(); }
XS_FN void xs_ring_store(uint64_t *at, uint64_t value) { xs_store_relaxed_sys(at, value); }
/* Next, owners, mode and busy of a ring header, by one store that nothing waits for; where that is not whole, by
 * two, of which the second waits at the end of an owner (`next` does not change at its begin). */
XS_FN void xs_ring_sign(xs_ring_header *ring, uint64_t next, uint32_t owners, uint32_t busy) {
#if XS_RECORD_WORDS == 2
    uint64_t *half = &ring->next, sign = owners | (uint64_t)(XS_RING_MODE | busy << 16) << 32;
    xs_ring_store(&half[0], next);
    if (busy)
        xs_ring_store(&half[1], sign);
    else
        xs_store_release_sys(&half[1], sign);
#else
    xs_store16_if(1, &ring->next, (uint32_t)next, (uint32_t)(next >> 32), owners, XS_RING_MODE | busy << 16);
#endif
}
#else
XS_FN void xs_ring_records_first(void) {}
XS_FN void xs_ring_store(uint64_t *at, uint64_t value) {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
} /* no step of the protocol */
XS_FN void xs_ring_sign(xs_ring_header *ring, uint64_t next, uint32_t owners, uint32_t busy) {
    xs_record_word *half = (xs_record_word *)(void *)&ring->next;
    __atomic_store_n(&half[0], next, __ATOMIC_RELAXED);
    __atomic_store_n(&half[1], owners | (uint64_t)(XS_RING_MODE | busy << 16) << 32, __ATOMIC_RELEASE);
}
#endif

XS_FN xs_control *xs_writer_control(const xs_writer *w) {
    return (xs_control *)(uintptr_t)xs_opaque_u64((uint64_t)(uintptr_t)w->xs->control);
}

XS_FN void xs_writer_switch(xs_writer *w, uint32_t state) {
    bool on = (state & XS_STARTED) && !(w->base & XS_RING_FILTERED);
    w->base = on ? w->base & ~XS_RING_OFF : w->base | XS_RING_OFF;
    w->payload = on ? state & XS_STARTED_PAYLOAD : 0;
}

/* Tracing goes on or off here, at writer-begin, xs_writer_epoch and back-off stages alike. */
XS_FN void xs_writer_refresh(xs_writer *w) {
    if (xs_writer_has_ring(w))
        xs_writer_switch(w, xs_lookout_state(w->xs));
}

/* By loads of which none waits for another: each is a round trip over the bus. */
XS_FN bool xs_writer_passes_filters(const xs_writer *w) {
    const xs_window *window = xs_ring_window(w->xs, &w->xs->rings[xs_writer_ring(w)]);
    uint32_t words[8], rank, block;
    xs_load16_relaxed_sys(&window->started, words);
    xs_load16_relaxed_sys(&window->block_first, words + 4);
    uint64_t first = words[6] | (uint64_t)words[7] << 32, last = xs_control_load(&window->epoch_last);
    xs_writer_place(w, &rank, &block);
    return (rank >= words[2]) & (rank <= words[3]) & (block >= words[4]) & (block <= words[5]) & (w->epoch >= first) &
           (w->epoch <= last);
}

/* The filters too, where there are any: at writer-begin and xs_writer_epoch. */
XS_FN void xs_writer_filter(xs_writer *w, uint32_t state) {
    bool in = !(state & XS_STARTED_FILTERED) || xs_writer_passes_filters(w);
    w->base = in ? w->base & ~XS_RING_FILTERED : w->base | XS_RING_FILTERED;
    xs_writer_switch(w, state);
}

/* Adds the records asked for on lanes that are not the writer to the counter that says so. */
XS_FN void xs_writer_count_foreign(xs_writer *w) {
    if (w->base == XS_RING_FOREIGN && w->cursor) {
        xs_control_count(&xs_writer_control(w)->foreign, w->cursor);
        w->cursor = 0;
    }
}

/* Claims a ring of the rank: one atomic where the first try is free, since writers start at a bit of their own. gpu
 * scope: a rank lives on one device, and its bitmap in that device's memory (atomics on host memory take turns, a
 * microsecond each). */
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

/* The cursor has 32 bits: it is unwrapped from the begin of this owner or from what the collector has taken. */
XS_FN uint64_t xs_ring_next(uint64_t begin, uint64_t consumed, uint32_t cursor) {
    uint64_t base = begin < consumed ? consumed : begin;
    return base + (uint32_t)(cursor - (uint32_t)base);
}

/* No store waits for another: that the entry is whole is said by its stamps. */
XS_FN void xs_ring_enter_owner(xs_writer *w, xs_ring_header *ring, uint64_t first, uint32_t owners, uint64_t now) {
    uint32_t warp_sm = xs_writer_warp() | xs_sm() << 16, rank, block;
    xs_writer_place(w, &rank, &block);
    char *entry = (char *)&ring->owner[owners % XS_RING_OWNERS];
#if XS_RECORD_WORDS == 2
    uint64_t *word = (uint64_t *)(void *)entry;
    uint32_t stamp = XS_RING_WORD_STAMP(owners);
    xs_ring_store(&word[0], XS_OWNER_WORD0(stamp, first, w->role));
    xs_ring_store(&word[1], XS_OWNER_WORD1(stamp, now));
    xs_ring_store(&word[2], XS_OWNER_WORD2(stamp, w->xs->launch, block));
    xs_ring_store(&word[3], XS_OWNER_WORD3(stamp, warp_sm, now, block, w->role));
#else
    uint32_t stamp = XS_RING_STAMP(owners) << 16;
    xs_store16_if(1, entry, (uint32_t)first, ((uint32_t)(first >> 32) & 0xffff) | stamp, (uint32_t)now,
                  (uint32_t)(now >> 32));
    xs_store16_if(1, entry + 16, w->xs->launch, block, warp_sm, (w->role & 0xffff) | stamp);
#endif
    xs_ring_sign(ring, first, owners + 1, 1);
}

/* On a GPU one round trip over the bus: the claim is in the device's memory, and all loads behind it are under way
 * before the first of their answers is used. */
XS_FN void xs_writer_take(xs_writer *w) {
    const xs_handle *xs = w->xs;
    uint64_t now = xs_now(); /* of the call: what follows takes microseconds on a GPU, and not always as many */
    uint32_t rank = xs_writer_grid_block() / xs->blocks, groups = xs->XS_RINGS / 64;
    uint32_t seed = xs_writer_block(w) * xs_warps() + xs_writer_warp();
    uint32_t ring = xs_ring_claim(xs->groups + (uint64_t)rank * groups, groups, seed);
    w->payload = 0;
    w->base = XS_RING_NONE;
    if (ring == XS_RING_NONE) {
        xs_control_count(&xs->control->no_ring, 1);
        return;
    }
    ring += rank * xs->XS_RINGS;
    w->base = ring << xs->ring_shift;
    xs_ring_header *header = &xs->rings[ring];
    uint64_t next = xs_control_load(&header->next);
    uint32_t owners = xs_control_load_u32(&header->owners);
    uint32_t state = xs_lookout_begin(xs, header);
#if XS_RING_MODE == 1 /* XS_DISCARD */
    w->consumed = (uint32_t)xs_control_load(&header->consumed);
#endif
    if (next == 0)
        next = 1; /* zeroed memory: sequences start at 1 */
    w->cursor = (uint32_t)next;
    xs_ring_enter_owner(w, header, next, owners, now);
    xs_writer_filter(w, state);
    uint32_t block;
    xs_writer_place(w, &rank, &block);
    xs_emit_full(w, xs_how_of(XS_EV_WRITER_BEGIN, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 1, w->role, block,
                 xs->launch, now);
    xs_emit_more(w, rank, xs_writer_warp() | xs_sm() << 16, 0);
}

/* One call per warp, by all of its active lanes together; the lowest of them records from here on. role: an id of
 * xs_role, 0 for none. Where no ring is free it is counted and the kernel goes on unrecorded, without status lines
 * too. */
XS_FN xs_writer xs_writer_begin(const xs_handle *xs, uint32_t role) {
    xs_writer w = XS_ZERO;
    w.xs = xs;
    if (!XS_TRACE)
        return w;
    w.role = role;
    w.base = XS_RING_FOREIGN;
    w.payload = 1;
    uint32_t active = xs_warp_active();
    if (xs_warp_leads(active))
        xs_writer_take(&w);
    xs_warp_join_active(active); /* else the others may run ahead, and one that spins keeps the lowest from its turn */
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
        uint64_t begin = xs_control_load(&header->next), consumed = xs_control_load(&header->consumed);
        uint32_t owners = xs_control_load_u32(&header->owners);                      /* none waits for another */
        /* behind this event's own two records */
        uint64_t next = xs_ring_next(begin, consumed, w->cursor + (xs_emit_moves(w) ? 2 : 0));
        xs_emit_full(w, xs_how_of(XS_EV_WRITER_END, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, w->role,
                     (uint32_t)next, (uint32_t)(next >> 32), now);
        xs_ring_records_first();
        xs_ring_sign(header, next, owners, 0);
        /* Release: whoever takes the ring next sees `next`, and signs behind this end. */
        xs_and_release_gpu(&w->xs->groups[xs_writer_ring(w) / 64], ~(1ull << (xs_writer_ring(w) % 64)));
    }
    w->base = XS_RING_NONE;
    w->payload = 0;
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
    if (!XS_TRACE)
        return;
    w->epoch = epoch; /* of other lanes too: where it is the kernel's own count, it takes no register of its own */
    if (!xs_writer_has_ring(w))
        return;
    xs_lookout_aborted(w->xs); /* looks, where it is time */
    xs_writer_filter(w, xs_lookout_state(w->xs));
    xs_emit_full(w, xs_how_of(XS_EV_EPOCH, XS_ORDER_NONE, XS_SCOPE_NONE, XS_FENCE_NONE), 0, 0, (uint32_t)epoch,
                 (uint32_t)(epoch >> 32), xs_now());
}

/* The user's word (a tile, an expert) in the status lines of waits that begin from here on. */
XS_FN void xs_writer_word(xs_writer *w, uint32_t word) { w->word = word; }

#endif
