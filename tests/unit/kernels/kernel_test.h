/* What the tests of this folder have in common: kernels are traced in all of them, whatever the build says. */
#ifndef KERNEL_TEST_H
#define KERNEL_TEST_H

#undef XS_TRACE
#define XS_TRACE 1
#ifndef KERNEL_TEST_BITS
#define KERNEL_TEST_BITS 32 /* whatever the build's other code uses */
#endif
#undef XS_SEQUENCE_BITS
#define XS_SEQUENCE_BITS KERNEL_TEST_BITS
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <xs/kernel.h>
#include "fake_host.h"

static xs_handle handle;

static inline int begin(void **state) {
    (void)state;
    fake_reset(64);
    handle = fake_handle(FAKE_RANKS);
    fake_self = (xs_host_thread){0, FAKE_RANKS, 0, 1, NULL};
    return 0;
}

#endif
