/* A capture of a clean run, with a clock for each rank. */
#ifndef SHIFTED_H
#define SHIFTED_H

#include <stdint.h>

/* Stamps shifted between ranks by up to what is known of their clocks: no error, and no finding moves that times do not bear on. By much more:
 * no error either, and where a wait ended before the signal that it saw, trace-health says so. 1, and what differs on stderr, if not. */
int shifted_differs(const char *capture, uint64_t seed);

#endif
