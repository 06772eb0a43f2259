/* Why records carry their own stamp: a counter in another line, stored after the record, is seen before it, unless a system
 * fence stands between the two. Here the fence is the thing tested, and no fence the control. */
#include "litmus.h"

enum { SLOTS = 16 };

typedef struct lane {
    xs_record record[SLOTS];
    uint32_t counter, pad[31];
} lane;

template <bool FENCE>
static __global__ void commit(lane *lanes, const uint32_t *stop) {
    lane *at = &lanes[blockIdx.x];
    uint64_t begin = xs_now();
    for (uint32_t i = 1; i % 64 != 0 || !litmus_over(stop, begin); i++) {
        xs_store16_if(1, &at->record[i % SLOTS], i, i, i, i);
        if (FENCE)
            xs_fence_acq_rel_sys();
        xs_store_relaxed_sys_u32(&at->counter, i);
    }
}

static litmus_seen watch(lane *lanes, unsigned count) {
    litmus_seen seen = {0, 0, 0};
    uint32_t *last = (uint32_t *)calloc(count, 4);
    for (double end = gpu_test_seconds() + 1.0; gpu_test_seconds() < end;)
        for (unsigned i = 0; i < count; i++) {
            xs_record r;
            uint32_t counter = __atomic_load_n(&lanes[i].counter, __ATOMIC_ACQUIRE);
            if (counter == 0)
                continue;
            (void)xs_record_load(&lanes[i].record[counter % SLOTS], &r);
            seen.reads++;
            seen.bad += (int32_t)(r.sequence - counter) < 0;
            seen.moved += counter != last[i];
            last[i] = counter;
        }
    free(last);
    return seen;
}

template <bool FENCE>
static litmus_seen measure(uint32_t *stop) {
    unsigned blocks = litmus_processors();
    lane *lanes = (lane *)litmus_mapped(blocks * sizeof *lanes);
    commit<FENCE><<<blocks, 1>>>(lanes, stop);
    GPU_CHECK(cudaGetLastError());
    litmus_seen seen = watch(lanes, blocks);
    litmus_stop(stop);
    GPU_CHECK(cudaFreeHost(lanes));
    return seen;
}

void litmus_counter(void) {
    uint32_t *stop = (uint32_t *)litmus_mapped(64);
    litmus_judge("counter seen before its record", measure<true>(stop), measure<false>(stop));
}
