/* Kernels, copies and the calls that launched them. */
#ifndef XSV_KERNELS_H
#define XSV_KERNELS_H

#include "draw.h"

/* A kernel on one rank, as CUPTI told of it, or (activity NULL) as the host's words say. launch NULL: not by xs, or
 * not known. */
typedef struct kernel_item {
    uint32_t rank, stream;
    int64_t begin, end;
    const xsr_activity *activity;
    const xsr_launch *launch;
} kernel_item;

typedef struct kernel_list { kernel_item *items; uint32_t count, room; } kernel_list;
typedef struct told { uint64_t *list; uint32_t count, room; } told;

/* A kernel of a rank as an event of its GPU; end INT64_MIN: it has not ended. */
int gpu_kernel(drawing *d, const kernel_item *kernel, const char *name, int64_t begin, int64_t end);

/* calls.c: copies, on the first rank of their GPU; calls, on the rows of the process that made them. */
int calls_draw(drawing *d, const kernel_list *kernels);
/* The edge from a call to what it launched, on that rank; false: the call is not known, or drawn in another file. */
bool call_flow(const drawing *d, const xsr_activity *activity, uint32_t rank, uint64_t *flow);

#endif
