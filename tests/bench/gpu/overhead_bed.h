/* combine's world over one whole GPU, and runs of its kernel in it. */
#ifndef OVERHEAD_BED_H
#define OVERHEAD_BED_H

#define WORDS OVERHEAD_WORDS
#include <combine/setup.h>
#include <cuda_runtime_api.h>

#include "example_overhead.h"

enum { BED_RANKS = 4, BED_BLOCK = 128, BED_CHUNKS = 512 };

/* Blocks of a rank that push, consume and reduce. */
typedef struct bed_split {
    uint32_t push, consume, gemm;
} bed_split;

typedef struct bed {
    xs_world *world;
    struct combine_args args; /* work_ns and epochs are the caller's to change */
    uint32_t grid;            /* blocks a rank, one an SM */
    uint32_t warps;           /* of all ranks */
    overhead_span *spans;     /* on the GPU */
    cudaStream_t stream;
    char capture[64];
} bed;

/* ns: from the first warp's begin to the last one's end, on the GPU's clock; host_ns: from the launch until the host knows. */
typedef struct bed_time {
    double ns, host_ns;
} bed_time;

/* 0, or what xs says: this placement is not available. The sum of the split is the number of blocks a rank. */
int bed_make(bed *b, const char *placement, bed_split split);
void bed_free(bed *b);
bed_time bed_run(bed *b, const overhead_pointers *kernel);

/* Records so far, from the rings' headers. Between runs. */
uint64_t bed_emitted(const bed *b);
/* Of the newest records, the part that begins an event. Mapped placement. */
double bed_heads(const bed *b);

#endif
