/* How kernels look at the words that the host sets: the world's abort word, and whether tracing is started.
 * They lie in host memory, where a signal handler or another process can set them with no CUDA call. But a GPU's reads
 * of one such word take turns, a microsecond each, for all of its warps. So each launch has a lookout in its GPU's own
 * memory (xs_lookout): everybody reads that one, and of those who find it older than XS_LOOKOUT_NS one reads the host's
 * word for all. On the host the word is read. */
#ifndef XS_LOOKOUT_H
#define XS_LOOKOUT_H

#include <stdbool.h>
#include <xs/atomics.h>
#include <xs/handle.h>

/* What the host sets is seen by a kernel's next look after so long. */
#define XS_LOOKOUT_NS 20000u

/* Instead of xs_started_bits, after a trap: nothing is started any more, whoever begins. */
#define XS_LOOKOUT_FROZEN 0x80000000u

/* Bookkeeping of xs itself: no scheduling point on the host, so that a traced `sim` run takes the plain run's path. */
#if XS_CUDA
XS_FN uint64_t xs_control_load(const uint64_t *at) { return xs_load_relaxed_sys(at); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return xs_load_relaxed_sys_u32(at); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { xs_store_relaxed_sys_u32(at, value); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { xs_red_relaxed_gpu(at, n); }
#else
XS_FN uint64_t xs_control_load(const uint64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN uint32_t xs_control_load_u32(const uint32_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
XS_FN void xs_control_store_u32(uint32_t *at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
XS_FN void xs_control_count(uint64_t *at, uint64_t n) { __atomic_fetch_add(at, n, __ATOMIC_RELAXED); }
#endif

/* `started`, or XS_LOOKOUT_FROZEN where `freeze` is up: one load, one register. */
XS_FN uint32_t xs_window_state(const xs_window *window) {
    uint64_t both = xs_control_load((const uint64_t *)(const void *)&window->started);
    return both >> 32 == 0 ? (uint32_t)both : XS_LOOKOUT_FROZEN;
}

#if XS_CUDA

/* Of the two the one of this build. */
#if XS_TRACE
#define XS_LOOKOUT_AT(member) ((uint32_t)(sizeof(xs_lookout) + offsetof(xs_lookout, member)))
#define xs_lookout_load(xs, member) xs_load_relaxed_gpu_u32_at<XS_LOOKOUT_AT(member)>((xs)->lookout)
#define xs_lookout_store(xs, member, value) xs_store_relaxed_gpu_u32_at<XS_LOOKOUT_AT(member)>((xs)->lookout, value)
#else
#define xs_lookout_load(xs, member) xs_load_relaxed_gpu_u32(&(xs)->lookout->member)
#define xs_lookout_store(xs, member, value) xs_store_relaxed_gpu_u32(&(xs)->lookout->member, value)
#endif

/* One of those who found it that old looks for all. zero: as in xs_cas_relaxed_gpu_u32_at. */
XS_FN bool xs_lookout_mine(const xs_handle *xs, uint32_t zero, uint32_t time, uint32_t now) {
#if XS_TRACE
    return xs_cas_relaxed_gpu_u32_at<XS_LOOKOUT_AT(time)>(xs->lookout, zero, time, now) == time;
#else
    (void)zero;
    return xs_cas_relaxed_gpu_u32(&xs->lookout->time, time, now) == time;
#endif
}

/* Whoever gets here looks for all: the abort word, and where it is traced `started`. */
XS_FN uint32_t xs_lookout_fetch(const xs_handle *xs) {
    if (XS_TRACE)
        xs_lookout_store(xs, state, xs_window_state((const xs_window *)(const void *)xs->control));
    uint32_t reason = xs_control_load_u32(xs->abort);
    if (reason)
        xs_lookout_store(xs, aborted, reason);
    return reason;
}

/* The reason (an xs_error, positive) once the world is aborted, else 0. Two looks are closer than the time's wrap, or
 * one is made once too often. */
XS_FN uint32_t xs_lookout_aborted(const xs_handle *xs) {
    uint32_t reason = xs_lookout_load(xs, aborted), time = xs_lookout_load(xs, time);
    uint32_t zero = XS_TRACE ? xs_opaque(reason) : 0; /* ahead of the branch, behind which the compiler knows it */
    if (reason)
        return reason;
    uint32_t now = xs_now_low();
    if (now - time < XS_LOOKOUT_NS || !xs_lookout_mine(xs, zero, time, now))
        return 0;
    return xs_lookout_fetch(xs);
}
XS_FN void xs_lookout_abort(const xs_handle *xs, uint32_t reason) {
    xs_lookout_store(xs, aborted, reason);
}

/* As seen by whoever looked last. From an address that varies for all that ptxas knows (ring_shift is below 32):
 * else it is the sum made for the abort word, kept in two registers over the status line, behind which the next of
 * several waits reads it again. On sm_75, where consume takes one more by it, only who asks for it. */
XS_FN uint32_t xs_lookout_state(const xs_handle *xs) {
#if XS_CUDA && XS_TRACE && (XS_ARCH >= 800 || XS_SAVE_REGISTERS)
    return xs_load_relaxed_gpu_u32_at<XS_LOOKOUT_AT(state)>((const char *)xs->lookout + xs_opaque(xs->ring_shift) / 32);
#else
    return xs_lookout_load(xs, state);
#endif
}

/* `started` for a writer that takes this ring: as the host set it. What it sees later, by xs_lookout_state, is not
 * older. */
XS_FN uint32_t xs_lookout_begin(const xs_handle *xs, const xs_ring_header *ring) {
    uint32_t state = xs_control_load_u32(&ring->window.started), seen = xs_lookout_state(xs);
    if (seen == XS_LOOKOUT_FROZEN)
        return seen;
    if (seen != state)
        xs_lookout_store(xs, state, state);
    return state;
}

/* Whoever is fetching `started` at this moment may overwrite it; the next fetch sees `freeze`. */
XS_FN void xs_lookout_freeze(const xs_handle *xs) {
    xs_lookout_store(xs, state, XS_LOOKOUT_FROZEN);
}

/* The window of a ring's writer: a line that no other warp reads. */
XS_FN const xs_window *xs_ring_window(const xs_handle *xs, const xs_ring_header *ring) {
    (void)xs;
    return &ring->window;
}

#else

XS_FN uint32_t xs_lookout_aborted(const xs_handle *xs) { return xs_control_load_u32(xs->abort); }
XS_FN void xs_lookout_abort(const xs_handle *xs, uint32_t reason) { (void)xs, (void)reason; }
XS_FN const xs_window *xs_ring_window(const xs_handle *xs, const xs_ring_header *ring) {
    (void)ring;
    return (const xs_window *)(const void *)xs->control;
}
XS_FN uint32_t xs_lookout_state(const xs_handle *xs) { return xs_window_state(xs_ring_window(xs, NULL)); }
XS_FN uint32_t xs_lookout_begin(const xs_handle *xs, const xs_ring_header *ring) {
    return xs_window_state(xs_ring_window(xs, ring));
}
XS_FN void xs_lookout_freeze(const xs_handle *xs) { (void)xs; }

#endif

#endif
