/* Rings for kernels that are launched without a world: headers and status lines in mapped memory, records there or in device
 * memory. For benchmarks, and for tests that read rings themselves. */
#ifndef GPU_RINGS_H
#define GPU_RINGS_H

#include "gpu_test.h"

#include <xs/xs.h>

XS_EXTERN_C_BEGIN
#include <world.h>
XS_EXTERN_C_END

enum gpu_placement { GPU_MAPPED, GPU_DEVICE };

typedef struct gpu_rings {
    char *memory;  /* the region, as both sides see it */
    char *records; /* of all rings */
    uint64_t *claims; /* their bitmap, in the GPU's memory as that of a world */
    xs_lookout *lookout; /* two */
    uint64_t *waits;
    xs_region_header header;
    enum gpu_placement placement;
} gpu_rings;

/* At least `writers` rings of `records` records. */
GPU_TEST_FN gpu_rings gpu_rings_make(uint32_t writers, uint32_t records, enum gpu_placement placement, int started) {
    gpu_rings r;
    memset(&r, 0, sizeof r);
    r.header.ranks = r.header.world_ranks = 1;
    r.header.rings_per_rank = (writers + 63) / 64 * 64;
    r.header.ring_records = records;
    r.header.lines_per_ring = 4;
    r.header.record_words = XS_RECORD_WORDS == 2 ? 2 : 0; /* as this file's kernels write */
    r.placement = placement;
    uint64_t bytes = xs_region_layout(&r.header);
    GPU_CHECK(cudaHostAlloc((void **)&r.memory, bytes, cudaHostAllocMapped));
    memset(r.memory, 0, bytes);
    xs_region_init(r.memory, &r.header);
    xs_window window;
    memset(&window, 0, sizeof window);
    window.started = started ? XS_STARTED : 0;
    xs_region_set_window((xs_region_header *)r.memory, 0, &window);
    r.records = r.memory + r.header.records_offset;
    GPU_CHECK(cudaMalloc((void **)&r.claims, r.header.groups_per_rank * sizeof(uint64_t)));
    GPU_CHECK(cudaMemset(r.claims, 0, r.header.groups_per_rank * sizeof(uint64_t)));
    GPU_CHECK(cudaMalloc((void **)&r.waits, r.header.rings_per_rank * r.header.lines_per_ring * sizeof *r.waits));
    GPU_CHECK(cudaMalloc((void **)&r.lookout, 2 * sizeof *r.lookout));
    GPU_CHECK(cudaMemset(r.lookout, 0, 2 * sizeof *r.lookout));
    if (placement == GPU_DEVICE) {
        GPU_CHECK(cudaMalloc((void **)&r.records, r.header.rings_per_rank * r.header.records_stride));
        GPU_CHECK(cudaMemset(r.records, 0, r.header.rings_per_rank * r.header.records_stride));
    }
    return r;
}

GPU_TEST_FN void gpu_rings_free(gpu_rings *r) {
    if (r->placement == GPU_DEVICE)
        GPU_CHECK(cudaFree(r->records));
    GPU_CHECK(cudaFree(r->claims));
    GPU_CHECK(cudaFree(r->lookout));
    GPU_CHECK(cudaFree(r->waits));
    GPU_CHECK(cudaFreeHost(r->memory));
}

GPU_TEST_FN xs_ring_header *gpu_ring_header(const gpu_rings *r, uint32_t ring) {
    return (xs_ring_header *)(r->memory + r->header.ring_headers_offset + ring * r->header.ring_header_stride);
}

/* abort_word: mapped, 0. */
GPU_TEST_FN xs_handle gpu_rings_handle(const gpu_rings *r, uint32_t blocks, uint32_t *abort_word) {
    xs_handle h;
    xs_world world;
    memset(&world, 0, sizeof world);
    world.region = r->memory;
    world.config.ranks = 1;
    world.abort_word = abort_word;
    xs_region_handle(&world, 0, blocks, 1, &h);
    h.records = r->records;
    h.groups = r->claims;
    h.lookout = r->lookout;
    h.waits = r->waits;
    return h;
}

#endif
