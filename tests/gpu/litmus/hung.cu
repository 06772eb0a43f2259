/* Records reach the host while the kernel hangs, with no fence and no further store: spinning, sleeping, or stuck behind a
 * barrier of the block. Not in the order of their stores: the last one of a warp may be there before its first. */
#include "litmus.h"

enum { RECORDS = 100, WARPS = 8 };
enum hang_kind { SPIN, SLEEP, BARRIER };

static __global__ void hang(xs_record *rings, const uint32_t *stop, int kind) {
    xs_record *ring = rings + (size_t)(blockIdx.x * WARPS + xs_warp()) * RECORDS;
    uint64_t begin = xs_now();
    for (uint32_t i = 1; i <= RECORDS; i++)
        xs_store16_if(xs_lane() == 0, &ring[i - 1], i, i, i, i);
    if (kind != BARRIER || xs_warp() == 0)
        while (!litmus_over(stop, begin))
            if (kind == SLEEP)
                xs_nanosleep(1000);
    __syncthreads(); /* BARRIER: the others have been here all the time */
}

/* Warps all of whose records are there. */
static unsigned visible(const xs_record *rings, unsigned warps) {
    unsigned count = 0;
    for (unsigned i = 0; i < warps; i++) {
        unsigned there = 0;
        for (unsigned k = 0; k < RECORDS; k++) {
            xs_record r;
            (void)xs_record_load(&rings[(size_t)i * RECORDS + k], &r);
            there += r.sequence == k + 1 && r.time == k + 1;
        }
        count += there == RECORDS;
    }
    return count;
}

static void measure(const char *name, int kind, uint32_t *stop) {
    unsigned blocks = litmus_processors(), warps = blocks * WARPS, seen = 0;
    xs_record *rings = (xs_record *)litmus_mapped((size_t)warps * RECORDS * sizeof *rings);
    double begin = gpu_test_seconds(), took = 0;
    hang<<<blocks, WARPS * 32>>>(rings, stop, kind);
    GPU_CHECK(cudaGetLastError());
    while (seen < warps && took < 2) {
        seen = visible(rings, warps);
        took = gpu_test_seconds() - begin;
    }
    int hangs = cudaStreamQuery(0) == cudaErrorNotReady;
    printf("%s: all records of %u of %u warps visible %.0f us after the launch; the kernel %s\n", name, seen, warps, took * 1e6,
           hangs ? "hangs" : "is over");
    EXPECT(hangs, "%s: the kernel does not hang: nothing was shown", name);
    EXPECT(seen == warps, "%s: %u of %u warps", name, seen, warps);
    litmus_stop(stop);
    GPU_CHECK(cudaFreeHost(rings));
}

void litmus_hung(void) {
    uint32_t *stop = (uint32_t *)litmus_mapped(64);
    measure("spinning", SPIN, stop);
    measure("sleeping", SLEEP, stop);
    measure("at a barrier", BARRIER, stop);
}

/* A kernel that reads no memory at all, so that nothing of its own pushes its stores out. */
static __global__ void unread(xs_record *rings, uint64_t ns) {
    xs_record *ring = rings + (size_t)(blockIdx.x * WARPS + xs_warp()) * RECORDS;
    uint64_t begin = xs_now();
    for (uint32_t i = 1; i <= RECORDS; i++)
        xs_store16_if(xs_lane() == 0, &ring[i - 1], i, i, i, i);
    while (xs_now() - begin < ns) {
    }
}

static __global__ void nothing(void) {}

static unsigned look_for(const char *what, const xs_record *rings, unsigned warps, double seconds) {
    double begin = gpu_test_seconds(), last = 0;
    unsigned seen = 0;
    while (seen < warps && gpu_test_seconds() - begin < seconds) {
        unsigned now = visible(rings, warps);
        if (now != seen)
            last = gpu_test_seconds() - begin;
        seen = now;
    }
    printf("%s: all records of %u of %u warps visible, the last change after %.0f us\n", what, seen, warps, last * 1e6);
    return seen;
}

/* Seen by itself, as everything else is; else it is told whether a kernel that does nothing pushes it out. */
void litmus_unread(void) {
    unsigned blocks = litmus_processors(), warps = blocks * WARPS;
    xs_record *rings = (xs_record *)litmus_mapped((size_t)warps * RECORDS * sizeof *rings);
    cudaStream_t first, second;
    GPU_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    GPU_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    nothing<<<1, 1, 0, second>>>(); /* loaded before */
    unread<<<1, 32, 0, second>>>(rings, 0);
    GPU_CHECK(cudaDeviceSynchronize());
    memset(rings, 0, (size_t)warps * RECORDS * sizeof *rings);
    unread<<<blocks, WARPS * 32, 0, first>>>(rings, 3000000000ull);
    GPU_CHECK(cudaGetLastError());
    unsigned seen = look_for("by itself", rings, warps, 0.5);
    nothing<<<1, 1, 0, second>>>();
    look_for("behind an empty kernel", rings, warps, 0.5);
    int hangs = cudaStreamQuery(first) == cudaErrorNotReady;
    EXPECT(hangs, "the kernel does not run any more: nothing was shown");
    EXPECT(seen == warps, "by itself: %u of %u warps", seen, warps);
    GPU_CHECK(cudaDeviceSynchronize());
    GPU_CHECK(cudaFreeHost(rings));
}
