/* What the report says of runs that went wrong, and the command where nothing may be written or somebody looks on. */
#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state) {
    (void)state;
    unsetenv("XS_RECORD");
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    enter_folder();
    make_capture("run.xs", 50);
    make_dead_capture("dead.xs");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leave_folder();
    return 0;
}

static void expect_text(const outcome *o, const char *words) {
    if (!strstr(o->out, words))
        fail_msg("'%s' is not said; but: %s%s", words, o->out, o->err);
}

static int lines_before(const char *text, const char *words) {
    int n = 0;
    for (const char *end = strstr(text, words); text < end; text++)
        n += *text == '\n';
    return n;
}

static void test_ends_in_words(void **state) {
    (void)state;
    outcome o = run_xs("report dead");
    assert_int_equal(o.code, 0);
    expect_text(&o, "rank 1 (pid ");
    expect_text(&o, ") was killed by signal 9 (SIGKILL); its last records may be missing, uncounted\n");
    expect_text(&o, ") exited with status 3 without ending its world\n");
    expect_text(&o, ") left without ending its world\n");
    expect_text(&o, ") was still running when the capture ended\n");
    expect_text(&o, "the first to fall silent: rank 1, ");
    expect_text(&o, "0 of 4 processes in order");
    expect_text(&o, "its process died");
    assert_in_range(lines_before(o.out, "wait never ended"), 8, 8); /* the finding (two lines), its cure, four processes, who was first */
    assert_true(widest_line(o.out) <= 100);
    assert_null(strstr(o.out, "0x89"));
    char first[160]; /* xs check said "-21.5 min before the end" */
    snprintf(first, sizeof first, "%.*s", (int)strcspn(strstr(o.out, "the first to"), "\n") + 1, strstr(o.out, "the first to"));
    outcome_free(&o);
    o = run_xs("check dead");
    expect_text(&o, first);
    outcome_free(&o);
    o = run_xs("query --csv dead 'select first_rank, how, signal, status from process_ends'");
    assert_string_equal(o.out,
                        "first_rank,how,signal,status\r\n0,running,,\r\n1,killed,9,\r\n2,exited,,3\r\n3,left,,0\r\n");
    outcome_free(&o);
}

/* A launcher took the status of its child: then it is not known. */
static void test_unknown_end(void **state) {
    (void)state;
    make_gone_capture("gone.xs");
    outcome o = run_xs("report gone");
    expect_text(&o, ") was killed or left (not known); its last records may be missing, uncounted\n");
    assert_true(widest_line(o.out) <= 100);
    outcome_free(&o);
}

/* The dead ones' own waits are not the hang: rank 0 is alive, and waits for the one that was killed. */
static void test_who_owes(void **state) {
    (void)state;
    outcome o = run_xs("report dead");
    expect_text(&o, "1 wait never ended.\n  rank 0 waits for rank 1 (killed): 1 wait, the oldest for ");
    expect_text(&o, "the oldest: rank 0 waits for rank 1 on done[src=1], has 1, needs 2\n");
    expect_text(&o, "in the end: rank 0 -> rank 1 (killed): it cannot signal any more\n");
    outcome_free(&o);
    o = run_xs("report run");
    expect_text(&o, "rank 1 -> rank 0, which waits for no other rank: look there\n");
    outcome_free(&o);
}

static void test_readonly_folder(void **state) {
    (void)state;
    char before[4096];
    assert_int_equal(mkdir("closed", 0755), 0);
    make_capture("closed/run.xs", 30);
    assert_int_equal(chmod("closed/run.xs", 0444), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    assert_int_equal(chmod(".", 0755), 0);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(mkdir("tmp", 0777), 0);
    assert_int_equal(chmod("tmp", 0777), 0);
    strcat(before, "/tmp");
    setenv("TMPDIR", before, 1);
    outcome o = run_xs_as_nobody("query --csv closed/run 'select waits from run'");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "waits\r\n30\r\n");
    assert_non_null(strstr(o.err, "a temporary database is made"));
    assert_int_equal(count_lines(o.err), 1);
    outcome_free(&o);
    o = run_xs_as_nobody("report closed/run");
    assert_int_equal(o.code, 0);
    expect_text(&o, "1 wait never ended.");
    outcome_free(&o);
    assert_int_equal(access("closed/run.db", F_OK), -1);
    assert_int_equal(rmdir("tmp"), 0); /* nothing is left there */
    unsetenv("TMPDIR");
    o = run_xs_as_nobody("export closed/run");
    assert_int_equal(o.code, 73); /* who asks for files is told that there are none */
    assert_string_equal(o.err, "xs: closed/run.db: Permission denied\n"); /* it was: No such file or directory */
    outcome_free(&o);
}

