/* What interleaved pairs of a plain and a traced run say. Times are in any unit, the same for both. */
#ifndef RATIO_H
#define RATIO_H

#include <stdint.h>

typedef struct ratio_pair {
    double plain, traced;
} ratio_pair;

/* Geometric mean of traced / plain, and its 95 % interval: Student's t on the logarithms, so that a ratio and its inverse weigh the
 * same. plain and traced are plain means. */
typedef struct ratio_result {
    double ratio, low, high;
    double plain, traced;
} ratio_result;

/* Student's t at 95 %, two-sided: to 1 % from 3 degrees of freedom on. */
double ratio_student(uint32_t degrees);
/* count: at least 4. */
ratio_result ratio_of(const ratio_pair *pairs, uint32_t count);

/* Events a microsecond and warp, when `events` of all `warps` took so many ns. */
double ratio_events(double events, double ns, uint32_t warps);
/* Of a link of so many GB/s, the part that records of 16 bytes take. */
double ratio_link(double records, double ns, double link_gb_s);
/* Of candidates that gave so many events each, the one nearest to one event by its logarithm; those that gave none are last. */
uint32_t ratio_nearest_to_one(const double *events, uint32_t count);
/* Epochs in a launch that is to take target_ns, when one of few_epochs took few_ns and one of many_epochs many_ns: 1 to most. */
uint32_t ratio_epochs(uint32_t few_epochs, double few_ns, uint32_t many_epochs, double many_ns, double target_ns, uint32_t most);

#endif
