/* What the clock's benchmark says of kernels and the stamps in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock_middles.h"

#define EVERY 20000000ll
enum { KERNELS = 600 }; /* 12 s */

/* off: of the clock, for kernel i. Slacks 500 and 2900, which differ by up to 100 each from kernel to kernel. */
static void make(middles_kernel *k, int64_t (*off)(int i)) {
    for (int i = 0; i < KERNELS; i++) {
        int64_t at = i * EVERY, before = 500 + (i * 37) % 201 - 100, behind = 2900 + (i * 91) % 201 - 100;
        k[i] = (middles_kernel){at + off(i), at + 5000 + off(i), at - before, at + 5000 + behind};
    }
}

static int64_t none(int i) { return i * 0; }
static int64_t leaves(int i) { return i < KERNELS * 2 / 3 ? 0 : 400; } /* for the last third */

/* That kernels end late is no residual; what their slacks differ by is in every one, and hardly in a second's median. */
static void slacks_are_no_clock(void **state) {
    (void)state;
    static middles_kernel k[KERNELS];
    middles_result r;
    make(k, none);
    assert_int_equal(middles_of(k, KERNELS, &r), 0);
    assert_in_range(r.usual + 1210, 0, 20); /* (500 - 2900) / 2 */
    assert_int_equal(r.residual.count, KERNELS);
    assert_in_range(r.residual.p99, 80, 110);
    assert_in_range(r.seconds.p99, 0, 25);
    assert_int_equal(r.seconds.count, 12);
    assert_in_range(r.begins.p99, 95, 105);
    assert_in_range(r.ends.p99, 95, 105);
    assert_in_range(r.ends.p50, 45, 55);
    assert_int_equal(r.before.least, 400);
    assert_int_equal(r.before.most, 600);
    assert_in_range(r.behind.p50, 2890, 2910);
    assert_in_range(r.both.p50, 3380, 3420);
    assert_int_equal(r.first.count, 251); /* of 5 s, both its ends */
    assert_int_equal(r.last.count, 251);
}

/* A clock that is off for a third of the time is seen in all of them. */
static void a_clock_that_leaves_is_seen(void **state) {
    (void)state;
    static middles_kernel k[KERNELS];
    middles_result r;
    make(k, leaves);
    assert_int_equal(middles_of(k, KERNELS, &r), 0);
    assert_true(r.residual.p99 >= 300);
    assert_true(r.seconds.p99 >= 300);
    assert_true(r.first.p99 <= 200);
    assert_true(r.last.p99 >= 300);
}

/* In any order, few, and one alone. */
static void few(void **state) {
    (void)state;
    middles_kernel k[] = {{2000, 3000, 1900, 3300}, {1000, 1100, 900, 1400}};
    middles_result r;
    assert_int_equal(middles_of(k, 2, &r), 0);
    assert_int_equal(k[0].first, 1000);
    assert_int_equal(r.usual, -100);
    assert_int_equal(r.residual.most, 0);
    assert_int_equal(r.seconds.count, 0);
    assert_int_equal(r.seconds.p99, -1);
    assert_int_equal(middles_of(k, 1, &r), 0);
    assert_int_equal(r.residual.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(slacks_are_no_clock), cmocka_unit_test(a_clock_that_leaves_is_seen), cmocka_unit_test(few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
