/* Regions and writers for tests of the collector: what kernels/include/xs/emit.h and writer.h do to a ring, by any
 * thread, with no kernel around it. Each record's value is the low half of its own 64-bit sequence, so that a reader's
 * output can be checked against the truth. */
#ifndef XS_TEST_SYNTHETIC_H
#define XS_TEST_SYNTHETIC_H

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xs/ring_access.h>

#include "world.h"

static inline uint64_t synthetic_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of the regions that are made from here on. */
static uint64_t synthetic_catalog __attribute__((unused)) = 65536;
#define SYNTHETIC_WORDS (XS_RECORD_WORDS == 2 ? 2 : 0) /* record_words of regions */

static inline void synthetic_header(xs_region_header *h, uint32_t ranks, uint32_t rings, uint32_t records) {
    memset(h, 0, sizeof *h);
    h->ranks = h->world_ranks = ranks;
    h->rings_per_rank = rings;
    h->ring_records = records;
    h->record_words = SYNTHETIC_WORDS;
    h->lines_per_ring = 4;
    h->device = -1;
    h->host = 11;
    h->process = 22;
    h->pid = 33;
    h->catalog_bytes = synthetic_catalog;
    h->journal_entries = 64;
    xs_region_layout(h);
}

static inline char *synthetic_region(uint32_t ranks, uint32_t rings, uint32_t records) {
    xs_region_header h;
    synthetic_header(&h, ranks, rings, records);
    char *region = aligned_alloc(4096, h.total_bytes);
    if (!region)
        abort();
    memset(region, 0, h.total_bytes);
    xs_region_init(region, &h);
    return region;
}

typedef struct synthetic_writer {
    xs_ring_header *ring;
    xs_record *records;
    uint64_t *group, bit;
    uint64_t cursor, consumed, mask;
} synthetic_writer;

static inline const xs_region_header *synthetic_of(const char *region) { return (const xs_region_header *)(const void *)region; }

/* Takes ring `index`, which must be free; writer.h, xs_writer_take. */
static inline synthetic_writer synthetic_begin(char *region, uint32_t index, uint32_t mode) {
    const xs_region_header *h = synthetic_of(region);
    synthetic_writer w;
    w.ring = (xs_ring_header *)(void *)(region + h->ring_headers_offset + index * h->ring_header_stride);
    w.records = (xs_record *)(void *)(region + h->records_offset + index * h->records_stride);
    uint32_t rank = index / h->rings_per_rank, ring = index % h->rings_per_rank;
    w.group = (uint64_t *)(void *)(region + h->groups_offset) + rank * h->groups_per_rank + ring / 64;
    w.bit = 1ull << (ring % 64);
    w.mask = h->ring_records - 1;
    if (__atomic_fetch_or(w.group, w.bit, __ATOMIC_ACQUIRE) & w.bit)
        abort();
    w.cursor = __atomic_load_n(&w.ring->next, __ATOMIC_RELAXED);
    w.consumed = __atomic_load_n(&w.ring->consumed, __ATOMIC_RELAXED);
    uint32_t owners = w.ring->owners;
    xs_ring_owner owner = {.first = w.cursor, .time = synthetic_now(), .launch = 1, .block = owners};
    xs_ring_owner_store(SYNTHETIC_WORDS, w.ring, owners, &owner);
    __atomic_store_n(&w.ring->mode, (uint16_t)mode, __ATOMIC_RELAXED);
    __atomic_store_n(&w.ring->busy, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&w.ring->owners, owners + 1, __ATOMIC_RELEASE);
    return w;
}

/* One record; emit.h, xs_emit. */
static inline void synthetic_emit(synthetic_writer *w, uint32_t mode, uint32_t time) {
    xs_record *at = &w->records[w->cursor & w->mask];
    if (mode == XS_DISCARD && w->cursor - w->consumed > w->mask + 1) {
        w->consumed = __atomic_load_n(&w->ring->consumed, __ATOMIC_RELAXED);
        if (w->cursor - w->consumed > w->mask + 1) {
            xs_overflow_put(SYNTHETIC_WORDS, &w->ring->overflow, (uint32_t)w->cursor++, time);
            return;
        }
    }
    xs_slot_put(SYNTHETIC_WORDS, at, (uint32_t)__builtin_ctzll(w->mask + 1), (uint32_t)w->cursor, XS_HEAD(XS_CODE_MARK, 1), (uint32_t)w->cursor, time);
    w->cursor++;
}

/* Gives the ring back; writer.h, xs_writer_end. */
static inline void synthetic_end(synthetic_writer *w) {
    __atomic_store_n(&w->ring->next, w->cursor, __ATOMIC_RELAXED);
    __atomic_store_n(&w->ring->busy, 0, __ATOMIC_RELEASE);
    __atomic_fetch_and(w->group, ~w->bit, __ATOMIC_RELEASE);
}

#endif
