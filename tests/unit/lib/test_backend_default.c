/* Which backend is taken where nobody named one. The driver is a fake one: see fake_cuda.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "config.h"

static const xs_cuda_entry entry;
static const xs_kernel with = {.name = "with", .cuda = &entry}, without = {.name = "without"};

static const char *chosen(xs_config given) {
    static xs_config out;
    given.size = sizeof given;
    given.version = 1;
    xs_config_free(&out);
    assert_int_equal(xs_config_resolve(&given, &out), 0);
    assert_string_equal(xs_error_detail(), ""); /* a missing GPU is no error */
    return out.backend;
}

/* One after the other: kernels cannot be forgotten again. */
static void follows_gpus_kernels_and_configuration(void **state) {
    (void)state;
    setenv("FAKE_GPUS", "1", 1);
    assert_string_equal(chosen((xs_config){0}), "host"); /* no kernel at all */
    xs_kernel_known(&with);
    assert_string_equal(chosen((xs_config){0}), "cuda");
    assert_string_equal(chosen((xs_config){.backend = "host"}), "host");
    assert_string_equal(chosen((xs_config){.scheduler = "sim"}), "host");
    assert_string_equal(chosen((xs_config){.residency = 2}), "host");
    assert_string_equal(chosen((xs_config){.world = "w", .ranks = 2, .local_ranks = 1}), "cuda"); /* memory is shared by IPC */
    assert_string_equal(chosen((xs_config){.world = "w", .ranks = 2, .first_rank = 1, .local_ranks = 1, .scheduler = "threads"}), "host");
    setenv("XS_BACKEND", "host", 1);
    assert_string_equal(chosen((xs_config){0}), "host");
    unsetenv("XS_BACKEND");
    setenv("XS_SCHEDULER", "threads", 1);
    assert_string_equal(chosen((xs_config){0}), "host");
    unsetenv("XS_SCHEDULER");
    setenv("FAKE_GPUS", "0", 1);
    assert_string_equal(chosen((xs_config){0}), "host");
    assert_string_equal(chosen((xs_config){.world = "w", .ranks = 2, .local_ranks = 1}), "host");
    assert_string_equal(chosen((xs_config){.backend = "cuda"}), "cuda"); /* refused later, and said why */
    setenv("FAKE_GPUS", "1", 1);
    assert_string_equal(chosen((xs_config){0}), "cuda");
    xs_kernel_known(&without);
    assert_string_equal(chosen((xs_config){0}), "host"); /* a kernel could not be launched there */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_gpus_kernels_and_configuration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
