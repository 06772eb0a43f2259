/* Applications that are killed under the recorder: what they wrote is there, compared with counts that they kept elsewhere. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runs.h"

/* What a killed process wrote is there to the last record: compared with counts that it kept elsewhere. */
static void killed_application(void **unused) {
    (void)unused;
    srand(7);
    for (int i = 0; i < 12; i++) {
        char end[32];
        frames f;
        uint32_t writers;
        xs_recorder_options options = {.capture = capture};
        xs_recorder_result result;
        snprintf(end, sizeof end, "kill:%d", 20 + rand() % 150);
        record(&options, &result, "1000000000", i % 2 ? "0" : "3000", end);
        assert_int_equal(result.exit_status, 128 + SIGKILL);
        assert_int_equal(result.unclean, 1);
        read_frames(&f, result.path);
        uint64_t sum = reached(&f, 0, &writers);
        assert_int_equal(writers, BLOCKS);
        assert_int_equal(result.records, kept(&f));
        uint64_t counted = counters[0] + counters[1] + BLOCKS * BEGIN_RECORDS;
        assert_in_range(sum, counted, counted + BLOCKS); /* a mark may have been recorded and not yet counted */
        assert_false(f.end.clean);
        assert_true(f.end.tail_unknown);
        assert_int_equal(f.end.exit_status, 128 + SIGKILL);
        assert_int_equal(f.counts[XS_FRAME_END], 1);
    }
}

/* The socket of a process that ends closes before anybody can ask how it ended; on a busy machine that takes its time. */
static void killed_application_whose_socket_closed_long_before(void **unused) {
    (void)unused;
    frames f;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    record(&options, &result, "1000000000", "3000", "shuts:400");
    read_frames(&f, result.path);
    assert_int_equal(f.end.exit_status, 128 + SIGKILL);
    uint32_t writers;
    uint64_t counted = counters[0] + counters[1] + BLOCKS * BEGIN_RECORDS;
    assert_in_range(reached(&f, 0, &writers), counted, counted + BLOCKS);
}

/* Records in memory that died with the process: what was copied before is there, and of the rest at least what the writers
 * told with their open waits is counted. */
static void killed_with_records_in_device_memory(void **unused) {
    (void)unused;
    frames f;
    uint32_t writers;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    setenv("XS_PLACEMENT", "device", 1);
    record(&options, &result, "100", "0", "hang");
    unsetenv("XS_PLACEMENT");
    read_frames(&f, result.path);
    assert_true(reached(&f, 0, &writers) >= BLOCKS * (100 + BEGIN_RECORDS));
    assert_int_equal(writers, BLOCKS);
    for (uint32_t i = 0; i < RINGS_PER_RANK; i++)
        assert_int_equal(f.rings[i].lost, f.rings[i].lost_by[XS_LOSS_DEVICE]);
    assert_int_equal(f.open_waits, BLOCKS);
    assert_true(f.end.tail_unknown);
}

static void open_waits_of_a_killed_hang_are_told(void **unused) {
    (void)unused;
    frames f;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    record(&options, &result, "100", "0", "hang");
    read_frames(&f, result.path);
    assert_int_equal(f.open_waits, BLOCKS);
    assert_true(f.end.tail_unknown);
}

/* Two ranks in two processes; one is killed when both have made records, and both are in the capture. */
static void one_of_two_is_killed(void **unused) {
    (void)unused;
    char command[1024];
    frames f;
    uint32_t writers;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    snprintf(command, sizeof command,
             "export XS_RANKS=2 XS_WORLD=record-test-%d; XS_RANK=0 %s %s 30000 2000 end & XS_RANK=1 exec %s %s 1000000000 3000 kill:60",
             (int)getpid(), APP, counters_path, APP, counters_path);
    char *const argv[] = {"sh", "-c", command, NULL};
    new_run();
    assert_int_equal(run_recorder(&options, argv, &result), 0);
    assert_int_equal(result.processes, 2);
    assert_int_equal(result.unclean, 1);
    read_frames(&f, result.path);
    assert_int_equal(f.counts[XS_FRAME_PROCESS], 2);
    assert_int_equal(f.counts[XS_FRAME_PROCESS_END], 2);
    for (uint32_t process = 0; process < 2; process++) {
        assert_true(reached(&f, process, &writers) > 100);
        assert_int_equal(writers, BLOCKS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_application),
        cmocka_unit_test(killed_application_whose_socket_closed_long_before),
        cmocka_unit_test(killed_with_records_in_device_memory),
        cmocka_unit_test(open_waits_of_a_killed_hang_are_told),
        cmocka_unit_test(one_of_two_is_killed),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
