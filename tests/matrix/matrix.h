/* The matrix: every fault of examples/faults and its healthy twin, over many seeds, against what the analysis says. */
#ifndef MATRIX_H
#define MATRIX_H

#include "fault.h"
#include <stdbool.h>
#include <stdio.h>
#include <xs/analyse.h>

typedef struct matrix_options {
    const char *backend, *scheduler;
    const char *only, *but; /* names with commas between them; NULL: all, none */
    uint64_t seed;         /* of the first run */
    uint32_t runs, twins;  /* of each fault */
    uint32_t jobs;         /* processes */
    uint32_t many_pollers; /* in the first five seeds of faults that poll; 0: never */
    double drop;           /* share of records that are lost */
    uint32_t drop_run;     /* lost in runs of up to so many */
    uint64_t shift_ns;     /* every rank has a clock of its own that is off by up to this */
    uint64_t known_ns;     /* and known to within this; 0: it is off by no more than is known */
    uint32_t judge;        /* fault_judge: which faults this setting can judge */
    int32_t all;           /* 1: those too that it cannot judge */
    int32_t misses;        /* 1: every miss is told, not the first of each fault alone */
    const char *keep;      /* captures are left there: the last one stays */
    int32_t timeless;      /* 1: none whose finding depends on times */
    int32_t each;          /* 1: a process a fault, one after the other, and watched; what CUDA needs */
    uint32_t part, parts;  /* every parts-th fault, from the part-th on */
    uint64_t bound_ns, twin_bound_ns; /* of waits; 0: the fault's */
    uint32_t slower;       /* work takes so many times as long; 0: as the fault says */
    double seconds;        /* for all; 0: no limit. What is not made in time is a bar missed */
    double patience;       /* seconds that one run may take, with each */
    FILE *table;           /* the table goes there too; NULL: to stdout alone */
    int32_t brief;         /* 1: to stdout only what misses its bar, in less than 10 kB */
    char setting[80];      /* of several: what is lost and shifted, in words; "": there is one */
} matrix_options;

/* The same runs, judged several times: they differ in what is lost and shifted, and are made once. */
enum { MATRIX_SETTINGS = 24 };
typedef struct matrix_settings {
    uint32_t count;
    matrix_options of[MATRIX_SETTINGS];
} matrix_settings;

/* Clocks are off by more than they say: findings of time may move. */
static inline bool matrix_is_beyond(const matrix_options *o) { return o->known_ns && o->known_ns < o->shift_ns; }

/* What one run came to. */
typedef struct matrix_verdict {
    bool ran;                     /* it ran and its capture was read */
    bool first, slot, culprit;    /* of the finding that comes first */
    bool named;                   /* some finding has the name and the culprit */
    bool listed;                  /* some finding has the name */
    bool moved;                   /* shifted stamps changed a verdict that no time bears on */
    bool impossible;              /* this machine cannot make the fault: got says why */
    bool spoilt;                  /* this process can make no more runs */
    uint32_t errors, unknown;     /* error findings that a clean run must not have; verdicts that are not known */
    char got[400];                /* the finding that came first, in words */
} matrix_verdict;

enum { MATRIX_MISSES = 3 }; /* of faults and of twins that are kept, each */
typedef struct matrix_miss { uint64_t seed; char got[400]; } matrix_miss;

/* One row: all runs of a fault. Kept in memory that the processes share; counted by atomic adds. */
typedef struct matrix_row {
    uint32_t runs, first, slot, culprit, right, named, false_errors, unknown, moved;
    uint32_t twins, twin_errors, twin_same, twin_unknown;
    uint32_t broken;               /* runs without a verdict */
    uint32_t impossible;           /* runs that this machine cannot make */
    uint32_t short_runs;           /* 1: not all runs were made in time */
    uint32_t leaked;               /* descriptors that its process had more of in the end */
    double seconds;                /* with each */
    uint32_t missed, twin_missed;  /* so many; the first are kept below */
    matrix_miss misses[MATRIX_MISSES], twin_misses[MATRIX_MISSES];
} matrix_row;

/* Verdicts that times bear on, and what the trace says of itself. */
static inline bool matrix_is_timed(uint32_t detector) {
    switch (detector) {
    case XSA_STALL: case XSA_HEAD_OF_LINE: case XSA_UNFAIRNESS: case XSA_DETECTION_LAG: case XSA_POLL_PRESSURE:
    case XSA_DEAD_PEER: case XSA_LATE_RANK: case XSA_READINESS_COLLAPSE: case XSA_TRACE_HEALTH: return true;
    default: return false;
    }
}

/* filter.c: changes a capture in place, as if records had been lost (seeded) or clocks had disagreed. 0, or a negative xs_error. */
int matrix_filter(const char *path, const matrix_options *o, uint64_t seed);
/* devices.c: gives every rank a clock of its own, known to within `bound` ns. */
int matrix_devices(const char *path, uint64_t bound);
/* bytes.c: a whole file; free it. NULL: it cannot be read. And back: 0 or XS_E_SYSTEM. */
char *matrix_load(const char *path, uint64_t *size);
int matrix_store(const char *path, const char *bytes, uint64_t size);
/* judge.c: makes one run. A verdict for each setting. */
void matrix_judge(const fault *f, const matrix_settings *settings, uint64_t seed, bool twin, const char *capture, matrix_verdict *verdicts);
/* rows.c: a run is entered into its row. */
void matrix_enter(matrix_row *r, const matrix_options *o, const fault *f, uint64_t seed, bool twin, const matrix_verdict *v);
/* A run that came to no end: in words. */
void matrix_enter_broken(matrix_row *r, uint64_t seed, const char *why);
/* pool.c: chunks of runs shared by processes; rows of all faults for each setting. each.c: a process a fault, for one setting. Rows lie in
 * shared memory. The number of processes that died. */
uint32_t matrix_pool(const matrix_settings *settings, matrix_row *rows);
uint32_t matrix_each(const matrix_settings *settings, matrix_row *rows);
/* settings.c: `from` with each of the drops, runs and shifts, separated by commas (NULL: as it is). False: a number is none or out of
 * range, or there are too many. */
bool matrix_settings_make(matrix_settings *to, const matrix_options *from, const char *drops, const char *runs, const char *shifts);
/* table.c: prints. 1 if a row misses its bar; in the end the bars missed and the processes that died. */
void matrix_print_head(const matrix_options *o);
uint32_t matrix_print_row(const matrix_options *o, const fault *f, const matrix_row *r);
uint32_t matrix_print_end(const matrix_options *o, const matrix_row *rows, uint32_t died);
bool matrix_takes(const matrix_options *o, uint32_t index); /* this setting can judge that fault, and is asked to */

#endif
