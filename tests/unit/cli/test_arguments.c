/* What is typed wrong is told in one line, with the option and what it takes, and nothing is made of it. */
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

/* popt took an empty text for 0. */
static void numbers_that_are_none_are_refused_by_every_option(void **state) {
    (void)state;
    static const char *const options[][2] = {{"report run --rows", "--rows"}, {"hang run --rows", "--rows"}, {"top --frames 1 --delay", "--delay"},
                                             {"top --frames", "--frames"}, {"record --max-seconds", "--max-seconds"},
                                             {"record --max-bytes", "--max-bytes"}, {"record --preallocate", "--preallocate"}};
    static const char *const texts[] = {"", "-1", "1e99", "99999999999999999999999999", "7x", "0x10", "+5", "."};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            char line[160], words[80];
            snprintf(line, sizeof line, "%s=%s%s", options[o][0], texts[t], strncmp(options[o][0], "record", 6) ? "" : " -- true");
            snprintf(words, sizeof words, "xs: %s=", options[o][1]);
            expect_failure(line, 64, words);
        }
    expect_failure("record -o small --max-bytes=1 -- true", 64, "a capture needs a bound of at least 262144 bytes");
    assert_int_equal(access("run.db", F_OK), -1);
}

/* They became ..xs, dir.xs and .xs, which no listing shows. */
static void folders_are_no_names(void **state) {
    (void)state;
    assert_int_equal(mkdir("folder", 0755), 0);
    static const char *const names[] = {"''", ".", "..", "/", "folder/.", "folder/.."};
    static const char *const commands[] = {"record -o %s -- true", "export run -o %s", "export %s", "report %s", "check %s", "query %s run"};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            char line[100];
            snprintf(line, sizeof line, commands[c], names[n]);
            expect_failure(line, 64, "is not the name of a run");
        }
    assert_int_equal(access("..xs", F_OK), -1);
    assert_int_equal(rmdir("folder"), 0);
}

/* What is said to be typed next can be typed. */
static void next_commands_are_quoted(void **state) {
    (void)state;
    static const char *const names[][2] = {{"plain", "report plain\n"}, {"'a b'", "report 'a b'\n"}, {"'it''s'", "report 'it'\\''s'\n"},
                                           {"'$x'", "report '$x'\n"}, {"-dash", "report ./-dash\n"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[600];
        snprintf(line, sizeof line, "record -o %s -- " BARRIER " --rounds 1", names[i][0]);
        outcome o = run_xs(line);
        assert_int_equal(o.code, 0);
        if (!strstr(o.err, names[i][1]))
            fail_msg("no '%s' in: %s", names[i][1], o.err);
        outcome_free(&o);
    }
}

static void expect_size(const char *path, off_t size) {
    struct stat st;
    if (size < 0) {
        assert_int_equal(access(path, F_OK), -1);
    } else {
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, size);
    }
}

/* It left run.xs with nothing in it. */
static void a_record_that_could_not_start_emptied_the_capture(void **state) {
    (void)state;
    struct stat st;
    make_capture("kept.xs", 3);
    assert_int_equal(stat("kept.xs", &st), 0);
    static const char *const fail[][2] = {{"--preallocate=1000T -- true", "no space for"}, {"-- ./no-such-command", "cannot run ./no-such-command"},
                                          {"--max-bytes=1M -- ./no-such-command", "cannot run"}, {"-- ./kept.xs", "cannot run ./kept.xs"}};
    static const int codes[] = {74, 127, 127, 126};
    for (size_t i = 0; i < sizeof fail / sizeof *fail; i++) {
        char line[120];
        snprintf(line, sizeof line, "record -o kept %s", fail[i][0]);
        expect_failure(line, codes[i], fail[i][1]);
        expect_size("kept.xs", st.st_size);
        expect_size("kept.xs.new", -1);
        snprintf(line, sizeof line, "record -o none %s", fail[i][0]);
        expect_failure(line, codes[i], fail[i][1]);
        expect_size("none.xs", -1);
    }
}

/* It exported the capture that the other was writing. */
static void a_second_recorder_exported_the_first_ones_capture(void **state) {
    (void)state;
    outcome o = run_xs("record -o two -- " XS_PROGRAM " record -o two -- " BARRIER " --rounds 1");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.err, "this run is two.2.xs"));
    assert_non_null(strstr(o.err, "report two.2\n"));
    outcome_free(&o);
    assert_int_equal(access("two.2.db", F_OK) || access("two.2.perfetto", F_OK) || access("two.xs", F_OK), 0);
    assert_int_equal(access("two.db", F_OK), -1);
}

