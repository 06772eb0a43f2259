/* Rings that their writers did not give back, after the launch is over: found, counted, freed.
 *
 * A ring belongs to the launch if somebody is between begin and end there, and its newest owner names the launch: a
 * writer says both by one store. One that has claimed a ring and not yet begun is left alone. */
#include <xs/ring_access.h>

#include "world.h"

static uint64_t unwrap(uint32_t sequence, uint64_t base, uint32_t mask, uint32_t reach) {
    uint32_t ahead = (sequence - (uint32_t)base) & mask;
    return ahead > reach ? base : base + ahead;
}

/* The newest sequence that reached memory since `base` (known to be older or equal), in 64 bits. */
static uint64_t newest(const xs_record *records, const xs_ring_header *ring, uint64_t base, uint32_t words) {
    uint32_t best = 0, found = 0, shift = (uint32_t)__builtin_ctz(ring->capacity),
             mask = xs_sequence_known(words, shift);
    xs_record record;
    for (uint32_t i = 0; i < ring->capacity; i++) {
        if (!xs_slot_load(words, &records[i], shift, i, &record) || !record.code_object) continue;
        if (!found || ((record.sequence - best) & mask) <= mask / 2) best = record.sequence;
        found = 1;
    }
    uint64_t last = found ? unwrap(best, base, mask, mask - ring->capacity) : base;
    if (ring->mode != XS_DISCARD || !xs_overflow_load(words, &ring->overflow, &record) || !record.code_object)
        return last;
    uint64_t dropped = unwrap(record.sequence, base, XS_SEQUENCE_MASK, XS_SEQUENCE_MASK / 2);
    return dropped > last ? dropped : last;
}

static int left_behind(uint32_t words, const xs_ring_header *ring, uint32_t launch, xs_ring_owner *owner) {
    uint32_t owners = __atomic_load_n(&ring->owners, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&ring->busy, __ATOMIC_ACQUIRE) && owners &&
           xs_ring_owner_load(words, ring, owners - 1, owner) && owner->launch == launch;
}

static int reclaim_ring(char *region, const xs_region_header *h, uint32_t index, uint32_t launch) {
    xs_ring_header *ring = (xs_ring_header *)(region + h->ring_headers_offset + index * h->ring_header_stride);
    const xs_record *records = (const xs_record *)(region + h->records_offset + index * h->records_stride);
    xs_ring_owner owner;
    if (!left_behind(h->record_words, ring, launch, &owner)) return 0;
    uint64_t base = owner.first - 1, consumed = __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED);
    if (consumed > base) base = consumed;
    __atomic_store_n(&ring->next, newest(records, ring, base, h->record_words) + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->busy, 0, __ATOMIC_RELEASE);
    return 1;
}

/* Where only CPUs write, the bitmap says which headers to look at. */
static uint64_t to_look_at(const xs_region_header *h, uint64_t taken) { return h->device < 0 ? taken : ~(uint64_t)0; }

uint32_t xs_region_reclaim(char *region, uint32_t launch, uint64_t *given_back) {
    const xs_region_header *h = (const xs_region_header *)region;
    uint64_t *groups = (uint64_t *)(region + h->groups_offset);
    uint32_t freed = 0;
    for (uint32_t g = 0; g < h->ranks * h->groups_per_rank; g++) {
        uint64_t taken = __atomic_load_n(&groups[g], __ATOMIC_ACQUIRE);
        for (uint64_t left = to_look_at(h, taken); left; left &= left - 1) {
            uint64_t bit = left & (0 - left);
            if (!reclaim_ring(region, h, g * 64 + (uint32_t)__builtin_ctzll(left), launch)) continue;
            if (taken & bit) __atomic_fetch_and(&groups[g], ~bit, __ATOMIC_RELEASE);
            else if (given_back) __atomic_fetch_or(&given_back[g], bit, __ATOMIC_RELEASE);
            freed++;
        }
    }
    return freed;
}
