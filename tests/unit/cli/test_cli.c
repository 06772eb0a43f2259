/* The xs command as its users meet it: exit codes, one clear line, files that are whole or absent. */
#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xs/frame.h>

static int setup(void **state) {
    (void)state;
    unsetenv("XS_RECORD");
    setenv("LC_ALL", "C.UTF-8", 1);
    enter_folder();
    make_capture("run.xs", 50);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leave_folder();
    return 0;
}

static void expect_output(const char *arguments, const char *words) {
    outcome o = run_xs(arguments);
    if (o.code || !strstr(o.out, words))
        fail_msg("xs %s: exit code %d, said: %s%s(wanted '%s')", arguments, o.code, o.out, o.err, words);
    outcome_free(&o);
}

static void execute(const char *path, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void set_time(const char *path, time_t when) {
    const struct timespec times[2] = {{when, 0}, {when, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void set_age(const char *path, int seconds) { set_time(path, time(NULL) - seconds); }

static void test_usage(void **state) {
    (void)state;
    static const char *const wrong[] = {"nonsense",
                                        "report",
                                        "report --nonsense run",
                                        "report --rows",
                                        "report --rows=-1 run",
                                        "report --rows=x run",
                                        "report --json run other",
                                        "report --html run other",
                                        "report --html --json run",
                                        "query",
                                        "query run 'select 1' 'select 2'",
                                        "query --csv --json run",
                                        "export",
                                        "export --nonsense run",
                                        "export --sqlite --windows run",
                                        "export --perfetto --timing run",
                                        "record",
                                        "record --",
                                        "record --nonsense -- true",
                                        "record --max-bytes 12Q -- true",
                                        "record --max-bytes -5 -- true",
                                        "record --max-seconds -1 -- true",
                                        "doctor run",
                                        "doctor --nonsense",
                                        "help nonsense",
                                        "version --nonsense",
                                        "query run 'selec 1'",
                                        "query run 'select 1; select 2'",
                                        "query run 'delete from wait'",
                                        "query run nonsense",
                                        "query run ''",
                                        "query run 'attach database \"x\" as y'",
                                        "query run 'pragma user_version = 3'"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_failure(wrong[i], 64, "xs: ");
    outcome o = run_xs("");
    assert_int_equal(o.code, 64);
    assert_non_null(strstr(o.err, "usage: xs COMMAND"));
    assert_string_equal(o.out, "");
    outcome_free(&o);
    assert_int_equal(access("x", F_OK), -1);
}

static void test_missing_input(void **state) {
    (void)state;
    expect_failure("hang no-such-run", 66, "xs: no-such-run: it is no process, and there is neither no-such-run.xs nor no-such-run");
    expect_failure("record -o /no/such/run -- true", 73, "xs: cannot write /no/such/run.xs: ");
    expect_failure("report nowhere", 66, "nowhere.xs");
    expect_failure("query nowhere run", 66, "nowhere.db");
    expect_failure("export nowhere", 66, "nowhere.xs");
    expect_failure("export run nowhere -o both", 66, "nowhere.xs");
    assert_int_equal(access("both.db", F_OK), -1);
}

static void test_foreign_input(void **state) {
    (void)state;
    static const char junk[4096] = "this is no capture, though it is long enough to be one";
    write_file("junk.xs", junk, sizeof junk);
    write_file("empty.xs", junk, 0);
    write_file("other.db", junk, sizeof junk);
    expect_failure("report junk", 66, "junk.xs");
    expect_failure("export --sqlite junk", 66, "junk.xs");
    expect_failure("report empty", 66, "empty.xs");
    expect_failure("report other", 66, "other.db");
    expect_failure("query other 'select 1'", 66, "other.db");
    assert_int_equal(access("junk.db", F_OK), -1);
    assert_int_equal(access("junk.db.tmp", F_OK), -1);
}

/* The FILE frame says a version that does not exist yet. */
static void test_newer_capture(void **state) {
    (void)state;
    static char bytes[1 << 20];
    FILE *f = fopen("run.xs", "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    xs_frame *frame = (xs_frame *)bytes;
    ((xs_frame_file *)(bytes + frame->header_bytes))->version = XS_CAPTURE_VERSION + 1;
    xs_frame_seal(frame, bytes + frame->header_bytes, frame->payload_bytes);
    write_file("newer.xs", bytes, size);
    expect_failure("report newer", 66, "newer");
}

static void test_database_follows_the_capture(void **state) {
    (void)state;
    make_capture("follow.xs", 10);
    set_age("follow.xs", 100);
    expect_output("query --csv follow 'select waits from run'", "10");
    make_capture("follow.xs", 20); /* newer than the database */
    expect_output("query --csv follow.db 'select waits from run'", "20");
    make_capture("follow.xs", 30); /* as new as the database, for a clock of files that stood still */
    set_time("follow.xs", 1000000000);
    set_time("follow.db", 1000000000);
    expect_output("query --csv follow 'select waits from run'", "30");
    make_capture("follow.xs", 20);
    execute("follow.db", "UPDATE meta SET value = '999' WHERE key = 'schema_version'");
    expect_output("query --csv follow.xs 'select waits from run'", "20");
    execute("follow.db", "DELETE FROM meta WHERE key = 'complete'");
    expect_output("query --csv follow.perfetto 'select waits from run'", "20");
    /* without its capture a database is used as it is, if it can be */
    assert_int_equal(unlink("follow.xs"), 0);
    expect_output("query --csv follow 'select waits from run'", "20");
    execute("follow.db", "UPDATE meta SET value = '999' WHERE key = 'schema_version'");
    expect_failure("report follow", 66, "another version");
}

static void test_cannot_create(void **state) {
    (void)state;
    expect_failure("export --sqlite run -o nowhere/run", 73, "nowhere/run.db");
    expect_failure("record -o nowhere/run -- true", 73, "nowhere/run.xs");
    assert_int_equal(mkdir("taken.db", 0755), 0); /* a folder has the name */
    assert_int_equal(close(open("taken.db/file", O_CREAT | O_WRONLY, 0644)), 0);
    expect_failure("export --sqlite run -o taken", 73, "taken.db");
    assert_int_equal(access("taken.db.tmp", F_OK), -1);
}

static void test_full_disk(void **state) {
    (void)state;
    make_capture("big.xs", 20000);
    outcome o = run_xs_bounded("export --sqlite big", 1 << 20);
    assert_int_equal(o.code, 74);
    assert_int_equal(count_lines(o.err), 1);
    assert_non_null(strstr(o.err, "big.db"));
    outcome_free(&o);
    assert_int_equal(access("big.db", F_OK), -1);
    assert_int_equal(access("big.db.tmp", F_OK), -1);
    expect_output("export --sqlite big --timing", "rows/s");
    char command[256];
    snprintf(command, sizeof command, "%s report run > /dev/full 2> full.err", XS_PROGRAM);
    assert_int_equal(system(command) >> 8, 74);
    snprintf(command, sizeof command, "%s query big waits > /dev/full 2> full.err", XS_PROGRAM);
    assert_int_equal(system(command) >> 8, 74);
}

/* Where NAME.db cannot be written an answer comes all the same, and one line says from where. */
static void test_answers_without_a_place_for_the_database(void **state) {
    (void)state;
    make_capture("elsewhere.xs", 20);
    assert_int_equal(mkdir("elsewhere.db", 0755), 0); /* a folder has the name */
    assert_int_equal(close(open("elsewhere.db/file", O_CREAT | O_WRONLY, 0644)), 0);
    outcome o = run_xs("query --csv elsewhere 'select waits from run'");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "waits\r\n20\r\n");
    assert_int_equal(count_lines(o.err), 1);
    assert_non_null(strstr(o.err, "elsewhere.db cannot be written"));
    assert_non_null(strstr(o.err, "a temporary database is made for this answer"));
    outcome_free(&o);
    setenv("TMPDIR", "nowhere", 1); /* then in memory */
    o = run_xs("report elsewhere");
    assert_int_equal(o.code, 0);
    assert_int_equal(count_lines(o.err), 1);
    outcome_free(&o);
    unsetenv("TMPDIR");
    make_capture("large.xs", 20000);
    o = run_xs_bounded("report large", 1 << 20); /* no file anywhere may become that large */
    assert_int_equal(o.code, 74);
    assert_int_equal(count_lines(o.err), 1);
    assert_non_null(strstr(o.err, "large.db cannot be written (File too large), nor a temporary database in /tmp or /dev/shm"));
    outcome_free(&o);
    assert_int_equal(access("large.db.tmp", F_OK), -1);
}

static void test_answers_on_a_full_disk(void **state) {
    (void)state;
    assert_int_equal(mkdir("disk", 0755), 0);
    if (mount("xs-test", "disk", "tmpfs", 0, "size=1500k")) /* the capture fits, its database does not */
        skip();
    make_capture("disk/run.xs", 10000);
    outcome o = run_xs("export --sqlite disk/run");
    assert_int_equal(o.code, 74);
    outcome_free(&o);
    o = run_xs("query --csv disk/run 'select waits from run'");
    assert_int_equal(umount2("disk", MNT_DETACH), 0);
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "waits\r\n10000\r\n");
    assert_int_equal(count_lines(o.err), 1);
    assert_non_null(strstr(o.err, "disk/run.db cannot be written (No space left on device)"));
    outcome_free(&o);
}

/* A database that was there stays when a new export fails. */
static void test_failed_export_keeps_the_old(void **state) {
    (void)state;
    make_capture("keep.xs", 10);
    expect_output("export --sqlite keep", "keep.db");
    make_capture("keep.xs", 20000);
    outcome o = run_xs_bounded("export --sqlite keep", 1 << 20);
    assert_int_equal(o.code, 74);
    outcome_free(&o);
    assert_int_equal(unlink("keep.xs"), 0);
    expect_output("query --csv keep 'select waits from run'", "10");
}

static void test_json(void **state) {
    (void)state;
    static const char *const asked[] = {"report --json run", "query --json run waits", "doctor --json",
                                        "query --json run",
                                        "query --json run 'select 1 as \"a\"\"\\b\", null, 1.5, x''00ff'''"};
    for (size_t i = 0; i < 4; i++) {
        outcome o = run_xs(asked[i]);
        assert_int_equal(o.code, 0);
        if (!is_json(o.out))
            fail_msg("xs %s: not JSON: %s", asked[i], o.out);
        outcome_free(&o);
    }
}

/* The address that is printed last opens the viewer with the start-up commands of the trace. */
static void test_link(void **state) {
    (void)state;
    outcome o = run_xs("export -q --link run");
    assert_int_equal(o.code, 0);
    assert_int_equal(fnmatch("https://ui.perfetto.dev/#!/[?]startupCommands=%5B%7B%22id%22*%5D\n", o.out, 0), 0);
    outcome_free(&o);
    expect_failure("export --sqlite --link run", 64, "--link is for Perfetto traces");
}

static void test_query_forms(void **state) {
    (void)state;
    expect_failure("query run no_such_view", 64, "no view or table no_such_view; xs query NAME lists the views");
    expect_output("query run", "wait_latency_histogram");
    expect_output("query run wait_latency", "p50_ns");
    expect_output("query --csv run 'select 1 as a, null as b, \"x,y\"\"z\" as c from (select 1)'", "a,b,c");
    outcome o = run_xs("query --csv run 'select slot, latency_ns from waits where open'");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "slot,latency_ns\r\n\"done[src=0,chunk=0]\",\r\n");
    outcome_free(&o);
    expect_output("query run 'select count(*) from waits -- a comment'", "50");
}

static void test_report(void **state) {
    (void)state;
    outcome o = run_xs("report run");
    assert_int_equal(o.code, 0);
    assert_true(!strncmp(o.out, "ERROR: rank 1 ", 14)); /* what the detectors say comes first */
    assert_non_null(strstr(o.out, "\n1 wait never ended."));
    assert_non_null(strstr(o.out, "rank 1 waits for rank 0 on done[src=0,chunk=0]"));
    assert_non_null(strstr(o.out, "rank 0         290 ns"));
    assert_non_null(strstr(o.out, "█"));
    assert_null(strstr(o.out, "\033"));
    assert_true(widest_line(o.out) <= 100);
    outcome_free(&o);
    setenv("LC_ALL", "C", 1);
    o = run_xs("report run.xs");
    setenv("LC_ALL", "C.UTF-8", 1);
    for (const char *c = o.out; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    outcome_free(&o);
    expect_output("report -n 3 run", "Slowest waits");
}

/* 1: an error; the text names the finding first. --quiet says nothing; the codes of bad usage and input are as everywhere. */
static void test_check(void **state) {
    (void)state;
    outcome o = run_xs("check run");
    assert_int_equal(o.code, 1);
    assert_true(!strncmp(o.out, "  error lost-supplier: rank 1 ", 30));
    assert_non_null(strstr(o.out, "cure "));
    assert_non_null(strstr(o.out, "errors were found: 1 error,"));
    assert_true(widest_line(o.out) <= 100);
    outcome_free(&o);
    o = run_xs("check -q run");
    assert_int_equal(o.code, 1);
    assert_string_equal(o.out, "");
    outcome_free(&o);
    o = run_xs("check --all run");
    assert_non_null(strstr(o.out, "cannot know: "));
    outcome_free(&o);
    o = run_xs("check --json run");
    assert_int_equal(o.code, 1);
    assert_true(is_json(o.out));
    outcome_free(&o);
    o = run_xs("check");
    assert_int_equal(o.code, 64);
    outcome_free(&o);
    o = run_xs("check nothing-here");
    assert_int_equal(o.code, 66);
    outcome_free(&o);
}

/* Of findings of low confidence the first of a detector's is told in full, the others are counted; --all tells each. */
static void test_doubted_findings_are_told_once(void **state) {
    (void)state;
    expect_output("export -q --sqlite -o doubted run", "");
    execute("doubted.db", "INSERT INTO finding(id, key, detector, severity, confidence, rank, slot, verdict, cure) "
                          "WITH n(i) AS (VALUES (1), (2), (3)) SELECT 100 + i, 'k' || i, 'stall', 'warning', 'low', i, 0, 'late ' || i, 'hurry' FROM n "
                          "UNION ALL SELECT 110 + i, 'm' || i, 'stall', 'warning', 'medium', i, 0, 'sure ' || i, 'hurry' FROM n "
                          "UNION ALL SELECT 120 + i, 'e' || i, 'stall', 'error', 'low', i, 0, 'wrong ' || i, 'hurry' FROM n");
    static const char *const asked[] = {"check doubted.db", "report doubted.db", "check --all doubted.db"};
    for (int i = 0; i < 3; i++) {
        outcome o = run_xs(asked[i]);
        assert_non_null(strstr(o.out, "warning stall: late 1"));
        assert_int_equal(strstr(o.out, "late 2") != NULL, i == 2);
        assert_int_equal(strstr(o.out, "and 2 more such of stall, low confidence too: xs check --all\n") != NULL, i < 2);
        for (int k = 1; k <= 3; k++) {
            char sure[16], wrong[16];
            snprintf(sure, sizeof sure, "sure %d", k), snprintf(wrong, sizeof wrong, "wrong %d", k);
            assert_true(strstr(o.out, sure) && strstr(o.out, wrong));
        }
        outcome_free(&o);
    }
}

/* Numbers in the report are those of the database. */
static void test_report_agrees(void **state) {
    (void)state;
    outcome numbers = run_xs("query --csv run 'select p50_ns, p90_ns, p99_ns, max_ns from wait_latency'"),
            o = run_xs("report run");
    char *row = strchr(numbers.out, '\n') + 1;
    for (char *value = strtok(row, ",\r\n"); value; value = strtok(NULL, ",\r\n")) {
        char words[32];
        snprintf(words, sizeof words, " %s ns", value);
        if (!strstr(o.out, words))
            fail_msg("the report does not say %s", words);
    }
    outcome_free(&numbers);
    outcome_free(&o);
}

static void test_merge(void **state) {
    (void)state;
    expect_output("export --sqlite run.xs -o copy", "copy.db");
    expect_output("query --csv copy 'select waits from run'", "50");
    outcome o = run_xs("export --sqlite -q run -o copy");
    assert_string_equal(o.out, "");
    assert_string_equal(o.err, "");
    outcome_free(&o);
}

static void expect_code(const char *arguments, int code, const char *words) {
    outcome o = run_xs(arguments);
    if (o.code != code || (words && !strstr(o.err, words)))
        fail_msg("xs %s: exit code %d, wanted %d; said: %s", arguments, o.code, code, o.err);
    outcome_free(&o);
}

static void test_record(void **state) {
    (void)state;
    expect_code("record -o r -- true", 0, "no traced process was seen");
    expect_code("record -o r -- false", 1, NULL);
    expect_code("record -o r -- sh -c 'exit 7'", 7, NULL);
    expect_code("record -o r -- sh -c 'kill -9 $$'", 137, NULL);
    expect_code("record -o r -- ./no-such-program", 127, "no-such-program");
    expect_code("record -o r sh -c 'exit 64'", 64, NULL);
    expect_code("record -o r --max-bytes 64M --max-seconds 5 --trigger --no-export -- true", 0, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_usage),
                                       cmocka_unit_test(test_missing_input),
                                       cmocka_unit_test(test_foreign_input),
                                       cmocka_unit_test(test_newer_capture),
                                       cmocka_unit_test(test_database_follows_the_capture),
                                       cmocka_unit_test(test_cannot_create),
                                       cmocka_unit_test(test_full_disk),
                                       cmocka_unit_test(test_answers_without_a_place_for_the_database),
                                       cmocka_unit_test(test_answers_on_a_full_disk),
                                       cmocka_unit_test(test_failed_export_keeps_the_old),
                                       cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_query_forms),
                                       cmocka_unit_test(test_report),
                                       cmocka_unit_test(test_check), cmocka_unit_test(test_link), cmocka_unit_test(test_doubted_findings_are_told_once), cmocka_unit_test(test_report_agrees),
                                       cmocka_unit_test(test_merge),
                                       cmocka_unit_test(test_record)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
