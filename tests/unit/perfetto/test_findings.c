/* The row of findings, of runs that the detectors have judged: slices, and the arrows that lead to what proves them. */
#include "export_help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <xs/analyse.h>

static void export_judged(exported *e, const char *script) {
    xsr_sink *judge;
    assert_int_equal(xsa_open(NULL, &judge), 0);
    xsv_perfetto_options options = {.size = sizeof options, .analysis = judge};
    assert_int_equal(export_script(e, script, &options), 0);
    xsa_close(judge);
}

static int slice_with(const td *t, const char *category, const char *words) {
    for (int i = 0; i < t->slice_count; i++)
        if (t->slices[i].category && !strcmp(t->slices[i].category, category) && strstr(t->slices[i].name, words))
            return i;
    fail_msg("no slice of category %s with '%s'", category, words);
    return -1;
}

static int edges_between(const td *t, int x, int y) {
    int n = 0;
    for (int i = 0; i < t->flow_count; i++)
        n += (t->flows[i].from == x && t->flows[i].to == y) || (t->flows[i].from == y && t->flows[i].to == x);
    return n;
}

#define RANKS                    \
    "process 0 2 2\n"            \
    "pad done src chunk 2 4 0\n" \
    "writer_begin 0 1000 0 0 0\n" \
    "writer_begin 64 1000 0 0 0\n" \
    "signal 0 1010 done:1:0:0 3\n" \
    "wait_start 64 1020 done:1:0:0 5 3\n"

