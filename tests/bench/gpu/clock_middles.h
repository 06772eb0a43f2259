/* Kernels against the stamps in them: how far the middles lie from each other. */
#ifndef CLOCK_MIDDLES_H
#define CLOCK_MIDDLES_H

#include <stdint.h>

/* Stamps and CUPTI's bounds of a kernel, ns on one clock. */
typedef struct middles_kernel {
    int64_t first, last, kernel_begin, kernel_end;
} middles_kernel;

typedef struct middles_row {
    uint32_t count; /* 0: the others are -1 */
    int64_t least, p50, p99, most;
} middles_row;

typedef struct middles_result {
    int64_t usual;        /* median distance from the middle of a kernel to that of its stamps */
    middles_row residual; /* of every kernel: how far it lies from the usual */
    middles_row begins, ends; /* the same of CUPTI's begin and the first stamp, of its end and the last */
    middles_row first, last; /* of the residual of 5 s at either end */
    middles_row seconds;  /* of the medians of the begins of each second's kernels (10 or more of them) */
    middles_row before, behind, both; /* by how much a kernel begins ahead of its stamps and ends behind them */
} middles_result;

/* Sorts the kernels. 0, or -1: no memory. count: 1 at least. */
int middles_of(middles_kernel *kernels, uint32_t count, middles_result *result);

#endif
