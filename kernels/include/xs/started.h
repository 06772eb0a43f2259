/* The first act of every block of a traced CUDA kernel: says in mapped memory that it runs, so that the host can
 * tell a launch whose blocks wait for room from one that is merely slow. One relaxed 32-bit store by one thread. */
#ifndef XS_STARTED_H
#define XS_STARTED_H

#include <xs/self.h>

#if XS_CUDA
XS_FN void xs_block_started(const xs_handle *xs) {
    if (threadIdx.x + threadIdx.y + threadIdx.z != 0)
        return;
    uint32_t grid_block = xs_writer_grid_block(), rank = grid_block / xs->blocks, block = grid_block % xs->blocks;
    uint32_t word = block % (xs->XS_RINGS * XS_RING_STARTED);
    xs_ring_header *ring = &xs->rings[rank * xs->XS_RINGS + word / XS_RING_STARTED];
    xs_store_relaxed_sys_u32(&ring->started[word % XS_RING_STARTED], xs->launch);
}
#endif

#endif
