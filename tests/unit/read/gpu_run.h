/* A simulated run on a GPU: its clock, its answers, and kernels of which CUPTI tells, with stamps in them. */
#ifndef GPU_RUN_H
#define GPU_RUN_H

#include "read_help.h"

#define S 1000000000ll
#define MS 1000000ll
#define US 1000ll
#define H0 (500 * S)             /* host time at which the runs begin */
#define D0 1795964922682060295ll /* the device's at the same moment */
#define C0 1764000000000000000ll /* CUPTI's */

enum { MINUTE = 3000 }; /* kernels */

typedef enum gpu_kind {
    GPU_PROBE, /* kernels that did nothing but stamp; answers in the middle of their brackets */
    GPU_H200,  /* slacks as a run had them */
    GPU_LOOKS  /* and answers, and CUPTI that looks at the clock every four seconds */
} gpu_kind;

typedef struct gpu_run {
    cb *c;
    const char *path;
    double ppm;
    int64_t wrong;      /* planted in the device's answers */
    int64_t cupti_step; /* of CUPTI's clock, at this host time */
    int64_t cupti_step_at;
    uint32_t correlation;
    gpu_kind kind;
    int64_t late_from, later; /* from this host time on kernels begin so much earlier ahead of their stamps */
    int quiet;                /* kernels are not told of */
    xsr_reader *reader;
    told told;
} gpu_run;

int64_t gpu_random_below(int64_t n);
int gpu_by_value(const void *a, const void *b); /* int64_t */
uint64_t gpu_stamp(const gpu_run *r, int64_t host);
uint64_t gpu_cupti_time(const gpu_run *r, int64_t host); /* of the host's clock */
void gpu_begin(gpu_run *r, const char *name, double ppm);
void gpu_answer(gpu_run *r, int64_t host);
void gpu_tick(gpu_run *r, int64_t host);
void gpu_ran(gpu_run *r, int64_t at, int64_t length, uint32_t stream, uint64_t node, uint32_t ring, uint32_t launch);
/* A kernel every 20 ms over a minute. The block of a writer is its kernel's number, so its true begin is known. */
int64_t gpu_begin_of(uint32_t i);
void gpu_minute(gpu_run *r);
void gpu_record_minute(gpu_run *r, const char *name, int64_t wrong, gpu_kind kind);
void gpu_read_back(gpu_run *r);
void gpu_end(gpu_run *r);
const xsr_clock *gpu_clock(const gpu_run *r);
/* p99 of how far the writers' begins of the minute lie from where they were, less what all of them have in common; and the farthest of some. */
int64_t gpu_scatter(const gpu_run *r, int64_t *common);
int64_t gpu_worst_of(const gpu_run *r, uint32_t first, uint32_t last);

#endif
