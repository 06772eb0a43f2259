/* pub_release, wait_ge_bounded and acq_fence (article 004): the three-piece form, with the order in fences. The
 * article's publish uses a device-wide fence while its section 4.3 asks for one that spans devices: here the fence
 * is as wide as the store. It adds to a counter; one writer needs no atomic, so here the absolute sequence is
 * stored. Caller: a thread. */
#ifndef XS_RELEASE_H
#define XS_RELEASE_H

#include <xs/core.h>

/* fence.acq_rel.sys; st.relaxed.sys: what this thread wrote before is seen by who reads seq and then fences. */
XS_FN void xs_pub_release(xs_writer *w, xs_slot slot, uint64_t seq) {
    xs_core_fence_before_stores(XS_SCOPE_SYS);
    xs_core_fence_covers(slot);
    xs_core_store_fenced(w, slot, seq, XS_SCOPE_SYS, XS_FENCE_SYS);
}
/* The same at gpu scope: writer and readers on one device. */
XS_FN void xs_pub_release_gpu(xs_writer *w, xs_slot slot, uint64_t seq) {
    xs_core_fence_before_stores(XS_SCOPE_GPU);
    xs_core_fence_covers(slot);
    xs_core_store_fenced(w, slot, seq, XS_SCOPE_GPU, XS_FENCE_GPU);
}

/* ld.relaxed.sys until at least need, bounded by reads, nanoseconds and the peer's heartbeat; back-off, then slow
 * poll. Returns xs_result: OK, TIMEOUT, PEER_DEAD or ABORTED. OK alone orders nothing: xs_acq_fence before the
 * payload is read. */
#define xs_wait_ge_bounded(w, slot, need, bound) xs_core_wait(w, slot, need, XS_CMP_GE, XS_RELAXED, XS_SCOPE_SYS, bound)
#define xs_wait_ge_bounded_gpu(w, slot, need, bound) \
    xs_core_wait(w, slot, need, XS_CMP_GE, XS_RELAXED, XS_SCOPE_GPU, bound)

/* fence.acq_rel: what follows is read after what the waits before it read. After OK, never instead of it. */
#define xs_acq_fence(w) xs_core_fence(w, XS_ACQUIRE, XS_SCOPE_SYS)
#define xs_acq_fence_gpu(w) xs_core_fence(w, XS_ACQUIRE, XS_SCOPE_GPU)

#endif
