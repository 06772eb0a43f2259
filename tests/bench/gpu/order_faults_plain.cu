#define XS_TRACE 0
#define ORDER_KERNELS order_kernel_plain
#include "order_faults_kernel.h"
