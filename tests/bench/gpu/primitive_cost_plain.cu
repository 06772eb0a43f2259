#define XS_TRACE 0
#define COST_KERNELS cost_kernel_plain
#include "primitive_cost_kernel.h"
