/* Cycles that tracing adds to a call of `signal_slot`, and of `wait_slot` satisfied at once, by the value waited for (wait) or by a later
 * one (ahead): 1 us of work apart, and back to back.
 * Bar: 25 in device placement. Medians over all warps and 5 interleaved runs; rings of 4096 records, overwrite. */
#include "primitive_cost.h"

#include <algorithm>
#include <vector>

enum { LOOPS = 2000, RUNS = 5, APART_NS = 1000 };
#define BAR 25.0
#define HELD (1ull << 40)

enum cost_kind { PLAIN, DEVICE, MAPPED, OFF, KINDS };

typedef struct bed {
    uint32_t blocks, warps_a_block, warps;
    cost_args args;
    gpu_rings rings[KINDS];
    uint32_t *abort_word;
} bed;

/* One slot a warp, each on its own line, behind everything that is waited for. */
static xs_pad make_slots(uint32_t warps, void **keep) {
    std::vector<uint64_t> ahead((size_t)warps * 16, HELD);
    void **bases, *slots;
    GPU_CHECK(cudaMalloc(&slots, ahead.size() * 8));
    GPU_CHECK(cudaMemcpy(slots, ahead.data(), ahead.size() * 8, cudaMemcpyDefault));
    GPU_CHECK(cudaMalloc((void **)&bases, sizeof slots));
    GPU_CHECK(cudaMemcpy(bases, &slots, sizeof slots, cudaMemcpyDefault));
    *keep = slots;
    xs_pad pad = {bases, 1, 1, warps, warps * 128, 128, 0};
    return pad;
}

static bed make_bed(uint32_t blocks, uint32_t warps_a_block, void **slots) {
    bed b;
    memset(&b, 0, sizeof b);
    b.blocks = blocks, b.warps_a_block = warps_a_block, b.warps = blocks * warps_a_block;
    b.args.pad = make_slots(b.warps, slots);
    b.args.loops = LOOPS, b.args.held = HELD;
    GPU_CHECK(cudaMalloc((void **)&b.args.cycles, b.warps * sizeof(long long)));
    GPU_CHECK(cudaMalloc((void **)&b.args.sink, 4));
    GPU_CHECK(cudaHostAlloc((void **)&b.abort_word, 64, cudaHostAllocMapped));
    *b.abort_word = 0;
    for (int k = 0; k < KINDS; k++)
        b.rings[k] = gpu_rings_make(b.warps, 4096, k == MAPPED ? GPU_MAPPED : GPU_DEVICE, k != OFF);
    return b;
}

static void free_bed(bed *b, void *slots) {
    for (int k = 0; k < KINDS; k++)
        gpu_rings_free(&b->rings[k]);
    GPU_CHECK(cudaFree(b->args.cycles));
    GPU_CHECK(cudaFree(b->args.sink));
    GPU_CHECK(cudaFree((void *)b->args.pad.base));
    GPU_CHECK(cudaFree(slots));
    GPU_CHECK(cudaFreeHost(b->abort_word));
}

static void run(bed *b, enum cost_call call, int kind, std::vector<double> *cycles) {
    std::vector<long long> found(b->warps);
    xs_handle handle = gpu_rings_handle(&b->rings[kind], b->blocks, b->abort_word);
    void *arguments[] = {&b->args, &handle};
    const void *kernel = kind == PLAIN ? cost_kernel_plain(call) : cost_kernel_traced(call);
    GPU_CHECK(cudaLaunchKernel(kernel, dim3(b->blocks), dim3(b->warps_a_block * 32), arguments, 0, 0));
    GPU_CHECK(cudaDeviceSynchronize());
    GPU_CHECK(cudaMemcpy(found.data(), b->args.cycles, b->warps * sizeof(long long), cudaMemcpyDefault));
    for (long long c : found)
        cycles->push_back((double)c / LOOPS);
}

static double median(std::vector<double> *all) {
    std::nth_element(all->begin(), all->begin() + (long)(all->size() / 2), all->end());
    return (*all)[all->size() / 2];
}

static void row(bed *b, enum cost_call call, const char *name, const char *pace, uint32_t fmas) {
    std::vector<double> cycles[KINDS], warm;
    double m[KINDS];
    b->args.fmas = fmas;
    for (int k = 0; k < KINDS; k++)
        run(b, call, k, &warm);
    for (int i = 0; i < RUNS; i++)
        for (int k = 0; k < KINDS; k++)
            run(b, call, k, &cycles[k]);
    for (int k = 0; k < KINDS; k++)
        m[k] = median(&cycles[k]);
    double added = m[DEVICE] - m[PLAIN];
    printf("%4u x %-3u %-7s %-13s %9.1f %9.1f %7.3f %8s %9.1f %9.1f\n", b->blocks, b->warps_a_block, name, pace, m[PLAIN], added, m[DEVICE] / m[PLAIN],
           added <= BAR ? "met" : "MISSED", m[MAPPED] - m[PLAIN], m[OFF] - m[PLAIN]);
}

/* Blocks of 64 FMAs that last about 1 us. */
static uint32_t fmas_of_a_microsecond(bed *b) {
    std::vector<double> cycles;
    int khz;
    GPU_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    b->args.fmas = 16;
    run(b, COST_NONE, PLAIN, &cycles);
    cycles.clear();
    run(b, COST_NONE, PLAIN, &cycles);
    double one = median(&cycles) / 16;
    return (uint32_t)((double)khz / 1e6 * APART_NS / one + 0.5);
}

int main() {
    gpu_test_begin(120);
    gpu_test_need();
    cudaDeviceProp properties;
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%s: cycles a call, plain, and what tracing adds (bar: %.0f in device placement)\n", properties.name, BAR);
    printf("blocks x warps call  pace              plain   +device   ratio      bar   +mapped  +stopped\n");
    uint32_t shapes[][2] = {{1, 1}, {(uint32_t)properties.multiProcessorCount, 4}};
    for (auto &shape : shapes) {
        void *slots;
        bed b = make_bed(shape[0], shape[1], &slots);
        uint32_t apart = fmas_of_a_microsecond(&b);
        const struct { /* signals overwrite the slots: last */
            enum cost_call call;
            const char *name;
        } calls[] = {{COST_WAIT, "wait"}, {COST_WAIT_AHEAD, "ahead"}, {COST_SIGNAL, "signal"}};
        for (auto &c : calls) {
            row(&b, c.call, c.name, "1 us apart", apart);
            row(&b, c.call, c.name, "back to back", 0);
        }
        free_bed(&b, slots);
    }
    return 0;
}
