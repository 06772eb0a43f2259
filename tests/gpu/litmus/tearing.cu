/* A 16-byte store to mapped memory is whole for a host that reads it by one 16-byte load. Every thread rewrites a small ring;
 * the four words of a slot are equal. Control: two 8-byte stores. */
#include "litmus.h"

enum { SLOTS = 16, THREADS = 32 };

template <bool WHOLE>
static __global__ void rewrite(xs_record *rings, const uint32_t *stop) {
    xs_record *ring = rings + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * SLOTS;
    uint64_t begin = xs_now();
    for (uint32_t i = 1; i % 64 != 0 || !litmus_over(stop, begin); i++) {
        xs_record *at = &ring[i % SLOTS];
        if (WHOLE) {
            xs_store16_if(1, at, i, i, i, i);
        } else {
            uint64_t both = (uint64_t)i << 32 | i;
            xs_store_relaxed_sys((uint64_t *)at, both);
            xs_store_relaxed_sys((uint64_t *)at + 1, both);
        }
    }
}

static litmus_seen watch(const xs_record *rings, size_t slots) {
    litmus_seen seen = {0, 0, 0};
    uint32_t *last = (uint32_t *)calloc(slots, 4);
    for (double end = gpu_test_seconds() + 1.0; gpu_test_seconds() < end;)
        for (size_t i = 0; i < slots; i++) {
            xs_record r;
            (void)xs_record_load(&rings[i], &r);
            seen.reads++;
            seen.bad += r.sequence != r.code_object || r.sequence != r.value || r.sequence != r.time;
            seen.moved += r.sequence != last[i];
            last[i] = r.sequence;
        }
    free(last);
    return seen;
}

template <bool WHOLE>
static litmus_seen measure(unsigned blocks, uint32_t *stop) {
    size_t slots = (size_t)blocks * THREADS * SLOTS;
    xs_record *rings = (xs_record *)litmus_mapped(slots * sizeof *rings);
    rewrite<WHOLE><<<blocks, THREADS>>>(rings, stop);
    GPU_CHECK(cudaGetLastError());
    litmus_seen seen = watch(rings, slots);
    litmus_stop(stop);
    GPU_CHECK(cudaFreeHost(rings));
    return seen;
}

void litmus_tearing(void) {
    uint32_t *stop = (uint32_t *)litmus_mapped(64);
    litmus_judge("torn, 1 block", measure<true>(1, stop), measure<false>(1, stop));
    litmus_judge("torn, every processor", measure<true>(litmus_processors(), stop), measure<false>(litmus_processors(), stop));
}
