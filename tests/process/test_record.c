/* The recorder and the in-process collector with a real application: ends in every way that an application may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xs/errors.h>

#include "frames.h"
#include "recorder.h"

#define BEGIN_RECORDS 3u /* of a writer, before its marks */
#define END_RECORDS 2u
#define BLOCKS 2u
#define RINGS_PER_RANK 64u

static char folder[64], counters_path[128], capture[128];
static uint64_t counters[64];

static void new_run(void) {
    unlink(counters_path);
    memset(counters, 0, sizeof counters);
}

static void read_counters(void) {
    int fd = open(counters_path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, counters, sizeof counters), sizeof counters);
    close(fd);
}

static void read_frames(frames *f, const char *path) {
    memset(f, 0, sizeof *f);
    f->any_value = 1;
    assert_int_equal(frames_read(f, path), 0);
    if (f->wrong)
        fail_msg("%s", f->what);
}

static void sleep_ms(unsigned ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* Sum over the rings of one rank, in which its blocks' writers may have sat anywhere. */
static uint64_t reached(const frames *f, uint32_t rank, uint32_t *writers) {
    uint64_t sum = 0;
    *writers = 0;
    for (uint32_t i = 0; i < RINGS_PER_RANK; i++) {
        const ring_account *ring = &f->rings[rank * RINGS_PER_RANK + i];
        if (!ring->next)
            continue;
        assert_int_equal(ring->kept + ring->lost, ring->next - 1);
        sum += ring->next - 1;
        ++*writers;
    }
    return sum;
}

static uint64_t kept(const frames *f) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sizeof f->rings / sizeof f->rings[0]; i++)
        sum += f->rings[i].kept;
    return sum;
}

static void record(const xs_recorder_options *options, xs_recorder_result *result, const char *records, const char *pace,
                   const char *end) {
    char *const argv[] = {APP, counters_path, (char *)records, (char *)pace, (char *)end, NULL};
    new_run();
    assert_int_equal(xs_recorder_run(options, argv, result), 0);
    read_counters();
}

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
    assert_int_equal(xs_recorder_run(&options, argv, &result), 0);
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

static int folders_in(const char *base) {
    int found = 0;
    DIR *d = opendir(base);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        found += e->d_name[0] != '.';
    closedir(d);
    return found;
}

