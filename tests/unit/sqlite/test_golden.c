/* Every folder of tests/golden/sqlite: a script, made into a capture, exported, and asked. And every script of
 * tests/golden/read is exported, and its database agrees with itself. */
#include "page.h"
#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/export.h>

static char folder[] = "/tmp/xs_golden_XXXXXX";
static char capture[64], database[64];

static char *load(const char *dir, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *in = fopen(path, "r");
    char *text = in ? calloc(1, 1 << 20) : NULL;
    if (text && !fread(text, 1, (1 << 20) - 1, in) && ferror(in))
        fail_msg("%s cannot be read", path);
    if (in)
        fclose(in);
    return text;
}

static void export_script(const char *dir) {
    char *script = load(dir, "input.txt");
    assert_non_null(script);
    cb *c = cb_begin(capture);
    assert_non_null(c);
    int line = script_run(c, script);
    if (line)
        fail_msg("%s/input.txt: line %d is wrong", dir, line);
    cb_end(c);
    free(script);
    const char *paths[] = {capture}, *why = "";
    xsr_options reading = {.size = sizeof reading};
    xsr_reader *reader = NULL;
    xsr_sink *sink = NULL;
    assert_int_equal(xsr_open(paths, 1, &reading, &reader, &why), 0);
    assert_int_equal(xsv_sqlite_open(database, NULL, &sink), 0);
    assert_int_equal(xsr_run(reader, &sink, 1), 0);
    assert_int_equal(xsv_sqlite_close(sink), 0);
    xsr_close(reader);
}

/* All questions of a case and their rows. */
static char *answers(char *questions) {
    char *text = NULL, *rest = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (char *sql = strtok_r(questions, "\n", &rest); sql; sql = strtok_r(NULL, "\n", &rest)) {
        char *error = NULL;
        fprintf(out, "-- %s\n", sql);
        if (xsv_query(database, sql, XSV_CSV, out, &error))
            fail_msg("%s: %s", sql, error);
        fputc('\n', out);
    }
    fclose(out);
    char *to = text; /* one kind of line end in the files */
    for (const char *from = text; *from; from++)
        if (*from != '\r')
            *to++ = *from;
    *to = 0;
    return text;
}

static void first_difference(const char *dir, const char *have, const char *want) {
    int line = 1;
    const char *a = have, *b = want;
    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    for (; a > have && a[-1] != '\n'; a--)
        b--;
    fail_msg("%s/expected.csv differs at line %d\nhave: %.*s\nwant: %.*s", dir, line, (int)strcspn(a, "\n"), a,
             (int)strcspn(b, "\n"), b);
}

static void check_case(void **state) {
    const char *dir = *state;
    export_script(dir);
    char *questions = load(dir, "questions.sql"), *expected = load(dir, "expected.csv");
    assert_non_null(questions);
    char *text = answers(questions);
    if (getenv("XS_GOLDEN_UPDATE")) {
        char path[1024];
        snprintf(path, sizeof path, "%s/expected.csv", dir);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fputs(text, out);
        fclose(out);
    } else if (!expected) {
        fail_msg("%s/expected.csv is missing", dir);
    } else if (strcmp(text, expected)) {
        first_difference(dir, text, expected);
    }
    free(text);
    free(expected);
    free(questions);
}

