/* In a file that defines XS_TRACE, OVERHEAD_KERNEL (the name of the pointer) and OVERHEAD_HEADER (an example's kernel). Twice the
 * same kernel: as it is, and with the times of every warp's begin and end kept in memory of the benchmark's. */
#include <xs/kernel.h>

#include "example_overhead.h"

#undef XS_KERNEL
#undef XS_KERNEL_CAPPED
#define XS_KERNEL(name, args_type) OVERHEAD_TWICE(args_type, )
#if XS_TRACE
#define XS_KERNEL_CAPPED(name, args_type, registers) OVERHEAD_TWICE(args_type, XS_REGISTERS(registers))
#else
#define XS_KERNEL_CAPPED(name, args_type, registers) OVERHEAD_TWICE(args_type, )
#endif
#define OVERHEAD_TWICE(args_type, ...)                                                                                            \
    typedef args_type overhead_args;                                                                                              \
    static __device__ __forceinline__ void overhead_body(const args_type &args, const xs_handle &xs);                             \
    static __global__ void __VA_ARGS__ overhead_kernel(const __grid_constant__ args_type args, const __grid_constant__ xs_handle xs) { \
        overhead_body(args, xs);                                                                                                  \
    }                                                                                                                             \
    static __device__ __forceinline__ void overhead_body(const args_type &args, const xs_handle &xs)
#include OVERHEAD_HEADER

static __global__ void overhead_timed(const __grid_constant__ overhead_args args, const __grid_constant__ xs_handle xs, overhead_span *spans) {
    overhead_span *own = spans + (blockIdx.x * blockDim.x + threadIdx.x) / XS_WARP;
    if (xs_lane() == 0)
        own->begin = xs_now();
    overhead_body(args, xs);
    if (xs_lane() == 0)
        own->end = xs_now();
}

extern "C" const overhead_pointers OVERHEAD_KERNEL = {(const void *)overhead_kernel, (const void *)overhead_timed};
