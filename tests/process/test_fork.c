/* A process forks while its collector runs. What another thread holds at that moment, the allocator's lock first of all, nobody
 * gives back in the child: it must reach exec and exit without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xs/xs.h>

#include "forked_child.h"
#include "frames.h"
#include "recorder.h"

#ifdef __SANITIZE_THREAD__
#define FORKS 20 /* it sleeps for a second in each exit() */
#else
#define FORKS 200
#endif
#define ALLOCATES 99 /* exit status of a child that calls the allocator */
#define SECONDS 60u  /* a child that hangs is ended by SIGALRM */

static char folder[64], capture[128];

/* Linked with --wrap: calls of the library come here. */
static void not_in_a_child(void) {
    if (getpid() != parent_pid)
        _exit(ALLOCATES);
}
#define WRAP(type, name, parameters, arguments)                                                                        \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters {                                                                                    \
        not_in_a_child();                                                                                              \
        return __real_##name arguments;                                                                                \
    }
WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(int, setenv, (const char *name, const char *value, int replace), (name, value, replace))
void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory) {
    not_in_a_child();
    __real_free(memory);
}

static xs_world *new_world(void) {
    xs_config config = {.size = sizeof config, .version = 1};
    xs_world *world;
    assert_int_equal(xs_world_create(&config, &world), 0);
    return world;
}

/* Forks a child that exits at once; how it ended. */
static int child_that_exits(void) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS);
        exit(3);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_forked_child_waits_for_no_allocator(void **unused) {
    (void)unused;
    char path[160];
    static frames f;
    snprintf(path, sizeof path, "%s.xs", capture);
    xs_world *world = new_world();
    for (int i = 0; i < 3; i++)
        assert_int_equal(child_that_exits(), 3);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(frames_read(&f, path), 0); /* no child has ended the capture, or written into it */
    assert_false(f.wrong);
    assert_true(f.end.clean);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
}

/* The child's copies are freed only if it asks for that. */
static void a_forked_child_may_destroy_its_copy(void **unused) {
    (void)unused;
    int status;
    xs_world *world = new_world();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(SECONDS);
        parent_pid = getpid(); /* from here on it is the child's own affair */
        _exit(xs_world_destroy(world) == XS_E_FORKED ? 3 : 4);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Another thread of the process, until told to stop. */
static int stop;
static pthread_t start_other(void *(*run)(void *)) {
    pthread_t thread;
    stop = 0;
    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    return thread;
}

static void stop_other(pthread_t thread) {
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static void *make_worlds(void *unused) {
    (void)unused;
    xs_config config = {.size = sizeof config, .version = 1};
    xs_world *world;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        if (!xs_world_create(&config, &world))
            xs_world_destroy(world);
    return NULL;
}

/* The list of what exit() has to stop, and its lock, are as another thread has just left them. */
static void children_forked_while_worlds_come_and_go_exit(void **unused) {
    (void)unused;
    int right = 0;
    pthread_t thread = start_other(make_worlds);
    for (int i = 0; i < FORKS; i++)
        right += child_that_exits() == 3;
    stop_other(thread);
    assert_int_equal(right, FORKS);
}

static void a_recorder_with_threads_starts_its_command(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture, .collectors = 3};
    xs_recorder_result result;
    char *const argv[] = {"sh", "-c", "test -S \"$XS_RECORD\" && test \"$(env | grep -c '^XS_RECORD=')\" = 1", NULL};
    setenv("XS_RECORD", "/nonexistent", 1); /* of a recorder outside */
    assert_int_equal(xs_recorder_run(&options, argv, &result), 0);
    unsetenv("XS_RECORD");
    xs_recorder_result_free(&result);
    assert_int_equal(result.exit_status, 0);
}

static void *do_nothing(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        usleep(1000);
    return NULL;
}

/* SIGCHLD goes to a thread that does not block it, and is gone. */
static void a_recorder_beside_another_thread_sees_its_command_end(void **unused) {
    (void)unused;
    xs_recorder_options options = {.capture = capture};
    xs_recorder_result result;
    char *const argv[] = {"true", NULL};
    pthread_t thread = start_other(do_nothing);
    alarm(SECONDS);
    int rc = xs_recorder_run(&options, argv, &result);
    alarm(0);
    stop_other(thread);
    xs_recorder_result_free(&result);
    assert_int_equal(rc, 0);
    assert_int_equal(result.exit_status, 0);
}

int main(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-fork-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(capture, sizeof capture, "%s/run", folder);
    setenv("XS_CAPTURE", capture, 1);
    setenv("XS_RING_RECORDS", "64", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forked_child_waits_for_no_allocator),
        cmocka_unit_test(a_forked_child_may_destroy_its_copy),
        cmocka_unit_test(children_forked_while_worlds_come_and_go_exit),
        cmocka_unit_test(a_recorder_with_threads_starts_its_command),
        cmocka_unit_test(a_recorder_beside_another_thread_sees_its_command_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}
