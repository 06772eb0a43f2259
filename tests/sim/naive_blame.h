/* The critical path once more, without a log: at every step all events are searched. Quadratic, for small captures. */
#ifndef NAIVE_BLAME_H
#define NAIVE_BLAME_H

#include <stdint.h>

/* Compares sums by part, blamed rank and slot with those of the analysis. 0: they agree; else says where not. */
int naive_blame_differs(const char *capture);

#endif
