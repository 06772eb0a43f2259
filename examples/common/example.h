/* What the examples share: options, ranks in one process or one process each, and counts that kernels keep in memory of
 * their own, against which the trace is checked. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <xs/xs.h>

typedef struct example_options {
    uint32_t ranks, rows, rounds; /* ranks: for a run, those that its world has */
    uint64_t work_ns;      /* per tile */
    int32_t slow_rank;     /* -1: none */
    uint32_t slow_percent; /* how much longer its tiles take */
    uint64_t seed;
    uint32_t residency;
    int32_t ranks_told; /* 1: by --ranks */
    int32_t processes;  /* 1: one process a rank */
    int32_t skew;       /* combine: skewed routing */
    const char *backend, *scheduler;
    const char *counts; /* file for the counts, NULL: none */
} example_options;

/* Kept by each warp in its own row of the buffer "counts"; plain memory, no part of xs. */
typedef struct example_counts {
    uint64_t signals, waits, skips, arrivals, elections, gates, barriers, bytes;
} example_counts;

/* Runs one process's share on `world`; returns 0 when its results are right. */
typedef int example_run(const example_options *options, xs_world *world);

/* Parses, makes the world (or one process a rank), runs, prints. Returns the exit status. */
int example_main(int argc, char **argv, const char *doc, const example_options *defaults, example_run *run);

/* Sums the rows of `buffer` over the local ranks, prints them, appends them to options->counts. */
int example_report(const example_options *options, xs_world *world, const char *name, const xs_buffer *buffer, uint32_t rows, int wrong);

/* On failure prints what failed and returns 1. */
int example_failed(const char *what, int error);

/* The work of one tile of `rank`, ns. */
XS_INLINE uint64_t example_work(uint64_t work_ns, int32_t slow_rank, uint32_t slow_percent, uint32_t rank) {
    return (int32_t)rank == slow_rank ? work_ns * (100u + slow_percent) / 100u : work_ns;
}

/* Payload pattern: every word differs from its neighbours and from other rounds. The same in kernels and on the host. */
XS_INLINE uint32_t example_pattern(uint64_t seed, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + a;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull + b;
    x = (x ^ (x >> 32)) * 0x94d049bb133111ebull + c;
    x = (x ^ (x >> 30)) * 0xd6e8feb86659fd93ull + d;
    return (uint32_t)(x ^ (x >> 32));
}

#endif
