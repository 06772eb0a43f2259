#include "stamped.h"

#define HOLES 64u

static const uint64_t *entry_at(const xs_stamped *ring, uint64_t sequence) {
    return (const uint64_t *)(const void *)(ring->base + ((sequence - 1) & (ring->entries - 1)) * ring->bytes);
}

static uint64_t stamp_at(const xs_stamped *ring, uint64_t sequence) {
    return __atomic_load_n(entry_at(ring, sequence), __ATOMIC_ACQUIRE);
}

int xs_stamped_copy(const xs_stamped *ring, uint64_t sequence, void *copy) {
    const uint64_t *words = entry_at(ring, sequence);
    uint64_t *out = copy;
    if (stamp_at(ring, sequence) != sequence)
        return 0;
    for (uint32_t i = 0; i < ring->bytes / 8; i++)
        out[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(words, __ATOMIC_RELAXED) == sequence && out[0] == sequence;
}

uint64_t xs_stamped_gone(const xs_stamped *ring, uint64_t sequence, int last) {
    uint64_t stamp = stamp_at(ring, sequence);
    if (stamp > sequence) {
        uint64_t oldest = stamp - ring->entries + 1;
        return oldest > sequence ? oldest - sequence : 1;
    }
    for (uint64_t i = 1; last && i <= HOLES; i++)
        if (stamp_at(ring, sequence + i) == sequence + i)
            return i;
    return 0;
}
