#define XS_TRACE 1
#define COST_KERNELS cost_kernel_traced
#include "primitive_cost_kernel.h"
