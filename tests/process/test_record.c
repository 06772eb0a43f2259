/* An application that is recorded to its end, by the recorder or by itself; triggers; commands that are no application. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/errors.h>

#include "runs.h"

static void clean_run_is_whole(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    frames f;
    record(&options, &result, "20000", "0", "end");
    assert_int_equal(result.exit_status, 0);
    assert_int_equal(result.processes, 1);
    assert_int_equal(result.unclean, 0);
    assert_int_equal(counters[63], 1);
    read_frames(&f, result.path);
    uint32_t writers;
    assert_int_equal(reached(&f, 0, &writers), BLOCKS * (20000 + BEGIN_RECORDS + END_RECORDS));
    assert_int_equal(result.records, kept(&f));
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_true(f.end.clean);
    assert_true(f.counts[XS_FRAME_PROCESS] == 1 && f.counts[XS_FRAME_PAD] >= 2 && f.counts[XS_FRAME_NAME] >= 3);
    assert_int_equal(f.cut, 0);
}

/* A run may be over before the recorder looks at its rings for the first time: its end takes them all. */
static void records_of_a_short_run_are_counted(void **unused) {
    (void)unused;
    for (int on_trigger = 0; on_trigger < 2; on_trigger++) {
        xs_recorder_options options = {.capture = capture, .on_trigger = on_trigger};
        xs_recorder_result result;
        record(&options, &result, "10", "0", "end");
        assert_int_equal(result.records, BLOCKS * (10 + BEGIN_RECORDS + END_RECORDS));
    }
}

/* By itself: "exit" does not destroy its world; of "fork" a child exits first, which must neither hang nor end the capture. */
static void in_process(void **end) {
    frames f;
    uint32_t writers;
    setenv("XS_CAPTURE", capture, 1);
    assert_int_equal(alone("5000", "1000", *end), 0);
    unsetenv("XS_CAPTURE");
    read_frames(&f, capture_path);
    assert_int_equal(reached(&f, 0, &writers), BLOCKS * (5000 + BEGIN_RECORDS + END_RECORDS));
    assert_int_equal(f.end.clean, strcmp(*end, "exit") != 0);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_int_equal(f.cut, 0);
}

/* exit() does not wait until its writers are through: they never are. */
static void in_process_exit_while_writers_write(void **unused) {
    (void)unused;
    frames f;
    uint32_t writers;
    setenv("XS_CAPTURE", capture, 1);
    assert_int_equal(alone("1000000000", "0", "leaves"), 0);
    unsetenv("XS_CAPTURE");
    read_frames(&f, capture_path);
    assert_true(reached(&f, 0, &writers) >= 2 * 100);
    assert_true(f.end.tail_unknown);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
}

static void in_process_and_killed(void **unused) {
    (void)unused;
    char end[192];
    frames f;
    uint32_t writers;
    unlink(capture_path);
    snprintf(end, sizeof end, "captured:%s", capture_path);
    setenv("XS_CAPTURE", capture, 1);
    assert_int_equal(alone("1000000000", "3000", end), 128 + SIGKILL);
    unsetenv("XS_CAPTURE");
    read_frames(&f, capture_path);
    assert_true(reached(&f, 0, &writers) > 2 * 100); /* what was there before it was killed */
}

static void recorder_that_is_gone(void **unused) {
    (void)unused;
    frames f;
    setenv("XS_RECORD", "/nonexistent/socket", 1);
    unlink(capture_path);
    assert_int_equal(alone("100", "0", "end"), 0); /* no capture is configured: it simply runs */
    assert_int_equal(access(capture_path, F_OK), -1);
    setenv("XS_CAPTURE", capture, 1);
    assert_int_equal(alone("100", "0", "end"), 0);
    read_frames(&f, capture_path);
    assert_non_null(strstr(f.note, "/nonexistent/socket"));
    unsetenv("XS_CAPTURE");
    unsetenv("XS_RECORD");
}

static void triggers(void **unused) {
    (void)unused;
    frames f;
    xs_recorder_options options = {.capture = capture, .on_trigger = 1};
    xs_recorder_result result;
    char end[192];
    snprintf(end, sizeof end, "give-up:%s", capture_path);
    unlink(capture_path);
    record(&options, &result, "1000", "0", end);
    read_frames(&f, result.path);
    assert_true(f.counts[XS_FRAME_TRIGGER] >= 2); /* the wait that gave up, then the end of the process */
    uint32_t writers;
    assert_true(reached(&f, 0, &writers) > 2000);
    setenv("XS_CAPTURE", capture, 1);
    setenv("XS_CAPTURE_WHEN", "trigger", 1);
    unlink(capture_path);
    assert_int_equal(alone("1000", "0", end), 128 + SIGKILL);
    read_frames(&f, capture_path);
    assert_string_equal(f.trigger, "a wait gave up");
    assert_true(reached(&f, 0, &writers) > 2000);
    unsetenv("XS_CAPTURE");
    unsetenv("XS_CAPTURE_WHEN");
}

