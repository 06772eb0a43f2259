/* How well a GPU's clock is brought to the host's, against the bounds of kernels that CUPTI tells of.
 *     bench_clock_residual [SECONDS [CAPTURE [plain]]]  60 s, a capture in /tmp that is removed
 *     bench_clock_residual 0 CAPTURE                    measures one that is there, second by second as well; needs no GPU
 * Short kernels with stamps in them for SECONDS, then the capture is read: for every kernel, how far CUPTI's begin lies from the first stamp
 * as converted, its end from the last, and the middle of its bounds from that of the stamps, less what is usual for all of them (the
 * residual), and by how much CUPTI's bounds enclose the stamps: clock_measure.c. Kernels are launched by xs, cooperatively, and
 * with `plain` by cudaLaunchKernel; without CAPTURE those for a third of SECONDS more. Exit 1: it could not be measured; 77: no GPU. */
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/xs.h>

#include "brief.kernel.h"
#include "clock_measure.h"

#define EVERY_NS 20000000

extern const xs_cuda_entry brief_cuda;

static int fail(const char *what, int rc) {
    fprintf(stderr, "bench_clock_residual: %s: %s%s%s\n", what, xs_strerror(rc), *xs_error_detail() ? ": " : "",
            xs_error_detail());
    return rc == XS_E_BACKEND ? 77 : 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct load {
    xs_world *world;
    struct brief_args args;
    xs_launch_config config;
    int plain;
} load;

static int launch_plain(load *l) {
    xs_handle handle;
    void *arguments[] = {&l->args, &handle};
    dim3 grid = {l->config.grid, 1, 1}, block = {l->config.block, 1, 1};
    int rc = xs_handle_begin(l->world, "brief", 0, l->config.grid, l->config.block, &handle);
    if (rc < 0)
        return rc;
    cudaError_t error = cudaLaunchKernel(brief_cuda.function, grid, block, arguments, 0, 0);
    error = error ? error : cudaDeviceSynchronize();
    rc = xs_handle_end(l->world, &handle);
    return error ? XS_E_BACKEND : rc;
}

static int launch(load *l, uint32_t i) {
    if (l->plain)
        return launch_plain(l);
    int rc = xs_launch(l->world, &brief_kernel, &l->config, &l->args, sizeof l->args);
    return rc < 0 || i % 50 != 49 ? rc : xs_sync(l->world); /* waited for once a second, so that the GPU's clock is asked as in a run */
}

/* A kernel every 20 ms. */
static int run_kernels(load *l, double seconds) {
    struct timespec pause = {0, EVERY_NS};
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    for (uint32_t i = 0; now_ns() < end; i++) {
        l->args.work_ns = 2000 + 1000 * (i % 16);
        int rc = launch(l, i);
        if (rc < 0)
            return rc;
        nanosleep(&pause, NULL);
    }
    return xs_sync(l->world);
}

static int record(const char *capture, double seconds, int plain) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = 1, .capture = capture};
    load l = {.plain = plain, .config = {.size = sizeof l.config, .grid = 4, .block = 128}};
    int rc = xs_world_create(&config, &l.world);
    if (rc)
        return fail("no world", rc);
    l.args.role = (uint32_t)xs_role(l.world, "stamp");
    rc = run_kernels(&l, seconds);
    int ended = xs_world_destroy(l.world);
    if (rc < 0 || ended < 0)
        return fail("the run", rc < 0 ? rc : ended);
    return 0;
}

static int own_capture(const char *path, double seconds, int plain) {
    int rc = record(path, seconds, plain);
    rc = rc ? rc : clock_measure(path, 0);
    unlink(path);
    return rc;
}

int main(int argc, char **argv) {
    char own[64];
    int seconds = argc > 1 ? atoi(argv[1]) : 60;
    int plain = argc == 4 && !strcmp(argv[3], "plain");
    if (argc == 3 && !strcmp(argv[1], "0"))
        return clock_measure(argv[2], 1);
    if (seconds < 1 || argc > 4 || (argc == 4 && !plain))
        return fprintf(stderr, "usage: bench_clock_residual [SECONDS [CAPTURE [plain]]]\n       bench_clock_residual 0 CAPTURE\n"), 64;
    snprintf(own, sizeof own, "/tmp/xs_clock_%d.xs", (int)getpid());
    if (argc > 2) {
        int rc = record(argv[2], seconds, plain);
        return rc ? rc : clock_measure(argv[2], 0);
    }
    int rc = own_capture(own, seconds, 0);
    if (rc)
        return rc;
    puts("\nkernels that are launched plainly:");
    return own_capture(own, seconds / 3.0 > 3 ? seconds / 3.0 : 3, 1);
}
