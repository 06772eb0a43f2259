/* Added cycles per record inside a kernel: a loop of 128 dependent FMAs with one record before and one after, lane 0 of each
 * warp writes; object and value vary at run time. Against the same loop without records, in the same binary:
 *   plain 8 B   unchecked 8-byte record: tag and %globaltimer_lo, strided pointer bump, block fence (the usual public header)
 *   device      xs's record, rings in device memory, overwrite
 *   mapped      the same, rings in mapped host memory
 *   off         built with tracing, not started
 * Then a ring staged in shared memory (staged.h), in device placement, its flush counted or, for comparison, left out.
 * Medians over all warps of 3 runs; rings of 4096 records. All warps meet between the begins of their writers and the loop, and those of
 * a block before the ends: taking rings and giving them back is not timed. */
#define XS_TRACE 1
#include <algorithm>
#include <gpu_rings.h>
#include <staged.h>
#include <vector>
#include <xs/kernel.h>

enum variant { NONE, PLAIN8, XS, STAGED_NO_FLUSH, STAGED_WARP, STAGED_BULK };
enum { ITERATIONS = 512, RING = 4096, FMAS = 128 };
#define STAGED_BAR 12.0

struct cost_args {
    uint32_t *sink; /* so that the FMAs are kept */
    long long *cycles;
    uint4 *staged; /* RING records a warp */
    uint2 *plain; /* RING records a warp, interleaved by warp: strided as in the public header */
    uint32_t warps, objects, zero, reserved0;
    unsigned long long *met; /* blocks that came to the loop, over all runs */
};

struct plain_writer {
    uint2 *at;
    uint32_t stride, left;
};

template <int VARIANT>
__device__ __forceinline__ void record(xs_writer *w, plain_writer *p, staged_writer *s, uint32_t object, uint32_t value) {
    if (VARIANT >= STAGED_NO_FLUSH)
        staged_put(s, XS_HEAD(XS_CODE_SIGNAL_REL_SYS, object), value);
    if (VARIANT == STAGED_WARP && s->cursor % STAGE_HALF == 0)
        staged_flush_warp(s);
    if (VARIANT == STAGED_BULK && s->cursor % STAGE_HALF == 0)
        staged_flush_bulk(s);
    if (VARIANT == XS)
        xs_emit(w, XS_HEAD(XS_CODE_SIGNAL_REL_SYS, object), value, xs_now_low());
    if (VARIANT == PLAIN8) {
        uint32_t time;
        asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(time));
        if (xs_lane() == 0)
            *p->at = make_uint2(object << 2 | (value & 3), time);
        p->at += p->stride;
        __threadfence_block();
    }
}

__device__ __forceinline__ float work(float x, float a) {
#pragma unroll
    for (int i = 0; i < FMAS; i++)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
    return x;
}

/* All blocks are resident: one an SM. */
__device__ __forceinline__ void meet(unsigned long long *met) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long mine = atomicAdd(met, 1), all = (mine / gridDim.x + 1) * gridDim.x;
        while (*(volatile unsigned long long *)met < all) {
        }
    }
    __syncthreads();
}

template <int VARIANT>
__global__ void cost(const __grid_constant__ cost_args args, const __grid_constant__ xs_handle xs) {
    uint32_t warp = blockIdx.x * xs_warps() + xs_warp();
    xs_writer w = VARIANT == XS ? xs_writer_begin(&xs, 0) : xs_writer_none(&xs);
    plain_writer p = {args.plain + warp, args.warps, RING};
    __shared__ __align__(128) uint4 stages[VARIANT >= STAGED_NO_FLUSH ? STAGE_WARPS * STAGE_RECORDS : 1];
    /* Cursor and mask are not the compiler's to know: in a kernel of its own it could not drop half of the checks either. */
    staged_writer s = {stages + (VARIANT >= STAGED_NO_FLUSH ? xs_warp() * STAGE_RECORDS : 0), args.staged + (size_t)warp * RING,
                       xs_opaque(RING - 1), xs_opaque(0)};
    float x = 1.0f, a = (float)args.zero;
    for (int i = 0; i < 8; i++) /* warm the instruction cache */
        x = work(x, a);
    /* What the writer's begin still has on its way over the link is not the records' cost. */
    if (VARIANT == XS && xs_opaque(w.cursor + w.base) == 0xffffffffu)
        *args.sink = 2;
    __threadfence_system();
    meet(args.met);
    long long begin = clock64();
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        record<VARIANT>(&w, &p, &s, (i & args.objects) + 1, i);
        x = work(x, a);
        record<VARIANT>(&w, &p, &s, (i & args.objects) + 2, i);
    }
    if (VARIANT == STAGED_WARP && s.cursor % STAGE_HALF != 0) /* what is left in the stage counts too */
        staged_flush_warp(&s);
    if (VARIANT == STAGED_BULK)
        staged_end_bulk(&s);
    long long end = clock64();
    __syncthreads();
    if (VARIANT == XS)
        xs_writer_end(&w);
    if (xs_lane() == 0)
        args.cycles[warp] = end - begin;
    if (x == 12345.0f)
        *args.sink = 1;
}

