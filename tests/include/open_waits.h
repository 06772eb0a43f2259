/* The open waits of this process, as its status lines tell: what a test program waits for before it is killed. Their
 * WAIT_START records were made before the lines, and the WAIT_END records of waits that are over before theirs. Only whole
 * lines count: of one that is half written when its process is killed nobody learns anything afterwards. */
#ifndef OPEN_WAITS_H
#define OPEN_WAITS_H

#include <xs/record_access.h>

#include "world.h"

enum { OPEN_WAITS_PARTS = sizeof(xs_status_line) / sizeof(xs_record) };

/* 1: *copy is a line that is not just being written. */
static inline int open_waits_copy(uint32_t words, const void *from, xs_status_line *copy) {
    const xs_record *parts = from;
    xs_record out[OPEN_WAITS_PARTS];
    for (int i = 0; i < OPEN_WAITS_PARTS; i++)
        if (!xs_part_load(words, &parts[i], &out[i]) || !out[i].sequence || out[i].sequence != out[0].sequence)
            return 0;
    __builtin_memcpy(copy, out, sizeof *copy);
    return 1;
}

/* How many; with `counts`, how many of them it counts. */
static inline uint32_t open_waits(const xs_world *world, int (*counts)(void *user, const xs_status_line *line),
                                  void *user) {
    const xs_region_header *r = xs_region(world);
    uint32_t found = 0;
    for (uint64_t i = 0; i < (uint64_t)r->ranks * r->rings_per_rank * r->lines_per_ring; i++) {
        xs_status_line line;
        if (!open_waits_copy(r->record_words, (const char *)r + r->status_offset + i * r->status_stride, &line))
            continue;
        uint32_t state = line.p0.state_stage & 0xff;
        if (state == XS_LINE_WAITING || state == XS_LINE_SLOW)
            found += !counts || counts(user, &line);
    }
    return found;
}

#endif
