/* How often something happened in each epoch, as runs of epochs with one count: a protocol that does the same in
 * each is one run. The newest RUNS_MOST are kept; what is older is forgotten, and `from` says since when all is
 * known. */
#ifndef XS_ANALYSIS_RUNS_H
#define XS_ANALYSIS_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#define RUNS_MOST 14u

typedef struct an_run { uint64_t first, last, count; } an_run; /* epochs first .. last, so often in each of them */
typedef struct an_runs { an_run *list; uint32_t count, room; uint64_t from; } an_runs; /* by epoch; none with count 0 */

int an_runs_add(an_runs *runs, uint64_t epoch, uint64_t n);
uint64_t an_runs_count(const an_runs *runs, uint64_t epoch);
/* The longest stretch from `epoch` on, no longer than to `last`, with one count, which may be 0. */
an_run an_runs_at(const an_runs *runs, uint64_t epoch, uint64_t last);

#endif
