/* What tests of the host library share: cmocka's preamble, worlds, kernels without the kernel headers. */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/host_thread.h>
#include <xs/xs.h>

#include <cmocka.h>

static inline xs_config test_config(uint32_t ranks) {
    xs_config config = {.size = sizeof config, .version = 1, .ranks = ranks, .backend = "host", .scheduler = "threads"};
    return config;
}

static inline xs_world *test_world(uint32_t ranks) {
    xs_config config = test_config(ranks);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    return world;
}

/* A kernel that is a plain function. */
#define TEST_KERNEL(fn, bytes)                                                                                         \
    { .name = #fn, .host = fn, .args_bytes = bytes }

/* Waits without help from the kernel headers. 0, or XS_RESULT_ABORTED. */
static inline int test_wait(const xs_handle *xs, const uint64_t *slot, uint64_t need) {
    while (__atomic_load_n(slot, __ATOMIC_ACQUIRE) < need) {
        if (__atomic_load_n(xs->abort, __ATOMIC_RELAXED)) return XS_RESULT_ABORTED;
        xs_host_poll_failed(slot, 0, 0);
    }
    return 0;
}

static inline uint64_t *test_slot(const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column) {
    return (uint64_t *)((char *)pad->base[owner] + (uint64_t)row * pad->row_stride +
                        (uint64_t)column * pad->column_stride);
}

#endif
