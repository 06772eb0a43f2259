/* Recorders that are killed, that do not run for a while, or are interrupted: the application goes on, and is recorded as far as it can be. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runs.h"

static int folders_in(const char *base) {
    int found = 0;
    DIR *d = opendir(base);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        found += e->d_name[0] != '.';
    closedir(d);
    return found;
}

static pid_t fork_recorder(char *const argv[]) {
    pid_t pid = fork();
    if (pid == 0) {
        xs_recorder_options options = {.capture = capture};
        xs_recorder_result result;
        int rc = run_recorder(&options, argv, &result);
        _exit(rc ? 99 : result.exit_status);
    }
    return pid;
}

static pid_t start_recorder(const char *records, const char *pace, const char *end) {
    char *const argv[] = {APP, counters_path, (char *)records, (char *)pace, (char *)end, NULL};
    new_run();
    return fork_recorder(argv);
}

/* Until it records: how long that takes depends on the machine. */
static void wait_for_begin_of_application(void) {
    for (;;) {
        int fd = open(counters_path, O_RDONLY);
        if (fd >= 0) {
            ssize_t n = read(fd, counters, sizeof counters);
            close(fd);
            if (n == (ssize_t)sizeof counters && counters[0] > 100)
                return;
        }
        sleep_ms(2);
    }
}

/* Until the capture, as far as it is written, holds records. */
static void wait_for_records(void) {
    frames f;
    do {
        memset(&f, 0, sizeof f);
        f.any_value = 1;
        sleep_ms(2);
    } while (frames_read(&f, capture_path) || !kept(&f));
}

static void tell_application_to_end(void) {
    uint64_t one = 1;
    int fd = open(counters_path, O_WRONLY);
    assert_int_equal(pwrite(fd, &one, sizeof one, 62 * sizeof one), sizeof one);
    close(fd);
    for (read_counters(); !counters[63]; read_counters())
        sleep_ms(10);
}

static void killed_recorder(void **unused) {
    (void)unused;
    srand(8);
    for (int i = 0; i < 8; i++) {
        frames f;
        uint32_t writers;
        int status;
        unlink(capture_path);
        pid_t pid = start_recorder("60000", "3000", "told");
        wait_for_records();
        sleep_ms((unsigned)(rand() % 60));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        tell_application_to_end(); /* it goes on, and to its end */
        assert_int_equal(counters[0], 60000);
        read_frames(&f, capture_path);
        assert_int_equal(f.counts[XS_FRAME_END], 0);
        assert_int_equal(f.counts[XS_FRAME_PROCESS], 1);
        assert_true(reached(&f, 0, &writers) > 0);
    }
}

/* What a killed recorder leaves behind, its folder with a socket, goes when the next one starts; that of one that is alive,
 * and what is no recorder's, stay. */
static void folders_of_killed_recorders_go(void **unused) {
    (void)unused;
    char base[96], nobody[128], before[96];
    const char *tmpdir = getenv("TMPDIR");
    int status;
    snprintf(before, sizeof before, "%s", tmpdir);
    snprintf(base, sizeof base, "%s/sockets", folder);
    assert_int_equal(mkdir(base, 0700), 0);
    setenv("TMPDIR", base, 1);
    unlink(capture_path);
    pid_t killed = start_recorder("60000", "3000", "told");
    wait_for_records();
    kill(killed, SIGKILL);
    waitpid(killed, &status, 0);
    tell_application_to_end();
    assert_int_equal(folders_in(base), 1);
    snprintf(nobody, sizeof nobody, "%s/xs-nobody", base);
    assert_int_equal(mkdir(nobody, 0700), 0);
    unlink(capture_path);
    pid_t alive = start_recorder("60000", "3000", "told");
    wait_for_records();
    assert_int_equal(folders_in(base), 2); /* its own, and the foreign one */
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const nothing[] = {"true", NULL};
    assert_int_equal(run_recorder(&options, nothing, &result), 0); /* a second one, while the other is alive */
    assert_int_equal(folders_in(base), 2);
    tell_application_to_end();
    waitpid(alive, &status, 0);
    assert_int_equal(folders_in(base), 1);
    setenv("TMPDIR", before, 1);
}

static void stop_recorder(pid_t pid) {
    int status;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
}

/* It does not run when its application starts. */
static pid_t start_stopped_recorder(const char *records, const char *end) {
    char marker[160], go[160], command[1024];
    snprintf(marker, sizeof marker, "%s/marker", folder);
    snprintf(go, sizeof go, "%s/go", folder);
    snprintf(command, sizeof command, "touch %s; until [ -e %s ]; do sleep 0.01; done; exec %s %s %s 100 %s", marker, go, APP,
             counters_path, records, end);
    new_run();
    unlink(marker);
    unlink(go);
    char *const argv[] = {"sh", "-c", command, NULL};
    pid_t pid = fork_recorder(argv);
    while (access(marker, F_OK))
        sleep_ms(2);
    stop_recorder(pid);
    close(open(go, O_CREAT | O_WRONLY, 0600));
    return pid;
}

/* A recorder that does not run for a while: the application waits, bounded, and is recorded all the same. On sim, which outruns
 * it, nothing is lost either. */
static void slow_recorder(void **scheduler) {
    int sim = !strcmp(*scheduler, "sim");
    frames f;
    uint32_t writers;
    int status;
    setenv("XS_SCHEDULER", *scheduler, 1);
    pid_t pid = start_stopped_recorder(sim ? "30000" : "3000", "end");
    unsetenv("XS_SCHEDULER");
    wait_for_begin_of_application();
    sleep_ms(sim ? 3000 : 50); /* longer than anybody waits for an answer on threads */
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    read_frames(&f, capture_path);
    assert_int_equal(reached(&f, 0, &writers), BLOCKS * ((sim ? 30000 : 3000) + BEGIN_RECORDS + END_RECORDS));
    assert_true(f.end.clean);
    assert_true(!sim || kept(&f) == BLOCKS * (30000 + BEGIN_RECORDS + END_RECORDS));
}

/* The application has given up waiting for an answer and never reads it: its last words are heard all the same. */
static void an_answer_that_comes_too_late_costs_nothing(void **unused) {
    (void)unused;
    frames f;
    int status;
    unlink(capture_path);
    pid_t pid = start_stopped_recorder("3000", "told");
    wait_for_begin_of_application();
    kill(pid, SIGCONT);
    wait_for_records(); /* it has answered */
    stop_recorder(pid);
    tell_application_to_end();
    sleep_ms(50);
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    read_frames(&f, capture_path);
    assert_true(f.end.clean);
}

static void interrupt_closes_in_order(void **unused) {
    (void)unused;
    frames f;
    int status;
    signal(SIGINT, SIG_DFL); /* whoever runs the test in the background may have it ignored */
    pid_t pid = start_recorder("1000000000", "3000", "end");
    wait_for_begin_of_application();
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
    read_frames(&f, capture_path);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_false(f.end.clean);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_recorder),
        cmocka_unit_test(folders_of_killed_recorders_go),
        TEST_OF(slow_recorder, "threads"),
        TEST_OF(slow_recorder, "sim"),
        cmocka_unit_test(an_answer_that_comes_too_late_costs_nothing),
        cmocka_unit_test(interrupt_closes_in_order),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
