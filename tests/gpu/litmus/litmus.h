/* Litmus tests of what the rings rest on, each with a control that must fail: a test whose control passes has shown nothing. */
#ifndef LITMUS_H
#define LITMUS_H

#include "gpu_test.h"

#include <xs/kernel.h>
#include <xs/record_access.h>

/* Every kernel here ends by itself after so long, whatever the host does. */
#define LITMUS_KERNEL_NS 4000000000ull

void litmus_tearing(void);
void litmus_copied(void);
void litmus_counter(void);
void litmus_hung(void);
void litmus_unread(void);
void litmus_messages(void);

/* Memory that both sides see. */
GPU_TEST_FN void *litmus_mapped(size_t bytes) {
    void *at;
    GPU_CHECK(cudaHostAlloc(&at, bytes, cudaHostAllocMapped));
    memset(at, 0, bytes);
    return at;
}

GPU_TEST_FN unsigned litmus_processors(void) {
    int n;
    GPU_CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
    return (unsigned)n;
}

XS_FN bool litmus_over(const uint32_t *stop, uint64_t begin) {
    return xs_load_relaxed_sys_u32(stop) != 0 || xs_now() - begin > LITMUS_KERNEL_NS;
}

/* The host says stop, and the kernel obeys. */
GPU_TEST_FN void litmus_stop(uint32_t *stop) {
    __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
    GPU_CHECK(cudaDeviceSynchronize());
    *stop = 0;
}

typedef struct litmus_seen {
    unsigned long long reads, moved, bad;
} litmus_seen;

/* torn or stale: `bad` of the thing itself must be 0, that of the control above 0, and both must have seen the memory move. */
GPU_TEST_FN void litmus_judge(const char *what, litmus_seen real, litmus_seen control) {
    printf("%s: %llu of %llu reads (%llu saw something new); control: %llu of %llu\n", what, real.bad, real.reads, real.moved, control.bad,
           control.reads);
    EXPECT(real.moved > 1000, "%s: hardly anything was written: %llu changes seen", what, real.moved);
    EXPECT(real.bad == 0, "%s: %llu", what, real.bad);
    EXPECT(control.bad > 0 || gpu_test_sanitized(), "%s: the control is 0 too: nothing was shown", what);
}

#endif
