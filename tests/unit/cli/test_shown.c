/* What README, docs, manual and help tell people to type is typed here: every `xs query` that they show has an answer. */
#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state) {
    (void)state;
    unsetenv("XS_RECORD");
    enter_folder();
    make_capture("run.xs", 50);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    leave_folder();
    return 0;
}

static void replace(char *text, const char *old, char new) {
    for (char *at; (at = strstr(text, old));) {
        *at = new;
        memmove(at + 1, at + strlen(old), strlen(at + strlen(old)) + 1);
    }
}

/* As a reader sees it: quotes of the manual and of C strings are quotes. */
static char *read_shown(const char *path) {
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, MOST);
    assert_non_null(text);
    assert_true(fread(text, 1, MOST - 1, f) > 0);
    fclose(f);
    replace(text, "\\(dq", '"');
    replace(text, "\\\"", '"');
    return text;
}

/* The question behind "xs query": options and the run's name are left out. NULL: there is none, or it stands for any. */
static char *question(const char *at) {
    at += strspn(at, " ");
    while (!strncmp(at, "--", 2))
        at += strcspn(at, " \n"), at += strspn(at, " ");
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    size_t length = *at == '"' || *at == '\'' ? strcspn(at + 1, (char[]){*at, 0}) : 0;
    if (length)
        return strstr(at, "SQL\"") == at + 1 || strstr(at, "SELECT ...") == at + 1 ? NULL : strndup(at + 1, length);
    while (islower((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length ? strndup(at, length) : NULL;
}

static int ask(const char *path) {
    int asked = 0;
    char *text = read_shown(path);
    for (char *at = text; (at = strstr(at, "xs query "));) {
        at += strlen("xs query ");
        char *sql = question(at), command[1024], *end = command + sprintf(command, "query run '");
        for (const char *c = sql; c && *c; c++)
            end += sprintf(end, *c == '\'' ? "''" : "%c", *c);
        strcpy(end, "'");
        if (!sql)
            continue;
        outcome o = run_xs(command);
        if (o.code)
            fail_msg("%s shows xs query run \"%s\": exit code %d, %s", path, sql, o.code, o.err);
        outcome_free(&o);
        free(sql);
        asked++;
    }
    free(text);
    return asked;
}

static void test_queries_that_are_shown(void **state) {
    (void)state;
    static const char *const places[] = {"README.md", "dev", "docs/*.md", "examples/*/README.md", "viewer-export/man/*.1", "viewer-export/xs/*.c"};
    int asked = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char pattern[4096];
        snprintf(pattern, sizeof pattern, "%s/%s", SOURCE, places[i]);
        glob_t found = {0};
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++)
            asked += ask(found.gl_pathv[k]);
        globfree(&found);
    }
    assert_true(asked >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queries_that_are_shown)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
