/* Ring headers as the host reads them while writers write: who has a ring, and who had it. */
#ifndef XS_RING_ACCESS_H
#define XS_RING_ACCESS_H

#include <xs/record_access.h>
#include <xs/region.h>

/* Is the ring taken? `group`: the word of the region's bitmap that has its bit, which CPU ranks claim by; GPUs claim
 * in memory of their own and say in `busy` that they have begun. Acquire. If not, what its last writer stored before
 * its end is visible: of a CPU all, of a GPU `next` and the records in its own memory; records in mapped memory may
 * still be on their way. */
XS_HOST_FN int xs_ring_taken(const uint64_t *group, uint32_t bit, const xs_ring_header *ring) {
    return (__atomic_load_n(group, __ATOMIC_ACQUIRE) >> (bit % 64) & 1) != 0 ||
           __atomic_load_n(&ring->busy, __ATOMIC_ACQUIRE) != 0;
}

/* Its 48 bits say where an owner began, nearest to where the ring is. */
XS_HOST_FN uint64_t xs_ring_owner_first(const xs_ring_header *ring, uint64_t low) {
    uint64_t next = __atomic_load_n(&ring->next, __ATOMIC_RELAXED);
    return next + (uint64_t)((int64_t)((low - next) << 16) >> 16);
}

XS_HOST_FN int xs_ring_owner_whole(const xs_ring_header *ring, const xs_record *half, uint32_t ordinal,
                                   xs_ring_owner *owner) {
    xs_record a, b;
    uint32_t stamp = XS_RING_STAMP(ordinal);
    if (!xs_record_load(&half[0], &a) || !xs_record_load(&half[1], &b) || a.code_object >> 16 != stamp ||
        b.time >> 16 != stamp)
        return 0;
    owner->first = xs_ring_owner_first(ring, a.sequence | (uint64_t)(a.code_object & 0xffff) << 32);
    owner->time = a.value | (uint64_t)a.time << 32;
    owner->launch = b.sequence;
    owner->block = b.code_object;
    owner->warp_sm = b.value;
    owner->role = b.time & 0xffff;
    return 1;
}

XS_HOST_FN int xs_ring_owner_words(const xs_ring_header *ring, const xs_record_word *from, uint32_t ordinal,
                                   xs_ring_owner *owner) {
    uint64_t word[4];
    for (int i = 0; i < 4; i++) {
        word[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
        if (word[i] >> 56 != XS_RING_WORD_STAMP(ordinal))
            return 0;
    }
    /* Stamps come again, after many more owners than the ring keeps. */
    if (__atomic_load_n(&ring->owners, __ATOMIC_RELAXED) - ordinal > XS_RING_OWNERS)
        return 0;
    uint32_t high = (uint32_t)(word[3] >> 32);
    owner->first = xs_ring_owner_first(ring, word[0] & 0xffffffffffffu);
    owner->time = (word[1] & 0xffffffffffffffu) | (uint64_t)(high & 0xff) << 56;
    owner->launch = (uint32_t)word[2];
    owner->block = ((uint32_t)(word[2] >> 32) & 0xffffffu) | (high >> 8 & 0xff) << 24;
    owner->warp_sm = (uint32_t)word[3];
    owner->role = (uint32_t)(word[0] >> 48 & 0xff) | (high >> 16 & 0xff) << 8;
    return 1;
}

/* Copies owner number `ordinal`, from 0, without its stamps. words: region.h. 0: it is not there yet, or was
 * replaced. */
XS_HOST_FN int xs_ring_owner_load(uint32_t words, const xs_ring_header *ring, uint32_t ordinal, xs_ring_owner *owner) {
    const void *entry = &ring->owner[ordinal % XS_RING_OWNERS];
    return words == 2 ? xs_ring_owner_words(ring, (const xs_record_word *)entry, ordinal, owner)
                      : xs_ring_owner_whole(ring, (const xs_record *)entry, ordinal, owner);
}

/* As writers do (kernels/include/xs/writer.h). */
XS_HOST_FN void xs_ring_owner_store(uint32_t words, xs_ring_header *ring, uint32_t ordinal,
                                    const xs_ring_owner *owner) {
    void *entry = &ring->owner[ordinal % XS_RING_OWNERS];
    if (words == 2) {
        xs_record_word *word = (xs_record_word *)entry;
        uint32_t stamp = XS_RING_WORD_STAMP(ordinal);
        __atomic_store_n(&word[0], XS_OWNER_WORD0(stamp, owner->first, owner->role), __ATOMIC_RELAXED);
        __atomic_store_n(&word[1], XS_OWNER_WORD1(stamp, owner->time), __ATOMIC_RELAXED);
        __atomic_store_n(&word[2], XS_OWNER_WORD2(stamp, owner->launch, owner->block), __ATOMIC_RELAXED);
        __atomic_store_n(&word[3], XS_OWNER_WORD3(stamp, owner->warp_sm, owner->time, owner->block, owner->role),
                         __ATOMIC_RELAXED);
        return;
    }
    xs_record *half = (xs_record *)entry;
    uint32_t stamp = XS_RING_STAMP(ordinal) << 16;
    xs_record_put(&half[0], (uint32_t)owner->first, ((uint32_t)(owner->first >> 32) & 0xffff) | stamp,
                  (uint32_t)owner->time, (uint32_t)(owner->time >> 32));
    xs_record_put(&half[1], owner->launch, owner->block, owner->warp_sm, (owner->role & 0xffff) | stamp);
}

#endif