static pid_t start_recorder(const char *records, const char *pace, const char *end) {
    new_run();
    pid_t pid = fork();
    if (pid == 0) {
        xs_recorder_options options = {.capture = capture};
        xs_recorder_result result;
        char *const argv[] = {APP, counters_path, (char *)records, (char *)pace, (char *)end, NULL};
        int rc = xs_recorder_run(&options, argv, &result);
        _exit(rc ? 99 : result.exit_status);
    }
    return pid;
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
static void wait_for_records_in(const char *path) {
    frames f;
    do {
        memset(&f, 0, sizeof f);
        f.any_value = 1;
        sleep_ms(2);
    } while (frames_read(&f, path) || !kept(&f));
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
    char path[160];
    snprintf(path, sizeof path, "%s.xs", capture);
    srand(8);
    for (int i = 0; i < 8; i++) {
        frames f;
        uint32_t writers;
        int status;
        unlink(path);
        pid_t pid = start_recorder("60000", "3000", "told");
        wait_for_records_in(path);
        sleep_ms((unsigned)(rand() % 60));
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        tell_application_to_end(); /* it goes on, and to its end */
        assert_int_equal(counters[0], 60000);
        read_frames(&f, path);
        assert_int_equal(f.counts[XS_FRAME_END], 0);
        assert_int_equal(f.counts[XS_FRAME_PROCESS], 1);
        assert_true(reached(&f, 0, &writers) > 0);
    }
}

/* What a killed recorder leaves behind, its folder with a socket, goes when the next one starts; that of one that is alive,
 * and what is no recorder's, stay. */
static void folders_of_killed_recorders_go(void **unused) {
    (void)unused;
    char base[96], path[160], before[96];
    const char *tmpdir = getenv("TMPDIR");
    int status;
    snprintf(before, sizeof before, "%s", tmpdir);
    snprintf(base, sizeof base, "%s/sockets", folder);
    assert_int_equal(mkdir(base, 0700), 0);
    setenv("TMPDIR", base, 1);
    snprintf(path, sizeof path, "%s.xs", capture);
    unlink(path);
    pid_t killed = start_recorder("60000", "3000", "told");
    wait_for_records_in(path);
    kill(killed, SIGKILL);
    waitpid(killed, &status, 0);
    tell_application_to_end();
    assert_int_equal(folders_in(base), 1);
    snprintf(path, sizeof path, "%s/xs-nobody", base);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s.xs", capture);
    unlink(path);
    pid_t alive = start_recorder("60000", "3000", "told");
    wait_for_records_in(path);
    assert_int_equal(folders_in(base), 2); /* its own, and the foreign one */
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const nothing[] = {"true", NULL};
    assert_int_equal(xs_recorder_run(&options, nothing, &result), 0); /* a second one, while the other is alive */
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
    pid_t pid = fork();
    if (pid == 0) {
        xs_recorder_options options = {.capture = capture};
        xs_recorder_result result;
        char *const argv[] = {"sh", "-c", command, NULL};
        int rc = xs_recorder_run(&options, argv, &result);
        _exit(rc ? 99 : result.exit_status);
    }
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
    char path[160];
    frames f;
    uint32_t writers;
    int status;
    snprintf(path, sizeof path, "%s.xs", capture);
    setenv("XS_SCHEDULER", *scheduler, 1);
    pid_t pid = start_stopped_recorder(sim ? "30000" : "3000", "end");
    unsetenv("XS_SCHEDULER");
    wait_for_begin_of_application();
    sleep_ms(sim ? 3000 : 50); /* longer than anybody waits for an answer on threads */
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    read_frames(&f, path);
    assert_int_equal(reached(&f, 0, &writers), BLOCKS * ((sim ? 30000 : 3000) + BEGIN_RECORDS + END_RECORDS));
    assert_true(f.end.clean);
    assert_true(!sim || kept(&f) == BLOCKS * (30000 + BEGIN_RECORDS + END_RECORDS));
}

/* The application has given up waiting for an answer and never reads it: its last words are heard all the same. */
static void an_answer_that_comes_too_late_costs_nothing(void **unused) {
    (void)unused;
    char path[160];
    frames f;
    int status;
    snprintf(path, sizeof path, "%s.xs", capture);
    unlink(path);
    pid_t pid = start_stopped_recorder("3000", "told");
    wait_for_begin_of_application();
    kill(pid, SIGCONT);
    wait_for_records_in(path); /* it has answered */
    stop_recorder(pid);
    tell_application_to_end();
    sleep_ms(50);
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    read_frames(&f, path);
    assert_true(f.end.clean);
}

static void interrupt_closes_in_order(void **unused) {
    (void)unused;
    char path[160];
    frames f;
    int status;
    snprintf(path, sizeof path, "%s.xs", capture);
    pid_t pid = start_recorder("1000000000", "3000", "end");
    wait_for_begin_of_application();
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
    read_frames(&f, path);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_false(f.end.clean);
}

/* Runs the application alone; its exit status. */
static int alone(const char *records, const char *pace, const char *end) {
    int status;
    new_run();
    pid_t pid = fork();
    if (pid == 0) {
        execl(APP, APP, counters_path, records, pace, end, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    read_counters();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void in_process(void **unused) {
    (void)unused;
    char path[160];
    frames f;
    uint32_t writers;
    snprintf(path, sizeof path, "%s.xs", capture);
    setenv("XS_CAPTURE", capture, 1);
    static const char *const ends[] = {"end", "exit", "fork"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(alone("5000", "1000", ends[i]), 0);
        read_frames(&f, path);
        assert_int_equal(reached(&f, 0, &writers), BLOCKS * (5000 + BEGIN_RECORDS + END_RECORDS));
        assert_int_equal(f.end.clean, strcmp(ends[i], "exit") != 0);
        assert_int_equal(f.counts[XS_FRAME_END], 1);
        assert_int_equal(f.cut, 0);
    }
    unlink(path);
    char end[192];
    snprintf(end, sizeof end, "captured:%s", path);
    assert_int_equal(alone("1000000000", "3000", end), 128 + SIGKILL);
    read_frames(&f, path);
    assert_true(reached(&f, 0, &writers) > 2 * 100); /* what was there before it was killed */
    unsetenv("XS_CAPTURE");
}

static void recorder_that_is_gone(void **unused) {
    (void)unused;
    char path[160];
    frames f;
    snprintf(path, sizeof path, "%s.xs", capture);
    setenv("XS_RECORD", "/nonexistent/socket", 1);
    unlink(path);
    assert_int_equal(alone("100", "0", "end"), 0); /* no capture is configured: it simply runs */
    assert_int_equal(access(path, F_OK), -1);
    setenv("XS_CAPTURE", capture, 1);
    assert_int_equal(alone("100", "0", "end"), 0);
    read_frames(&f, path);
    assert_non_null(strstr(f.note, "/nonexistent/socket"));
    unsetenv("XS_CAPTURE");
    unsetenv("XS_RECORD");
}

static void triggers(void **unused) {
    (void)unused;
    frames f;
    xs_recorder_options options = {.capture = capture, .on_trigger = 1};
    xs_recorder_result result;
    char path[160], end[192];
    snprintf(path, sizeof path, "%s.xs", capture);
    snprintf(end, sizeof end, "give-up:%s", path);
    unlink(path);
    record(&options, &result, "1000", "0", end);
    read_frames(&f, result.path);
    assert_true(f.counts[XS_FRAME_TRIGGER] >= 2); /* the wait that gave up, then the end of the process */
    uint32_t writers;
    assert_true(reached(&f, 0, &writers) > 2000);
    setenv("XS_CAPTURE", capture, 1);
    setenv("XS_CAPTURE_WHEN", "trigger", 1);
    unlink(path);
    assert_int_equal(alone("1000", "0", end), 128 + SIGKILL);
    read_frames(&f, path);
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
    char path[160], end[192];
    snprintf(path, sizeof path, "%s.xs", capture);
    for (int i = 0; i < 2; i++) {
        frames f = {.any_value = 1};
        uint32_t writers;
        char texts[256] = "";
        xs_recorder_options options = {.capture = capture, .on_trigger = 1};
        xs_recorder_result result;
        snprintf(end, sizeof end, "%s:%s", by[i], path);
        unlink(path);
        record(&options, &result, "1000", "0", end);
        f.each = keep_triggers;
        f.user = texts;
        assert_int_equal(frames_read(&f, path), 0);
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
    char path[160];
    size_t sizes[2];
    void *bytes[2];
    snprintf(path, sizeof path, "%s.xs", capture);
    setenv("XS_SCHEDULER", "sim", 1);
    setenv("XS_CAPTURE", capture, 1);
    setenv("XS_PLACEMENT", placement, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(alone("30000", "100", "end"), 0);
        bytes[i] = slurp(path, &sizes[i]);
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
    assert_int_equal(xs_recorder_run(&options, none, &result), XS_E_ARGUMENT);
    assert_int_equal(xs_recorder_run(&options, missing, &result), XS_E_SYSTEM);
    assert_int_equal(result.exit_status, 127);
    options.capture = "/nonexistent/folder/run";
    assert_int_equal(xs_recorder_run(&options, missing, &result), XS_E_SYSTEM);
    options.capture = "";
    assert_int_equal(xs_recorder_run(&options, missing, &result), XS_E_ARGUMENT);
}

/* A plain command is run, waited for, and its status returned. */
static void plain_commands(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const seven[] = {"sh", "-c", "exit 7", NULL}, *const killed[] = {"sh", "-c", "kill -TERM $$", NULL};
    char *const background[] = {"sh", "-c", "sleep 60 > /dev/null 2>&1 & exit 0", NULL};
    assert_int_equal(xs_recorder_run(&options, seven, &result), 0);
    assert_int_equal(result.exit_status, 7);
    assert_int_equal(xs_recorder_run(&options, killed, &result), 0);
    assert_int_equal(result.exit_status, 128 + SIGTERM);
    time_t begin = time(NULL);
    assert_int_equal(xs_recorder_run(&options, background, &result), 0);
    assert_true(time(NULL) - begin < 50);
    assert_int_equal(result.processes, 0);
}

int main(void) {
    /* In memory: a disk that others keep busy makes the recorder lose what these tests count on. */
    snprintf(folder, sizeof folder, "%s/xs-record-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        return 1;
    unsetenv("XDG_RUNTIME_DIR"); /* sockets of killed recorders stay: where this test cleans up */
    setenv("TMPDIR", folder, 1);
    snprintf(counters_path, sizeof counters_path, "%s/counters", folder);
    snprintf(capture, sizeof capture, "%s/run", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_run_is_whole),
        cmocka_unit_test(records_of_a_short_run_are_counted),
        cmocka_unit_test(killed_application),
        cmocka_unit_test(killed_application_whose_socket_closed_long_before),
        cmocka_unit_test(killed_with_records_in_device_memory),
        cmocka_unit_test(open_waits_of_a_killed_hang_are_told),
        cmocka_unit_test(one_of_two_is_killed),
        cmocka_unit_test(killed_recorder),
        cmocka_unit_test(folders_of_killed_recorders_go),
        cmocka_unit_test_prestate(slow_recorder, "threads"),
        cmocka_unit_test_prestate(slow_recorder, "sim"),
        cmocka_unit_test(an_answer_that_comes_too_late_costs_nothing),
        cmocka_unit_test(interrupt_closes_in_order),
        cmocka_unit_test(in_process),
        cmocka_unit_test(recorder_that_is_gone),
        cmocka_unit_test(triggers),
        cmocka_unit_test(aborts_are_triggers_for_the_recorder),
        cmocka_unit_test(sim_is_recorded_whole),
        cmocka_unit_test_prestate(same_seed_same_bytes, "mapped"),
        cmocka_unit_test_prestate(same_seed_same_bytes, "device"),
        cmocka_unit_test(bad_commands),
        cmocka_unit_test(plain_commands),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}
