/* example_overhead [SECONDS]: what tracing costs `combine`: 4 ranks over the whole GPU, a block of 4 warps on every SM, about one event
 * per microsecond and warp, payload events and collector on. Pairs of a plain and a traced launch in random order; traced / plain of the
 * kernels' own times (the GPU's clock, first begin of a warp to last end), and its 95 % interval. Bar: the interval's upper end at most
 * 2 %, of 30 pairs or more, at a rate within a factor of two of one event. Before that registers and blocks per SM of every example,
 * traced and plain. Over within SECONDS (60): where these do not do there are fewer pairs, as each row says. */
#include <gpu_test.h>

#include "overhead_bed.h"
#include "ratio.h"

enum { PAIRS = 30, PAIRS_MOST = 200, PAIRS_LEAST = 4, WARM_UP = 2, FEW = 2, MANY = 6, EPOCHS_MOST = 400 };
#define BAR_PERCENT 2.0
#define GOOD_NS 25e6 /* a launch */

static double started; /* gpu_test_seconds() */
static double gone(void) { return gpu_test_seconds() - started; }

typedef struct setting {
    bed_split split;
    uint64_t work_ns; /* a tile */
    double part;      /* of the records, those that begin an event */
} setting;

/* Sets the epochs that make a launch of good length. Tells what an epoch takes. */
static double tune(bed *b, double good_ns) {
    double ns[2];
    for (int i = 0; i < 2; i++) {
        b->args.epochs = i ? MANY : FEW;
        (void)bed_run(b, &overhead_combine_narrow_plain);
        ns[i] = bed_run(b, &overhead_combine_narrow_plain).ns;
    }
    b->args.epochs = ratio_epochs(FEW, ns[0], MANY, ns[1], good_ns, EPOCHS_MOST);
    return (ns[1] - ns[0]) / (MANY - FEW);
}

/* Records of a traced launch; *plain_ns: what the same work takes untraced. */
static double records_of(bed *b, double *plain_ns) {
    *plain_ns = bed_run(b, &overhead_combine_narrow_plain).ns;
    uint64_t before = bed_emitted(b);
    (void)bed_run(b, &overhead_combine_narrow_traced);
    return (double)(bed_emitted(b) - before);
}

/* Events a microsecond and warp at this work: of the untraced time, so that what tracing costs does not enter. */
static double rate_at(bed *b, uint64_t work_ns, double *part) {
    double plain_ns;
    b->args.work_ns = work_ns;
    double epoch_ns = tune(b, GOOD_NS / 2), records = records_of(b, &plain_ns);
    *part = *part ? *part : bed_heads(b); /* the first at this placement; work changes it little */
    double rate = ratio_events(records * *part, plain_ns, b->warps);
    printf("  %2u / %2u / %2u blocks, %5llu ns of work: an epoch %8.1f us, %3u epochs %6.2f ms, %.2f events a us and warp\n", b->args.push_blocks,
           b->args.consume_blocks, b->args.gemm_blocks, (unsigned long long)work_ns, epoch_ns / 1e3, b->args.epochs, plain_ns / 1e6, rate);
    return rate;
}

/* Of the ways to give the blocks to the roles the one with the most events; then the work that leaves about one. */
static bed_split best_split(uint32_t blocks, double until) {
    static const struct { uint32_t consume, gemm; } parts[] = {{8, 5}, {6, 3}, {10, 7}, {12, 9}};
    bed_split best = {blocks - blocks * 8 / 33 - blocks * 5 / 33, blocks * 8 / 33, blocks * 5 / 33};
    double most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && (i == 0 || gone() < until); i++) {
        bed b;
        double part = 0;
        bed_split s = {0, blocks * parts[i].consume / 33, blocks * parts[i].gemm / 33};
        s.push = blocks - s.consume - s.gemm;
        XS_CHECK(bed_make(&b, "mapped", s));
        double rate = rate_at(&b, 0, &part);
        bed_free(&b);
        if (rate > most)
            most = rate, best = s;
    }
    return best;
}

static setting calibrate(uint32_t blocks, double until) {
    static const uint64_t works[] = {0, 500, 1000, 250, 2000, 750, 1500, 4000, 125};
    enum { WORKS = sizeof works / sizeof *works };
    double rates[WORKS] = {0};
    printf("\nblocks of a rank (push / consume / gemm) and work a tile:\n");
    setting s = {best_split(blocks, gone() + (until - gone()) / 2), 0, 0};
    bed b;
    XS_CHECK(bed_make(&b, "mapped", s.split));
    for (size_t i = 0; i < WORKS && (i == 0 || gone() < until); i++)
        rates[i] = rate_at(&b, works[i], &s.part);
    bed_free(&b);
    s.work_ns = works[ratio_nearest_to_one(rates, WORKS)];
    return s;
}

/* GB/s from device to host memory. */
static double link_rate(void) {
    size_t bytes = 128u << 20;
    void *there, *here;
    float ms;
    cudaEvent_t begin, end;
    GPU_CHECK(cudaMalloc(&there, bytes));
    GPU_CHECK(cudaHostAlloc(&here, bytes, 0));
    GPU_CHECK(cudaEventCreate(&begin));
    GPU_CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) {
        GPU_CHECK(cudaEventRecord(begin, 0));
        GPU_CHECK(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, 0));
        GPU_CHECK(cudaEventRecord(end, 0));
        GPU_CHECK(cudaDeviceSynchronize());
    }
    GPU_CHECK(cudaEventElapsedTime(&ms, begin, end));
    GPU_CHECK(cudaFree(there));
    GPU_CHECK(cudaFreeHost(here));
    return (double)bytes / 1e6 / ms;
}

