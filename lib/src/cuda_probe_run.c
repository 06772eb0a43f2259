/* A GPU held open for the probe: context, stream, kernels, memory; and waiting that ends. */
#include <string.h>
#include <time.h>

#include "cuda_probe.h"
#include "identity.h"

#define BOUND_NS 3000000000u

int xs_cuda_bench_check(const xs_cuda_bench *b, CUresult result, const char *what) {
    return result == CUDA_SUCCESS ? 0 : xs_fail(XS_E_SYSTEM, "%s: %s", what, xs_cuda_error(b->cuda, result));
}

static int open_kernels(xs_cuda_bench *b) {
    int rc = xs_cuda_bench_check(b, b->cuda->module_load(&b->module, xs_cuda_probe_ptx), "the probe's kernels");
    for (int i = 0; i < XS_PROBE_KERNELS && !rc; i++)
        rc = xs_cuda_bench_check(b, b->cuda->module_function(&b->kernel[i], b->module, xs_cuda_probe_names[i]),
                                 xs_cuda_probe_names[i]);
    return rc;
}

int xs_cuda_bench_open(xs_cuda_bench *b, int ordinal) {
    memset(b, 0, sizeof *b);
    b->cuda = xs_cuda_load();
    if (!b->cuda) return xs_fail(XS_E_BACKEND, "no CUDA driver on this machine");
    int rc = xs_cuda_bench_check(b, b->cuda->device_get(&b->device, ordinal), "cuDeviceGet");
    if (!rc) rc = xs_cuda_bench_check(b, b->cuda->context_retain(&b->context, b->device), "cuDevicePrimaryCtxRetain");
    if (!rc) rc = xs_cuda_bench_check(b, b->cuda->context_set(b->context), "cuCtxSetCurrent");
    if (!rc) rc = xs_cuda_bench_check(b, b->cuda->stream_create(&b->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (!rc) rc = open_kernels(b);
    if (!rc)
        rc = xs_cuda_bench_check(
            b, b->cuda->host_allocate((void **)&b->mapped, XS_PROBE_MAPPED, CU_MEMHOST_PORTABLE_MAPPED),
            "cuMemHostAlloc");
    if (!rc) memset(b->mapped, 0, XS_PROBE_MAPPED);
    if (!rc) rc = xs_cuda_bench_check(b, b->cuda->allocate(&b->memory, XS_PROBE_MAPPED), "cuMemAlloc");
    return rc ? rc : xs_cuda_bench_check(b, b->cuda->set8(b->memory, 0, XS_PROBE_MAPPED, b->stream), "cuMemsetD8Async");
}

void xs_cuda_bench_close(xs_cuda_bench *b) {
    if (!b->context) return;
    b->cuda->context_set(b->context);
    if (b->stream) b->cuda->stream_destroy(b->stream);
    if (b->memory) b->cuda->free(b->memory);
    if (b->mapped) b->cuda->host_free(b->mapped);
    if (b->module) b->cuda->module_unload(b->module);
    b->cuda->context_release(b->device);
}

int xs_cuda_bench_start(xs_cuda_bench *b, int kernel, uint32_t blocks, uint32_t threads, void **arguments) {
    int rc = xs_cuda_bench_check(b, b->cuda->context_set(b->context), "cuCtxSetCurrent");
    return rc ? rc
              : xs_cuda_bench_check(
                    b, b->cuda->launch(b->kernel[kernel], blocks, 1, 1, threads, 1, 1, 0, b->stream, arguments, NULL),
                    xs_cuda_probe_names[kernel]);
}

int xs_cuda_bench_ended(xs_cuda_bench *b) {
    int rc = xs_cuda_bench_check(b, b->cuda->context_set(b->context), "cuCtxSetCurrent");
    if (rc) return rc;
    CUresult result = b->cuda->stream_query(b->stream);
    if (result == CUDA_ERROR_NOT_READY) return 0;
    rc = xs_cuda_bench_check(b, result, "a kernel of the probe");
    return rc ? rc : 1;
}

int xs_cuda_bench_wait(xs_cuda_bench *b) {
    uint64_t started = xs_clock_boot();
    int ended;
    while (!(ended = xs_cuda_bench_ended(b))) {
        if (xs_clock_boot() - started > BOUND_NS) return xs_fail(XS_E_TIMEOUT, "a kernel of the probe does not end");
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return ended < 0 ? ended : 0;
}
