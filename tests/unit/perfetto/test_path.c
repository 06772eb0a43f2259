/* The row of the critical path, and the labels below the names of ranks. */
#include "export_help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>
#include <xs/analyse.h>

static void export_judged(exported *e, const char *script) {
    xsr_sink *judge;
    assert_int_equal(xsa_open(NULL, &judge), 0);
    xsv_perfetto_options options = {.size = sizeof options, .analysis = judge};
    assert_int_equal(export_script(e, script, &options), 0);
    xsa_close(judge);
}

/* The n-th slice of a track, in order of time. */
static const td_slice *slice_at(const td *t, const char *track, int n) {
    const td_track *row = td_track_named(t, track, NULL);
    assert_non_null(row);
    for (int i = 0; i < t->slice_count; i++)
        if (t->slices[i].track == row->uuid && n-- == 0)
            return &t->slices[i];
    return NULL;
}

static void expect_slice(const td *t, const char *track, int n, const char *name, int64_t dur, const char *colour) {
    const td_slice *s = slice_at(t, track, n);
    assert_non_null(s);
    assert_string_equal(s->name, name);
    assert_string_equal(s->category, "critical path");
    assert_int_equal(s->dur, dur);
    assert_int_equal(s->depth, 0);
    assert_string_equal(s->correlation, colour);
}

#define RANKS                    \
    "process 0 2 2\n"            \
    "role push\n"                \
    "role pull\n"                \
    "pad done src chunk 2 4 0\n" \
    "writer_begin 0 1000 1 0 0\n" \
    "writer_begin 64 1000 2 0 0\n"

/* Rank 0 pushes until 5 000 and signals; rank 1 sees it at 5 500 and works until 8 000. Every piece is on the row and on that of its rank. */
static void test_pieces_end_to_end(void **state) {
    (void)state;
    exported e;
    export_judged(&e, RANKS "wait_start 64 2000 done:1:0:0 1 0\nsignal 0 5000 done:1:0:0 1\nwait_end_at 64 5500 done:1:0:0 1 0 9 0 300 7 0\n"
                            "writer_end 0 6000\nwriter_end 64 8000\n");
    const td *t = e.trace;
    static const char *const first = "rank=0 (writer)", *const second = "rank=1 (writer)";
    expect_slice(t, "critical path", 0, "rank 0 push", 4000, first);
    expect_slice(t, "critical path", 1, "link to rank 1", 200, first);
    expect_slice(t, "critical path", 2, "detection lag", 300, second);
    expect_slice(t, "critical path", 3, "rank 1 pull", 2500, second);
    assert_null(slice_at(t, "critical path", 4));
    expect_slice(t, "on rank 0", 0, "rank 0 push", 4000, first);
    expect_slice(t, "on rank 0", 1, "link to rank 1", 200, first);
    expect_slice(t, "on rank 1", 0, "detection lag", 300, second);
    for (int i = 0; i < 3; i++)
        assert_int_equal(slice_at(t, "critical path", i)->ts + slice_at(t, "critical path", i)->dur, slice_at(t, "critical path", i + 1)->ts);
    const td_slice *push = slice_at(t, "critical path", 0);
    assert_string_equal(td_text(t, push, "slot"), "rank 1 done[src=0,chunk=0]");
    assert_int_equal(td_number(t, push, "rank"), 0);
    assert_int_equal(td_number(t, push, "owed_to_rank"), 1);
    assert_string_equal(td_text(t, push, "share_pct"), "57.143");
    assert_string_equal(td_path(t, td_track_named(t, "on rank 0", NULL)), "critical path > on rank 0");
    assert_int_equal(t->missing_track + t->unknown_iid + t->unmatched_end, 0);
    export_free(&e);
}

/* A run that hangs: the last piece never ends. Rank 0, which owes, is labelled with its finding. */
static void test_hang(void **state) {
    (void)state;
    exported e;
    export_judged(&e, RANKS "signal 0 1010 done:1:0:0 3\nwait_start 64 1020 done:1:0:0 5 3\nwriter_end 0 1500\nflush_at 9000\n");
    const td *t = e.trace;
    const td_slice *last = NULL;
    for (int i = 0; slice_at(t, "critical path", i); i++)
        last = slice_at(t, "critical path", i);
    assert_non_null(last);
    assert_string_equal(last->name, "rank 0 owes done[src=0,chunk=0] to rank 1");
    assert_int_equal(last->dur, -1);
    int labelled = 0;
    for (size_t i = 0; i < t->trace->n_packet; i++) {
        const TrackDescriptor *track = t->trace->packet[i]->track_descriptor;
        if (track && track->process && track->process->n_process_labels) {
            assert_true(strstr(track->process->process_name, "rank 0") == track->process->process_name);
            assert_string_equal(track->process->process_labels[0], "1 finding");
            labelled++;
        }
    }
    assert_int_equal(labelled, 1);
    export_free(&e);
}

static void test_no_row_without_an_analysis(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options options = {.size = sizeof options};
    assert_int_equal(export_script(&e, RANKS "writer_end 0 6000\nwriter_end 64 8000\n", &options), 0);
    assert_null(td_track_named(e.trace, "critical path", NULL));
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_end_to_end), cmocka_unit_test(test_hang),
                                       cmocka_unit_test(test_no_row_without_an_analysis)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
