/* docs/sql.md against a database: sections and columns are the same in both, and its example questions have answers. */
#include "fake_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/xs_doc_XXXXXX.db";
static sqlite3 *db;
static char *doc;

static char *read_file(const char *name) {
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 1000);
    fclose(f);
    return text;
}

/* No detector ran over this run, and the question about findings wants an answer. */
static void add_verdicts(void) {
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO finding(id, detector, severity, verdict) VALUES (1, 'stall', 'note', 'late');"
                                  "INSERT INTO blame_path VALUES (1000, 3000, 0, 0, 0); INSERT INTO blame_sum VALUES (1, 0, 1, 0, NULL, 2000);"
                                  "INSERT INTO blame_slot VALUES (1, 1, 0, 2000, 0, 0, 1); INSERT INTO blame_rank VALUES (0, 1.5);"
                                  "INSERT INTO starvation_case(id, pad, rank, waits) VALUES (1, 1, 0, 3)",
                                  NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int setup(void **state) {
    (void)state;
    close(mkstemps(path, 3));
    fake_run *run = fake_run_make(500, 3);
    assert_int_equal(fake_run_export(run, path), 0);
    fake_run_free(run);
    add_verdicts();
    doc = read_file(DOC);
    return sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
}

static int teardown(void **state) {
    (void)state;
    sqlite3_close(db);
    unlink(path);
    free(doc);
    return 0;
}

/* Text of the section "### name", up to the next heading; to be freed. */
static char *section(const char *name) {
    char heading[80];
    snprintf(heading, sizeof heading, "\n### %s\n", name);
    char *at = strstr(doc, heading);
    if (!at)
        return NULL;
    at += strlen(heading);
    char *end = strstr(at, "\n#");
    return strndup(at, end ? (size_t)(end - at) : strlen(at));
}

static sqlite3_stmt *query(const char *sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return s;
}

static void test_every_column_is_described(void **state) {
    (void)state;
    int columns = 0;
    sqlite3_stmt *s = query("SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type IN "
                            "('table', 'view')");
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *object = (const char *)sqlite3_column_text(s, 0), *column = (const char *)sqlite3_column_text(s, 1);
        char word[64], *text = section(object);
        snprintf(word, sizeof word, "`%s`", column);
        if (!text)
            fail_msg("docs/sql.md has no section %s", object);
        if (!strstr(text, word))
            fail_msg("docs/sql.md, section %s, does not name %s", object, column);
        free(text);
        columns++;
    }
    sqlite3_finalize(s);
    assert_true(columns > 300);
}

static void test_every_section_exists(void **state) {
    (void)state;
    int sections = 0;
    for (char *at = doc; (at = strstr(at, "\n### ")); sections++) {
        char name[64] = "";
        at += 5;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", name);
        sqlite3_finalize(query(sql));
    }
    assert_true(sections >= 40);
}

static void test_questions_have_answers(void **state) {
    (void)state;
    int questions = 0;
    for (char *at = doc; (at = strstr(at, "```sql\n")); questions++) {
        at += 7;
        char *sql = strndup(at, (size_t)(strstr(at, "```") - at));
        sqlite3_stmt *s = query(sql);
        if (sqlite3_step(s) != SQLITE_ROW)
            fail_msg("no answer: %s", sql);
        sqlite3_finalize(s);
        free(sql);
    }
    assert_int_equal(questions, 15);
}

/* The words that numbers stand for are those of the headers. */
static void test_words(void **state) {
    (void)state;
    sqlite3_stmt *s = query("SELECT class, count(*), count(DISTINCT name) FROM word GROUP BY class");
    int events = 0, reasons = 0;
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *class = (const char *)sqlite3_column_text(s, 0);
        assert_int_equal(sqlite3_column_int(s, 1), sqlite3_column_int(s, 2));
        events = strcmp(class, "event") ? events : sqlite3_column_int(s, 1);
        reasons = strcmp(class, "reason") ? reasons : sqlite3_column_int(s, 1);
    }
    sqlite3_finalize(s);
    assert_int_equal(events, XS_EV_COUNT - 1);
    assert_int_equal(reasons, XSR_REASON_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_column_is_described),
                                       cmocka_unit_test(test_every_section_exists),
                                       cmocka_unit_test(test_questions_have_answers), cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
