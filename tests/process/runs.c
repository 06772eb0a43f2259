#include "runs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char folder[64], counters_path[128], capture[128], capture_path[160];
uint64_t counters[64];

/* In memory: a disk that others keep busy makes the recorder lose what these tests count on. */
int open_folder(void **unused) {
    (void)unused;
    snprintf(folder, sizeof folder, "%s/xs-record-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        return -1;
    unsetenv("XDG_RUNTIME_DIR"); /* sockets of killed recorders stay: where this test cleans up */
    setenv("TMPDIR", folder, 1);
    snprintf(counters_path, sizeof counters_path, "%s/counters", folder);
    snprintf(capture, sizeof capture, "%s/run", folder);
    snprintf(capture_path, sizeof capture_path, "%s.xs", capture);
    return 0;
}

int remove_folder(void **unused) {
    (void)unused;
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove);
}

void new_run(void) {
    unlink(counters_path);
    memset(counters, 0, sizeof counters);
}

void read_counters(void) {
    int fd = open(counters_path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, counters, sizeof counters), sizeof counters);
    close(fd);
}

void read_frames(frames *f, const char *path) {
    memset(f, 0, sizeof *f);
    f->any_value = 1;
    assert_int_equal(frames_read(f, path), 0);
    if (f->wrong)
        fail_msg("%s", f->what);
}

void sleep_ms(unsigned ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

uint64_t reached(const frames *f, uint32_t rank, uint32_t *writers) {
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

uint64_t kept(const frames *f) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sizeof f->rings / sizeof f->rings[0]; i++)
        sum += f->rings[i].kept;
    return sum;
}

int run_recorder(const xs_recorder_options *options, char *const argv[], xs_recorder_result *result) {
    int rc = xs_recorder_run(options, argv, result);
    xs_recorder_result_free(result);
    return rc;
}

void record(const xs_recorder_options *options, xs_recorder_result *result, const char *records, const char *pace,
                   const char *end) {
    char *const argv[] = {APP, counters_path, (char *)records, (char *)pace, (char *)end, NULL};
    new_run();
    assert_int_equal(run_recorder(options, argv, result), 0);
    read_counters();
}

int alone(const char *records, const char *pace, const char *end) {
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