/* Three quarters of the records "were lost", without a word of the bound that was asked for. */
static void what_a_bound_let_go_was_called_lost(void **state) {
    (void)state;
    outcome o = run_xs("record -o bound --max-bytes=256K -- " BARRIER " --scheduler sim --rounds 2000");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = run_xs("report bound");
    assert_non_null(strstr(o.out, "records were lost ("));
    assert_non_null(strstr(o.out, "): the bound of the capture let them go."));
    assert_non_null(strstr(o.out, " in 1 gap (bounded)"));
    outcome_free(&o);
}

/* "1571326 records of 1 process", of which 135315 were kept. */
static void records_that_were_let_go_were_said_to_be_there(void **state) {
    (void)state;
    unsigned long long kept, put;
    outcome o = run_xs("record -o few --max-bytes=256K -- " BARRIER " --scheduler sim --rounds 2000");
    assert_int_equal(o.code, 0);
    const char *said = strstr(o.err, "few.xs: ");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "few.xs: %llu of %llu records of 1 process are kept, the newest", &kept, &put), 2);
    outcome_free(&o);
    o = run_xs("query few --csv 'select emitted - lost, emitted from run'");
    unsigned long long there = 0, emitted = 0;
    const char *row = strchr(o.out, '\n');
    assert_non_null(row);
    assert_int_equal(sscanf(row, " %llu,%llu", &there, &emitted), 2);
    assert_true(there > 0 && there < emitted);
    assert_int_equal(kept, there);
    assert_int_equal(put, emitted);
    outcome_free(&o);
}

/* "export -o folder/" made folder.db beside the folder. */
static void a_folder_to_write_into_was_taken_for_a_name(void **state) {
    (void)state;
    make_capture("in.xs", 3);
    assert_int_equal(mkdir("into", 0755), 0);
    expect_failure("export in -o into/", 64, "'into/' is not the name of a run");
    expect_failure("record -o into/ -- true", 64, "'into/' is not the name of a run");
    assert_int_equal(access("into.db", F_OK) && access("into.xs", F_OK), 1);
    outcome o = run_xs("export in.xs -o into/in.xs/"); /* as a shell completes the folder of a bounded capture */
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    assert_int_equal(access("into/in.db", F_OK), 0);
}

/* Arguments behind the last one that counts were passed over in silence. */
static void what_nobody_asks_for_was_passed_over(void **state) {
    (void)state;
    expect_failure("version 2", 64, "version takes no argument");
    expect_failure("doctor 2", 64, "doctor takes no argument");
    expect_failure("help report check", 64, "help with one command at a time");
    expect_failure("query run wait extra", 64, "one question at a time");
}

/* A database and a trace of the run before stood beside a new capture, and nobody said so. */
static void the_trace_of_an_earlier_run_was_left_without_a_word(void **state) {
    (void)state;
    outcome o = run_xs("record -o again -- " BARRIER " --rounds 1");
    assert_int_equal(o.code, 0);
    assert_null(strstr(o.err, "earlier"));
    outcome_free(&o);
    static const char *const lines[] = {"record -o again -- true", "record -o again --no-export -- " BARRIER " --rounds 1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        o = run_xs(lines[i]);
        assert_int_equal(o.code, 0);
        assert_non_null(strstr(o.err, "xs: of an earlier run: again.db, again.perfetto; "));
        outcome_free(&o);
    }
    o = run_xs("record -o never_before -- true");
    assert_null(strstr(o.err, "earlier"));
    outcome_free(&o);
}

/* It took the place of the first one's own database, and the report did not tell. */
static void several_captures_became_the_first_in_silence(void **state) {
    (void)state;
    make_capture("first.xs", 3);
    make_capture_from("second.xs", 2, 3);
    outcome o = run_xs("export first second");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.err, "xs: first: 2 captures in one"));
    outcome_free(&o);
    o = run_xs("report first");
    assert_non_null(strstr(o.out, "  captures   first.xs, second.xs, read as one\n"));
    outcome_free(&o);
    o = run_xs("export first second -o both");
    assert_string_equal(o.err, "");
    outcome_free(&o);
}

