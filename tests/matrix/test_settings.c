/* Several settings: the same verdicts as one after the other, of runs that are made once. */
#include "matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static matrix_options sim(void) {
    return (matrix_options){.backend = "host", .scheduler = "sim", .judge = FAULT_SIM, .seed = 1};
}
static matrix_settings settings_of(const char *drops, const char *runs, const char *shifts) {
    matrix_settings s;
    matrix_options o = sim();
    assert_true(matrix_settings_make(&s, &o, drops, runs, shifts));
    return s;
}

static void test_lists_are_multiplied_out(void **state) {
    (void)state;
    matrix_settings s = settings_of("1,50", "1,8", "0,3300");
    assert_int_equal(s.count, 8);
    const matrix_options *o = &s.of[7];
    assert_true(o->drop > 0.4999 && o->drop < 0.5001);
    assert_int_equal(o->drop_run, 8);
    assert_int_equal(o->shift_ns, 3300);
    assert_string_equal(o->setting, "lost 50 %, in runs of up to 8; clocks off by up to 3300 ns");
    assert_int_equal(s.of[3].shift_ns, 0);
    assert_int_equal(s.of[4].shift_ns, 3300); /* shifts change last */
    assert_string_equal(settings_of("1", NULL, NULL).of[0].setting, ""); /* its table has no title */
}

static void test_lists_that_are_none(void **state) {
    (void)state;
    static const char *const bad[] = {"", "1,", ",1", "1;2", "100", "-1", "nan", "1,2,3,4,5,6,7,8,9"};
    matrix_settings s;
    matrix_options o = sim();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(matrix_settings_make(&s, &o, bad[i], NULL, NULL));
    assert_false(matrix_settings_make(&s, &o, "1", "0", NULL));
    assert_false(matrix_settings_make(&s, &o, "1,2,3,4,5", "1,2,3,4,5", NULL)); /* 25 */
}

static void expect_same(const matrix_verdict *a, const matrix_verdict *b) {
    assert_true(a->ran && b->ran);
    assert_true(a->first == b->first && a->slot == b->slot && a->culprit == b->culprit);
    assert_true(a->named == b->named && a->listed == b->listed && a->moved == b->moved);
    assert_true(a->errors == b->errors && a->unknown == b->unknown);
    assert_string_equal(a->got, b->got);
}

/* Whatever the setting before has done to the capture. */
static void judged_as_alone(const char *name, const matrix_settings *s, const char *capture) {
    static matrix_verdict together[MATRIX_SETTINGS];
    for (uint64_t seed = 1; seed < 4; seed++)
        for (int twin = 0; twin < 2; twin++) {
            matrix_judge(fault_find(name), s, seed, twin, capture, together);
            for (uint32_t i = 0; i < s->count; i++) {
                matrix_verdict alone;
                matrix_judge(fault_find(name), &(matrix_settings){.count = 1, .of = {s->of[i]}}, seed, twin, capture, &alone);
                expect_same(&together[i], &alone);
            }
        }
}

static void test_each_setting_is_judged_as_alone(void **state) {
    (void)state;
    char capture[64];
    snprintf(capture, sizeof capture, "/dev/shm/xs-settings.%ld", (long)getpid());
    matrix_settings lost = settings_of("0,10,50", "1,8", NULL), shifted = settings_of("0,10", NULL, "0,3300,100000");
    static const char *const names[] = {"wrong_slot", "flag_before_data", "wait_cycle", "double_buffer"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        judged_as_alone(names[i], &lost, capture);
        judged_as_alone(names[i], &shifted, capture);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_are_multiplied_out), cmocka_unit_test(test_lists_that_are_none),
                                       cmocka_unit_test(test_each_setting_is_judged_as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
