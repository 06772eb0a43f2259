/* Binary search over whatever is in order. */
#ifndef XS_READ_SEARCH_H
#define XS_READ_SEARCH_H

/* Makes `at`, an unsigned variable, the first number of [from, to) for which `before`, an expression of `at`, does
 * not hold; `to` where it holds for all. It must hold for none behind that one. */
#define RD_SEARCH(at, from, to, before)                        \
    do {                                                       \
        __typeof__(at) rd_low = (from), rd_high = (to);        \
        while (rd_low < rd_high) {                             \
            (at) = rd_low + (rd_high - rd_low) / 2;            \
            if (before)                                        \
                rd_low = (at) + 1;                             \
            else                                               \
                rd_high = (at);                                \
        }                                                      \
        (at) = rd_low;                                         \
    } while (0)

#endif