/* Of each trigger, in order. */
static void keep_triggers(void *texts, const xs_frame *frame, const void *payload) {
    size_t have = strlen(texts);
    if (frame->type == XS_FRAME_TRIGGER)
        snprintf((char *)texts + have, 256 - have, "%s;", (const char *)payload);
}

/* Nothing waits, so no wait gives up: the recorder has to see the abort itself. */
static void aborts_are_triggers_for_the_recorder(void **unused) {
    (void)unused;
    static const char *const by[] = {"abort", "fail"};
    char end[192];
    for (int i = 0; i < 2; i++) {
        frames f = {.any_value = 1};
        uint32_t writers;
        char texts[256] = "";
        xs_recorder_options options = {.capture = capture, .on_trigger = 1};
        xs_recorder_result result;
        snprintf(end, sizeof end, "%s:%s", by[i], capture_path);
        unlink(capture_path);
        record(&options, &result, "1000", "0", end);
        f.each = keep_triggers;
        f.user = texts;
        assert_int_equal(frames_read(&f, capture_path), 0);
        assert_string_equal(texts, "the world was aborted;the process ended;");
        /* The host aborts when all are through; the first block that does so itself may stop the others in mid-way. */
        assert_true(reached(&f, 0, &writers) >= (i ? 1 : BLOCKS) * 1000);
        assert_int_equal(f.end.abort_reason, i ? -XS_E_SYSTEM : -XS_E_ABORTED); /* though it was killed */
    }
}

static void sim_is_recorded_whole(void **unused) {
    (void)unused;
    frames f;
    uint32_t writers;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    setenv("XS_SCHEDULER", "sim", 1);
    record(&options, &result, "30000", "100", "end");
    unsetenv("XS_SCHEDULER");
    assert_int_equal(result.exit_status, 0);
    read_frames(&f, result.path);
    assert_int_equal(reached(&f, 0, &writers), BLOCKS * (30000 + BEGIN_RECORDS + END_RECORDS));
    for (uint32_t i = 0; i < FRAMES_RINGS; i++)
        assert_int_equal(f.rings[i].lost, 0);
}

static void *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(64u << 20);
    *size = fread(bytes, 1, 64u << 20, file);
    fclose(file);
    return bytes;
}

static void same_seed_same_bytes(void **state) {
    const char *placement = *state;
    size_t sizes[2];
    void *bytes[2];
    setenv("XS_SCHEDULER", "sim", 1);
    setenv("XS_CAPTURE", capture, 1);
    setenv("XS_PLACEMENT", placement, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(alone("30000", "100", "end"), 0);
        bytes[i] = slurp(capture_path, &sizes[i]);
    }
    unsetenv("XS_SCHEDULER");
    unsetenv("XS_CAPTURE");
    unsetenv("XS_PLACEMENT");
    assert_true(sizes[0] > 60000 * 16);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void bad_commands(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const none[] = {NULL}, *const missing[] = {"/nonexistent/command", NULL};
    assert_int_equal(run_recorder(&options, none, &result), XS_E_ARGUMENT);
    assert_int_equal(run_recorder(&options, missing, &result), XS_E_SYSTEM);
    assert_int_equal(result.exit_status, 127);
    options.capture = "/nonexistent/folder/run";
    assert_int_equal(run_recorder(&options, missing, &result), XS_E_SYSTEM);
    options.capture = "";
    assert_int_equal(run_recorder(&options, missing, &result), XS_E_ARGUMENT);
}

/* A plain command is run, waited for, and its status returned. */
static void plain_commands(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const seven[] = {"sh", "-c", "exit 7", NULL}, *const killed[] = {"sh", "-c", "kill -TERM $$", NULL};
    char *const background[] = {"sh", "-c", "sleep 60 > /dev/null 2>&1 & exit 0", NULL};
    assert_int_equal(run_recorder(&options, seven, &result), 0);
    assert_int_equal(result.exit_status, 7);
    assert_int_equal(run_recorder(&options, killed, &result), 0);
    assert_int_equal(result.exit_status, 128 + SIGTERM);
    time_t begin = time(NULL);
    assert_int_equal(run_recorder(&options, background, &result), 0);
    assert_true(time(NULL) - begin < 50);
    assert_int_equal(result.processes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_run_is_whole),
        cmocka_unit_test(records_of_a_short_run_are_counted),
        TEST_OF(in_process, "end"),
        TEST_OF(in_process, "exit"),
        TEST_OF(in_process, "fork"),
        cmocka_unit_test(in_process_exit_while_writers_write),
        cmocka_unit_test(in_process_and_killed),
        cmocka_unit_test(recorder_that_is_gone),
        cmocka_unit_test(triggers),
        cmocka_unit_test(aborts_are_triggers_for_the_recorder),
        cmocka_unit_test(sim_is_recorded_whole),
        TEST_OF(same_seed_same_bytes, "mapped"),
        TEST_OF(same_seed_same_bytes, "device"),
        cmocka_unit_test(bad_commands),
        cmocka_unit_test(plain_commands),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
