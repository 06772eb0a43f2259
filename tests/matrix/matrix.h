/* The matrix: every fault of examples/faults and its healthy twin, over many seeds, against what the analysis says. */
#ifndef MATRIX_H
#define MATRIX_H

#include "fault.h"
#include <stdbool.h>
#include <xs/analyse.h>

typedef struct matrix_options {
    const char *backend, *scheduler, *only;
    uint64_t seed;         /* of the first run */
    uint32_t runs, twins;  /* of each fault */
    uint32_t jobs;         /* processes */
    uint32_t many_pollers; /* in the first five seeds of faults that poll; 0: never */
    double drop;           /* share of records that are lost */
    uint32_t drop_run;     /* lost in runs of up to so many */
    uint64_t shift_ns;     /* every rank has a clock that is known to within this, and is off by up to this */
    uint32_t judge;        /* fault_judge: which faults this setting can judge */
    int32_t all;           /* 1: those too that it cannot judge */
} matrix_options;

/* What one run came to. */
typedef struct matrix_verdict {
    bool ran;                     /* it ran and its capture was read */
    bool first, slot, culprit;    /* of the finding that comes first */
    bool named;                   /* some finding has the name and the culprit */
    bool listed;                  /* some finding has the name */
    bool moved;                   /* shifted stamps changed a verdict that no time bears on */
    uint32_t errors, unknown;     /* error findings that a clean run must not have; verdicts that are not known */
    char got[200];                /* the finding that came first, in words */
} matrix_verdict;

/* One row: all runs of a fault. Kept in memory that the processes share; counted by atomic adds. */
typedef struct matrix_row {
    uint32_t runs, first, slot, culprit, right, named, false_errors, unknown, moved;
    uint32_t twins, twin_errors, twin_same, twin_unknown;
    uint32_t broken;               /* runs without a verdict */
    uint32_t missed, twin_missed;  /* 1: an example is kept below */
    uint64_t miss_seed, twin_seed;
    char miss[200], twin_miss[200];
} matrix_row;

/* filter.c: changes a capture in place, as if records had been lost (seeded) or clocks had disagreed. 0, or a negative xs_error. */
int matrix_filter(const char *path, const matrix_options *o, uint64_t seed);
/* devices.c: gives every rank a clock of its own, known to within `bound` ns. */
int matrix_devices(const char *path, uint64_t bound);
/* judge.c */
matrix_verdict matrix_judge(const fault *f, const matrix_options *o, uint64_t seed, bool twin, const char *capture);
/* table.c: prints; the number of bars that are missed. */
uint32_t matrix_print(const matrix_options *o, const matrix_row *rows);
bool matrix_judges(const matrix_options *o, const fault *f);

#endif
