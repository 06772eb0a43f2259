/* In a file that defines XS_TRACE, OVERHEAD_KERNEL (the name of the pointer) and OVERHEAD_HEADER (an example's kernel). */
#include <xs/kernel.h>

#include "example_overhead.h"

#undef XS_KERNEL
#define XS_KERNEL(name, args_type) static __global__ void overhead_kernel(const __grid_constant__ args_type args, const __grid_constant__ xs_handle xs)
#include OVERHEAD_HEADER

extern "C" const void *const OVERHEAD_KERNEL = (const void *)overhead_kernel;
