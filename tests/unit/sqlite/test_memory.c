/* The page cache that a program sets aside: it is used, once, and only where there is something to gain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_run.h"

static int pages_used(void) {
    int now = 0, most = 0;
    assert_int_equal(sqlite3_status(SQLITE_STATUS_PAGECACHE_USED, &now, &most, 0), SQLITE_OK);
    return most;
}

/* Exports and counts what is there afterwards. */
static void export_waits(uint32_t waits) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/xs_sqlite_memory_%d.db", (int)getpid());
    fake_run *run = fake_run_make(waits, 7);
    assert_int_equal(fake_run_export(run, path), 0);
    assert_int_equal(xsv_sqlite_check(path), 0);
    fake_run_free(run);
    unlink(path);
}

/* In this order: SQLite takes such memory only before its first use. */
static void test_used_once(void **state) {
    (void)state;
    xsv_sqlite_reserve(100); /* too few */
    xsv_sqlite_reserve(200000);
    xsv_sqlite_reserve(UINT64_MAX); /* the second time: nothing */
    export_waits(2000);
    assert_true(pages_used() > 0);
    xsv_sqlite_reserve(200000); /* SQLite is in use */
    export_waits(2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_used_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
