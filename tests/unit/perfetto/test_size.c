/* Large captures: what is left out is left out whole, counted, and said; root rows, open waits and loss stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "export_help.h"

static const run_shape shape = {.ranks = 4, .epochs = 8, .chunks = 4, .slow = 2, .epoch_gap = 1000, .lost_arrival = 1, .lose_records = 5};

static uint64_t count(const td *t, const char *category) {
    uint64_t n = 0;
    for (int i = 0; i < t->slice_count; i++)
        n += t->slices[i].category && strcmp(t->slices[i].category, category) == 0;
    return n;
}

static const td_slice *health(const td *t) {
    const td_track *row = td_track_named(t, "trace health", NULL);
    for (int i = 0; row && i < t->slice_count; i++)
        if (t->slices[i].track == row->uuid && t->slices[i].depth == 0)
            return &t->slices[i];
    return NULL;
}

static void check_sound(const td *t) {
    assert_non_null(t);
    assert_int_equal(t->unknown_iid, 0);
    assert_int_equal(t->flow_end_without_start, 0);
    assert_int_equal(t->flow_duplicate, 0);
    assert_int_equal(t->unmatched_end, 0);
    assert_int_equal(t->missing_track, 0);
    assert_true(t->complete);
    for (int i = 0; i < t->slice_count; i++)
        if (t->slices[i].category && strcmp(t->slices[i].category, "wait") == 0)
            assert_int_equal(t->slices[i].depth, 0);
}

static void test_without_passes(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options o = {.size = sizeof o, .events = 1000, .pass_limit = 999};
    assert_int_equal(export_run(&e, &shape, &o), 0);
    check_sound(e.trace);
    assert_int_equal(count(e.trace, "pass") + count(e.trace, "elect") + count(e.trace, "gate"), 0);
    assert_null(td_track_named(e.trace, "arrive, pass", NULL));
    assert_true(e.summary.passes_left_out > 0);
    assert_int_equal(td_number(e.trace, health(e.trace), "passes_left_out"), e.summary.passes_left_out);
    assert_true(count(e.trace, "wait") > 0);
    export_free(&e);
    o.events = 999; /* not above the limit */
    assert_int_equal(export_run(&e, &shape, &o), 0);
    assert_true(count(e.trace, "pass") > 0);
    export_free(&e);
}

static void test_folded(void **state) {
    (void)state;
    exported e, whole;
    uint64_t folded = 0, drawn = 0;
    xsv_perfetto_options o = {.size = sizeof o, .events = 1000, .pass_limit = 1, .fold_limit = 999, .short_wait_ns = 3000};
    assert_int_equal(export_run(&whole, &shape, NULL), 0);
    uint64_t waits = whole.summary.waits;
    export_free(&whole);
    assert_int_equal(export_run(&e, &shape, &o), 0);
    check_sound(e.trace);
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (!s->category || strcmp(s->category, "wait") != 0 || s->dur < 0)
            continue;
        if (strstr(s->name, " short wait")) {
            folded += td_number(e.trace, s, "count");
            assert_true(td_number(e.trace, s, "max_ns") < 3000);
            assert_true(td_number(e.trace, s, "total_ns") <= 3000 * td_number(e.trace, s, "count"));
            assert_non_null(s->correlation);
        } else {
            drawn++;
            assert_true(td_number(e.trace, s, "need") != UINT64_MAX);
            assert_true(td_number(e.trace, s, "polls") == UINT64_MAX); /* reduced arguments */
        }
    }
    assert_true(folded > 0);
    assert_int_equal(folded, e.summary.waits_folded);
    assert_int_equal(folded + drawn, waits); /* none is lost on the way */
    assert_int_equal(td_number(e.trace, health(e.trace), "waits_folded"), folded);
    assert_int_equal(td_number(e.trace, health(e.trace), "arguments_reduced"), 1);
    export_free(&e);
}

typedef struct windows {
    uint64_t waits, epochs, signals;
    uint32_t count;
    int64_t newest;
} windows;