/* A coin, the same in every run. */
static int coin(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 63);
}

static uint32_t measure(bed *b, ratio_pair *pairs, double until) {
    uint32_t count = 0;
    for (int i = 0; i < WARM_UP; i++)
        (void)bed_run(b, &overhead_combine_narrow_plain), (void)bed_run(b, &overhead_combine_narrow_traced);
    while (count < PAIRS_MOST && (count < PAIRS_LEAST || gone() < until)) {
        int traced_first = coin();
        double first = bed_run(b, traced_first ? &overhead_combine_narrow_traced : &overhead_combine_narrow_plain).ns;
        double second = bed_run(b, traced_first ? &overhead_combine_narrow_plain : &overhead_combine_narrow_traced).ns;
        pairs[count++] = traced_first ? (ratio_pair){second, first} : (ratio_pair){first, second};
    }
    return count;
}

/* Pairs until there are enough, or the time is over. */
static void row(const char *placement, const setting *s, double link, double until) {
    static ratio_pair pairs[PAIRS_MOST];
    bed b;
    int rc = bed_make(&b, placement, s->split);
    if (rc < 0) {
        printf("%-9s not available: %s %s\n", placement, xs_strerror(rc), xs_error_detail());
        return;
    }
    b.args.work_ns = s->work_ns;
    (void)tune(&b, GOOD_NS);
    uint32_t count = measure(&b, pairs, until);
    ratio_result r = ratio_of(pairs, count);
    uint64_t before = bed_emitted(&b);
    bed_time last = bed_run(&b, &overhead_combine_narrow_traced);
    double records = (double)(bed_emitted(&b) - before), rate = ratio_events(records * s->part, last.ns, b.warps);
    double upper = 100 * (r.high - 1);
    const char *word = upper > BAR_PERCENT ? "MISSED" : count < PAIRS ? "few" : rate < 0.5 || rate > 2 ? "rate" : "met";
    printf("%-9s %5u %6u %8.3f %9.3f %8.4f %8.4f .. %.4f %8.2f %% %7s %11.2f %10.0f %8.1f %%\n", placement, count, b.args.epochs, r.plain / 1e6,
           (last.host_ns - last.ns) / 1e6, r.ratio, r.low, r.high, upper, word, rate, records / (last.ns / 1e3),
           100 * ratio_link(records, last.ns, link));
    bed_free(&b);
}

static void describe(const char *name, const void *plain, const void *traced) {
    struct cudaFuncAttributes a, t;
    int fit_a, fit_t;
    GPU_CHECK(cudaFuncGetAttributes(&a, plain));
    GPU_CHECK(cudaFuncGetAttributes(&t, traced));
    GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit_a, plain, BED_BLOCK, 0));
    GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit_t, traced, BED_BLOCK, 0));
    printf("%-9s %6d %7d %+6d %8d %8d %9d %9d %5.2f %s\n", name, a.numRegs, t.numRegs, t.numRegs - a.numRegs, (int)a.localSizeBytes,
           (int)t.localSizeBytes, fit_a, fit_t, (double)fit_t / fit_a, fit_t == fit_a && t.localSizeBytes <= a.localSizeBytes ? "met" : "MISSED");
}

static void describe_all(void) {
    printf("registers, local bytes and resident blocks of %d threads per SM; bar: same residency, no spill\n", BED_BLOCK);
    puts("kernel     plain  traced  added  local p  local t  blocks p  blocks t ratio bar");
#define DESCRIBE(name) describe(#name, overhead_##name##_plain.kernel, overhead_##name##_traced.kernel);
    OVERHEAD_EXAMPLES(DESCRIBE)
}

int main(int argc, char **argv) {
    struct cudaDeviceProp properties;
    double seconds = argc > 1 ? atof(argv[1]) : 60;
    EXPECT(seconds >= 10, "example_overhead [SECONDS]: at least 10");
    gpu_test_begin((unsigned)seconds + 60);
    started = gpu_test_seconds();
    setenv("CUDA_VISIBLE_DEVICES", "0", 0); /* all ranks in one launch */
    gpu_test_need();
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    uint32_t blocks = (uint32_t)properties.multiProcessorCount / BED_RANKS;
    EXPECT(blocks >= 12, "%u processors are too few", blocks * BED_RANKS);
    describe_all();
    setting s = calibrate(blocks, seconds * 0.3);
    double link = link_rate();
    printf("\n%s: combine, %d ranks, %d chunks, rows of %d words, %d warps per SM, %llu ns of work a tile, link %.1f GB/s; traced / plain (bar: upper end "
           "at most %.0f %%)\n",
           properties.name, BED_RANKS, BED_CHUNKS, (int)WORDS, BED_BLOCK / 32, (unsigned long long)s.work_ns, link, BAR_PERCENT);
    puts("placement pairs epochs plain ms host + ms    ratio  95 % interval    upper end     bar ev/us/warp records/us link used");
    row("device", &s, link, seconds * 0.6);
    row("mapped", &s, link, seconds * 0.9);
    return 0;
}
