/* The arithmetic of the overhead report: against values by hand, and the interval against draws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ratio.h"

#define near(a, b, off) assert_true(fabs((a) - (b)) <= (off))

/* Table of the t distribution, two-sided 95 %. */
static void student(void **state) {
    (void)state;
    static const struct { uint32_t degrees; double t; } table[] = {{3, 3.182}, {5, 2.571}, {10, 2.228}, {29, 2.045}, {100, 1.984}, {100000, 1.960}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        near(ratio_student(table[i].degrees), table[i].t, table[i].t / 100);
}

/* log ratios 0.01, 0.02, 0.03, 0.04: mean 0.025, standard error 0.0064550, t(3) 3.182. */
static void by_hand(void **state) {
    (void)state;
    ratio_pair pairs[4];
    for (int i = 0; i < 4; i++)
        pairs[i] = (ratio_pair){100 * (i + 1), 100 * (i + 1) * exp(0.01 * (i + 1))};
    ratio_result r = ratio_of(pairs, 4);
    near(r.ratio, exp(0.025), 1e-9);
    near(r.low, exp(0.025 - 3.182 * 0.0064550), 3e-4);
    near(r.high, exp(0.025 + 3.182 * 0.0064550), 3e-4);
    near(r.plain, 250, 1e-9);
    assert_true(r.traced > r.plain);
}

/* Equal pairs leave no doubt; traced and plain exchanged give the inverse, as a mean of ratios would not. */
static void even(void **state) {
    (void)state;
    ratio_pair same[5], there[4] = {{1, 2}, {2, 1}, {1, 3}, {3, 1}};
    for (int i = 0; i < 5; i++)
        same[i] = (ratio_pair){i + 1, 1.02 * (i + 1)};
    ratio_result r = ratio_of(same, 5);
    near(r.ratio, 1.02, 1e-12);
    near(r.low, r.high, 1e-9);
    near(ratio_of(there, 4).ratio, 1, 1e-12);
}

static double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 33) / 2147483648.0;
}
static double normal(uint64_t *s) { return sqrt(-2 * log(uniform(s) + 1e-12)) * cos(6.283185307179586 * uniform(s)); }

/* Of 2000 draws of 30 pairs with a known ratio, about 95 % of the intervals hold it; drift that both of a pair share does no harm. */
static void covers(void **state) {
    (void)state;
    uint64_t seed = 7;
    int held = 0;
    for (int draw = 0; draw < 2000; draw++) {
        ratio_pair pairs[30];
        for (int i = 0; i < 30; i++) {
            double drift = 1 + i / 30.0;
            pairs[i] = (ratio_pair){drift * exp(0.03 * normal(&seed)), drift * 1.013 * exp(0.03 * normal(&seed))};
        }
        ratio_result r = ratio_of(pairs, 30);
        held += r.low <= 1.013 && 1.013 <= r.high;
    }
    assert_in_range(held, 1870, 1930);
}

static void rates(void **state) {
    (void)state;
    near(ratio_events(528e3, 1e6, 528), 1, 1e-12);          /* 1000 each in 1000 us */
    near(ratio_link(1e9, 1e9, 64), 0.25, 1e-12);            /* 16 GB in a second */
    near(ratio_events(8e3 * 528, 25e6, 528), 0.32, 1e-12);
}

/* By the logarithm: 0.6 is nearer to one than 1.8; what gave no events is never chosen where anything else is. */
static void nearest(void **state) {
    (void)state;
    const double a[] = {0.3, 1.8, 0.6, 0}, b[] = {0, 9, 0}, c[] = {1.1, 0.95, 4};
    assert_int_equal(ratio_nearest_to_one(a, 4), 2);
    assert_int_equal(ratio_nearest_to_one(b, 3), 1);
    assert_int_equal(ratio_nearest_to_one(c, 3), 1);
}

/* What a launch takes beside its epochs is no epoch: 1000 + 500 an epoch. */
static void epochs(void **state) {
    (void)state;
    assert_int_equal(ratio_epochs(2, 2000, 6, 4000, 26000, 1000), 50);
    assert_int_equal(ratio_epochs(2, 2000, 6, 4000, 26000, 40), 40);
    assert_int_equal(ratio_epochs(2, 2000, 6, 4000, 10, 40), 1);
    assert_int_equal(ratio_epochs(2, 4000, 6, 3600, 6000, 1000), 10); /* noise: the longer was shorter; 600 an epoch */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(student), cmocka_unit_test(by_hand), cmocka_unit_test(even), cmocka_unit_test(covers),
                                       cmocka_unit_test(rates),   cmocka_unit_test(nearest), cmocka_unit_test(epochs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
