/* Who am I: all numbers are 32 bits and relative to the rank. xs kernels have one-dimensional grids and blocks.
 * On the host a warp is one thread: xs_thread() == xs_warp(), xs_lane() == 0, xs_threads() == xs_warps(). */
#ifndef XS_SELF_H
#define XS_SELF_H

#include <stdbool.h>
#include <xs/atomics.h>

#define XS_WARP 32u

#if XS_CUDA
XS_FN uint32_t xs_grid_block(void) { return blockIdx.x; }
XS_FN uint32_t xs_thread(void) { return threadIdx.x; }
XS_FN uint32_t xs_threads(void) {
    return blockDim.x;
} /* the step of payload loops: known not to vary, so that they are unrolled */
XS_FN uint32_t xs_warp(void) { return threadIdx.x / XS_WARP; }
XS_FN uint32_t xs_warps(void) { return ((XS_TRACE ? xs_writer_threads() : blockDim.x) + XS_WARP - 1) / XS_WARP; }
/* Joins the block, unnoted: bar.sync 0, which clashes with any other use of barrier 0 (article 000, section 6.4). */
XS_FN int xs_block_join(void) {
    __syncthreads();
    return 0;
}
/* Joins all lanes of the warp that have not exited, however far apart they have run. Never __activemask() here: it
 * names the lanes that happen to run together, so that lane 0 would not wait for lanes that are still writing. */
XS_FN void xs_warp_join(void) { __syncwarp(); }
/* The value of lane 0, for all lanes of the warp; joins them. */
XS_FN int xs_warp_broadcast(int value) { return __shfl_sync(0xffffffffu, value, 0); }
/* Joins the lanes of a mask that xs_warp_active gave to each of them. */
XS_FN void xs_warp_join_active(uint32_t active) { __syncwarp(active); }
XS_FN uint32_t xs_lanes(void) { return XS_WARP; }
XS_FN uint32_t xs_warp_active(void) { return __activemask(); }
/* The lowest of the active lanes: one lane speaks for all. */
XS_FN bool xs_warp_leads(uint32_t active) { return xs_lane() == (uint32_t)__ffs((int)active) - 1; }
XS_FN uint32_t xs_warp_count(uint32_t active) { return (uint32_t)__popc(active); }
/* Index of the lowest bit set (of a value that is not 0), and one more than the index of the highest (0 for 0). */
XS_FN uint32_t xs_bits_lowest(uint64_t bits) { return (uint32_t)__ffsll((long long)bits) - 1; }
XS_FN uint32_t xs_bits_end(uint64_t bits) { return 64 - (uint32_t)__clzll((long long)bits); }
/* Spends time without touching memory. */
XS_FN void xs_work_ns(uint64_t ns) {
    uint64_t start = xs_now();
    while (xs_now() - start < ns) {
    }
}
#else
XS_FN uint32_t xs_grid_block(void) { return xs_host_self()->block; }
XS_FN uint32_t xs_thread(void) { return xs_host_self()->warp; }
XS_FN uint32_t xs_threads(void) { return xs_host_self()->warps; }
XS_FN uint32_t xs_warp(void) { return xs_host_self()->warp; }
XS_FN uint32_t xs_warps(void) { return xs_host_self()->warps; }
/* Returns XS_RESULT_ABORTED when the world was aborted meanwhile: then the block did not join. */
XS_FN int xs_block_join(void) { return xs_host_block_barrier(0, xs_host_self()->warps * XS_WARP); }
XS_FN void xs_warp_join(void) {}
XS_FN void xs_warp_join_active(uint32_t active) { (void)active; }
XS_FN int xs_warp_broadcast(int value) { return value; }
XS_FN uint32_t xs_lanes(void) { return 1; }
XS_FN uint32_t xs_warp_active(void) { return 1; }
XS_FN bool xs_warp_leads(uint32_t active) { return active != 0; }
XS_FN uint32_t xs_warp_count(uint32_t active) { return active; }
XS_FN uint32_t xs_bits_lowest(uint64_t bits) { return (uint32_t)__builtin_ctzll(bits); }
XS_FN uint32_t xs_bits_end(uint64_t bits) { return bits ? 64 - (uint32_t)__builtin_clzll(bits) : 0; }
XS_FN void xs_work_ns(uint64_t ns) { xs_host_work(ns); }
#endif

/* The rank that this block belongs to, its index in it, and how many blocks the rank has. */
XS_FN uint32_t xs_handle_rank(const xs_handle *xs) { return xs->rank + xs_grid_block() / xs->blocks; }
#if XS_CUDA && XS_TRACE /* from the block in the grid, read again, and the rank: one register less over waits */
XS_FN uint32_t xs_handle_block(const xs_handle *xs) {
    return xs_ptx_ctaid_x() - xs_grid_block() / xs->blocks * xs->blocks;
}
#else
XS_FN uint32_t xs_handle_block(const xs_handle *xs) { return xs_grid_block() % xs->blocks; }
#endif
#define xs_rank(xs) xs_handle_rank(&(xs))
#define xs_block(xs) xs_handle_block(&(xs))
#define xs_blocks(xs) ((xs).blocks)

#endif
