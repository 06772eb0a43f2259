/* What the report says of a GPU's kernels, of its clock, and of who had CUPTI. */
#include "run_xs.h"
#include "../read/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch whose kernel CUPTI told of, and the device's answers, `wrong` too late. */
static void make_run(const char *name, const char *answers, const char *cupti) {
    char script[2048];
    snprintf(script, sizeof script,
             "process 0 1 1\nkernel stamps\nring_device 0 0\n%stick 5s 5000000100 105000000040\ntick 6s 6000000100 "
             "106000000060\nlaunch_begin 1 $stamps 5100000000 1 32 0 1\ngpu_kernel stamps 0 7 105100010000 105100030000 1 "
             "0 1 32\nwriter_begin 0 2100010400 0 0 1\nwriter_end 0 2100029600\nflush_at 5100050000\nlaunch_end 1 "
             "5100050000 0\n%s\n",
             answers, cupti);
    cb *c = cb_begin(name);
    assert_int_equal(script_run(c, script), 0);
    assert_int_equal(cb_end(c), 0);
}

static int setup(void **state) {
    (void)state;
    enter_folder();
    setenv("NO_COLOR", "1", 1);
    make_run("right.xs", "device_clock 0 5s 2s 2us\ndevice_clock 0 6s 3s 2us\n", "cupti 9 5s 6s -");
    make_run("wrong.xs", "device_clock 0 5000005000 2s 2us\ndevice_clock 0 6000005000 3s 2us\n", "cupti 9 5s 6s -");
    make_run("held.xs", "device_clock 0 5s 2s 2us\ndevice_clock 0 6s 3s 2us\n", "cupti 6 0 0 Nsight");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leave_folder();
    return 0;
}

static void expect_report(const char *name, const char *const *words, size_t count) {
    char arguments[64];
    snprintf(arguments, sizeof arguments, "report %s", name);
    outcome o = run_xs(arguments);
    assert_int_equal(o.code, 0);
    for (size_t i = 0; i < count; i++)
        if (!strstr(o.out, words[i]))
            fail_msg("'%s' is not said; but: %s%s", words[i], o.out, o.err);
    outcome_free(&o);
}
#define EXPECT_REPORT(name, ...) \
    expect_report(name, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_kernels_and_clock_are_reported(void **state) {
    (void)state;
    EXPECT_REPORT("right", "GPU 0: step ", "    through 2 answers and 1 kernels\n", ": CUPTI delivered to the end\n",
                  "    0 kernels, 0 copies; 0 records dropped, 0 without times\n", "\nKernels\n  stamps ",
                  "1 times, 20.0 us in all, longest 20.0 us; 1 of them traced\n");
}

/* 5 us, less what is hidden: 400 ns between the last stamp and the kernel's end, half a bracket, and 40 ns that CUPTI's clock is off. */
static void test_a_contradiction_is_reported(void **state) {
    (void)state;
    EXPECT_REPORT("wrong", "    through 2 answers and 1 kernels, which contradict each other by 3.56 us", "clock fault of GPU 0");
}

static void test_who_has_cupti_is_reported(void **state) {
    (void)state;
    EXPECT_REPORT("held", ": another tool in this process has CUPTI\n    Nsight\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_and_clock_are_reported),
                                       cmocka_unit_test(test_a_contradiction_is_reported),
                                       cmocka_unit_test(test_who_has_cupti_is_reported)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
