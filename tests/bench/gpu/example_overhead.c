/* example_overhead [SECONDS]: what tracing costs `combine`: 4 ranks over the whole GPU, 4 warps per SM, about one event per
 * microsecond and warp, payload events and collector on. Pairs of a plain and a traced run, interleaved; the mean ratio of their
 * kernels' times with its 95 % interval. Bar: the interval's upper end at most 2 %. Before that registers and blocks per SM of every
 * example, traced and plain. It takes about SECONDS (120) in all: runs are made as long as is good to measure, and where the time is
 * over there are fewer pairs, as each row says. */
#include <combine/setup.h>
#include <gpu_test.h>
#include <math.h>
#include <world.h>

#include "example_overhead.h"

enum { RANKS = 4, BLOCK = 128, ROWS = 2048, EPOCHS = 150, PAIRS = 30, PAIRS_LEAST = 4, LEAST_MS = 2, GOOD_MS = 20 };
#define BAR_PERCENT 2.0

static double started; /* gpu_test_seconds() */
static double gone(void) { return gpu_test_seconds() - started; }

/* Student's t at 95 %, to 1 % from 3 degrees of freedom on. */
static double student(int degrees) {
    double d = degrees;
    return 1.96 + 2.37 / d + 2.82 / (d * d) + 2.56 / (d * d * d);
}

typedef struct bed {
    xs_world *world;
    struct combine_args args;
    uint32_t grid; /* blocks a rank */
    uint32_t warps;
    cudaEvent_t begin, end;
    char capture[64];
} bed;

static void clean(const char *capture) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s' '%s'.*", capture, capture);
    if (system(command))
        fputs("the capture could not be removed\n", stderr);
}

/* 0, or what xs says: this placement is not available. */
static int make_bed(bed *b, const char *placement, uint32_t processors) {
    example_options o = {.ranks = RANKS, .rows = ROWS, .seed = 1};
    static uint32_t rows[RANKS * RANKS];
    memset(b, 0, sizeof *b);
    snprintf(b->capture, sizeof b->capture, "/tmp/xs-example-overhead.%d", (int)getpid());
    b->grid = processors / RANKS, b->warps = b->grid * (BLOCK / XS_WARP);
    b->args.push_blocks = b->args.consume_blocks = b->grid * 12 / 33;
    b->args.gemm_blocks = b->grid - 2 * b->args.push_blocks;
    b->args.chunks = ROWS / CHUNK, b->args.epochs = EPOCHS, b->args.slow_rank = -1, b->args.seed = 1;
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = "cuda",
                        .ranks = RANKS,
                        .rings = (b->warps + 63) / 64 * 64,
                        .placement = placement,
                        .capture = b->capture,
                        .capture_bytes = 256u << 20};
    int rc = xs_world_create(&config, &b->world);
    if (rc < 0)
        return rc;
    XS_CHECK(combine_setup(b->world, &o, &b->args, rows, b->warps));
    GPU_CHECK(cudaEventCreate(&b->begin));
    GPU_CHECK(cudaEventCreate(&b->end));
    return 0;
}

static void free_bed(bed *b) {
    XS_CHECK(xs_world_destroy(b->world));
    clean(b->capture);
}

/* combine counts its epochs from 1: a further run needs fresh slots. */
static void reset(const xs_pad *pad) {
    void *bases[RANKS];
    GPU_CHECK(cudaMemcpy(bases, pad->base, sizeof bases, cudaMemcpyDefault));
    for (uint32_t r = 0; r < RANKS; r++)
        GPU_CHECK(cudaMemset(bases[r], 0, (size_t)pad->rows * pad->row_stride));
}

