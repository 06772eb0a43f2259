/* A combine-like run, made from nothing, that counts what it does: what the drawing must show is known from here. */
#ifndef RUN_BUILD_H
#define RUN_BUILD_H

#include <stdint.h>

#define RUN_RANKS_MAX 16

typedef struct run_shape {
    uint32_t ranks, epochs, chunks;
    uint32_t slow;          /* rank that pushes three times slower; >= ranks: none */
    uint32_t lost_arrival;  /* 1: in the last epoch rank 1 makes one arrival too few for rank 0's last chunk */
    uint32_t away;          /* so many ranks, from 0, stay away from the last barrier */
    uint32_t lose_records;  /* records missing in the middle of one ring of rank 0 */
    uint32_t scopes;        /* 1: marks and scopes */
    uint64_t skew;          /* ns that stamps of rank 0 are early: waits may end before their signal */
    uint64_t epoch_gap;     /* ns between epochs */
} run_shape;

typedef struct run_counts {
    uint64_t waits, gate_waits, passes, signals, elected, arrivals, work; /* ended waits, gates among them */
    uint64_t open[RUN_RANKS_MAX], lost, slots_waited_for;
    int64_t begin, end;
} run_counts;

/* 0 or a negative xs_error. */
int run_build(const char *path, const run_shape *shape, run_counts *counts);

#endif