static void read_windows(const exported *e, uint32_t files, windows *w) {
    char path[256];
    *w = (windows){.newest = -1};
    for (uint32_t i = 1; i < files; i++) {
        snprintf(path, sizeof path, "%s/run.%04u.perfetto", e->folder, i);
        td *t = td_read(path);
        check_sound(t);
        w->count++;
        w->signals += count(t, "signal");
        int64_t first = INT64_MAX;
        for (int s = 0; s < t->slice_count; s++) {
            bool wait = t->slices[s].category && strcmp(t->slices[s].category, "wait") == 0;
            bool epoch = t->slices[s].category && strcmp(t->slices[s].category, "epoch") == 0;
            w->waits += wait && t->slices[s].dur >= 0;
            w->epochs += epoch;
            if (epoch && t->slices[s].ts < first)
                first = t->slices[s].ts;
        }
        assert_true(i == 1 || first > w->newest); /* windows follow each other, of whole epochs */
        w->newest = first;
        assert_non_null(health(t));
        td_free(t);
    }
}

static void test_windows(void **state) {
    (void)state;
    exported e;
    char path[256];
    windows w;
    xsv_perfetto_options o = {.size = sizeof o, .events = 10, .split_limit = 10, .pass_limit = 1, .fold_limit = 1000000, .window_events = 2000};
    assert_int_equal(export_run(&e, &shape, &o), 0);
    assert_true(e.summary.files > 3);
    assert_int_not_equal(access(e.path, F_OK), 0); /* no file pretends to be the whole */
    read_windows(&e, e.summary.files, &w);
    assert_int_equal(w.waits, e.summary.waits);
    assert_int_equal(w.signals, e.summary.signals);
    snprintf(path, sizeof path, "%s/run.overview.perfetto", e.folder);
    td *t = td_read(path);
    check_sound(t);
    assert_int_equal(count(t, "epoch"), shape.epochs);
    assert_int_equal(count(t, "wait"), e.summary.open_waits); /* the open ones, and none that ended well */
    assert_true(e.summary.open_waits == 4 && count(t, "signal") == 0);
    assert_int_equal(t->stats_lost, e.counts.lost);
    assert_true(count(t, "blame") > 0 && count(t, "kernel") == shape.ranks && count(t, "loss") == 1);
    const td_track *counter = td_track_named(t, "open waits", td_track_named(t, "rank 1 waits for", NULL));
    int64_t last = -1;
    for (int i = 0; i < t->counter_count; i++)
        if (t->counters[i].track == counter->uuid)
            last = t->counters[i].value;
    assert_int_equal(last, 1);
    td_free(t);
    snprintf(path, sizeof path, "%s/run.overview.perfetto.startup.json", e.folder);
    assert_int_equal(access(path, R_OK), 0);
    export_free(&e);
}

/* Far more samples than a counter of the overview may have. */
static void test_thinned(void **state) {
    (void)state;
    exported e;
    char path[256];
    run_shape big = {.ranks = 2, .epochs = 3000, .chunks = 8, .slow = 9, .epoch_gap = 100};
    xsv_perfetto_options o = {.size = sizeof o, .events = 10, .split_limit = 10, .window_events = 1000000};
    assert_int_equal(export_run(&e, &big, &o), 0);
    snprintf(path, sizeof path, "%s/run.overview.perfetto", e.folder);
    td *t = td_read(path);
    check_sound(t);
    const td_track *counter = td_track_named(t, "open waits", td_track_named(t, "rank 0 waits for", NULL));
    uint64_t points = 0;
    int64_t last = -1, newest = 0, widest = 0;
    for (int i = 0; i < t->counter_count; i++)
        if (t->counters[i].track == counter->uuid) {
            points++;
            widest = newest && t->counters[i].ts - newest > widest ? t->counters[i].ts - newest : widest;
            newest = t->counters[i].ts;
            last = t->counters[i].value;
        }
    assert_in_range(points, 5000, 20000);
    assert_int_equal(last, 0);
    assert_true(widest < (e.counts.end - e.counts.begin) / 1000); /* evenly, no hole */
    td_free(t);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_passes), cmocka_unit_test(test_folded), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
