/* Added cycles per record inside a kernel: a loop of 128 dependent FMAs with one record before and one after, lane 0 of each
 * warp writes; object and value vary at run time. Against the same loop without records, in the same binary:
 *   plain 8 B   unchecked 8-byte record: tag and %globaltimer_lo, strided pointer bump, block fence (the usual public header)
 *   device      xs's record, rings in device memory, overwrite
 *   mapped      the same, rings in mapped host memory
 *   off         built with tracing, not started
 * Medians over all warps of 3 runs; rings of 4096 records. */
#define XS_TRACE 1
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <xs/kernel.h>

extern "C" {
uint64_t xs_region_layout(xs_region_header *header);
void xs_region_init(char *region, const xs_region_header *header);
}

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t e_ = (call);                                                                       \
        if (e_ != cudaSuccess) {                                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));           \
            std::exit(e_ == cudaErrorNoDevice || e_ == cudaErrorInsufficientDriver ? 77 : 1);          \
        }                                                                                              \
    } while (0)

enum variant { NONE, PLAIN8, XS };
enum { ITERATIONS = 512, RING = 4096, FMAS = 128 };

struct cost_args {
    uint32_t *sink; /* so that the FMAs are kept */
    long long *cycles;
    uint2 *plain; /* RING records a warp, interleaved by warp: strided as in the public header */
    uint32_t warps, objects, zero, reserved0;
};

struct plain_writer {
    uint2 *at;
    uint32_t stride, left;
};

template <int VARIANT>
__device__ __forceinline__ void record(xs_writer *w, plain_writer *p, uint32_t object, uint32_t value) {
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

template <int VARIANT>
__global__ void cost(const __grid_constant__ cost_args args, const __grid_constant__ xs_handle xs) {
    uint32_t warp = blockIdx.x * xs_warps() + xs_warp();
    xs_writer w = VARIANT == XS ? xs_writer_begin(&xs, 0) : xs_writer_none(&xs);
    plain_writer p = {args.plain + warp, args.warps, RING};
    float x = 1.0f, a = (float)args.zero;
    for (int i = 0; i < 8; i++) /* warm the instruction cache */
        x = work(x, a);
    __syncthreads();
    long long begin = clock64();
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        record<VARIANT>(&w, &p, (i & args.objects) + 1, i);
        x = work(x, a);
        record<VARIANT>(&w, &p, (i & args.objects) + 2, i);
    }
    long long end = clock64();
    if (VARIANT == XS)
        xs_writer_end(&w);
    if (xs_lane() == 0)
        args.cycles[warp] = end - begin;
    if (x == 12345.0f)
        *args.sink = 1;
}

struct rings {
    char *memory; /* as kernels and, where mapped, the host see it */
    xs_region_header header;
};

static rings make_rings(uint32_t warps, bool mapped, bool started) {
    rings r = {};
    r.header.ranks = 1;
    r.header.world_ranks = 1;
    r.header.rings_per_rank = (warps + 63) / 64 * 64;
    r.header.ring_records = RING;
    r.header.lines_per_ring = 1;
    uint64_t bytes = xs_region_layout(&r.header);
    char *whole = (char *)std::calloc(1, bytes);
    xs_region_init(whole, &r.header);
    xs_control *control = (xs_control *)(whole + r.header.control_offset);
    control->started = started ? XS_STARTED : 0;
    if (mapped)
        CHECK(cudaHostAlloc((void **)&r.memory, bytes, cudaHostAllocMapped));
    else
        CHECK(cudaMalloc((void **)&r.memory, bytes));
    CHECK(cudaMemcpy(r.memory, whole, bytes, cudaMemcpyDefault));
    std::free(whole);
    return r;
}

static xs_handle handle_of(const rings &r, uint32_t blocks, const uint32_t *abort_word) {
    xs_handle h = {};
    const xs_region_header &g = r.header;
    h.control = (xs_control *)(r.memory + g.control_offset);
    h.groups = (uint64_t *)(r.memory + g.groups_offset);
    h.rings = (xs_ring_header *)(r.memory + g.ring_headers_offset);
    h.status = (xs_status_line *)(r.memory + g.status_offset);
    h.records = r.memory + g.records_offset;
    h.abort = abort_word;
    h.records_stride = (uint32_t)g.records_stride;
    h.ring_mask = RING - 1;
    h.rings_per_rank = g.rings_per_rank;
    h.lines_per_ring = 1;
    h.ranks = 1;
    h.blocks = blocks;
    h.launch = 1;
    return h;
}

template <int VARIANT>
static double median_cycles(cost_args args, xs_handle h, uint32_t blocks, uint32_t warps_a_block) {
    std::vector<long long> cycles(args.warps), all;
    for (int run = 0; run < 4; run++) {
        cost<VARIANT><<<blocks, warps_a_block * 32>>>(args, h);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(cycles.data(), args.cycles, args.warps * sizeof(long long), cudaMemcpyDefault));
        if (run > 0) /* the first warms up */
            all.insert(all.end(), cycles.begin(), cycles.end());
    }
    std::sort(all.begin(), all.end());
    return (double)all[all.size() / 2] / ITERATIONS;
}

static void row(uint32_t blocks, uint32_t warps_a_block, const uint32_t *abort_word) {
    cost_args args = {};
    args.warps = blocks * warps_a_block;
    args.objects = 255;
    CHECK(cudaMalloc((void **)&args.sink, 4));
    CHECK(cudaMalloc((void **)&args.cycles, args.warps * sizeof(long long)));
    CHECK(cudaMalloc((void **)&args.plain, (size_t)args.warps * ITERATIONS * 2 * sizeof(uint2)));
    rings device = make_rings(args.warps, false, true), mapped = make_rings(args.warps, true, true), off = make_rings(args.warps, false, false);
    double none = median_cycles<NONE>(args, handle_of(device, blocks, abort_word), blocks, warps_a_block);
    double plain = median_cycles<PLAIN8>(args, handle_of(device, blocks, abort_word), blocks, warps_a_block);
    double in_device = median_cycles<XS>(args, handle_of(device, blocks, abort_word), blocks, warps_a_block);
    double in_mapped = median_cycles<XS>(args, handle_of(mapped, blocks, abort_word), blocks, warps_a_block);
    double stopped = median_cycles<XS>(args, handle_of(off, blocks, abort_word), blocks, warps_a_block);
    std::printf("%4u x %-3u %9.1f %9.1f %9.1f %8.2f %9.1f %9.1f\n", blocks, warps_a_block, none, (plain - none) / 2, (in_device - none) / 2,
                (in_device - none) / (plain - none), (in_mapped - none) / 2, (stopped - none) / 2);
    cudaFree(args.sink), cudaFree(args.cycles), cudaFree(args.plain), cudaFree(device.memory), cudaFreeHost(mapped.memory), cudaFree(off.memory);
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    uint32_t *abort_word;
    CHECK(cudaHostAlloc((void **)&abort_word, 4, cudaHostAllocMapped));
    *abort_word = 0;
    std::printf("%s: cycles added per record, loop of %d dependent FMAs\n", properties.name, FMAS);
    std::printf("blocks x warps   loop   plain 8 B   device    ratio    mapped       off\n");
    uint32_t sms = (uint32_t)properties.multiProcessorCount;
    row(1, 1, abort_word);
    row(sms, 1, abort_word);
    row(sms, 4, abort_word);
    row(sms, 16, abort_word);
    row(sms, 32, abort_word);
    return 0;
}
