/* One more number into a hash of several: for keys of tables in memory, in no file. Used by the reader as well. */
#ifndef XS_MIXED_H
#define XS_MIXED_H

#include <stdint.h>

static inline uint64_t xs_mixed(uint64_t h, uint64_t more) {
    h = (h ^ more) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 32;
}

/* A slot as entries of plans name it, with XS_PLAN_ANY for what they leave open. */
static inline uint64_t xs_mixed_place(uint64_t h, uint32_t owner, uint32_t row, uint32_t column, uint64_t epoch) {
    return xs_mixed(xs_mixed(xs_mixed(h, (uint64_t)owner << 32 | row), column), epoch);
}

#endif
