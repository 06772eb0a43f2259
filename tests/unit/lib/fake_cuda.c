/* A libcuda.so.1 that finds as many GPUs as FAKE_GPUS says, and can do nothing with them. */
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"

#define X(member, symbol, parameters)                                                           \
    __attribute__((visibility("default"))) CUresult fake_##member(void *first) __asm__(symbol); \
    CUresult fake_##member(void *first) {                                                       \
        if (!strcmp(symbol, "cuDeviceGetCount"))                                                \
            *(int *)first = atoi(getenv("FAKE_GPUS"));                                          \
        return CUDA_SUCCESS;                                                                    \
    }
XS_CUDA_CALLS(X)
