/* Each folder of tests/golden/perfetto is a case: `shape` says the run (name value, a line each), or input.txt is a script as in
 * tests/golden/read (drawn with GPU events); `expected` is what
 * `protoc --decode` makes of the trace. XS_GOLDEN_UPDATE=1 writes `expected` anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>

#include "export_help.h"

static void read_shape(const char *name, run_shape *shape) {
    char path[512], key[32];
    unsigned value;
    *shape = (run_shape){.ranks = 2, .epochs = 1, .chunks = 1, .slow = 99, .epoch_gap = 1000};
    snprintf(path, sizeof path, "%s/%s/shape", GOLDEN, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fscanf(f, "%31s %u", key, &value) == 2) {
        uint32_t *to = strcmp(key, "ranks") == 0          ? &shape->ranks
                       : strcmp(key, "epochs") == 0       ? &shape->epochs
                       : strcmp(key, "chunks") == 0       ? &shape->chunks
                       : strcmp(key, "lost_arrival") == 0 ? &shape->lost_arrival
                       : strcmp(key, "lose_records") == 0 ? &shape->lose_records
                       : strcmp(key, "away") == 0         ? &shape->away
                       : strcmp(key, "scopes") == 0       ? &shape->scopes
                                                          : NULL;
        assert_non_null(to);
        *to = value;
    }
    fclose(f);
}

/* NULL: there is none. */
static char *read_script(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/input.txt", GOLDEN, name);
    FILE *f = fopen(path, "r");
    char *text = f ? calloc(1, 1 << 16) : NULL;
    if (text && fread(text, 1, (1 << 16) - 1, f) == 0)
        fail_msg("%s is empty", path);
    if (f)
        fclose(f);
    return text;
}

static void export_case(exported *e, const char *name) {
    char *script = read_script(name);
    run_shape shape;
    xsv_perfetto_options options = {.size = sizeof options, .gpu_events = 1};
    if (script) {
        assert_int_equal(export_script(e, script, &options), 0);
    } else {
        read_shape(name, &shape);
        assert_int_equal(export_run(e, &shape, NULL), 0);
    }
    free(script);
}

/* What changes from version to version, and is no concern of the drawing, is left out. */
static void compare(const exported *e, const char *name) {
    char command[2048];
    const char *update = getenv("XS_GOLDEN_UPDATE");
    snprintf(command, sizeof command,
             "set -e; %s --decode Trace -I '%s' perfetto_trace.proto < '%s' | "
             "grep -v 'string_value: \"[0-9]*[.][0-9]*[.][0-9]*\"' > '%s/decoded'; "
             "if [ -n '%s' ]; then cp '%s/decoded' '%s/%s/expected'; fi; diff -u '%s/%s/expected' '%s/decoded' | head -60 >&2; "
             "cmp -s '%s/%s/expected' '%s/decoded'",
             PROTOC, PROTO_FOLDER, e->path, e->folder, update ? update : "", e->folder, GOLDEN, name, GOLDEN, name, e->folder, GOLDEN,
             name, e->folder);
    assert_int_equal(system(command), 0);
}

static void test_cases(void **state) {
    (void)state;
    int cases = 0;
    DIR *dir = opendir(GOLDEN);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        exported e;
        if (entry->d_name[0] == '.' || strchr(entry->d_name, '.'))
            continue;
        export_case(&e, entry->d_name);
        compare(&e, entry->d_name);
        export_free(&e);
        cases++;
    }
    closedir(dir);
    assert_true(cases >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
