/* How unevenly peers are served: what the unfairness detector sees of all, found or not. */
#ifndef XS_ANALYSIS_STARVATION_H
#define XS_ANALYSIS_STARVATION_H

#include "analysis.h"

#define AN_OCTAVE 4u /* buckets an octave: a median is right to within an eighth */
/* of times, up to 2^41 ns */
typedef struct an_spread { uint64_t count; double sum; int64_t most; uint32_t buckets[41 * AN_OCTAVE]; } an_spread;

void an_spread_add(an_spread *s, int64_t ns);
int64_t an_spread_median(const an_spread *s); /* 0: none */
/* Jain's index over 1 / mean: 1 where all are served alike, 1 / n where one alone is. */
double an_jain(const double *means, uint32_t count);

/* Rows of a->starving. */
int an_starving_add(an *a, const xsa_starved *row, const an_spread *spread);
/* Rows from `first` on are one group: their index; a group of one is taken back. */
void an_starving_group(an *a, uint32_t first, double jain);
void an_starving_finish(an *a); /* which finding tells of it, order; once the findings are listed */

#endif
