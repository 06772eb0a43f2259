#define XS_TRACE 1
#define ORDER_KERNELS order_kernel_traced
#include "order_faults_kernel.h"