/* Milliseconds of the kernel. */
static double run(bed *b, const void *kernel) {
    const xs_pad *pads[] = {&b->args.done, &b->args.count, &b->args.gate, &b->args.finish, &b->args.bar, &b->args.go};
    xs_handle handle;
    float ms;
    for (size_t i = 0; i < sizeof pads / sizeof *pads; i++)
        reset(pads[i]);
    GPU_CHECK(cudaDeviceSynchronize());
    XS_CHECK(xs_handle_begin(b->world, "combine", 0, b->grid, BLOCK, &handle));
    void *arguments[] = {&b->args, &handle};
    dim3 blocks = {b->grid * RANKS, 1, 1}, threads = {BLOCK, 1, 1};
    GPU_CHECK(cudaEventRecord(b->begin, 0));
    GPU_CHECK(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, 0, 0));
    GPU_CHECK(cudaEventRecord(b->end, 0));
    GPU_CHECK(cudaDeviceSynchronize());
    XS_CHECK(xs_handle_end(b->world, &handle));
    GPU_CHECK(cudaEventElapsedTime(&ms, b->begin, b->end));
    return ms;
}

/* Records so far, from the rings' headers: all rings are free, so that these are exact. */
static uint64_t emitted(const bed *b) {
    const xs_region_header *h = xs_region(b->world);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++)
        sum += ((const xs_ring_header *)(b->world->region + h->ring_headers_offset + i * h->ring_header_stride))->next - 1;
    return sum;
}

/* Of the newest records, those that begin an event. Mapped placement. */
static double heads(const bed *b) {
    const xs_region_header *h = xs_region(b->world);
    uint64_t all = 0, begin = 0;
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++)
        for (uint32_t k = 0; k < h->ring_records; k++) {
            const xs_record *r = (const xs_record *)(b->world->region + h->records_offset + i * h->records_stride) + k;
            all += r->code_object != 0;
            begin += r->code_object != 0 && r->code_object >> 24 != XS_CODE_MORE;
        }
    return (double)begin / (double)all;
}

typedef struct load {
    double records_a_us; /* all warps */
    double events;       /* a microsecond and warp */
} load;

static load load_of(bed *b, double part) {
    uint64_t before = emitted(b);
    double ms = run(b, overhead_combine_traced);
    double records = (double)(emitted(b) - before) / (1e3 * ms);
    load l = {records, records * part / (b->warps * RANKS)};
    return l;
}

typedef struct setting {
    uint64_t work_ns;
    uint32_t epochs;
    double part; /* of the records, those that begin an event */
} setting;

/* As many epochs as make a run of some milliseconds. */
static uint32_t good_epochs(bed *b) {
    b->args.epochs = 4;
    (void)run(b, overhead_combine_traced);
    double ms = run(b, overhead_combine_traced), epochs = 4 * GOOD_MS / ms;
    printf("4 epochs take %.2f ms\n", ms);
    return epochs < 4 ? 4 : epochs > EPOCHS ? EPOCHS : (uint32_t)epochs;
}

