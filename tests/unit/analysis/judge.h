/* A small capture, judged. Rings: rank r has rings 64 r ..; ring 64 r + k is block k of it, role "work", launch 1. */
#ifndef JUDGE_H
#define JUDGE_H

#include "capture_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <xs/analyse.h>

#define RING(rank, block) ((rank) * 64u + (block))

typedef struct judged {
    xsr_reader *reader;
    xsr_sink *sink;
    const xsa_result *result;
    const xsr_model *model;
} judged;

const char *judged_path(void); /* where a case that is begun by hand is written */
/* ranks of one process, a launch of `grid` blocks each; the blocks of `blocks` have begun at 1000 ns. */
cb *case_begin(uint32_t ranks, uint32_t grid, uint32_t blocks);
cb *case_begin_as(const xs_region_header *region, uint32_t grid, uint32_t blocks);
/* Ranks with a block and a GPU each, whose clocks are known to within `bound`. */
cb *case_apart(uint32_t ranks, uint64_t bound);
/* Declares that the pad is a ring of so many slots. */
void case_depth(cb *c, uint32_t pad, uint64_t deep);
void case_end_writers(cb *c, uint32_t ranks, uint32_t blocks, uint64_t time);
judged judge(cb *c);      /* ends the capture in order and judges it */
judged judge_cut(cb *c);    /* the capture ends in the middle of a pass over the rings */
judged judge_killed(cb *c); /* as if all were killed two seconds later: rings were passed over since, and had nothing new */
judged judge_with(cb *c, const xsa_options *options);
void judged_free(judged *j);

const xsa_finding *finding_of(const judged *j, uint32_t detector); /* NULL: it is not listed */
const xsa_verdict *verdict_of(const judged *j, uint32_t detector);
/* The first finding, with its slot by label ("" any) and its culprit (-1 any). */
void expect_first(const judged *j, uint32_t detector, uint32_t severity, const char *slot, int owes_rank, int owes_block);
void print_all(const judged *j); /* what was found */
/* The number of error findings: one cause, one finding. */
void expect_errors(const judged *j, uint32_t count);
void expect_clean(const judged *j); /* no error, nothing unknown */
void expect_not(const judged *j, uint32_t detector);
/* A wait that has begun and not ended, at the end of the run: its status line confirms it. */
void case_open_wait(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t need, uint64_t observed);

#endif
