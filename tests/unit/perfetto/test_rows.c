/* Rows `rank N waits for` where waits stand behind each other in a rank, and how long a drawing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "capture_build.h"
#include "export_help.h"

#define T(ns) (1000000000ull + (ns))

static td *export_and_read(exported *e) {
    snprintf(e->path, sizeof e->path, "%s/run.perfetto", e->folder);
    assert_int_equal(export_again(e, e->path, NULL, &e->summary), 0);
    td *t = td_read(e->path);
    assert_non_null(t);
    return t;
}

static cb *begin(exported *e, char *capture, size_t size) {
    *e = (exported){.folder = "/tmp/xs_perfetto.XXXXXX"};
    assert_non_null(mkdtemp(e->folder));
    snprintf(capture, size, "%s/run.xs", e->folder);
    cb *c = cb_begin(capture);
    assert_non_null(c);
    return c;
}

/* What rank 0 waits for at a moment, from its row. */
static const char *waits_for(const td *t, int64_t time) {
    const td_track *row = td_track_named(t, "rank 0 waits for", NULL);
    for (int i = 0; i < t->slice_count; i++) {
        const td_slice *s = &t->slices[i];
        if (s->track == row->uuid && strcmp(s->category, "blame") == 0 && s->ts <= time && time < s->ts + s->dur)
            return s->name;
    }
    return "nobody";
}

/* c waits for b's signal, b for a's arrivals, a for rank 1; d waits for rank 2 since before a did. */
static void test_chain(void **state) {
    (void)state;
    exported e;
    char capture[128];
    cb *c = begin(&e, capture, sizeof capture);
    enum { A, B, C, D };
    cb_process(c, 0, 3, 3);
    uint32_t role[4] = {cb_role(c, "a"), cb_role(c, "b"), cb_role(c, "c"), cb_role(c, "d")};
    uint32_t far = cb_pad(c, "far", "", "from", 1, 3, 0), near = cb_pad(c, "near", "", "", 1, 1, 0);
    uint32_t gate = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED);
    cb_plan_writer(c, far, XS_PLAN_COLUMN);
    uint32_t g = cb_slot(c, gate, 0, 0, 0), n = cb_slot(c, near, 0, 0, 0), from1 = cb_slot(c, far, 0, 0, 1), from2 = cb_slot(c, far, 0, 0, 2);
    cb_clock(c, T(0), 1700000000000000000u, 50);
    for (uint32_t i = A; i <= D; i++)
        cb_writer_begin(c, i, T(10 + i), role[i], i, 1);
    cb_gate(c, A, T(100), g, 0, 1);  /* so much is known before: who arrives, who signals */
    cb_signal(c, B, T(200), n, 1);
    cb_wait_start(c, C, T(10000), n, 2, 1);
    cb_wait_start(c, B, T(15000), g, 2, 1);
    cb_wait_start(c, D, T(20000), from2, 1, 0);
    cb_wait_start(c, A, T(30000), from1, 1, 0);
    cb_wait_end(c, A, T(60000), from1, 1, XS_RESULT_OK, 5);
    cb_gate(c, A, T(60100), g, 1, 1);
    cb_wait_end(c, B, T(60200), g, 2, XS_RESULT_OK, 5);
    cb_signal(c, B, T(60300), n, 2);
    cb_wait_end(c, C, T(60400), n, 2, XS_RESULT_OK, 5);
    cb_wait_end(c, D, T(90000), from2, 1, XS_RESULT_OK, 5);
    for (uint32_t i = A; i <= D; i++)
        cb_writer_end(c, i, T(95000 + i));
    assert_int_equal(cb_end(c), 0);
    td *t = export_and_read(&e);
    assert_string_equal(waits_for(t, T(12000)), "nobody"); /* c waits, but b works */
    assert_string_equal(waits_for(t, T(25000)), "rank 2"); /* a works: d's is the oldest that counts */
    assert_string_equal(waits_for(t, T(45000)), "rank 1"); /* c's is older, and goes over b and a */
    assert_string_equal(waits_for(t, T(80000)), "rank 2");
    td_free(t);
    export_free(&e);
}

/* c waits at a gate of which nobody knows who arrives there, until one of two writers of a does; the other waits for rank 1.
 * From then on, and not only from the next wait on, c's wait counts as that one. */
static void test_supplier_told_late(void **state) {
    (void)state;
    exported e;
    char capture[128];
    cb *c = begin(&e, capture, sizeof capture);
    enum { A, SECOND, C, D };
    cb_process(c, 0, 3, 3);
    uint32_t a = cb_role(c, "a"), role[4] = {a, a, cb_role(c, "c"), cb_role(c, "d")};
    uint32_t far = cb_pad(c, "far", "", "from", 1, 3, 0), gate = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED);
    cb_plan_writer(c, far, XS_PLAN_COLUMN);
    uint32_t g = cb_slot(c, gate, 0, 0, 0), from1 = cb_slot(c, far, 0, 0, 1), from2 = cb_slot(c, far, 0, 0, 2);
    cb_clock(c, T(0), 1700000000000000000u, 50);
    for (uint32_t i = A; i <= D; i++)
        cb_writer_begin(c, i, T(10 + i), role[i], i, 1);
    cb_wait_start(c, C, T(10000), g, 1, 1);
    cb_wait_start(c, D, T(15000), from2, 1, 0);
    cb_wait_start(c, A, T(20000), from1, 1, 0);
    cb_gate(c, SECOND, T(30000), g, 0, 1);
    cb_wait_end(c, A, T(60000), from1, 1, XS_RESULT_OK, 5);
    cb_wait_end(c, C, T(60400), g, 1, XS_RESULT_OK, 5);
    cb_wait_end(c, D, T(90000), from2, 1, XS_RESULT_OK, 5);
    for (uint32_t i = A; i <= D; i++)
        cb_writer_end(c, i, T(95000 + i));
    assert_int_equal(cb_end(c), 0);
    td *t = export_and_read(&e);
    assert_string_equal(waits_for(t, T(25000)), "rank 2");
    assert_string_equal(waits_for(t, T(45000)), "rank 1");
    assert_string_equal(waits_for(t, T(80000)), "rank 2");
    td_free(t);
    export_free(&e);
}

/* A capture that was idle for a minute before and after: the drawing is as long as what happened. */
static void test_length(void **state) {
    (void)state;
    exported e;
    char capture[128];
    cb *c = begin(&e, capture, sizeof capture);
    cb_process(c, 0, 1, 1);
    uint32_t role = cb_role(c, "a");
    cb_clock(c, T(0), 1700000000000000000u, 50);
    cb_writer_begin(c, 0, T(60000000000), role, 0, 1);
    cb_writer_end(c, 0, T(60000100000));
    cb_flush_at(c, T(120000000000));
    assert_int_equal(cb_end(c), 0);
    td *t = export_and_read(&e);
    const td_track *row = td_track_named(t, "trace health", NULL);
    int seen = 0;
    for (int i = 0; i < t->slice_count; i++)
        if (t->slices[i].track == row->uuid) {
            seen++;
            assert_int_equal(t->slices[i].ts, T(60000000000));
            assert_int_equal(t->slices[i].dur, 100000);
        }
    assert_int_equal(seen, 1);
    td_free(t);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain), cmocka_unit_test(test_supplier_told_late),
                                       cmocka_unit_test(test_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
