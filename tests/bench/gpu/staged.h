/* An opt-in that has to earn its place: records staged in shared memory, flushed to the ring in device memory 32 at a time. The
 * flush is part of what is measured. Benchmark code only; what it costs besides cycles is in docs/results.md.
 *   warp  all lanes of the warp flush together: needs them at every record call, which xs does not ask of its callers
 *   bulk  the writer alone flushes, by a bulk copy of the copy engine of the SM (sm_90) */
#ifndef STAGED_H
#define STAGED_H

#include <nv/target>
#include <xs/kernel.h>

enum { STAGE_RECORDS = 64, STAGE_HALF = 32, STAGE_WARPS = 32 };

typedef struct staged_writer {
    uint4 *stage;   /* STAGE_RECORDS in shared memory */
    uint4 *ring;    /* in device memory */
    uint32_t mask;  /* of the ring */
    uint32_t cursor;
} staged_writer;

XS_FN uint32_t staged_shared(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

XS_FN void staged_put(staged_writer *w, uint32_t head, uint32_t value) {
    uint32_t at = staged_shared(w->stage) + (w->cursor % STAGE_RECORDS) * 16;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %0, 0;\n\t@p st.shared.v4.u32 [%1], {%2, %3, %4, %5};\n\t}" ::"r"(xs_lane()), "r"(at),
                 "r"(w->cursor), "r"(head), "r"(value), "r"(xs_now_low())
                 : "memory");
    w->cursor++;
}

/* The half that was just filled; the last one may be short of 32 and is flushed whole, its rest being older records. */
XS_FN void staged_flush_warp(staged_writer *w) {
    __syncwarp();
    uint32_t first = (w->cursor - 1) & ~(uint32_t)(STAGE_HALF - 1);
    w->ring[(first + xs_lane()) & w->mask] = w->stage[(first + xs_lane()) % STAGE_RECORDS];
    __syncwarp();
}

XS_FN void staged_flush_bulk(staged_writer *w) {
    uint32_t first = (w->cursor - 1) & ~(uint32_t)(STAGE_HALF - 1);
    NV_IF_TARGET(NV_PROVIDES_SM_90, (if (xs_lane() == 0) {
        /* The other half must have been read before it is written again. */
        asm volatile("fence.proxy.async.shared::cta;\n\t"
                     "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;\n\t"
                     "cp.async.bulk.commit_group;\n\t"
                     "cp.async.bulk.wait_group.read 1;" ::"l"(&w->ring[first & w->mask]),
                     "r"(staged_shared(&w->stage[first % STAGE_RECORDS]))
                     : "memory");
    }))
}

/* Before the kernel ends: shared memory is gone with the block. */
XS_FN void staged_end_bulk(staged_writer *w) {
    if (w->cursor % STAGE_HALF != 0)
        staged_flush_bulk(w);
    NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");))
}

#endif
