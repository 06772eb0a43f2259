/* The open waits of this process, as its status lines tell: what a test program waits for before it is killed. Their
 * WAIT_START records were made before the lines, and the WAIT_END records of waits that are over before theirs. */
#ifndef OPEN_WAITS_H
#define OPEN_WAITS_H

#include "world.h"

/* How many; with `counts`, how many of them it counts. */
static inline uint32_t open_waits(const xs_world *world, int (*counts)(void *user, const xs_status_line *line),
                                  void *user) {
    const xs_region_header *r = xs_region(world);
    uint32_t found = 0;
    for (uint64_t i = 0; i < (uint64_t)r->ranks * r->rings_per_rank * r->lines_per_ring; i++) {
        const xs_status_line *line = (const void *)((const char *)r + r->status_offset + i * r->status_stride);
        uint32_t state = __atomic_load_n(&line->p0.state_stage, __ATOMIC_RELAXED) & 0xff;
        if (state == XS_LINE_WAITING || state == XS_LINE_SLOW)
            found += !counts || counts(user, line);
    }
    return found;
}

#endif
