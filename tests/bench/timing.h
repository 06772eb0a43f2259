/* What timed programs share: a clock in seconds, medians, and an end to what cannot be measured. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double now(void) { return seconds_of(CLOCK_MONOTONIC); }

static inline void check(int bad, const char *what) {
    if (bad) {
        fprintf(stderr, "%s: %s failed (%d)\n", program_invocation_short_name, what, bad);
        exit(1);
    }
}

static inline int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an odd number of values, which it sorts. */
static inline double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

#endif
