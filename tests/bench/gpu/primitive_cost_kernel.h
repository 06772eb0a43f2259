/* In the file that includes this, with XS_TRACE set. Lane 0 of each warp calls, the others wait for it at the end. */
#include "primitive_cost.h"

#include <xs/kernel.h>

XS_FN float cost_work(float x, float a, uint32_t fmas) {
    for (uint32_t i = 0; i < fmas; i++)
#pragma unroll
        for (int k = 0; k < 64; k++)
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
    return x;
}

template <int CALL>
XS_FN void cost_call_once(xs_writer *w, const cost_args *args, uint32_t warp, uint64_t seq, uint32_t *failed) {
    if (CALL == COST_SIGNAL)
        xs_signal_slot(w, &args->pad, 0, 0, warp, seq);
    if (CALL == COST_WAIT)
        *failed += xs_wait_slot(w, &args->pad, 0, warp, args->held) != XS_RESULT_OK;
    if (CALL == COST_WAIT_AHEAD)
        *failed += xs_wait_slot(w, &args->pad, 0, warp, seq) != XS_RESULT_OK;
}

template <int CALL>
static __global__ void cost_kernel(const __grid_constant__ cost_args args, const __grid_constant__ xs_handle xs) {
    uint32_t warp = blockIdx.x * xs_warps() + xs_warp(), failed = 0;
    xs_writer w = xs_writer_begin(&xs, 0);
    float x = cost_work(1.0f, args.zero, 64); /* warms the instruction cache */
    if (xs_lane() == 0)
        for (uint64_t seq = 1; seq <= 64; seq++)
            cost_call_once<CALL>(&w, &args, warp, seq, &failed);
    __syncthreads(); /* no warp of the block takes a ring, or gives it back, while another is timed */
    if (xs_lane() == 0) {
        long long begin = clock64();
        for (uint64_t seq = 65; seq <= 64 + args.loops; seq++) {
            cost_call_once<CALL>(&w, &args, warp, seq, &failed);
            x = cost_work(x, args.zero, args.fmas);
        }
        args.cycles[warp] = clock64() - begin;
    }
    __syncthreads();
    xs_writer_end(&w);
    if (x == 12345.0f || failed)
        *args.sink = 1;
}

const void *COST_KERNELS(enum cost_call call) {
    static const void *const kernels[] = {(const void *)cost_kernel<COST_NONE>, (const void *)cost_kernel<COST_SIGNAL>,
                                          (const void *)cost_kernel<COST_WAIT>, (const void *)cost_kernel<COST_WAIT_AHEAD>};
    return kernels[call];
}
