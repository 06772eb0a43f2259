/* A loop of one call and some work, compiled twice: traced and plain. */
#ifndef PRIMITIVE_COST_H
#define PRIMITIVE_COST_H

#include <gpu_rings.h>

/* COST_WAIT: for what the slot holds; COST_WAIT_AHEAD: for less, which is noted in two records. */
enum cost_call { COST_NONE, COST_SIGNAL, COST_WAIT, COST_WAIT_AHEAD, COST_CALLS };

struct cost_args {
    xs_pad pad; /* 1 x warps, every slot far ahead; rank 0's copy */
    uint64_t held; /* what every slot holds before the first signal */
    long long *cycles; /* of the whole loop, a warp */
    uint32_t *sink;
    uint32_t loops, fmas; /* fmas: of work between two calls, in blocks of 64 */
    float zero;
    uint32_t reserved0;
};

const void *cost_kernel_plain(enum cost_call call);
const void *cost_kernel_traced(enum cost_call call);

#endif
