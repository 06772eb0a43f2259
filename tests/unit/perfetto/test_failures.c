/* Nothing half under a final name, whatever fails: any write, the folder, the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_help.h"
#include "output.h"

static const run_shape shape = {.ranks = 4, .epochs = 30, .chunks = 8, .slow = 2, .epoch_gap = 1000, .lost_arrival = 1, .lose_records = 5};

static long writes, fail_at;
static int fail_with;

static ssize_t failing_write(int fd, const void *data, size_t bytes) {
    if (writes++ == fail_at) {
        errno = fail_with;
        return -1;
    }
    return write(fd, data, bytes > 100000 ? 100000 : bytes); /* short writes are no failure */
}

/* Files in the folder besides the capture. */
static int files_in(const char *folder) {
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.' && strcmp(entry->d_name, "run.xs") != 0;
    closedir(dir);
    return n;
}

static void every_write(const xsv_perfetto_options *o, int error, int expected) {
    exported e;
    char path[200];
    assert_int_equal(export_run(&e, &shape, NULL), 0);
    snprintf(path, sizeof path, "%s/b.perfetto", e.folder);
    int before = files_in(e.folder);
    output_system_write = failing_write;
    fail_with = error;
    long failures = 0;
    for (fail_at = 0;; fail_at++) {
        writes = 0;
        int rc = export_again(&e, path, o, NULL);
        if (rc == 0)
            break;
        failures++;
        assert_int_equal(rc, expected);
        assert_int_equal(errno, error);
        assert_int_equal(files_in(e.folder), before); /* neither the name nor a temporary file */
    }
    output_system_write = write;
    assert_int_equal(failures, writes); /* each single write was made to fail once */
    assert_true(failures > 3);
    assert_true(files_in(e.folder) > before);
    export_free(&e);
}

static void test_full_disk(void **state) {
    (void)state;
    every_write(NULL, ENOSPC, XS_E_NO_SPACE);
}

static void test_broken_disk(void **state) {
    (void)state;
    xsv_perfetto_options windows = {.size = sizeof windows, .split_limit = 1, .window_events = 10000};
    every_write(&windows, EIO, XS_E_SYSTEM);
}

static void test_folder(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &shape, NULL), 0);
    assert_int_equal(export_again(&e, "/nonexistent/folder/x.perfetto", NULL, NULL), XS_E_SYSTEM);
    assert_int_equal(errno, ENOENT);
    if (geteuid() != 0) { /* root may write anywhere */
        char path[200];
        snprintf(path, sizeof path, "%s/closed", e.folder);
        assert_int_equal(mkdir(path, 0500), 0);
        snprintf(path, sizeof path, "%s/closed/x.perfetto", e.folder);
        assert_int_equal(export_again(&e, path, NULL, NULL), XS_E_SYSTEM);
        assert_int_equal(errno, EACCES);
        snprintf(path, sizeof path, "%s/closed", e.folder);
        rmdir(path);
    }
    export_free(&e);
}

/* A pass that stops half-way (the reader failed, the user gave up) leaves nothing. */
static void test_abandoned(void **state) {
    (void)state;
    exported e;
    char path[200];
    assert_int_equal(export_run(&e, &shape, NULL), 0);
    int before = files_in(e.folder);
    snprintf(path, sizeof path, "%s/b.perfetto", e.folder);
    xsr_sink *sink;
    assert_int_equal(xsv_perfetto_open(path, NULL, &sink), 0);
    xsr_model empty = {.begin = 5, .end = 6};
    sink->model = &empty;
    assert_int_equal(sink->begin(sink, &empty), 0);
    assert_int_equal(files_in(e.folder), before + 1); /* the temporary one */
    xsv_perfetto_close(sink);
    assert_int_equal(files_in(e.folder), before);
    export_free(&e);
}

/* A capture of nothing is a trace of nothing: it opens, and says so. */
static void test_empty(void **state) {
    (void)state;
    char path[] = "/tmp/xs_empty_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    xsr_sink *sink;
    xsr_model empty = {.begin = 5, .end = 6};
    assert_int_equal(xsv_perfetto_open(path, NULL, &sink), 0);
    assert_int_equal(sink->begin(sink, &empty), 0);
    assert_int_equal(sink->finish(sink), 0);
    xsv_perfetto_close(sink);
    td *t = td_read(path);
    assert_non_null(t);
    assert_true(t->complete);
    assert_int_equal(t->slice_count, 2); /* findings and trace health */
    td_free(t);
    unlink(path);
    char commands[64];
    snprintf(commands, sizeof commands, "%s.startup.json", path);
    assert_int_equal(unlink(commands), 0);
}

static void test_arguments(void **state) {
    (void)state;
    xsr_sink *sink;
    xsv_perfetto_options no_size = {.size = 0};
    assert_int_equal(xsv_perfetto_open(NULL, NULL, &sink), XS_E_ARGUMENT);
    assert_int_equal(xsv_perfetto_open("", NULL, &sink), XS_E_ARGUMENT);
    assert_int_equal(xsv_perfetto_open("x", NULL, NULL), XS_E_ARGUMENT);
    assert_int_equal(xsv_perfetto_open("x", &no_size, &sink), XS_E_ARGUMENT);
    assert_int_equal(xsv_perfetto_count(NULL, &(uint64_t){0}), XS_E_ARGUMENT);
    xsv_perfetto_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_disk), cmocka_unit_test(test_broken_disk), cmocka_unit_test(test_folder),
        cmocka_unit_test(test_abandoned), cmocka_unit_test(test_empty), cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
