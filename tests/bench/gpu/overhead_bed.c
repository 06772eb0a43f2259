#include "overhead_bed.h"

#include <gpu_test.h>
#include <world.h>

static void clean(const char *capture) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s' '%s'.*", capture, capture);
    if (system(command))
        fputs("the capture could not be removed\n", stderr);
}

int bed_make(bed *b, const char *placement, bed_split split) {
    example_options o = {.ranks = BED_RANKS, .rows = BED_CHUNKS * CHUNK, .seed = 1};
    static uint32_t rows[BED_RANKS * BED_RANKS];
    memset(b, 0, sizeof *b);
    snprintf(b->capture, sizeof b->capture, "/tmp/xs-example-overhead.%d", (int)getpid());
    b->grid = split.push + split.consume + split.gemm;
    uint32_t rank_warps = b->grid * (BED_BLOCK / XS_WARP);
    b->warps = rank_warps * BED_RANKS;
    b->args.push_blocks = split.push, b->args.consume_blocks = split.consume, b->args.gemm_blocks = split.gemm;
    b->args.chunks = BED_CHUNKS, b->args.epochs = 1, b->args.slow_rank = -1, b->args.seed = 1;
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = "cuda",
                        .ranks = BED_RANKS,
                        .rings = (rank_warps + 63) / 64 * 64,
                        .placement = placement,
                        .capture = b->capture,
                        .capture_bytes = 256u << 20};
    int rc = xs_world_create(&config, &b->world);
    if (rc < 0)
        return rc;
    XS_CHECK(combine_setup(b->world, &o, &b->args, rows, rank_warps));
    GPU_CHECK(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
    GPU_CHECK(cudaMalloc((void **)&b->spans, b->warps * sizeof *b->spans));
    return 0;
}

void bed_free(bed *b) {
    GPU_CHECK(cudaFree(b->spans));
    GPU_CHECK(cudaStreamDestroy(b->stream));
    XS_CHECK(xs_world_destroy(b->world));
    clean(b->capture);
}

/* combine counts its epochs from 1: a further run needs fresh slots. */
static void reset(const bed *b) {
    const xs_pad *pads[] = {&b->args.done, &b->args.count, &b->args.gate, &b->args.finish, &b->args.bar, &b->args.go};
    void *bases[BED_RANKS];
    for (size_t i = 0; i < sizeof pads / sizeof *pads; i++) {
        GPU_CHECK(cudaMemcpy(bases, pads[i]->base, sizeof bases, cudaMemcpyDefault));
        for (uint32_t r = 0; r < BED_RANKS; r++)
            GPU_CHECK(cudaMemsetAsync(bases[r], 0, (size_t)pads[i]->rows * pads[i]->row_stride, b->stream));
    }
    GPU_CHECK(cudaMemsetAsync(b->spans, 0, b->warps * sizeof *b->spans, b->stream));
    GPU_CHECK(cudaStreamSynchronize(b->stream));
}

/* From the first begin to the last end; every warp has to have both. */
static double span_of(const bed *b) {
    static overhead_span spans[4096];
    uint64_t first = UINT64_MAX, last = 0;
    EXPECT(b->warps <= sizeof spans / sizeof *spans, "%u warps are too many", b->warps);
    GPU_CHECK(cudaMemcpy(spans, b->spans, b->warps * sizeof *spans, cudaMemcpyDefault));
    for (uint32_t i = 0; i < b->warps; i++) {
        EXPECT(spans[i].begin && spans[i].end >= spans[i].begin, "warp %u has no times", i);
        first = spans[i].begin < first ? spans[i].begin : first;
        last = spans[i].end > last ? spans[i].end : last;
    }
    return (double)(last - first);
}

/* A kernel that gave up would be fast. */
static void check_end(const bed *b) {
    for (uint32_t r = 0; r < BED_RANKS; r++) {
        uint64_t epoch = 0;
        XS_CHECK(xs_slot_read(b->world, &b->args.go, r, 0, 0, &epoch));
        EXPECT(epoch == b->args.epochs, "rank %u ended in epoch %llu of %u", r, (unsigned long long)epoch, b->args.epochs);
    }
}

bed_time bed_run(bed *b, const overhead_pointers *kernel) {
    xs_handle handle;
    reset(b);
    XS_CHECK(xs_handle_begin(b->world, "combine", 0, b->grid, BED_BLOCK, &handle));
    void *arguments[] = {&b->args, &handle, &b->spans};
    dim3 blocks = {b->grid * BED_RANKS, 1, 1}, threads = {BED_BLOCK, 1, 1};
    double launched = gpu_test_seconds();
    GPU_CHECK(cudaLaunchCooperativeKernel(kernel->timed, blocks, threads, arguments, 0, b->stream));
    GPU_CHECK(cudaStreamSynchronize(b->stream));
    bed_time t = {0, 1e9 * (gpu_test_seconds() - launched)};
    XS_CHECK(xs_handle_end(b->world, &handle));
    check_end(b);
    t.ns = span_of(b);
    return t;
}

/* All rings are free, so that these are exact. */
uint64_t bed_emitted(const bed *b) {
    const xs_region_header *h = xs_region(b->world);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++) {
        uint64_t next = ((const xs_ring_header *)(b->world->region + h->ring_headers_offset + i * h->ring_header_stride))->next;
        sum += next ? next - 1 : 0; /* never owned */
    }
    return sum;
}

double bed_heads(const bed *b) {
    const xs_region_header *h = xs_region(b->world);
    uint64_t all = 0, begin = 0;
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++)
        for (uint32_t k = 0; k < h->ring_records; k++) {
            const xs_record *r = (const xs_record *)(b->world->region + h->records_offset + i * h->records_stride) + k;
            all += r->code_object != 0;
            begin += r->code_object != 0 && r->code_object >> 24 != XS_CODE_MORE;
        }
    return all ? (double)begin / (double)all : 0;
}