template <int VARIANT>
static double median_cycles(cost_args args, xs_handle h, uint32_t blocks, uint32_t warps_a_block) {
    std::vector<long long> cycles(args.warps), all;
    for (int run = 0; run < 4; run++) {
        cost<VARIANT><<<blocks, warps_a_block * 32>>>(args, h);
        GPU_CHECK(cudaGetLastError());
        GPU_CHECK(cudaDeviceSynchronize());
        GPU_CHECK(cudaMemcpy(cycles.data(), args.cycles, args.warps * sizeof(long long), cudaMemcpyDefault));
        if (run > 0) /* the first warms up */
            all.insert(all.end(), cycles.begin(), cycles.end());
    }
    std::sort(all.begin(), all.end());
    return (double)all[all.size() / 2] / ITERATIONS;
}

typedef struct bed {
    cost_args args;
    uint32_t blocks, warps_a_block, *abort_word;
} bed;

static bed make_bed(uint32_t blocks, uint32_t warps_a_block, uint32_t *abort_word) {
    bed b = {};
    b.blocks = blocks, b.warps_a_block = warps_a_block, b.abort_word = abort_word;
    b.args.warps = blocks * warps_a_block;
    b.args.objects = 255;
    GPU_CHECK(cudaMalloc((void **)&b.args.sink, 4));
    GPU_CHECK(cudaMalloc((void **)&b.args.met, sizeof *b.args.met));
    GPU_CHECK(cudaMemset(b.args.met, 0, sizeof *b.args.met));
    GPU_CHECK(cudaMalloc((void **)&b.args.cycles, b.args.warps * sizeof(long long)));
    GPU_CHECK(cudaMalloc((void **)&b.args.plain, (size_t)b.args.warps * ITERATIONS * 2 * sizeof(uint2)));
    GPU_CHECK(cudaMalloc((void **)&b.args.staged, (size_t)b.args.warps * RING * sizeof(uint4)));
    return b;
}

static void free_bed(const bed *b) {
    cudaFree(b->args.sink), cudaFree(b->args.met), cudaFree(b->args.cycles), cudaFree(b->args.plain), cudaFree(b->args.staged);
}

template <int VARIANT>
static double measure(const bed *b, const gpu_rings *rings) {
    return median_cycles<VARIANT>(b->args, gpu_rings_handle(rings, b->blocks, b->abort_word), b->blocks, b->warps_a_block);
}

static void row(const bed *b) {
    gpu_rings device = gpu_rings_make(b->args.warps, RING, GPU_DEVICE, 1), mapped = gpu_rings_make(b->args.warps, RING, GPU_MAPPED, 1),
              off = gpu_rings_make(b->args.warps, RING, GPU_DEVICE, 0);
    double none = measure<NONE>(b, &device), plain = measure<PLAIN8>(b, &device), in_device = measure<XS>(b, &device);
    double in_mapped = measure<XS>(b, &mapped), stopped = measure<XS>(b, &off);
    printf("%4u x %-3u %9.1f %9.1f %9.1f %8.2f %9.1f %9.1f\n", b->blocks, b->warps_a_block, none, (plain - none) / 2, (in_device - none) / 2,
           (in_device - none) / (plain - none), (in_mapped - none) / 2, (stopped - none) / 2);
    gpu_rings_free(&device), gpu_rings_free(&mapped), gpu_rings_free(&off);
}

/* NONE with the stage's shared memory set aside would have the same residency: one block an SM in every row. */
static void staged_row(const bed *b, int has_bulk) {
    gpu_rings rings = gpu_rings_make(1, RING, GPU_DEVICE, 0);
    double none = measure<NONE>(b, &rings), bare = measure<STAGED_NO_FLUSH>(b, &rings), warp = measure<STAGED_WARP>(b, &rings);
    double bulk = has_bulk ? measure<STAGED_BULK>(b, &rings) : none, best = has_bulk && bulk < warp ? bulk : warp;
    printf("%4u x %-3u %9.1f %9.1f %9.1f %9.1f %8.2f %8s\n", b->blocks, b->warps_a_block, none, (bare - none) / 2, (warp - none) / 2,
           (bulk - none) / 2, (best - none) / 2 / STAGED_BAR, (best - none) / 2 <= STAGED_BAR ? "met" : "MISSED");
    gpu_rings_free(&rings);
}

int main() {
    gpu_test_begin(120);
    gpu_test_need();
    cudaDeviceProp properties;
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    uint32_t *abort_word;
    GPU_CHECK(cudaHostAlloc((void **)&abort_word, 4, cudaHostAllocMapped));
    *abort_word = 0;
    printf("%s: cycles added per record%s, loop of %d dependent FMAs\n", properties.name, XS_RECORD_WORDS == 2 ? " of two words" : "", FMAS);
    printf("blocks x warps   loop   plain 8 B   device    ratio    mapped       off\n");
    uint32_t sms = (uint32_t)properties.multiProcessorCount;
    uint32_t shapes[][2] = {{1, 1}, {sms, 1}, {sms, 4}, {sms, 16}, {sms, 32}};
    for (auto &shape : shapes) {
        bed b = make_bed(shape[0], shape[1], abort_word);
        row(&b);
        free_bed(&b);
    }
    if (XS_RECORD_WORDS == 2) /* the rest has records of its own */
        return 0;
    printf("\nstaged in shared memory, flushed 32 records at a time; bar: %.0f with the flush counted\n", STAGED_BAR);
    printf("blocks x warps   loop  no flush  by warp   by bulk    ratio      bar\n");
    for (auto &shape : shapes) {
        bed b = make_bed(shape[0], shape[1], abort_word);
        staged_row(&b, properties.major >= 9);
        free_bed(&b);
    }
    return 0;
}