static void test_several_captures(void **state) {
    (void)state;
    make_capture_from("rest.xs", 4, 50);
    outcome o = run_xs("export rest.xs dead -o both");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "both.db\nboth.perfetto\n");
    outcome_free(&o);
    o = run_xs("query --csv both 'select value from meta where key = \"captures\"'");
    assert_string_equal(o.out, "value\r\n\"rest.xs, dead.xs\"\r\n");
    outcome_free(&o);
    /* processes that recorded themselves leave a capture each; who asks for the whole is told how to get it */
    make_capture_from("solo.rank0.xs", 4, 10);
    expect_failure("report solo", 66, "xs export solo.rank*.xs -o solo");
    expect_failure("export solo", 66, "xs export solo.rank*.xs -o solo");
    o = run_xs("export solo.rank0.xs dead.xs -o solo --sqlite");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = run_xs("query --csv solo 'select waits from run'");
    assert_string_equal(o.out, "waits\r\n13\r\n");
    outcome_free(&o);
}

/* What `xs` prints where all three streams are a terminal. */
static char *on_terminal(int columns, const char *arguments, int *code) {
    char command[512];
    snprintf(command, sizeof command, "script -qec 'stty cols %d; %s %s' terminal.txt > /dev/null < /dev/null", columns, XS_PROGRAM,
             arguments);
    *code = system(command) >> 8;
    FILE *f = fopen("terminal.txt", "r");
    char *text = calloc(1, 1 << 20);
    assert_true(f && text && fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void test_terminal(void **state) {
    (void)state;
    int code;
    make_capture("long.xs", 30000);
    char *text = on_terminal(100, "export --sqlite long", &code);
    assert_int_equal(code, 0);
    assert_non_null(strstr(text, "\rxs: exporting "));
    assert_non_null(strstr(text, "%"));
    free(text);
    text = on_terminal(100, "report run", &code);
    assert_int_equal(code, 0);
    assert_non_null(strstr(text, "\033[1m"));
    free(text);
    setenv("NO_COLOR", "1", 1);
    text = on_terminal(100, "report run", &code);
    unsetenv("NO_COLOR");
    assert_null(strstr(text, "\033["));
    free(text);
    outcome o = run_xs("export --sqlite long");
    assert_null(strstr(o.err, "exporting"));
    outcome_free(&o);
}

/* Sentences of 100 columns were broken again by a terminal of 80, in the middle of words. */
static void test_narrow_terminal(void **state) {
    (void)state;
    int code, sentences = 0;
    setenv("NO_COLOR", "1", 1);
    char *text = on_terminal(48, "check dead", &code);
    unsetenv("NO_COLOR");
    assert_int_equal(code, 1);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\r\n");
        if (strncmp(line, "    ", 4)) /* what a finding says begins its line with so many */
            continue;
        sentences++;
        if (length > 48)
            fail_msg("%d columns: %.*s", (int)length, (int)length, line);
    }
    assert_true(sentences > 4);
    free(text);
}

static void test_doctor(void **state) {
    (void)state;
    setenv("XS_RANKS", "4", 1); /* of a launcher: doctor must not wait for three others */
    setenv("XS_RANK", "1", 1);
    outcome o = run_xs("doctor");
    assert_int_equal(o.code, 0);
    expect_text(&o, "CUDA backend");
    expect_text(&o, "/dev/shm");
    expect_text(&o, "locked memory");
    if (strstr(o.out, "none: kernels run on the host backend") && !strstr(o.out, "used: no CUDA driver on this machine\n"))
        fail_msg("%s", o.out); /* "CUPTI_ERROR_UNKNOWN" */
    outcome_free(&o);
    o = run_xs("doctor --json");
    assert_true(is_json(o.out));
    expect_text(&o, "\"cuda_backend\": ");
    expect_text(&o, "\"memlock_bytes\": ");
    outcome_free(&o);
    unsetenv("XS_RANKS");
    unsetenv("XS_RANK");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends_in_words),  cmocka_unit_test(test_who_owes),
                                       cmocka_unit_test(test_unknown_end), cmocka_unit_test(test_narrow_terminal),
                                       cmocka_unit_test(test_readonly_folder), cmocka_unit_test(test_several_captures),
                                       cmocka_unit_test(test_terminal),        cmocka_unit_test(test_doctor)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
