/* A world whose kernel emits at a chosen rate, and ways to take its records out of the rings, each of which says
 * exactly what it took and lost. */
#ifndef RING_RATE_LOAD_H
#define RING_RATE_LOAD_H

#include <stdint.h>
#include <xs/kernel.h>
#include <xs/xs.h>

#include "ring_rate.kernel.h"

typedef struct load_shape {
    const char *backend, *placement;
    uint32_t blocks, block, ring_records;
} load_shape;

typedef struct load {
    xs_world *world;
    load_shape shape;
    uint32_t warps;
    struct rate_args args;
} load;

/* Of one run. Counted in kernel memory, and by who read. */
typedef struct load_result {
    uint64_t emitted, kept, lost; /* emitted: with the five records of each writer's begin and end */
    double seconds;               /* that kernels emitted for */
} load_result;

/* All of these print and exit with 2 where something fails that is not a matter of rates. */
void load_open(load *l, const load_shape *shape);
void load_close(load *l);
/* Starts the kernel: marks a second over all warps (0: as fast as it goes), for `seconds`; most: marks a warp (0: no
 * bound). */
void load_start(load *l, double rate, double seconds, uint32_t most);
/* Waits for the kernel; what it emitted. */
uint64_t load_wait(load *l);

/* Runs the load while `threads` threads drain disjoint rings: read, stamp check, copy; nothing is written. */
load_result load_validated(const load_shape *shape, uint32_t threads, double rate, double seconds, uint32_t most);
/* The same through the collector with `threads` threads, into a capture with all its space made before. The capture is
 * read back: its frames, checksums and counts are the result. */
load_result load_captured(const load_shape *shape, uint32_t threads, double rate, double seconds, uint32_t most);

#endif