/* Nanoseconds of work a tile at which there is about one event per microsecond and warp, or as near as it comes by `until`. */
static setting calibrate(uint32_t processors, double until) {
    bed b;
    uint64_t best = 2000;
    double least = 1e9, part;
    XS_CHECK(make_bed(&b, "mapped", processors));
    b.args.work_ns = best;
    uint32_t epochs = b.args.epochs = good_epochs(&b);
    (void)run(&b, overhead_combine_traced);
    part = heads(&b);
    static const uint64_t works[] = {2000, 1000, 4000, 500, 1500, 3000, 6000, 250, 8000, 0};
    for (size_t i = 0; i < sizeof works / sizeof *works && gone() < until; i++) {
        b.args.work_ns = works[i];
        double off = fabs(log(load_of(&b, part).events));
        if (off < least)
            least = off, best = works[i];
    }
    free_bed(&b);
    return (setting){best, epochs, part};
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

/* Pairs until there are enough, or the time is over. */
static void row(const char *placement, uint32_t processors, setting s, double link, double until) {
    bed b;
    double ratio[PAIRS], sum = 0, squares = 0, plain_ms = 0;
    int pairs = 0;
    int rc = make_bed(&b, placement, processors);
    if (rc < 0) {
        printf("%-9s not available: %s %s\n", placement, xs_strerror(rc), xs_error_detail());
        return;
    }
    b.args.work_ns = s.work_ns;
    b.args.epochs = s.epochs;
    (void)run(&b, overhead_combine_plain), (void)run(&b, overhead_combine_traced);
    for (int i = 0; i < PAIRS && (i < PAIRS_LEAST || gone() < until); i++, pairs++) {
        double first = run(&b, i % 2 ? overhead_combine_traced : overhead_combine_plain);
        double second = run(&b, i % 2 ? overhead_combine_plain : overhead_combine_traced);
        double plain = i % 2 ? second : first, traced = i % 2 ? first : second;
        ratio[i] = traced / plain, sum += ratio[i], plain_ms += plain;
    }
    double mean = sum / pairs;
    for (int i = 0; i < pairs; i++)
        squares += (ratio[i] - mean) * (ratio[i] - mean);
    double half = student(pairs - 1) * sqrt(squares / (pairs - 1) / pairs), upper = 100 * (mean + half - 1);
    load l = load_of(&b, s.part);
    printf("%-9s %6d %8.2f %8.4f %8.4f .. %.4f %8.2f %% %7s %8.2f %9.0f %7.1f %%\n", placement, pairs, plain_ms / pairs, mean, mean - half, mean + half,
           upper, upper <= BAR_PERCENT ? "met" : "MISSED", l.events, l.records_a_us, 100 * l.records_a_us * 16e-3 / link);
    EXPECT(plain_ms / pairs >= LEAST_MS, "the kernel is too short to be measured");
    free_bed(&b);
}

static void describe(const char *name, const void *plain, const void *traced) {
    struct cudaFuncAttributes a, t;
    int fit_a, fit_t;
    GPU_CHECK(cudaFuncGetAttributes(&a, plain));
    GPU_CHECK(cudaFuncGetAttributes(&t, traced));
    GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit_a, plain, BLOCK, 0));
    GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit_t, traced, BLOCK, 0));
    printf("%-9s %6d %7d %+6d %8d %8d %9d %9d %5.2f %s\n", name, a.numRegs, t.numRegs, t.numRegs - a.numRegs, (int)a.localSizeBytes,
           (int)t.localSizeBytes, fit_a, fit_t, (double)fit_t / fit_a, fit_t == fit_a && t.localSizeBytes <= a.localSizeBytes ? "met" : "MISSED");
}

static void describe_all(void) {
    printf("registers, local bytes and resident blocks of %d threads per SM; bar: same residency, no spill\n", BLOCK);
    puts("kernel     plain  traced  added  local p  local t  blocks p  blocks t ratio bar");
#define DESCRIBE(name) describe(#name, overhead_##name##_plain, overhead_##name##_traced);
    OVERHEAD_EXAMPLES(DESCRIBE)
}

int main(int argc, char **argv) {
    struct cudaDeviceProp properties;
    double seconds = argc > 1 ? atof(argv[1]) : 120;
    EXPECT(seconds >= 10, "example_overhead [SECONDS]: at least 10");
    gpu_test_begin((unsigned)seconds + 60);
    started = gpu_test_seconds();
    setenv("CUDA_VISIBLE_DEVICES", "0", 0); /* all ranks in one launch */
    gpu_test_need();
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    uint32_t processors = (uint32_t)properties.multiProcessorCount;
    EXPECT(processors >= 12 * RANKS, "%u processors are too few", processors);
    describe_all();
    setting s = calibrate(processors, seconds * 0.2);
    double link = link_rate();
    printf("\n%s: combine, %d ranks, %d warps per SM, %u epochs, %llu ns of work a tile, link %.1f GB/s; traced / plain (bar: upper end at most %.0f %%)\n",
           properties.name, RANKS, BLOCK / 32, s.epochs, (unsigned long long)s.work_ns, link, BAR_PERCENT);
    puts("placement  pairs plain ms    ratio  95 % interval    upper end     bar ev/us/warp records/us  link used");
    row("device", processors, s, link, seconds * 0.6);
    row("mapped", processors, s, link, seconds * 0.95);
    return 0;
}
