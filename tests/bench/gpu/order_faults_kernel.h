/* One kernel a fault, in the file that includes this with XS_TRACE set. Producer: block 0; consumer: block 1, or the CPU. One
 * warp each. */
#include "order_faults.h"

#include <xs/kernel.h>

/* Weak accesses that the compiler leaves where they stand: what is measured is the machine. */
XS_FN void order_store(uint32_t *at, uint32_t value) { asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(value)); }
XS_FN uint32_t order_load(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}

template <uint32_t ORDER, uint32_t SCOPE>
XS_FN void order_produce(xs_writer *w, const order_args &a) {
    for (uint32_t round = 1; round <= a.rounds; round++) {
        int result = XS_RESULT_OK;
        if (xs_lane() == 0 && round > 1)
            result = xs_core_wait(w, xs_slot_at(&a.ack, 0, 0, 0), round - 1, XS_CMP_GE, XS_RELAXED, XS_SCOPE_SYS, xs_unbounded());
        if (xs_warp_broadcast(result) != XS_RESULT_OK)
            return;
        for (uint32_t i = xs_lane(); i < ORDER_WORDS; i += XS_WARP)
            order_store(&a.payload[i], round);
        xs_warp_join();
        if (xs_lane() == 0)
            xs_core_store(w, xs_slot_at(&a.data, 1, 0, 0), round, ORDER, SCOPE);
    }
}

/* The acknowledgement is relaxed, so that it does not repair the wait; it depends on what was read. */
template <uint32_t ORDER, uint32_t SCOPE>
XS_FN void order_consume(xs_writer *w, const order_args &a) {
    for (uint32_t round = 1; round <= a.rounds; round++) {
        int result = XS_RESULT_OK, late = 0;
        xs_slot slot = xs_slot_at(&a.data, 1, 0, 0);
        if (xs_lane() == 0) {
            result = xs_core_wait(w, slot, round, XS_CMP_GE, ORDER, SCOPE, SCOPE == XS_SCOPE_CTA ? xs_bound_ns(ORDER_LATE_NS) : xs_unbounded());
            late = result == XS_RESULT_TIMEOUT;
            if (late)
                result = xs_core_wait(w, slot, round, XS_CMP_GE, XS_RELAXED, XS_SCOPE_SYS, xs_unbounded());
        }
        if (xs_warp_broadcast(result) != XS_RESULT_OK)
            return;
        uint32_t wrong = 0;
#pragma unroll 8
        for (uint32_t i = ORDER_WORDS; i > 0; i -= XS_WARP) /* what was written last is read first: it is the likeliest to be late */
            wrong += order_load(&a.payload[i - XS_WARP + xs_lane()]) != round;
        wrong = __any_sync(0xffffffffu, wrong != 0);
        if (xs_lane() == 0) {
            *a.stale += wrong || late;
            *a.late += (uint32_t)late;
            xs_core_store(w, xs_slot_at(&a.ack, 0, 0, 0), round + (xs_opaque(wrong) & 0), XS_RELAXED, XS_SCOPE_SYS);
        }
        xs_warp_join();
    }
}

template <uint32_t SIGNAL, uint32_t WAIT, uint32_t SCOPE>
static __global__ void order_kernel(const __grid_constant__ order_args args, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        args.sm[blockIdx.x] = xs_sm();
    if (blockIdx.x == 0)
        order_produce<SIGNAL, SCOPE>(&w, args);
    else
        order_consume<WAIT, SCOPE>(&w, args);
    xs_writer_end(&w);
}

#define ORDER_KERNEL(name, words, signal, wait, scope, peer) (const void *)order_kernel<signal, wait, scope>,
const void *ORDER_KERNELS(enum order_fault fault) {
    static const void *const kernels[] = {ORDER_FAULTS(ORDER_KERNEL)};
    return kernels[fault];
}
