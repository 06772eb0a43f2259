/* Which blocks of a launch run: each puts the launch's id into a word of its rank's ring headers when it begins
 * (define.h). Blocks beyond the words that there are share them: of those only one is known to run. */
#include "world.h"

uint32_t xs_region_started(const xs_world *world, uint32_t first_rank, uint32_t ranks, uint32_t grid, uint32_t launch) {
    const xs_region_header *h = xs_region(world);
    uint32_t words = h->rings_per_rank * XS_RING_STARTED, started = 0;
    for (uint32_t r = first_rank - h->first_rank, end = r + ranks; r < end; r++)
        for (uint32_t b = 0; b < grid; b++) {
            uint64_t ring = (uint64_t)r * h->rings_per_rank + b % words / XS_RING_STARTED;
            const xs_ring_header *at =
                (const xs_ring_header *)(world->region + h->ring_headers_offset + ring * h->ring_header_stride);
            started += __atomic_load_n(&at->started[b % XS_RING_STARTED], __ATOMIC_RELAXED) == launch;
        }
    return started;
}
