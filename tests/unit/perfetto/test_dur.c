/* A finding's slice is as long as the database says that it lasted: none is cut where another one begins, or ends first. */
#include "export_help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xs/analyse.h>
#include <xs/export.h>

/* Rank 1 gives up a wait from 1 020 to 9 000 and one for rank 2 from 2 000 to 12 000, and waits for ever from 3 000 on for rank 3; and two
 * signal one slot: at a moment, so that its slice is given a length. */
static const char script[] =
    "process 0 4 4\n"
    "pad done src chunk 4 4 0\n"
    "pad turn - - 1 1 0\n"
    "writer_begin 0 1000 0 0 0\n"
    "writer_begin 64 1000 0 0 0\n"
    "writer_begin 65 1000 0 1 0\n"
    "writer_begin 66 1000 0 2 0\n"
    "writer_begin 128 1000 0 0 0\n"
    "writer_begin 192 1000 0 0 0\n"
    "signal 0 1010 done:1:0:0 3\n"
    "signal 128 1010 done:1:2:0 3\n"
    "signal 192 1010 done:1:3:0 3\n"
    "wait_start 64 1020 done:1:0:0 5 3\n"
    "signal 0 1100 turn:0:0:0 1\n"
    "signal 192 1200 turn:0:0:0 2\n"
    "writer_end 0 1500\n"
    "writer_end 128 1500\n"
    "writer_end 192 1500\n"
    "wait_start 65 2000 done:1:2:0 5 3\n"
    "wait_start 66 3000 done:1:3:0 5 3\n"
    "wait_end 64 9000 done:1:0:0 3 1 100\n"
    "wait_end 65 12000 done:1:2:0 3 1 100\n"
    "writer_end 64 12100\n"
    "writer_end 65 12100\n";

typedef struct row { char id[128]; long long begin, lasted; } row; /* lasted: -1: it never ended */

static void make_database(const exported *e, const char *path) {
    char capture[128];
    snprintf(capture, sizeof capture, "%s/run.xs", e->folder);
    const char *paths[] = {capture}, *why = NULL;
    xsr_reader *reader = NULL;
    xsr_sink *sinks[2];
    assert_int_equal(xsr_open(paths, 1, NULL, &reader, &why), 0);
    assert_int_equal(xsa_open(NULL, &sinks[0]), 0);
    xsv_sqlite_options options = {.size = sizeof options, .analysis = sinks[0]};
    assert_int_equal(xsv_sqlite_open(path, &options, &sinks[1]), 0);
    assert_int_equal(xsr_run(reader, sinks, 2), 0);
    assert_int_equal(xsv_sqlite_close(sinks[1]), 0);
    xsa_close(sinks[0]);
    xsr_close(reader);
}

static int rows_of_database(const char *path, row *rows, int room) {
    char *text = NULL, line[256];
    size_t size = 0;
    int n = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(xsv_query(path, "SELECT key, begin_ns, coalesce(end_ns - begin_ns, -1) FROM findings", XSV_CSV, out, NULL), 0);
    fclose(out);
    FILE *in = fmemopen(text, size, "r");
    assert_non_null(fgets(line, sizeof line, in)); /* the heading */
    while (n < room && fgets(line, sizeof line, in))
        n += sscanf(line, "%127[^,],%lld,%lld", rows[n].id, &rows[n].begin, &rows[n].lasted) == 3;
    fclose(in);
    free(text);
    return n;
}

static const td_slice *slice_of(const td *t, const char *id) {
    for (int i = 0; i < t->slice_count; i++)
        if (t->slices[i].category && !strcmp(t->slices[i].category, "finding") && !strcmp(td_text(t, &t->slices[i], "id"), id))
            return &t->slices[i];
    fail_msg("no slice of %s", id);
    return NULL;
}

/* What the shape must be for a slice to be cut, if they shared a track. */
static bool overlaps_partly(const row *x, const row *y) {
    long long end = x->begin + x->lasted;
    return x->lasted > 0 && x->begin < y->begin && end > y->begin && (y->lasted < 0 || end < y->begin + y->lasted);
}

static void test_slices_last_as_long_as_findings(void **state) {
    (void)state;
    exported e;
    xsr_sink *judge;
    char database[128];
    row rows[16];
    assert_int_equal(xsa_open(NULL, &judge), 0);
    xsv_perfetto_options options = {.size = sizeof options, .analysis = judge};
    assert_int_equal(export_script(&e, script, &options), 0);
    xsa_close(judge);
    snprintf(database, sizeof database, "%s/run.db", e.folder);
    make_database(&e, database);
    int n = rows_of_database(database, rows, 16), open = 0, moments = 0, overlaps = 0, slices = 0;
    for (int i = 0; i < n; i++) {
        const td_slice *s = slice_of(e.trace, rows[i].id);
        assert_int_equal(s->ts, rows[i].begin);
        assert_int_equal(s->dur, rows[i].lasted ? rows[i].lasted : 1); /* that of a moment can be seen */
        open += rows[i].lasted < 0;
        moments += rows[i].lasted == 0;
        for (int k = 0; k < n; k++)
            overlaps += overlaps_partly(&rows[i], &rows[k]);
    }
    for (int i = 0; i < e.trace->slice_count; i++)
        slices += e.trace->slices[i].category && !strcmp(e.trace->slices[i].category, "finding");
    assert_int_equal(slices, n);
    assert_true(open && moments && overlaps);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slices_last_as_long_as_findings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
