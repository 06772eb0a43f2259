/* Counts by slot class, waiting rank, supplier and latency bucket; and by reason of a missing relation. */
#ifndef XSV_TALLY_H
#define XSV_TALLY_H

#include <stdint.h>
#include <xs/read.h>

#define XSV_BUCKET_OPEN (-1)
#define XSV_BUCKET_UNKNOWN (-2)

typedef struct xsv_tally_row {
    uint32_t pad, rank, supplier; /* XSR_NONE: not known */
    int32_t bucket;               /* XSV_BUCKET_OPEN: not ended; UNKNOWN: one of its ends is lost */
    uint64_t waits, passed, failed, total_ns, blocked_ns, max_ns;
} xsv_tally_row;

typedef struct xsv_tally {
    xsv_tally_row *rows; /* hash table; waits == 0: free */
    uint32_t size, used; /* size: 0 or a power of two */
    uint64_t reads_from[XSR_REASON_COUNT], released_by[XSR_REASON_COUNT];
} xsv_tally;

/* log2 bucket of a latency: 0 for 0 ns, else k with 2^(k-1) <= ns < 2^k. */
static inline int32_t xsv_bucket(int64_t ns) { return ns <= 0 ? 0 : 64 - __builtin_clzll((unsigned long long)ns); }

/* Returns 0 or XS_E_MEMORY. */
int xsv_tally_add(xsv_tally *tally, const xsv_tally_row *one);
void xsv_tally_free(xsv_tally *tally);

#endif
