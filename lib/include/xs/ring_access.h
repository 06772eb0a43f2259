/* Ring headers as the host reads them while writers write: who has a ring, and who had it. */
#ifndef XS_RING_ACCESS_H
#define XS_RING_ACCESS_H

#include <xs/record_access.h>
#include <xs/region.h>

/* Is the ring taken? `group`: the word of the region's bitmap that has its bit, which CPU ranks claim by; GPUs claim in memory of
 * their own and say in `busy` that they have begun. Acquire. If not, what its last writer stored before its end is visible: of a CPU
 * all, of a GPU `next` and the records in its own memory; records in mapped memory may still be on their way. */
XS_HOST_FN int xs_ring_taken(const uint64_t *group, uint32_t bit, const xs_ring_header *ring) {
    return (__atomic_load_n(group, __ATOMIC_ACQUIRE) >> (bit % 64) & 1) != 0 || __atomic_load_n(&ring->busy, __ATOMIC_ACQUIRE) != 0;
}

/* Copies owner number `ordinal`, from 0, without its stamps. 0: it is not there yet, or was replaced. */
XS_HOST_FN int xs_ring_owner_load(const xs_ring_header *ring, uint32_t ordinal, xs_ring_owner *owner) {
    const xs_record *half = (const xs_record *)(const void *)&ring->owner[ordinal % XS_RING_OWNERS];
    xs_record a, b;
    uint32_t stamp = XS_RING_STAMP(ordinal);
    if (!xs_record_load(&half[0], &a) || !xs_record_load(&half[1], &b) || a.code_object >> 16 != stamp || b.time >> 16 != stamp)
        return 0;
    /* The nearest to where the ring is with these 48 bits. */
    uint64_t low = a.sequence | (uint64_t)(a.code_object & 0xffff) << 32, next = __atomic_load_n(&ring->next, __ATOMIC_RELAXED);
    owner->first = next + (uint64_t)((int64_t)((low - next) << 16) >> 16);
    owner->time = a.value | (uint64_t)a.time << 32;
    owner->launch = b.sequence;
    owner->block = b.code_object;
    owner->warp_sm = b.value;
    owner->role = b.time & 0xffff;
    return 1;
}

/* As writers do (kernels/include/xs/writer.h). */
XS_HOST_FN void xs_ring_owner_store(xs_ring_header *ring, uint32_t ordinal, const xs_ring_owner *owner) {
    xs_record *half = (xs_record *)(void *)&ring->owner[ordinal % XS_RING_OWNERS];
    uint32_t stamp = XS_RING_STAMP(ordinal) << 16;
    xs_record_put(&half[0], (uint32_t)owner->first, ((uint32_t)(owner->first >> 32) & 0xffff) | stamp, (uint32_t)owner->time,
                  (uint32_t)(owner->time >> 32));
    xs_record_put(&half[1], owner->launch, owner->block, owner->warp_sm, (owner->role & 0xffff) | stamp);
}

#endif
