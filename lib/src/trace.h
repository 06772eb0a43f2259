/* Inside libxs: what is recorded. */
#ifndef XS_TRACE_INTERNAL_H
#define XS_TRACE_INTERNAL_H

#include "world.h"

/* Applies trace_start, payload and the XS_FILTER_ variables to the region's control block. */
int xs_trace_configure(xs_world *world);

#endif
