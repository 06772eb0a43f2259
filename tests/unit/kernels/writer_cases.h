/* Cases of test_writer.c and of its twins with another ring mode or narrow sequences (each sets the macros first). */
#ifndef WRITER_CASES_H
#define WRITER_CASES_H

#undef XS_TRACE
#define XS_TRACE 1
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
