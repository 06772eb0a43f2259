/* Sequences of 8 bits wrap after 256 records: kernel and reader of a build of that width. The kernel writes in bursts and waits
 * for the host, so that it is known exactly what must be kept, and what lost, wrap after wrap. */
#include "gpu_rings.h"

#include <xs/kernel.h>
extern "C" {
#include <ring_reader.h>
}

#if XS_SEQUENCE_BITS != 8
#error "this test is built with XS_SEQUENCE_BITS=8"
#endif

enum { RING = 64, BURSTS = 1500, BEGIN_RECORDS = 3 };
#define KERNEL_NS 20000000000ull

typedef struct mailbox {
    uint32_t done, pad0[31];
    uint32_t go, pad1[31];
} mailbox;

struct burst_args {
    mailbox *box;
    uint32_t size, reserved0;
};

__global__ void bursts(const __grid_constant__ burst_args args, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_begin(&xs, 0);
    uint64_t begin = xs_now();
    for (uint32_t burst = 1; burst <= BURSTS; burst++) {
        for (uint32_t i = 1; i <= args.size && xs_lane() == 0; i++)
            xs_mark(&w, 1, (burst - 1) * args.size + i);
        if (xs_lane() == 0) {
            xs_store_release_sys_u32(&args.box->done, burst);
            while (xs_load_relaxed_sys_u32(&args.box->go) < burst && xs_now() - begin < KERNEL_NS) {
            }
        }
        xs_warp_join();
    }
    xs_writer_end(&w);
}

typedef struct totals {
    uint64_t taken, lost, gaps;
} totals;

/* Everything that is there; each mark must be the one that was written at its place. */
static void drain(xs_ring_reader *reader, totals *sum) {
    static uint64_t now = 1;
    xs_record out[RING];
    int result;
    do {
        uint32_t taken = 0;
        xs_ring_gap gap;
        xs_ring_quiet busy = {0, 0};
        uint64_t at = reader->next;
        result = xs_ring_drain(reader, out, RING, &taken, &gap, busy, now++);
        for (uint32_t i = 0; i < taken; i++, at++)
            if (out[i].code_object >> 24 == XS_CODE_MARK)
                EXPECT(out[i].value == at - BEGIN_RECORDS, "record %llu holds mark %u", (unsigned long long)at, out[i].value);
        sum->taken += taken;
        if (result == XS_DRAIN_GAP) {
            sum->lost += gap.last - gap.first + 1, sum->gaps++;
            EXPECT(!gap.at_least, "a gap that was counted exactly is 'at least'");
        }
    } while (result != XS_DRAIN_EMPTY && result != XS_DRAIN_PENDING);
    EXPECT(result == XS_DRAIN_EMPTY, "a hole, though all was written before");
}

static void measure(uint32_t size, int loses) {
    gpu_rings rings = gpu_rings_make(1, RING, GPU_MAPPED, 1);
    mailbox *box;
    GPU_CHECK(cudaHostAlloc((void **)&box, sizeof *box, cudaHostAllocMapped));
    memset(box, 0, sizeof *box);
    uint32_t *abort_word = &box->pad1[16];
    burst_args args = {box, size, 0};
    bursts<<<1, 32>>>(args, gpu_rings_handle(&rings, 1, abort_word));
    GPU_CHECK(cudaGetLastError());
    xs_ring_reader reader;
    xs_ring_reader_init(&reader, (const xs_record *)rings.records, gpu_ring_header(&rings, 0), RING, rings.header.record_words, 0);
    totals sum = {0, 0, 0};
    for (uint32_t burst = 1; burst <= BURSTS; burst++) {
        while (__atomic_load_n(&box->done, __ATOMIC_ACQUIRE) < burst) {
        }
        drain(&reader, &sum);
        EXPECT(sum.taken + sum.lost == (uint64_t)burst * size + BEGIN_RECORDS, "burst %u: %llu taken and %llu lost of %llu", burst,
               (unsigned long long)sum.taken, (unsigned long long)sum.lost, (unsigned long long)burst * size + BEGIN_RECORDS);
        __atomic_store_n(&box->go, burst, __ATOMIC_RELEASE);
    }
    GPU_CHECK(cudaDeviceSynchronize());
    printf("bursts of %u: %llu taken, %llu lost in %llu gaps, sequences wrapped %u times\n", size, (unsigned long long)sum.taken,
           (unsigned long long)sum.lost, (unsigned long long)sum.gaps, BURSTS * size / 256);
    EXPECT(loses ? sum.gaps > BURSTS / 2 : sum.lost == 0, "%llu gaps", (unsigned long long)sum.gaps);
    EXPECT(gpu_ring_header(&rings, 0)->next == (uint64_t)BURSTS * size + BEGIN_RECORDS + 3, "next in the ring's header");
    GPU_CHECK(cudaFreeHost(box));
    gpu_rings_free(&rings);
}

int main() {
    gpu_test_begin(40);
    gpu_test_need();
    measure(7, 0);
    measure(61, 0);
    measure(100, 1); /* more than the ring, less than half of the range: the count is exact */
    return 0;
}
