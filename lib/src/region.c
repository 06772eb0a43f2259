/* The region's layout, its first contents, and handles into it. Everything a reader needs is in the header. */
#include <stddef.h>
#include <string.h>
#include <xs/events_hash.h>

#include "world.h"

#define CATALOG_BYTES   (2u << 20)
#define JOURNAL_ENTRIES 16384u

uint64_t xs_events_hash(void) { return xs_events_hash_value(); }

xs_control *xs_region_control(const xs_region_header *region) {
    return (xs_control *)((uintptr_t)region + region->control_offset);
}

static uint64_t place(uint64_t *at, uint64_t align, uint64_t bytes) {
    uint64_t offset = (*at + align - 1) & ~(align - 1);
    *at = offset + bytes;
    return offset;
}

uint64_t xs_region_layout(xs_region_header *h) {
    uint64_t rings = (uint64_t)h->ranks * h->rings_per_rank, at = sizeof *h;
    h->version = XS_REGION_VERSION;
    h->header_bytes = sizeof *h;
    h->events_hash = xs_events_hash();
    h->record_bytes = sizeof(xs_record);
    h->sequence_bits = XS_SEQUENCE_BITS;
    h->groups_per_rank = h->rings_per_rank / 64;
    h->ring_header_stride = sizeof(xs_ring_header);
    h->status_stride = sizeof(xs_status_line);
    h->records_stride = (uint64_t)h->ring_records * sizeof(xs_record);
    if (!h->catalog_bytes) h->catalog_bytes = CATALOG_BYTES;
    if (!h->journal_entries) h->journal_entries = JOURNAL_ENTRIES;
    h->control_offset = place(&at, 128, h->ranks * sizeof(xs_control));
    h->groups_offset = place(&at, 128, (uint64_t)h->ranks * h->groups_per_rank * 8);
    h->ring_headers_offset = place(&at, 512, rings * h->ring_header_stride);
    h->status_offset = place(&at, 128, rings * h->lines_per_ring * h->status_stride);
    h->records_offset = place(&at, 4096, rings * h->records_stride);
    h->catalog_offset = place(&at, 4096, h->catalog_bytes);
    h->journal_offset = place(&at, 4096, h->journal_entries * sizeof(xs_journal_entry));
    if (h->activity_entries)
        h->activity_offset =
            place(&at, 4096, sizeof(xs_activity_head) + h->activity_entries * sizeof(xs_activity_entry));
    h->total_bytes = (at + 4095) & ~(uint64_t)4095;
    return h->total_bytes;
}

static void init_rings(char *region, const xs_region_header *h) {
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++) {
        xs_ring_header *ring = (xs_ring_header *)(region + h->ring_headers_offset + i * h->ring_header_stride);
        ring->magic = XS_RING_MAGIC;
        ring->index = i;
        ring->rank = h->first_rank + i / h->rings_per_rank;
        ring->device = h->device;
        ring->capacity = h->ring_records;
        ring->lines = h->lines_per_ring;
        ring->next = 1; /* zeroed memory is empty */
    }
}

/* All but `freeze`, which is the kernels'. `started` last: its filters are there. */
static void put_window(xs_window *to, const xs_window *from) {
    __atomic_store_n(&to->rank_first, from->rank_first, __ATOMIC_RELAXED);
    __atomic_store_n(&to->rank_last, from->rank_last, __ATOMIC_RELAXED);
    __atomic_store_n(&to->block_first, from->block_first, __ATOMIC_RELAXED);
    __atomic_store_n(&to->block_last, from->block_last, __ATOMIC_RELAXED);
    __atomic_store_n(&to->epoch_first, from->epoch_first, __ATOMIC_RELAXED);
    __atomic_store_n(&to->epoch_last, from->epoch_last, __ATOMIC_RELAXED);
    __atomic_store_n(&to->started, from->started, __ATOMIC_RELEASE);
}

void xs_region_set_window(xs_region_header *h, uint32_t rank, const xs_window *window) {
    char *ring = (char *)h + h->ring_headers_offset + (uint64_t)rank * h->rings_per_rank * h->ring_header_stride;
    put_window((xs_window *)(void *)(xs_region_control(h) + rank), window);
    for (uint32_t i = 0; i < h->rings_per_rank; i++, ring += h->ring_header_stride)
        put_window(&((xs_ring_header *)(void *)ring)->window, window);
}

void xs_region_init(char *region, const xs_region_header *header) {
    xs_region_header *h = (xs_region_header *)region;
    memcpy(h, header, sizeof *h);
    h->magic = 0;
    init_rings(region, header);
    const xs_window all = {.rank_last = UINT32_MAX, .block_last = UINT32_MAX, .epoch_last = UINT64_MAX};
    for (uint32_t i = 0; i < h->ranks; i++) xs_region_set_window(h, i, &all);
    /* The magic comes last: a reader that sees it sees the rest. */
    __atomic_store_n(&h->magic, XS_REGION_MAGIC, __ATOMIC_RELEASE);
}

void xs_region_handle(const xs_world *world, uint32_t first_rank, uint32_t blocks, uint32_t launch, xs_handle *handle) {
    const xs_region_header *h = xs_region(world);
    uint64_t rank = first_rank - h->first_rank, rings = rank * h->rings_per_rank;
    memset(handle, 0, sizeof *handle);
    handle->control = xs_region_control(h) + rank;
    handle->groups = world->claims && world->claims[rank]
                         ? world->claims[rank]
                         : (uint64_t *)(world->region + h->groups_offset) + rank * h->groups_per_rank;
    handle->rings = (xs_ring_header *)(world->region + h->ring_headers_offset + rings * h->ring_header_stride);
    handle->status =
        (xs_status_line *)(world->region + h->status_offset + rings * h->lines_per_ring * h->status_stride);
    handle->records = xs_placement_records(world, first_rank);
    handle->abort = world->abort_word;
    handle->lookout = world->near ? world->near[rank].lookout : NULL;
    handle->waits = world->near ? world->near[rank].waits : NULL;
    handle->ring_shift = (uint32_t)__builtin_ctz(h->ring_records);
    handle->ring_mask = h->ring_records - 1;
    *(h->record_words == 2 ? &handle->rings_by_words : &handle->rings_per_rank) = h->rings_per_rank;
    handle->lines_per_ring = h->lines_per_ring;
    handle->rank = first_rank;
    handle->ranks = world->config.ranks;
    handle->blocks = blocks;
    handle->blocks_inverse = xs_blocks_inverse(blocks);
    handle->launch = launch;
}
