/* The kernels of the examples, traced and plain, in one program: each is compiled twice, in files of its own (gpu.cmake). combine_narrow
 * is combine with rows of two words: with rows of 16 its warps copy for 20 us between two events. */
#ifndef EXAMPLE_OVERHEAD_H
#define EXAMPLE_OVERHEAD_H

#include <stdint.h>

/* Times of a warp on the GPU's clock, ns. */
typedef struct overhead_span {
    uint64_t begin, end;
} overhead_span;

typedef struct overhead_pointers {
    const void *kernel; /* as the example has it */
    const void *timed;  /* a third parameter: overhead_span * for every warp of the grid */
} overhead_pointers;

#define OVERHEAD_EXAMPLES(X) X(combine) X(pipeline) X(barrier) X(publish)
#define OVERHEAD_DECLARE(name) extern const overhead_pointers overhead_##name##_plain, overhead_##name##_traced;
#ifdef __cplusplus
extern "C" {
#endif
OVERHEAD_EXAMPLES(OVERHEAD_DECLARE)
OVERHEAD_DECLARE(combine_narrow)
#ifdef __cplusplus
}
#endif

#endif
