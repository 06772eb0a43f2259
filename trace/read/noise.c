/* What is usual of noisy numbers, and how noisy each end of a bracket is. */
#include "internal.h"

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int64_t rd_median(int64_t *values, uint32_t count) {
    qsort(values, count, sizeof *values, by_number);
    return count ? values[count / 2] : 0;
}

double rd_spread(int64_t *values, uint32_t count) {
    int64_t usual = rd_median(values, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = values[i] < usual ? usual - values[i] : values[i] - usual;
    return (double)rd_median(values, count);
}

/* The width holds the noise of both ends, and that of the clock, which is in either end alike, is not in it. */
double rd_weight_of_first(double first, double second, double width) {
    double one = (width * width + first * first - second * second) / 2,
           other = (width * width + second * second - first * first) / 2;
    one = one > 1 ? one : 1;
    other = other > 1 ? other : 1;
    return other / (one + other);
}
