/* A capture like that of `combine`, for benchmarks: 4 ranks, 2 writers each, signals, passes, waits, arrivals,
 * epochs. */
#ifndef SQLITE_CAPTURE_H
#define SQLITE_CAPTURE_H

#include <stdint.h>

/* Chunks: each is an arrival, a signal and a wait or a pass. 0, or a negative xs_error. */
int sqlite_capture(const char *path, uint32_t chunks);

#endif
