/* combine's world: pads, buffers, names, routing and plan. For the example, and for the benchmark of its overhead. */
#ifndef COMBINE_SETUP_H
#define COMBINE_SETUP_H

#include "combine.kernel.h"

XS_EXTERN_C_BEGIN
/* Numbers of chunks, epochs and blocks are set in *a before. rows: room for ranks x ranks words, filled with the rows that each
 * rank sends each. warps: of a rank. Returns 0 or a negative xs_error. */
int combine_setup(xs_world *world, const example_options *o, struct combine_args *a, uint32_t *rows, uint32_t warps);
XS_EXTERN_C_END

#endif
