/* The table: what a row says of its runs, and which bars it misses. */
#include "matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

static const fault *fault_named(const char *name) {
    const fault *f = fault_find(name);
    assert_non_null(f);
    return f;
}
static matrix_options on(uint32_t judge) {
    return (matrix_options){.backend = judge == FAULT_CUDA ? "cuda" : "host", .runs = 50, .twins = 50, .judge = judge, .seed = 1};
}
static matrix_row rows_of(uint32_t runs, uint32_t right) {
    return (matrix_row){.runs = runs, .first = right, .slot = right, .culprit = right, .right = right, .named = right, .twins = 50};
}

/* The last column of the row, and whether it counts as a bar that is missed. */
static void expect_row(const matrix_options *o, const char *name, matrix_row row, const char *last, uint32_t missed) {
    matrix_options printed = *o;
    char *text = NULL;
    size_t size = 0;
    printed.table = open_memstream(&text, &size);
    assert_non_null(printed.table);
    assert_int_equal(matrix_print_row(&printed, fault_named(name), &row), missed);
    fclose(printed.table);
    char ending[32];
    snprintf(ending, sizeof ending, "| %s |\n", last);
    assert_true(size > strlen(ending));
    assert_string_equal(text + size - strlen(ending), ending);
    free(text);
}

static void test_ninety_nine_of_a_hundred(void **state) {
    (void)state;
    matrix_options sim = on(FAULT_SIM), threads = on(FAULT_THREADS), cuda = on(FAULT_CUDA);
    expect_row(&sim, "wrong_slot", rows_of(100, 99), "ok", 0);
    expect_row(&sim, "wrong_slot", rows_of(100, 98), "MISSED", 1);
    expect_row(&threads, "wrong_slot", rows_of(20, 19), "ok", 0);
    expect_row(&threads, "wrong_slot", rows_of(20, 18), "MISSED", 1);
    expect_row(&cuda, "wrong_slot", rows_of(50, 50), "ok", 0);
    expect_row(&cuda, "wrong_slot", rows_of(50, 49), "MISSED", 1);
}

static void test_twins_without_verdicts_and_leaks(void **state) {
    (void)state;
    matrix_options o = on(FAULT_CUDA);
    matrix_row row = rows_of(50, 50);
    row.twin_errors = 1;
    expect_row(&o, "wrong_slot", row, "MISSED", 1);
    row = rows_of(50, 50), row.twin_same = 1;
    expect_row(&o, "wrong_slot", row, "MISSED", 1);
    row = rows_of(50, 50), row.broken = 1;
    expect_row(&o, "wrong_slot", row, "MISSED", 1);
    row = rows_of(50, 50), row.leaked = 1;
    expect_row(&o, "wrong_slot", row, "MISSED", 1);
}

/* What was not made in time is red, and told apart from what was wrong. */
static void test_runs_that_were_not_made_in_time(void **state) {
    (void)state;
    matrix_options o = on(FAULT_CUDA);
    matrix_row row = rows_of(7, 7);
    row.short_runs = 1;
    expect_row(&o, "wrong_slot", row, "SHORT", 1);
    row = rows_of(7, 6), row.short_runs = 1;
    expect_row(&o, "wrong_slot", row, "MISSED", 1);
}

static uint32_t taken(matrix_options o) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < fault_count; i++)
        count += matrix_takes(&o, i);
    return count;
}

static void test_which_faults_are_taken(void **state) {
    (void)state;
    matrix_options o = on(FAULT_CUDA);
    uint32_t all = taken(o);
    assert_true(all > 50 && all < fault_count); /* the crowds are for sim */
    o.parts = 2;
    o.part = 1;
    uint32_t first = taken(o);
    o.part = 2;
    assert_int_equal(first + taken(o), all);
    o = on(FAULT_CUDA);
    o.only = "lost_increments,wrong_slot";
    assert_int_equal(taken(o), 2);
    o.but = "wrong_slot";
    assert_int_equal(taken(o), 1);
    o.only = "pollers"; /* times tell it */
    assert_int_equal(taken(o), 1);
    o.timeless = 1;
    assert_int_equal(taken(o), 0);
}

/* All that stdout got while `print` ran. */
static size_t printed(const matrix_options *o, const matrix_row *rows, char *to, size_t size) {
    fflush(stdout);
    int old = dup(STDOUT_FILENO), fd = memfd_create("stdout", 0);
    assert_true(old >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    matrix_print_head(o);
    for (uint32_t i = 0; i < fault_count; i++)
        (void)matrix_print_row(o, fault_table[i], &rows[i]);
    (void)matrix_print_end(o, rows, 0);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    ssize_t got = pread(fd, to, size - 1, 0);
    close(fd);
    assert_true(got >= 0);
    to[got] = 0;
    return (size_t)got;
}

/* All faults but one miss in every run, with the longest words: each is told of all the same. */
static void test_brief_is_brief(void **state) {
    (void)state;
    static char text[1 << 16];
    matrix_options o = on(FAULT_CUDA);
    matrix_row *rows = calloc(fault_count, sizeof *rows);
    char *file = NULL;
    size_t size = 0;
    assert_non_null(rows);
    o.each = o.brief = 1;
    o.table = open_memstream(&file, &size);
    for (uint32_t i = 0; i < fault_count - 1; i++) {
        rows[i] = rows_of(50, 0);
        for (uint32_t seed = 1; seed <= 50; seed++) {
            matrix_verdict v = {.ran = true};
            memset(v.got, 'x', sizeof v.got - 1);
            matrix_enter(&rows[i], &o, fault_table[i], seed, false, &v);
        }
    }
    rows[fault_count - 1] = rows_of(50, 50);
    assert_in_range(printed(&o, rows, text, sizeof text), 1000, 9999);
    fclose(o.table);
    for (uint32_t i = 0; i < fault_count - 1; i++) {
        char word[64];
        if (!fault_table[i]->finding) /* nothing is to be found there, so nothing is missed */
            continue;
        snprintf(word, sizeof word, "  %s, seed 1: xxx", fault_table[i]->name);
        assert_non_null(strstr(file, word));
        assert_non_null(strstr(text, fault_table[i]->name));
    }
    assert_null(strstr(text, fault_table[fault_count - 1]->name));
    assert_non_null(strstr(file, fault_table[fault_count - 1]->name));
    assert_non_null(strstr(text, "bars missed"));
    free(file);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ninety_nine_of_a_hundred), cmocka_unit_test(test_twins_without_verdicts_and_leaks),
        cmocka_unit_test(test_runs_that_were_not_made_in_time), cmocka_unit_test(test_which_faults_are_taken), cmocka_unit_test(test_brief_is_brief)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
