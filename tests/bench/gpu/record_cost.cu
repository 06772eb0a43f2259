/* Added cycles per record inside a kernel: a loop of 128 dependent FMAs with one record before and one after, lane 0 of each
 * warp writes; object and value vary at run time. Against the same loop without records, in the same binary:
 *   plain 8 B   unchecked 8-byte record: tag and %globaltimer_lo, strided pointer bump, block fence (the usual public header)
 *   device      xs's record, rings in device memory, overwrite
 *   mapped      the same, rings in mapped host memory
 *   off         built with tracing, not started
 * Medians over all warps of 3 runs; rings of 4096 records. */
#define XS_TRACE 1
#include <algorithm>
#include <gpu_rings.h>
#include <vector>
#include <xs/kernel.h>

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

static void row(uint32_t blocks, uint32_t warps_a_block, uint32_t *abort_word) {
    cost_args args = {};
    args.warps = blocks * warps_a_block;
    args.objects = 255;
    GPU_CHECK(cudaMalloc((void **)&args.sink, 4));
    GPU_CHECK(cudaMalloc((void **)&args.cycles, args.warps * sizeof(long long)));
    GPU_CHECK(cudaMalloc((void **)&args.plain, (size_t)args.warps * ITERATIONS * 2 * sizeof(uint2)));
    gpu_rings device = gpu_rings_make(args.warps, RING, GPU_DEVICE, 1), mapped = gpu_rings_make(args.warps, RING, GPU_MAPPED, 1),
              off = gpu_rings_make(args.warps, RING, GPU_DEVICE, 0);
    double none = median_cycles<NONE>(args, gpu_rings_handle(&device, blocks, abort_word), blocks, warps_a_block);
    double plain = median_cycles<PLAIN8>(args, gpu_rings_handle(&device, blocks, abort_word), blocks, warps_a_block);
    double in_device = median_cycles<XS>(args, gpu_rings_handle(&device, blocks, abort_word), blocks, warps_a_block);
    double in_mapped = median_cycles<XS>(args, gpu_rings_handle(&mapped, blocks, abort_word), blocks, warps_a_block);
    double stopped = median_cycles<XS>(args, gpu_rings_handle(&off, blocks, abort_word), blocks, warps_a_block);
    printf("%4u x %-3u %9.1f %9.1f %9.1f %8.2f %9.1f %9.1f\n", blocks, warps_a_block, none, (plain - none) / 2, (in_device - none) / 2,
                (in_device - none) / (plain - none), (in_mapped - none) / 2, (stopped - none) / 2);
    cudaFree(args.sink), cudaFree(args.cycles), cudaFree(args.plain);
    gpu_rings_free(&device), gpu_rings_free(&mapped), gpu_rings_free(&off);
}

int main() {
    gpu_test_begin(120);
    gpu_test_need();
    cudaDeviceProp properties;
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    uint32_t *abort_word;
    GPU_CHECK(cudaHostAlloc((void **)&abort_word, 4, cudaHostAllocMapped));
    *abort_word = 0;
    printf("%s: cycles added per record, loop of %d dependent FMAs\n", properties.name, FMAS);
    printf("blocks x warps   loop   plain 8 B   device    ratio    mapped       off\n");
    uint32_t sms = (uint32_t)properties.multiProcessorCount;
    row(1, 1, abort_word);
    row(sms, 1, abort_word);
    row(sms, 4, abort_word);
    row(sms, 16, abort_word);
    row(sms, 32, abort_word);
    return 0;
}
