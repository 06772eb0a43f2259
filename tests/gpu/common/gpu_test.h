/* For GPU test programs in C and CUDA: one process a test, which ends itself whatever the GPU does, and says its result in
 * its exit code: 0, 1, or 77 where there is no GPU. */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPU_TEST_FN static inline __attribute__((unused))

/* Exiting in order would wait for the kernel that hangs. */
GPU_TEST_FN void gpu_test_too_long(int signal) {
    static const char text[] = "FAILED: the test did not end in its time\n";
    (void)signal;
    if (write(2, text, sizeof text - 1) < 0)
        kill(getpid(), SIGKILL);
    kill(getpid(), SIGKILL);
}

/* A sanitizer runs these tests many times slower, and looks at memory alone: rates are not judged then. */
GPU_TEST_FN int gpu_test_sanitized(void) { return getenv("XS_GPU_SANITIZED") != NULL; }

/* On the CPU other load decides how long things take. */
GPU_TEST_FN int gpu_test_on_host(void) {
    const char *backend = getenv("BACKEND");
    return backend && !strcmp(backend, "host");
}

/* First line of main: the process is gone after `seconds`. */
GPU_TEST_FN void gpu_test_begin(unsigned seconds) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, gpu_test_too_long);
    alarm(gpu_test_sanitized() || gpu_test_on_host() ? 10 * seconds : seconds);
}

/* Before anything is asked of the GPU. */
GPU_TEST_FN int gpu_test_need(void) {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0)
        return gpus;
    puts("skipped: no GPU");
    exit(77);
}

GPU_TEST_FN __attribute__((format(printf, 1, 2), noreturn)) void gpu_test_fail(const char *format, ...) {
    va_list words;
    va_start(words, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
    fflush(stdout);
    /* No destructors: they may wait for a kernel. */
    _exit(1);
}

#define GPU_CHECK(call)                                                                                        \
    do {                                                                                                       \
        cudaError_t gpu_error_ = (call);                                                                       \
        if (gpu_error_ != cudaSuccess)                                                                         \
            gpu_test_fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, cudaGetErrorString(gpu_error_));         \
    } while (0)
#define XS_CHECK(call)                                                                                         \
    do {                                                                                                       \
        int xs_result_ = (call);                                                                               \
        if (xs_result_ < 0)                                                                                    \
            gpu_test_fail("%s:%d: %s: %s: %s", __FILE__, __LINE__, #call, xs_strerror(xs_result_), xs_error_detail()); \
    } while (0)
#define EXPECT(condition, ...)                                                                                 \
    do {                                                                                                       \
        if (!(condition))                                                                                      \
            gpu_test_fail(__VA_ARGS__);                                                                        \
    } while (0)

GPU_TEST_FN double gpu_test_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

GPU_TEST_FN void gpu_test_sleep_ms(unsigned ms) {
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

#endif
