/* Inside the probe of GPUs: one GPU held open, with small kernels in PTX text, so that libxs needs no CUDA compiler. */
#ifndef XS_CUDA_PROBE_H
#define XS_CUDA_PROBE_H

#include "cuda_driver.h"
#include "world.h"

enum { XS_PROBE_STEP, XS_PROBE_RECORD, XS_PROBE_STORE, XS_PROBE_ADD, XS_PROBE_KERNELS };
extern const char xs_cuda_probe_ptx[];
extern const char *const xs_cuda_probe_names[XS_PROBE_KERNELS];

#define XS_PROBE_MAPPED (1u << 20) /* bytes of mapped memory; as many of the GPU's */

typedef struct xs_cuda_bench {
    const xs_cuda_driver *cuda;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction kernel[XS_PROBE_KERNELS];
    char *mapped;
    CUdeviceptr memory;
} xs_cuda_bench;

/* 0, or an error with its words; close in any case. */
int xs_cuda_bench_open(xs_cuda_bench *bench, int ordinal);
void xs_cuda_bench_close(xs_cuda_bench *bench);
int xs_cuda_bench_check(const xs_cuda_bench *bench, CUresult result, const char *what);
int xs_cuda_bench_start(xs_cuda_bench *bench, int kernel, uint32_t blocks, uint32_t threads, void **arguments);
/* 1: it has ended, 0: not yet, or an error. */
int xs_cuda_bench_ended(xs_cuda_bench *bench);
int xs_cuda_bench_wait(xs_cuda_bench *bench); /* bounded */

#endif
