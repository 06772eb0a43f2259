/* Every allocation of the sink fails once, and once with all that follow: XS_E_MEMORY, no file, no leak. The reader's own
 * allocations are left alone: a sink in between counts only while the export runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>

#include "export_help.h"

static bool counting, for_good;
static long calls, fail_at = -1, failures;

static bool fails(void) {
    if (!counting)
        return false;
    long call = calls++;
    bool failed = fail_at >= 0 && (call == fail_at || (for_good && call > fail_at));
    failures += failed;
    return failed;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
FILE *__real_open_memstream(char **text, size_t *size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
FILE *__wrap_open_memstream(char **text, size_t *size);
int __wrap_asprintf(char **text, const char *format, ...);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? NULL : __real_realloc(p, size); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
FILE *__wrap_open_memstream(char **text, size_t *size) { return fails() ? NULL : __real_open_memstream(text, size); }
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list list;
    if (fails())
        return -1;
    va_start(list, format);
    int n = vasprintf(text, format, list);
    va_end(list);
    return n;
}

typedef struct between {
    xsr_sink sink;
    xsr_sink *inner;
} between;

#define INNER(sink) (((between *)(sink))->inner)
#define COUNTED(call)    \
    counting = true;     \
    int rc = (call);     \
    counting = false;    \
    return rc

static int begin(xsr_sink *s, const xsr_model *m) {
    INNER(s)->model = m;
    COUNTED(INNER(s)->begin(INNER(s), m));
}
static int on_event(xsr_sink *s, const xsr_event *e) { COUNTED(INNER(s)->event(INNER(s), e)); }
static int on_wait(xsr_sink *s, const xsr_wait *w) { COUNTED(INNER(s)->wait(INNER(s), w)); }
static int on_signal(xsr_sink *s, const xsr_signal *g) { COUNTED(INNER(s)->signal(INNER(s), g)); }
static int on_lost(xsr_sink *s, const xsr_loss *l) { COUNTED(INNER(s)->lost(INNER(s), l)); }
static int finish(xsr_sink *s) { COUNTED(INNER(s)->finish(INNER(s))); }

static int export_counted(const char *capture, const char *path, const xsv_perfetto_options *o) {
    const char *paths[] = {capture}, *why = NULL;
    xsr_reader *reader = NULL;
    xsr_sink *inner = NULL;
    assert_int_equal(xsr_open(paths, 1, NULL, &reader, &why), 0);
    calls = failures = 0;
    counting = true;
    int rc = xsv_perfetto_open(path, o, &inner);
    counting = false;
    if (!rc) {
        between b = {{.name = "between", .begin = begin, .event = on_event, .wait = on_wait, .signal = on_signal, .lost = on_lost,
                      .finish = finish}, inner};
        xsr_sink *sinks[] = {&b.sink};
        rc = xsr_run(reader, sinks, 1);
        xsv_perfetto_close(inner);
    }
    xsr_close(reader);
    return rc;
}

static int files_in(const char *folder) {
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void every_allocation(const run_shape *shape, const xsv_perfetto_options *o) {
    exported e;
    char capture[128], path[128];
    fail_at = -1;
    assert_int_equal(export_run(&e, shape, NULL), 0);
    snprintf(capture, sizeof capture, "%s/run.xs", e.folder);
    snprintf(path, sizeof path, "%s/b.perfetto", e.folder);
    int before = files_in(e.folder);
    long seen = 0;
    for (fail_at = 0;; fail_at++) {
        for (int good = 0; good < 2; good++) {
            for_good = good != 0;
            int rc = export_counted(capture, path, o);
            if (!failures) {
                assert_int_equal(rc, 0);
                break;
            }
            seen++;
            assert_int_equal(rc, XS_E_MEMORY);
            assert_int_equal(files_in(e.folder), before);
        }
        if (!failures)
            break;
    }
    assert_true(seen > 100 && calls == fail_at); /* each call was made to fail */
    assert_true(files_in(e.folder) > before);
    print_message("%ld allocations, each failed\n", fail_at);
    fail_at = -1;
    export_free(&e);
}

static void test_hang(void **state) {
    (void)state;
    const run_shape shape = {.ranks = 3, .epochs = 2, .chunks = 2, .slow = 2, .epoch_gap = 1000, .lost_arrival = 1, .scopes = 1};
    every_allocation(&shape, NULL);
}

static void test_all_options(void **state) {
    (void)state;
    const run_shape shape = {.ranks = 2, .epochs = 2, .chunks = 2, .slow = 1, .epoch_gap = 1000, .scopes = 1};
    const xsv_perfetto_options o = {.size = sizeof o, .slots = "done*", .merge_roles = 1, .gpu_events = 1, .compress = 1};
    every_allocation(&shape, &o);
}

static void test_windows(void **state) {
    (void)state;
    const run_shape shape = {.ranks = 2, .epochs = 4, .chunks = 2, .slow = 1, .epoch_gap = 1000, .lose_records = 3, .away = 1};
    const xsv_perfetto_options o = {.size = sizeof o, .split_limit = 1, .window_events = 100, .slots = "done*", .fold_limit = 1,
                                    .pass_limit = 1, .short_wait_ns = 2000};
    every_allocation(&shape, &o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hang), cmocka_unit_test(test_all_options), cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