/* A cut-off capture was "clean", and that was all. */
static void a_capture_that_was_cut_off_was_clean_and_no_more(void **state) {
    (void)state;
    struct stat st;
    outcome o = run_xs("record -o whole -- " BARRIER " --ranks 2 --rounds 50");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = run_xs("check whole");
    assert_null(strstr(o.out, "pid "));
    outcome_free(&o);
    assert_int_equal(stat("whole.xs", &st), 0);
    assert_int_equal(truncate("whole.xs", st.st_size / 2), 0);
    o = run_xs("check whole");
    assert_non_null(strstr(o.out, "ranks 0 to 1 (pid "));
    assert_non_null(strstr(o.out, ") have no end in the capture: killed with their writer, or still running"));
    outcome_free(&o);
    o = run_xs("check --json whole");
    assert_non_null(strstr(o.out, "\"processes\": ["));
    outcome_free(&o);
}

/* It asked for the commands of a trace that --windows does not write. */
static void the_link_of_windows_was_not_found(void **state) {
    (void)state;
    make_capture("wide.xs", 30);
    outcome o = run_xs("export wide --windows --link --perfetto");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "wide.overview.perfetto and 1 window: open the overview first\nhttps://ui.perfetto.dev/"));
    outcome_free(&o);
}

/* Names of files are bytes; JSON is UTF-8, and strict readers refused it. */
static void a_command_that_is_no_text_broke_json(void **state) {
    (void)state;
    assert_int_equal(system("cp " BARRIER " \"$(printf 'b\\377\\303\\274r')\""), 0);
    outcome o = run_xs("record -o bytes -- ./b\xff\xc3\xbcr --rounds 1");
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    static const char *const asked[] = {"report bytes --json", "report bytes --html", "check bytes --json", "hang bytes --json",
                                        "query bytes --json 'select command from process'"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        o = run_xs(asked[i]);
        assert_int_equal(o.code, 0);
        if (strchr(o.out, '\xff') || !strstr(o.out, "./b\xef\xbf\xbd\xc3\xbcr"))
            fail_msg("%s: %s", asked[i], o.out);
        outcome_free(&o);
    }
}

static int times(const char *text, const char *words) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        n++;
    return n;
}

/* `xs report run run.xs` said everything twice, and export merged a run with itself. */
static void one_run_named_twice_was_told_twice(void **state) {
    (void)state;
    make_capture("other.xs", 3);
    assert_int_equal(symlink("run.xs", "link.xs"), 0);
    static const char *const same[] = {"run run", "run run.xs", "run.db run", "./run run", "run link"};
    static const char *const commands[] = {"report", "check", "hang", "export -q"};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        char line[100];
        snprintf(line, sizeof line, "%s run", commands[c]);
        outcome once = run_xs(line);
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            snprintf(line, sizeof line, "%s %s", commands[c], same[i]);
            outcome twice = run_xs(line);
            assert_int_equal(twice.code, once.code);
            assert_string_equal(twice.err, once.err);
            assert_int_equal(count_lines(twice.out), count_lines(once.out));
            outcome_free(&twice);
        }
        outcome_free(&once);
    }
    outcome o = run_xs("report --json run run.xs"); /* one run at a time: it is one */
    assert_int_equal(o.code, 0);
    outcome_free(&o);
    o = run_xs("check run other.xs run"); /* those that differ are all told */
    assert_int_equal(times(o.out, "\nother.xs\n"), 1);
    assert_int_equal(times(o.out, "\nrun\n"), 0);
    outcome_free(&o);
    unlink("link.xs");
}

static int setup(void **state) {
    (void)state;
    enter_folder();
    make_capture("run.xs", 3);
    return 0;
}
static int teardown(void **state) {
    (void)state;
    leave_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_that_are_none_are_refused_by_every_option), cmocka_unit_test(folders_are_no_names),
                                       cmocka_unit_test(next_commands_are_quoted), cmocka_unit_test(one_run_named_twice_was_told_twice),
                                       cmocka_unit_test(a_record_that_could_not_start_emptied_the_capture),
                                       cmocka_unit_test(a_second_recorder_exported_the_first_ones_capture), cmocka_unit_test(what_a_bound_let_go_was_called_lost), cmocka_unit_test(records_that_were_let_go_were_said_to_be_there), cmocka_unit_test(the_link_of_windows_was_not_found), cmocka_unit_test(a_command_that_is_no_text_broke_json),
                                       cmocka_unit_test(a_folder_to_write_into_was_taken_for_a_name), cmocka_unit_test(what_nobody_asks_for_was_passed_over),
                                       cmocka_unit_test(the_trace_of_an_earlier_run_was_left_without_a_word),
                                       cmocka_unit_test(several_captures_became_the_first_in_silence), cmocka_unit_test(a_capture_that_was_cut_off_was_clean_and_no_more)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
