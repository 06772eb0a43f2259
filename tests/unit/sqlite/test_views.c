/* Views against a naive recomputation in C over the same waits. */
#include "fake_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAITS = 6000 };
static char path[] = "/tmp/xs_views_XXXXXX.db";
static fake_run *run;
static sqlite3 *db;

static int setup(void **state) {
    (void)state;
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    close(fd);
    run = fake_run_make(WAITS, 42);
    assert_int_equal(fake_run_export(run, path), 0);
    return sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
}

static int teardown(void **state) {
    (void)state;
    sqlite3_close(db);
    unlink(path);
    fake_run_free(run);
    return 0;
}

static sqlite3_stmt *query(const char *sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return s;
}

static int64_t number(const char *sql) {
    sqlite3_stmt *s = query(sql);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

static int known(const xsr_wait *w) { return !w->open && !w->start_lost && !w->end_lost; }

static int64_t latency(const xsr_wait *w) { return w->passed ? 0 : w->end - w->begin; }

static uint32_t bucket(int64_t ns) {
    uint32_t b = 0;
    for (; ns; ns >>= 1)
        b++;
    return b;
}

/* Of one class: pad, waiting rank, supplier. */
static int in_class(const xsr_wait *w, uint32_t pad, uint32_t rank, uint32_t supplier) {
    return run->slots[w->slot].pad == pad && w->rank == rank && w->supplier_rank == supplier;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t pad_number(const char *name) {
    for (uint32_t i = 0; i < FAKE_PADS; i++)
        if (!strcmp(run->pads[i].name, name))
            return i;
    fail_msg("no pad %s", name);
    return 0;
}

static uint32_t column_rank(sqlite3_stmt *s, int column) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? XSR_NONE : (uint32_t)sqlite3_column_int(s, column);
}

static void test_histogram(void **state) {
    (void)state;
    sqlite3_stmt *s = query("SELECT pad, rank, peer, bucket, low_ns, high_ns, waits FROM wait_latency_histogram");
    uint64_t total = 0, ended = 0;
    while (sqlite3_step(s) == SQLITE_ROW) {
        uint32_t pad = pad_number((const char *)sqlite3_column_text(s, 0)), b = (uint32_t)sqlite3_column_int(s, 3);
        int64_t low = sqlite3_column_int64(s, 4), high = sqlite3_column_int64(s, 5);
        uint64_t naive = 0;
        for (uint32_t i = 0; i < WAITS; i++) {
            const xsr_wait *w = &run->waits[i];
            if (!known(w) || !in_class(w, pad, column_rank(s, 1), column_rank(s, 2)) || bucket(latency(w)) != b)
                continue;
            assert_in_range(latency(w), low, high);
            naive++;
        }
        assert_int_equal(sqlite3_column_int64(s, 6), naive);
        total += naive;
    }
    sqlite3_finalize(s);
    for (uint32_t i = 0; i < WAITS; i++)
        ended += known(&run->waits[i]);
    assert_int_equal(total, ended);
}

/* The tally says what the stored buckets say. */
static void test_histogram_agrees_with_stored_buckets(void **state) {
    (void)state;
    assert_int_equal(number("SELECT count(*) FROM (SELECT pad, rank, supplier_rank, coalesce(bucket, open - 2), "
        "count(*), sum(passed), "
                            "sum(blocked_ns) FROM wait GROUP BY 1, 2, 3, 4 EXCEPT SELECT pad, rank, "
                                "supplier_rank, bucket, "
                            "waits, passed, blocked_ns FROM wait_tally)"), 0);
    assert_true(number("SELECT count(*) FROM wait_tally") > 100);
}

static void test_percentiles(void **state) {
    (void)state;
    sqlite3_stmt *s = query("SELECT pad, rank, peer, waits, p50_ns, p90_ns, p99_ns, max_ns, total_ns, passed, "
        "failed FROM wait_latency");
    static int64_t values[WAITS];
    int rows = 0;
    for (; sqlite3_step(s) == SQLITE_ROW; rows++) {
        uint32_t pad = pad_number((const char *)sqlite3_column_text(s, 0));
        int64_t n = 0, sum = 0, passed = 0, failed = 0;
        for (uint32_t i = 0; i < WAITS; i++) {
            const xsr_wait *w = &run->waits[i];
            if (!known(w) || !in_class(w, pad, column_rank(s, 1), column_rank(s, 2)))
                continue;
            sum += values[n++] = latency(w);
            passed += w->passed;
            failed += w->result != XS_RESULT_OK;
        }
        qsort(values, (size_t)n, sizeof values[0], by_value);
        assert_int_equal(sqlite3_column_int64(s, 3), n);
        const int percent[] = {50, 90, 99, 100};
        for (int p = 0; p < 4; p++)
            assert_int_equal(sqlite3_column_int64(s, 4 + p), values[(n * percent[p] + 99) / 100 - 1]);
        assert_int_equal(sqlite3_column_int64(s, 8), sum);
        assert_int_equal(sqlite3_column_int64(s, 9), passed);
        assert_int_equal(sqlite3_column_int64(s, 10), failed);
    }
    sqlite3_finalize(s);
    assert_true(rows >= 24);
}

static void test_slowest(void **state) {
    (void)state;
    static int64_t values[WAITS];
    int64_t n = 0;
    for (uint32_t i = 0; i < WAITS; i++)
        if (known(&run->waits[i]) && !run->waits[i].passed)
            values[n++] = latency(&run->waits[i]);
    qsort(values, (size_t)n, sizeof values[0], by_value);
    sqlite3_stmt *s = query("SELECT latency_ns, late_ns, lag_ns, released_by_reason FROM slowest_waits");
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(s, 0), values[n - 1 - i]);
        if (!strcmp((const char *)sqlite3_column_text(s, 3), "found"))
            assert_int_equal(sqlite3_column_int64(s, 1) + sqlite3_column_int64(s, 2), values[n - 1 - i]);
        else
            assert_int_equal(sqlite3_column_type(s, 1), SQLITE_NULL);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

static void test_open(void **state) {
    (void)state;
    sqlite3_stmt *s = query("SELECT id, open_ns, peer FROM open_waits ORDER BY id");
    for (uint32_t i = WAITS - FAKE_RANKS; i < WAITS; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int64(s, 0), run->waits[i].id);
        assert_int_equal(sqlite3_column_int64(s, 1), run->model.end - run->waits[i].begin);
        assert_int_equal(column_rank(s, 2), run->waits[i].supplier_rank);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

/* Overlapping waits of one writer count once, each from where the one before it ended. */
static void test_share(void **state) {
    (void)state;
    int64_t until[FAKE_WRITERS], blocked[FAKE_RANKS][FAKE_RANKS + 1] = {{0}};
    for (uint32_t i = 0; i < FAKE_WRITERS; i++)
        until[i] = INT64_MIN;
    for (uint32_t i = 0; i < WAITS; i++) {
        const xsr_wait *w = &run->waits[i];
        int64_t end = w->open ? run->model.end : w->end;
        int64_t from = w->begin > until[w->writer] ? w->begin : until[w->writer];
        if (w->passed)
            continue;
        blocked[w->rank][w->supplier_rank == XSR_NONE ? FAKE_RANKS : w->supplier_rank] += end > from ? end - from : 0;
        until[w->writer] = end > until[w->writer] ? end : until[w->writer];
    }
    sqlite3_stmt *s = query("SELECT rank, peer, blocked_ns, share, writers_ns, local FROM wait_share");
    int rows = 0;
    for (; sqlite3_step(s) == SQLITE_ROW; rows++) {
        uint32_t rank = column_rank(s, 0), peer = column_rank(s, 1);
        int64_t naive = blocked[rank][peer == XSR_NONE ? FAKE_RANKS : peer];
        assert_int_equal(sqlite3_column_int64(s, 2), naive);
        assert_int_equal(sqlite3_column_int64(s, 4), FAKE_WRITERS / FAKE_RANKS * (run->model.end - 1000));
        assert_true(sqlite3_column_double(s, 3) > 0 && sqlite3_column_double(s, 3) < 1);
        assert_int_equal(sqlite3_column_int(s, 5), rank == peer);
    }
    sqlite3_finalize(s);
    assert_true(rows >= 12);
}

static void test_counts(void **state) {
    (void)state;
    assert_int_equal(number("SELECT waits FROM run"), WAITS);
    assert_int_equal(number("SELECT count(*) FROM wait"), WAITS);
    assert_int_equal(number("SELECT open FROM run"), FAKE_RANKS);
    assert_int_equal(number("SELECT count(*) FROM waits"), WAITS);
    assert_int_equal(number("SELECT count(*) FROM wait WHERE open = 0 AND (start_lost OR end_lost) AND "
        "latency_ns IS NULL"),
                     number("SELECT sum(waits) FROM wait_tally WHERE bucket = -2"));
    assert_true(number("SELECT sum(waits) FROM wait_tally WHERE bucket = -2") > 100);
    assert_int_equal(number("SELECT events FROM run"), number("SELECT count(*) FROM event"));
    assert_int_equal(number("SELECT count(*) FROM events"), number("SELECT count(*) FROM event"));
    assert_int_equal(number("SELECT count(*) FROM signals"), WAITS / 3);
    assert_int_equal(number("SELECT count(*) FROM loss"), FAKE_WRITERS);
    assert_int_equal(number("SELECT sum(lost) FROM loss"), FAKE_WRITERS * (FAKE_WRITERS - 1) / 2);
    assert_int_equal(number("SELECT gaps FROM loss WHERE ring = 3"), 1);
    assert_int_equal(number("SELECT lost FROM loss_gaps"), 3);
    assert_int_equal(number("SELECT count(*) FROM clock WHERE device_name = 'host'"), 1);
    assert_int_equal(number("SELECT count(*) FROM plans WHERE known_from = 'declared' AND owner IS NULL"), 1);
    assert_int_equal(number("SELECT count(*) FROM findings"), 0);
    assert_int_equal(number("SELECT count(*) FROM blame"), 0);
    assert_int_equal(number("SELECT count(*) FROM starvation"), 0);
    assert_int_equal(number("SELECT sum(events) FROM epoch"), number("SELECT count(*) FROM event WHERE epoch > 0"));
}

static void test_reasons(void **state) {
    (void)state;
    assert_int_equal(number("SELECT waits FROM not_known WHERE relation = 'released_by' AND reason = 'initial'"),
                     number("SELECT count(*) FROM waits WHERE released_by_reason = 'initial'"));
    assert_int_equal(number("SELECT sum(waits) FROM reason_tally"), 2 * WAITS);
    assert_true(number("SELECT waits FROM not_known WHERE relation = 'released_by' AND reason = 'initial'") > 100);
}

/* Questions that must stay fast are answered from an index. */
static void test_plans_use_the_index(void **state) {
    (void)state;
    static const char *const asked[][2] = {
        {"EXPLAIN QUERY PLAN SELECT * FROM wait_latency", "wait_class"},
        {"EXPLAIN QUERY PLAN SELECT * FROM slowest_waits", "COVERING INDEX wait_class"},
        {"EXPLAIN QUERY PLAN SELECT * FROM open_waits", "wait_open"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        sqlite3_stmt *s = query(asked[i][0]);
        int found = 0;
        while (sqlite3_step(s) == SQLITE_ROW)
            found |= strstr((const char *)sqlite3_column_text(s, 3), asked[i][1]) != NULL;
        sqlite3_finalize(s);
        if (!found)
            fail_msg("%s does not use %s", asked[i][0], asked[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram), cmocka_unit_test(test_histogram_agrees_with_stored_buckets),
        cmocka_unit_test(test_percentiles), cmocka_unit_test(test_slowest), cmocka_unit_test(test_open),
        cmocka_unit_test(test_share), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_plans_use_the_index),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
