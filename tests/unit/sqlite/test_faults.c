/* The n-th allocation, the n-th allocation inside SQLite and the n-th write fail, for every n until a run is clean: an
 * error comes back, nothing half lies under the final name or beside it, and a database that was there before stays. */
#include "fake_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/xs_faults_XXXXXX.db";
static char temporary[64];
static fake_run *run;

/* Counts down; the call that reaches 0 fails, as do those after it (sticky) or not. */
static atomic_long until_failure = -1;
static atomic_int sticky;

static int fails(void) {
    long left = atomic_load(&until_failure);
    if (left < 0)
        return 0;
    if (left == 0)
        return 1;
    if (atomic_fetch_sub(&until_failure, 1) > 1)
        return 0;
    if (!sticky)
        atomic_store(&until_failure, -1);
    return 1;
}

/* ---- allocations of libxsread (linked with --wrap) ---- */
static atomic_int fail_libc;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return fail_libc && fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fail_libc && fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return fail_libc && fails() ? NULL : __real_realloc(p, n); }

/* ---- allocations of SQLite ---- */
static sqlite3_mem_methods memory;
static atomic_int fail_sqlite;
static void *failing_malloc(int n) { return fail_sqlite && fails() ? NULL : memory.xMalloc(n); }
static void *failing_realloc(void *p, int n) { return fail_sqlite && fails() ? NULL : memory.xRealloc(p, n); }

/* ---- writes: a VFS in front of the default one ---- */
static sqlite3_vfs shim;
static sqlite3_vfs *under;
static sqlite3_io_methods shim_methods;
static const sqlite3_io_methods *under_methods;
static atomic_int write_error;

static int failing_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
    return write_error && fails() ? write_error : under_methods->xWrite(f, data, n, at);
}

static int shim_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out) {
    (void)vfs;
    int rc = under->xOpen(under, name, f, flags, out);
    if (rc == SQLITE_OK && f->pMethods) {
        under_methods = f->pMethods;
        shim_methods = *f->pMethods;
        shim_methods.xWrite = failing_write;
        f->pMethods = &shim_methods;
    }
    return rc;
}

static int setup(void **state) {
    (void)state;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory), SQLITE_OK);
    sqlite3_mem_methods failing = memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    assert_int_equal(sqlite3_initialize(), SQLITE_OK);
    under = sqlite3_vfs_find(NULL);
    shim = *under;
    shim.zName = "failing";
    shim.xOpen = shim_open;
    assert_int_equal(sqlite3_vfs_register(&shim, 1), SQLITE_OK);
    close(mkstemps(path, 3));
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    run = fake_run_make(3000, 9);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    fake_run_free(run);
    return 0;
}

static int export_failing_at(long n, int keep_failing) {
    sticky = keep_failing;
    until_failure = n;
    int rc = fake_run_export(run, path);
    int clean = until_failure > 0;
    until_failure = -1;
    assert_true(rc <= 0);
    return clean ? 1 : rc;
}

/* What must hold after a failure: `before` says whether a database was there. */
static void check_left(int before) {
    assert_int_equal(access(temporary, F_OK), -1);
    assert_int_equal(access(path, F_OK), before ? 0 : -1);
    if (before)
        assert_int_equal(xsv_sqlite_check(path), 0);
}

/* Steps grow, so that a long run is covered in some hundred tries; the first hundred are all tried. */
static void fail_every(int error, int keep_failing, int before) {
    int failures = 0, rc;
    if (!before)
        unlink(path);
    for (long n = 1; (rc = export_failing_at(n, keep_failing)) != 1; n += n < 100 ? 1 : n / 12) {
        if (rc) {
            if (error && rc != error)
                fail_msg("failure %ld gave %d, not %d", n, rc, error);
            check_left(before);
            failures++;
        } else {
            assert_int_equal(xsv_sqlite_check(path), 0); /* SQLite did without */
            if (!before)
                unlink(path);
        }
    }
    assert_true(failures > 10);
    assert_int_equal(xsv_sqlite_check(path), 0);
}

static void test_allocations(void **state) {
    (void)state;
    fail_libc = 1;
    fail_every(XS_E_MEMORY, 0, 0);
    fail_libc = 0;
}

static void test_allocations_of_sqlite(void **state) {
    (void)state;
    fail_sqlite = 1;
    fail_every(XS_E_MEMORY, 1, 0);
    fail_every(XS_E_MEMORY, 0, 1);
    fail_sqlite = 0;
}

static void test_full_disk(void **state) {
    (void)state;
    write_error = SQLITE_FULL;
    fail_every(XS_E_NO_SPACE, 1, 0);
    fail_every(XS_E_NO_SPACE, 1, 1);
    write_error = 0;
}

static void test_bad_disk(void **state) {
    (void)state;
    write_error = SQLITE_IOERR_WRITE;
    fail_every(0, 0, 1);
    write_error = 0;
}

static void test_bad_paths(void **state) {
    (void)state;
    xsr_sink *sink = NULL;
    errno = 0;
    assert_int_equal(xsv_sqlite_open("/nonexistent/x.db", NULL, &sink), XS_E_SYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(xsv_sqlite_open("", NULL, &sink), XS_E_ARGUMENT);
    assert_int_equal(xsv_sqlite_open(NULL, NULL, &sink), XS_E_ARGUMENT);
    assert_int_equal(xsv_sqlite_close(NULL), 0);
}

static int count_waits(void) {
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM wait", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int count = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return count;
}

/* A sink that is closed in the middle leaves what was there. */
static void test_cut(void **state) {
    (void)state;
    assert_int_equal(fake_run_export(run, path), 0);
    xsr_sink *sink = NULL;
    assert_int_equal(xsv_sqlite_open(path, NULL, &sink), 0);
    assert_int_equal(access(temporary, F_OK), 0);
    sink->model = &run->model;
    assert_int_equal(sink->begin(sink, &run->model), 0);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(sink->wait(sink, &run->waits[i]), 0);
    assert_int_equal(xsv_sqlite_close(sink), 0);
    check_left(1);
    assert_int_equal(count_waits(), 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations), cmocka_unit_test(test_allocations_of_sqlite),
                                       cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_bad_disk),
                                       cmocka_unit_test(test_bad_paths),   cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