/* Each gives one row, 1, whatever the capture. */
static const char *const truths[] = {
    "SELECT count(*) = 0 FROM loss WHERE kept + lost != emitted",
    "SELECT (SELECT coalesce(sum(waits), 0) FROM wait_tally) = (SELECT count(*) FROM wait)",
    "SELECT (SELECT coalesce(sum(waits), 0) FROM wait_latency_histogram) = (SELECT count(*) FROM wait WHERE latency_ns "
    "NOT NULL)",
    "SELECT (SELECT coalesce(sum(waits), 0) FROM wait_latency) = (SELECT count(*) FROM wait WHERE latency_ns NOT NULL)",
    "SELECT (SELECT count(*) FROM open_waits) = (SELECT count(*) FROM wait WHERE end_ns IS NULL)",
    "SELECT (SELECT events FROM run) = (SELECT count(*) FROM event)",
    "SELECT coalesce(max(id), 0) = count(*) FROM event",
    "SELECT count(*) = 0 FROM (SELECT time_ns < lag(time_ns) OVER (ORDER BY id) AS fell FROM event) WHERE fell",
    "SELECT (SELECT count(*) FROM signals) = (SELECT count(*) FROM event WHERE kind IN (SELECT id FROM word WHERE "
    "class = 'event' AND "
    "name IN ('signal', 'watermark', 'arrive', 'gate_arrive')))",
    "SELECT (SELECT count(*) FROM arrivals) = (SELECT count(*) FROM events WHERE event IN ('arrive', 'gate_arrive'))",
    "SELECT (SELECT coalesce(sum(released), 0) FROM signal) = (SELECT count(*) FROM wait WHERE released_by_event NOT "
    "NULL)",
    "SELECT count(*) = 0 FROM wait WHERE released_by_event NOT NULL AND released_by_event NOT IN (SELECT id FROM "
    "signal)",
    "SELECT count(*) = 0 FROM wait WHERE reads_from_event NOT NULL AND reads_from_event NOT IN (SELECT id FROM signal)",
    "SELECT count(*) = 0 FROM waits WHERE slot IS NULL OR reads_from_reason IS NULL OR released_by_reason IS NULL",
    "SELECT count(*) = 0 FROM loss_gaps WHERE cause IS NULL OR lost < 1",
    "SELECT (SELECT coalesce(sum(lost), 0) FROM loss_gaps) = (SELECT lost FROM run)",
    "SELECT count(*) = (SELECT count(*) FROM ring) FROM loss",
    "SELECT count(*) > 0 FROM clock WHERE device = -1",
};

static int is_true(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int value = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return value == 1;
}

enum form { TEXT, JSON, HTML };

/* The case's report.txt, if it has one, stands in the text report as it is. */
static void check_said(const char *dir, const char *report) {
    char *said = load(dir, "report.txt");
    if (said && !strstr(report, said))
        fail_msg("%s/report.txt is not in the report:\n%s", dir, report);
    free(said);
}

static void check_report(const char *dir, enum form form) {
    xsv_report_options how = {.size = sizeof how, .json = form == JSON, .unicode = 1, .html = form == HTML};
    char *text = NULL, *error = NULL;
    const char *where;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (xsv_report(database, &how, out, &error))
        fail_msg("report: %s", error);
    fclose(out);
    if (form == HTML && page_is_broken(text, &where))
        fail_msg("the page is broken: %.80s", where);
    if (form == TEXT)
        check_said(dir, text);
    free(text);
}

static void check_agrees(void **state) {
    sqlite3 *db;
    export_script(*state);
    assert_int_equal(sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++)
        if (!is_true(db, truths[i]))
            fail_msg("%s: not true: %s", (const char *)*state, truths[i]);
    sqlite3_close(db);
    for (uint32_t form = TEXT; form <= HTML; form++)
        check_report(*state, form);
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.' && entry->d_type == DT_DIR; }

static int add_folder(const char *root, CMUnitTestFunction check, struct CMUnitTest *tests, int count, int room) {
    struct dirent **list = NULL;
    int n = scandir(root, &list, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (count < room && asprintf(&path, "%s/%s", root, list[i]->d_name) >= 0)
            tests[count++] = (struct CMUnitTest){strrchr(path, '/') + 1, check, NULL, NULL, path};
        free(list[i]);
    }
    free(list);
    return count;
}

int main(void) {
    static struct CMUnitTest tests[400];
    if (!mkdtemp(folder))
        return 1;
    snprintf(capture, sizeof capture, "%s/run.xs", folder);
    snprintf(database, sizeof database, "%s/run.db", folder);
    int cases = add_folder(GOLDEN_SQLITE, check_case, tests, 0, 200);
    int all = add_folder(GOLDEN_SQLITE, check_agrees, tests, cases, 300);
    all = add_folder(GOLDEN_READ, check_agrees, tests, all, 400);
    int failed = cases < 4 || all < 20 ? 1 : _cmocka_run_group_tests("sqlite golden", tests, (size_t)all, NULL, NULL);
    for (int i = 0; i < all; i++)
        free(tests[i].initial_state);
    unlink(capture);
    unlink(database);
    rmdir(folder);
    return failed;
}
