/* A database whose sinks had threads of their own is byte for byte the one of a pass that called them itself. */
#include "script.h"
#include "sqlite_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/analyse.h>
#include <xs/export.h>

static char folder[] = "/tmp/xs_threads_XXXXXX";
static char capture[64];

static char *load(const char *path, size_t *size) {
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("%s cannot be read", path);
    char *text = NULL, part[65536];
    FILE *out = open_memstream(&text, size);
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, out);
    fclose(in);
    fclose(out);
    return text;
}

/* The database's bytes; what analysis said is in them. */
static char *export_with(uint32_t threads, size_t *size) {
    char database[64];
    snprintf(database, sizeof database, "%s/d.db", folder);
    const char *paths[] = {capture}, *why = "";
    xsr_options reading = {.size = sizeof reading, .threads = threads};
    xsr_reader *reader = NULL;
    xsr_sink *sinks[2] = {NULL};
    assert_int_equal(xsr_open(paths, 1, &reading, &reader, &why), 0);
    assert_int_equal(xsa_open(NULL, &sinks[0]), 0);
    xsv_sqlite_options how = {.size = sizeof how, .analysis = sinks[0]};
    assert_int_equal(xsv_sqlite_open(database, &how, &sinks[1]), 0);
    assert_int_equal(xsr_run(reader, sinks, 2), 0);
    assert_int_equal(xsv_sqlite_close(sinks[1]), 0);
    xsa_close(sinks[0]);
    xsr_close(reader);
    char *bytes = load(database, size);
    unlink(database);
    return bytes;
}

static void compare(const char *what) {
    size_t sizes[2];
    char *called = export_with(XSR_THREADS_NEVER, &sizes[0]), *apart = export_with(XSR_THREADS_ALWAYS, &sizes[1]);
    if (sizes[0] != sizes[1] || memcmp(called, apart, sizes[0]))
        fail_msg("%s: another database with threads", what);
    free(called);
    free(apart);
}

static void golden_scripts(void **state) {
    (void)state;
    DIR *dir = opendir(GOLDEN_READ);
    assert_non_null(dir);
    int cases = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/input.txt", GOLDEN_READ, e->d_name);
        if (e->d_name[0] == '.' || access(path, R_OK))
            continue;
        size_t size;
        char *text = load(path, &size);
        cb *c = cb_begin(capture);
        assert_non_null(c);
        assert_int_equal(script_run(c, text), 0);
        assert_int_equal(cb_end(c), 0);
        compare(path);
        free(text);
        cases++;
    }
    closedir(dir);
    assert_true(cases > 40);
}

static void many_batches(void **state) {
    (void)state;
    assert_int_equal(sqlite_capture(capture, 10000), 0);
    compare("10 000 chunks");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_scripts), cmocka_unit_test(many_batches)};
    if (!mkdtemp(folder))
        return 1;
    snprintf(capture, sizeof capture, "%s/c.xs", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(capture);
    rmdir(folder);
    return failed;
}
