/* The open waits of this process, as its status lines tell: what a test program waits for before it is killed. Their
 * WAIT_START records were made before the lines, and the WAIT_END records of waits that are over before theirs. */
#ifndef OPEN_WAITS_H
#define OPEN_WAITS_H

#include "world.h"

/* How many; with `seen`, how many of them it takes: rank (number) and object of each are handed to it. */
static inline uint32_t open_waits(const xs_world *world, int (*seen)(void *user, uint32_t rank, uint32_t object),
                                  void *user) {
    const xs_region_header *r = xs_region(world);
    uint32_t found = 0, of_rank = r->rings_per_rank * r->lines_per_ring;
    for (uint64_t i = 0; i < (uint64_t)r->ranks * of_rank; i++) {
        const xs_status_line *line = (const void *)((const char *)r + r->status_offset + i * r->status_stride);
        uint32_t state = __atomic_load_n(&line->p0.state_stage, __ATOMIC_RELAXED) & 0xff;
        if (state != XS_LINE_WAITING && state != XS_LINE_SLOW)
            continue;
        found += !seen || seen(user, r->first_rank + (uint32_t)(i / of_rank),
                               __atomic_load_n(&line->p0.object, __ATOMIC_RELAXED));
    }
    return found;
}

#endif
