/* The kernel of an example, compiled as xs_add_kernels does. */
#define XS_KERNELS_HERE 1
#include EXAMPLE
