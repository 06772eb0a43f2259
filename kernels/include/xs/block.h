/* block_sync (article 000, section 6.4): a named barrier of the block, noted, so that two uses of one id with
 * different counts are seen. Id 0 is also __syncthreads (xs_block_join and every block-level primitive use it for
 * the whole block). Caller: `count` threads of the block, whole warps. */
#ifndef XS_BLOCK_H
#define XS_BLOCK_H

#include <xs/core.h>

/* barrier.sync id, count (id 0 .. 15, count a multiple of 32): orders memory among its threads, cta scope. Returns
 * xs_result (ABORTED on the host backend alone). The writer's lane notes it. */
XS_FN int xs_block_sync(xs_writer *w, uint32_t id, uint32_t count) {
    if (XS_TRACE && w->base != XS_RING_FOREIGN)
        xs_note_block_enter(w, id, count);
    if (XS_TRACE)
        xs_warp_join(); /* a warp comes to the barrier whole, as it does untraced: its other lanes may have run on */
    int result = xs_block_barrier(id, count);
    if (XS_TRACE && w->base != XS_RING_FOREIGN)
        xs_note_block_leave(w, id, count);
    return result;
}

#endif
