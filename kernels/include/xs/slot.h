/* signal_slot and wait_slot (article 000, section 2): a sequence stored into the peer's copy of a pad by its one
 * writer; the peer polls its own copy. Sequences only rise and are never reset. The article's are signed 32-bit:
 * those run negative after 2^31 rounds; xs's are 64-bit, and 32-bit adopted slots (`_u32`) compare by distance.
 * Caller: one thread. */
#ifndef XS_SLOT_H
#define XS_SLOT_H

#include <xs/core.h>

/* st.release.sys into dst's copy. Everything that this thread wrote or acquired before is seen by who acquires seq. */
XS_FN void xs_signal_slot(xs_writer *w, const xs_pad *pad, uint32_t dst, uint32_t row, uint32_t column, uint64_t seq) {
    xs_core_store(w, xs_slot_at(pad, dst, row, column), seq, XS_RELEASE, XS_SCOPE_SYS);
}
XS_FN void xs_signal_slot_u32(xs_writer *w, const xs_pad *pad, uint32_t dst, uint32_t row, uint32_t column,
                              uint32_t seq) {
    xs_core_store_u32(w, xs_slot_at(pad, dst, row, column), seq, XS_RELEASE, XS_SCOPE_SYS);
}
/* gpu scope: dst must be a rank on the same device. */
XS_FN void xs_signal_slot_gpu(xs_writer *w, const xs_pad *pad, uint32_t dst, uint32_t row, uint32_t column,
                              uint64_t seq) {
    xs_core_store(w, xs_slot_at(pad, dst, row, column), seq, XS_RELEASE, XS_SCOPE_GPU);
}

/* The caller's rank: from a product where a wait has no register for it. Of that ptxas sees on sm_75 that it is the
 * same for all threads of a block, and keeps it in a uniform register; on later ones the block's index is read again
 * for each wait. */
XS_FN uint32_t xs_own_rank(const xs_handle *xs) {
#if XS_CUDA && XS_TRACE
    if (XS_WAITS_SHORT)
        return xs->rank +
               xs_blocks_quotient(XS_ARCH < 800 ? xs_grid_block() : xs_ptx_ctaid_x(), xs->blocks, xs->blocks_inverse);
#endif
    return xs_handle_rank(xs);
}

/* The caller's own copy of a slot. */
XS_FN xs_slot xs_own_slot(const xs_writer *w, const xs_pad *pad, uint32_t row, uint32_t column) {
    return xs_slot_at(pad, xs_own_rank(w->xs), row, column);
}

/* ld.acquire.sys of the own copy until it is at least seq. Returns xs_result: OK, or what ended it (xs_bound). Read
 * what the signal guards only after OK. The unbounded form gives up on abort alone. */
#define xs_wait_slot(w, pad, row, column, seq) xs_wait_slot_bounded(w, pad, row, column, seq, xs_unbounded())
#define xs_wait_slot_bounded(w, pad, row, column, seq, bound) \
    xs_core_wait(w, xs_own_slot(w, pad, row, column), seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, bound)
#define xs_wait_slot_u32(w, pad, row, column, seq) xs_wait_slot_bounded_u32(w, pad, row, column, seq, xs_unbounded())
#define xs_wait_slot_bounded_u32(w, pad, row, column, seq, bound) \
    xs_core_wait_u32(w, xs_own_slot(w, pad, row, column), seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, bound)
#define xs_wait_slot_gpu(w, pad, row, column, seq) \
    xs_core_wait(w, xs_own_slot(w, pad, row, column), seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_GPU, xs_unbounded())

#endif