/* A wait that gave up is the proof as one that never ended is. */
static void test_arrow_from_a_failed_wait(void **state) {
    (void)state;
    exported e;
    export_judged(&e, RANKS "writer_end 0 1500\nwait_end 64 2000 done:1:0:0 3 1 100\nwriter_end 64 2100\n");
    int finding = slice_with(e.trace, "finding", "ERROR lost-supplier: "), wait = slice_with(e.trace, "wait", "timed out: has 3, needs 5");
    assert_int_equal(edges_between(e.trace, finding, wait), 1);
    assert_int_equal(e.trace->slices[finding].ts + e.trace->slices[finding].dur, e.trace->slices[wait].ts + e.trace->slices[wait].dur);
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

static void test_arrow_from_an_open_wait(void **state) {
    (void)state;
    exported e;
    export_judged(&e, RANKS "writer_end 0 1500\n");
    int finding = slice_with(e.trace, "finding", "ERROR lost-supplier: "), wait = slice_with(e.trace, "wait", "never released: has 3, needs 5");
    assert_int_equal(edges_between(e.trace, finding, wait), 1);
    assert_int_equal(e.trace->slices[finding].dur, -1);
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

/* What is first among its evidence is not always a wait: here it is the count that the kernel reported. */
static void test_arrow_from_a_later_proof(void **state) {
    (void)state;
    exported e;
    export_judged(&e, "process 0 2 2\n"
                      "pad done src chunk 2 4 0\n"
                      "pad count - chunk 1 4 4\n"
                      "writer_begin 0 1000 0 0 0\n"
                      "writer_begin 64 1000 0 0 0\n"
                      "epoch 0 1001 1\n"
                      "epoch 64 1001 1\n"
                      "wait_start 64 1003 done:1:0:0 1 0\n"
                      "arrive 0 1005 count:0:0:0 0 1 1\n"
                      "signal 0 1010 done:1:0:0 1\n"
                      "wait_end 64 1012 done:1:0:0 1 0 10\n"
                      "epoch 0 1020 2\n"
                      "epoch 64 1020 2\n"
                      "expect 0 1021 count:0:0:0 0 2\n"
                      "wait_start 64 1022 done:1:0:0 2 1\n"
                      "writer_end 0 1500\n"
                      "wait_end 64 2000 done:1:0:0 1 1 100\n"
                      "writer_end 64 2100\n");
    int finding = slice_with(e.trace, "finding", "nothing is expected"), wait = slice_with(e.trace, "wait", "timed out: has 1, needs 2");
    assert_int_equal(edges_between(e.trace, finding, wait), 1);
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

/* Signals are drawn long before it is known what they prove: here the last one of the slot, and the last event of who owes the next. */
static void test_arrows_from_signals_and_what_is_not_drawn_else(void **state) {
    (void)state;
    exported e;
    export_judged(&e, RANKS "writer_end 0 1500\n");
    int finding = slice_with(e.trace, "finding", "ERROR lost-supplier: ");
    assert_int_equal(edges_between(e.trace, finding, slice_with(e.trace, "signal", "signal done")), 1);
    assert_int_equal(edges_between(e.trace, finding, slice_with(e.trace, "control", "writer_end")), 1);
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

/* Two writers of one slot: nobody waits, and an edge leads to each signal. */
static void test_arrows_from_both_of_two_signals(void **state) {
    (void)state;
    exported e;
    export_judged(&e, "process 0 2 2\n"
                      "pad turn - - 1 1 0\n"
                      "writer_begin 0 1000 0 0 0\n"
                      "writer_begin 64 1000 0 0 0\n"
                      "signal 0 1100 turn:0:0:0 1\n"
                      "signal 64 1200 turn:0:0:0 2\n"
                      "writer_end 0 1500\n"
                      "writer_end 64 1500\n");
    int finding = slice_with(e.trace, "finding", "multi-writer: "), joined = 0;
    for (int i = 0; i < e.trace->slice_count; i++)
        if (e.trace->slices[i].category && !strcmp(e.trace->slices[i].category, "signal"))
            joined += edges_between(e.trace, finding, i);
    assert_int_equal(joined, 2);
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

/* A wait that ended as it should, and what released it: what the finding says of them began before and ended with them. */
static void test_arrows_from_a_wait_that_ended_well(void **state) {
    (void)state;
    exported e;
    enum { USUAL = 40 };
    char script[16384];
    int at = snprintf(script, sizeof script, "process 0 2 2\npad done src chunk 2 4 0\nwriter_begin 0 1000 0 0 0\nwriter_begin 64 1000 0 0 0\n");
    for (int i = 1; i <= USUAL + 1; i++) /* the last one is long */
        at += snprintf(script + at, sizeof script - (size_t)at,
                       "wait_start 64 %d done:1:0:0 %d %d\nsignal 0 %d done:1:0:0 %d\nwait_end 64 %d done:1:0:0 %d 0 10\n", 1000 * i + 20, i, i - 1,
                       i > USUAL ? 60000000 : 1000 * i + 100, i, i > USUAL ? 60000100 : 1000 * i + 200, i);
    snprintf(script + at, sizeof script - (size_t)at, "writer_end 0 60001000\nwriter_end 64 60001000\n");
    export_judged(&e, script);
    int finding = slice_with(e.trace, "finding", "stall: "), wait = -1, signal = -1;
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *x = &e.trace->slices[i];
        wait = x->category && !strcmp(x->category, "wait") && x->dur > 1000000 ? i : wait;
        signal = x->category && !strcmp(x->category, "signal") && x->ts == 60000000 ? i : signal;
    }
    assert_true(wait >= 0 && signal >= 0);
    assert_int_equal(edges_between(e.trace, finding, wait), 1);
    assert_int_equal(edges_between(e.trace, finding, signal), 1);
    assert_int_equal(edges_between(e.trace, wait, signal), 1); /* as ever */
    assert_int_equal(e.trace->flow_end_without_start, 0);
    export_free(&e);
}

/* They have tracks of their own, which the viewer makes one row of: of one name, under nothing, and all mergeable by it. */
static void test_findings_that_overlap(void **state) {
    (void)state;
    exported e;
    export_judged(&e, "process 0 2 2\n"
                      "pad done src chunk 2 4 0\n"
                      "pad turn - - 1 1 0\n"
                      "writer_begin 0 1000 0 0 0\n"
                      "writer_begin 64 1000 0 0 0\n"
                      "signal 0 1010 done:1:0:0 3\n"
                      "signal 0 1100 turn:0:0:0 1\n"
                      "signal 64 1200 turn:0:0:0 2\n"
                      "wait_start 64 1205 done:1:0:0 5 3\n"
                      "wait_start 64 1206 done:1:1:0 5 3\n"
                      "writer_end 0 1500\n");
    int tracks = 0;
    for (int i = 0; i < e.trace->track_count; i++) {
        const td_track *t = &e.trace->tracks[i];
        if (!t->name || strcmp(t->name, "findings"))
            continue;
        tracks++;
        assert_int_equal(t->merge, 1);
        assert_int_equal(t->parent, 0);
    }
    assert_true(tracks > 1);
    for (int i = 0; i < e.trace->slice_count; i++)
        if (e.trace->slices[i].category && !strcmp(e.trace->slices[i].category, "finding"))
            assert_int_equal(e.trace->slices[i].depth, 0);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrow_from_a_failed_wait), cmocka_unit_test(test_arrow_from_an_open_wait),
                                       cmocka_unit_test(test_arrow_from_a_later_proof),
                                       cmocka_unit_test(test_arrows_from_signals_and_what_is_not_drawn_else),
                                       cmocka_unit_test(test_arrows_from_both_of_two_signals),
                                       cmocka_unit_test(test_arrows_from_a_wait_that_ended_well),
                                       cmocka_unit_test(test_findings_that_overlap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
