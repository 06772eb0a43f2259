/* Records of two stamped words, written as fast as a GPU can and read while that goes on: every record that is taken is whole and in its
 * place, ten rings full and more, and kept + lost = emitted against the kernel's own count. Built for both ring modes. */
#include "gpu_rings.h"

#include <xs/kernel.h>
extern "C" {
#include <ring_reader.h>
}

#if XS_RECORD_WORDS != 2
#error "this test is built with XS_RECORD_WORDS=2"
#endif

enum { WRITERS = 64, BEGIN_RECORDS = 3, END_RECORDS = 2, OUT = 256 };

struct words_args {
    uint32_t *count; /* of marks, a writer */
    uint32_t marks, reserved0;
};

/* Object and value of a mark follow from its number, in different words of the record. */
#define OBJECT_OF(i) ((((i) * 2654435761u) & 0xfffffu) + 1)

__global__ void many_marks(const __grid_constant__ words_args args, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_begin(&xs, 0);
    for (uint32_t i = 1; i <= args.marks; i++) {
        if (xs_lane() == 0) {
            xs_emit(&w, XS_HEAD(XS_CODE_MARK, OBJECT_OF(i)), i, xs_now_low());
            args.count[blockIdx.x] = i;
        }
        xs_warp_join();
    }
    xs_writer_end(&w);
}

typedef struct totals {
    uint64_t taken, lost, late;
} totals;

static void check_mark(const xs_record *r, uint64_t at, uint32_t marks, uint32_t *time, int exact) {
    if (at <= BEGIN_RECORDS || r->code_object >> 24 != XS_CODE_MARK)
        return;
    EXPECT(r->value - 1 < marks && (r->code_object & XS_OBJECT_MASK) == OBJECT_OF(r->value), "record %llu: object %u beside mark %u",
           (unsigned long long)at, r->code_object & XS_OBJECT_MASK, r->value);
    EXPECT(!exact || r->value == (uint32_t)(at - BEGIN_RECORDS), "record %llu holds mark %u", (unsigned long long)at, r->value);
    EXPECT((int32_t)(r->time - *time) >= 0 || !*time, "record %llu: time %u after %u", (unsigned long long)at, r->time, *time);
    *time = r->time;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One drain; returns its result. */
static int drain(xs_ring_reader *reader, totals *sum, uint32_t marks, uint32_t *time, uint32_t *vague, xs_ring_quiet quiet) {
    xs_record out[OUT];
    uint32_t taken = 0;
    xs_ring_gap gap;
    uint64_t at = reader->next;
    int result = xs_ring_drain(reader, out, OUT, &taken, &gap, quiet, now_ns());
    for (uint32_t i = 0; i < taken; i++)
        check_mark(&out[i], at + i, marks, time, !*vague);
    sum->taken += taken;
    if (result == XS_DRAIN_GAP) {
        sum->lost += gap.last - gap.first + 1;
        *vague |= gap.at_least;
        if (XS_RING_MODE == XS_DISCARD)
            xs_ring_give_space(reader);
    }
    if (taken && XS_RING_MODE == XS_DISCARD)
        xs_ring_give_space(reader);
    return result;
}

static void measure(uint32_t ring, uint32_t marks) {
    gpu_rings rings = gpu_rings_make(WRITERS, ring, GPU_MAPPED, 1);
    uint32_t *abort_word, time[WRITERS] = {0}, vague[WRITERS] = {0};
    words_args args = {NULL, marks, 0};
    GPU_CHECK(cudaHostAlloc((void **)&abort_word, 64, cudaHostAllocMapped));
    GPU_CHECK(cudaHostAlloc((void **)&args.count, WRITERS * sizeof(uint32_t), cudaHostAllocMapped));
    memset(abort_word, 0, 64);
    static xs_ring_reader reader[WRITERS];
    totals sum[WRITERS] = {{0, 0, 0}}, all = {0, 0, 0};
    for (uint32_t i = 0; i < WRITERS; i++)
        xs_ring_reader_init(&reader[i], (const xs_record *)rings.records + (size_t)i * ring, gpu_ring_header(&rings, i), ring, 2, 0);
    cudaEvent_t over;
    GPU_CHECK(cudaEventCreate(&over));
    many_marks<<<WRITERS, 32>>>(args, gpu_rings_handle(&rings, WRITERS, abort_word));
    GPU_CHECK(cudaGetLastError());
    GPU_CHECK(cudaEventRecord(over));
    xs_ring_quiet live = {0, 0};
    while (cudaEventQuery(over) == cudaErrorNotReady)
        for (uint32_t i = 0; i < WRITERS; i++)
            drain(&reader[i], &sum[i], marks, &time[i], &vague[i], live);
    GPU_CHECK(cudaDeviceSynchronize());
    for (uint32_t i = 0; i < WRITERS; i++) {
        uint64_t live_taken = sum[i].taken, emitted = (uint64_t)marks + BEGIN_RECORDS + END_RECORDS;
        xs_ring_quiet quiet = {1, gpu_ring_header(&rings, i)->next};
        EXPECT(quiet.end == emitted + 1, "ring %u ends at %llu", i, (unsigned long long)quiet.end);
        while (drain(&reader[i], &sum[i], marks, &time[i], &vague[i], quiet) != XS_DRAIN_EMPTY) {
        }
        EXPECT(sum[i].taken + sum[i].lost == emitted, "ring %u: %llu taken and %llu lost of %llu", i, (unsigned long long)sum[i].taken,
               (unsigned long long)sum[i].lost, (unsigned long long)emitted);
        EXPECT(args.count[i] == marks, "the kernel counts %u", args.count[i]);
        all.taken += sum[i].taken, all.lost += sum[i].lost, all.late += sum[i].taken - live_taken;
    }
    printf("%s, rings of %u: %llu taken (%llu of them at the end), %llu lost, none torn\n", XS_RING_MODE == XS_DISCARD ? "discard" : "overwrite",
           ring, (unsigned long long)all.taken, (unsigned long long)all.late, (unsigned long long)all.lost);
    EXPECT(all.taken > all.late, "nothing was read while the kernel ran");
    GPU_CHECK(cudaEventDestroy(over));
    GPU_CHECK(cudaFreeHost(args.count));
    GPU_CHECK(cudaFreeHost(abort_word));
    gpu_rings_free(&rings);
}

int main() {
    gpu_test_begin(60);
    gpu_test_need();
    measure(4, 200000);
    measure(64, 200000);
    measure(4096, 500000);
    printf("PASS\n");
    return 0;
}
