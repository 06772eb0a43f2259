/* Every folder of tests/golden/read holds input.txt (a script) and expected.txt (what the reader tells of it).
 * XS_GOLDEN_UPDATE=1 writes expected.txt anew; look at the difference before you commit it. XS_GOLDEN_CORPUS=FOLDER writes those captures anew that
 * FOLDER has a file NAME.xs of (tests/fuzz/corpus/capture). */
#include "read_help.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *load(const char *folder, const char *name) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    char *text = calloc(1, 1 << 20);
    size_t n = text ? fread(text, 1, (1 << 20) - 1, in) : 0;
    fclose(in);
    if (text)
        text[n] = 0;
    return text;
}

static void update(const char *folder, const char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/expected.txt", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* Where it is there already: a corpus takes some of the cases, not all. */
static void update_corpus(const char *corpus, const char *folder, const char *capture) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.xs", corpus, strrchr(folder, '/') + 1);
    FILE *out = fopen(path, "r+"), *in = fopen(capture, "r");
    assert_non_null(in);
    for (int byte; out && (byte = fgetc(in)) != EOF;)
        fputc(byte, out);
    if (out)
        assert_int_equal(ftruncate(fileno(out), ftell(out)) | fclose(out), 0);
    fclose(in);
}

static void first_difference(const char *folder, const char *have, const char *want) {
    int line = 1;
    const char *a = have, *b = want;
    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    while (a > have && a[-1] != '\n')
        a--, b--;
    fail_msg("%s/expected.txt differs at line %d\nhave: %.*s\nwant: %.*s", folder, line, (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

static void check_folder(void **state) {
    const char *folder = *state;
    char *script = load(folder, "input.txt");
    assert_non_null(script);
    const char *path = help_path("golden.xs");
    help_script(path, script);
    if (getenv("XS_GOLDEN_CORPUS"))
        update_corpus(getenv("XS_GOLDEN_CORPUS"), folder, path);
    xsr_reader *reader = help_open(path);
    char *text = help_dump(reader), *again = help_dump(reader);
    assert_string_equal(text, again); /* a second pass tells the same */
    xsr_reader *apart = help_open_with(path, XSR_THREADS_ALWAYS);
    char *beside = help_dump(apart);
    assert_string_equal(text, beside); /* and so does one that calls its sink from another thread */
    free(beside);
    xsr_close(apart);
    char *expected = load(folder, "expected.txt");
    if (getenv("XS_GOLDEN_UPDATE"))
        update(folder, text);
    else if (!expected)
        fail_msg("%s/expected.txt is missing", folder);
    else if (strcmp(text, expected) != 0)
        first_difference(folder, text, expected);
    free(expected);
    free(again);
    free(text);
    free(script);
    xsr_close(reader);
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.' && entry->d_type == DT_DIR; }

/* Every event of the table has a case of its own. */
static void check_all_events(void **state) {
    (void)state;
    for (uint32_t kind = 1; kind < XS_EV_COUNT; kind++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/event_%s", XS_GOLDEN, xsr_event_name(kind));
        char *text = load(name, "expected.txt"), word[64];
        if (!text && !getenv("XS_GOLDEN_UPDATE"))
            fail_msg("no case for %s", xsr_event_name(kind));
        snprintf(word, sizeof word, " %s ", xsr_event_name(kind));
        assert_true(!text || strstr(text, word));
        free(text);
    }
}

int main(void) {
    struct dirent **list;
    int n = scandir(XS_GOLDEN, &list, visible, alphasort);
    if (n <= 0)
        return 1;
    struct CMUnitTest *tests = calloc((size_t)n + 1, sizeof *tests);
    for (int i = 0; i < n && tests; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", XS_GOLDEN, list[i]->d_name) < 0)
            return 1;
        tests[i] = (struct CMUnitTest){strrchr(path, '/') + 1, check_folder, NULL, NULL, path};
        free(list[i]);
    }
    free(list);
    if (!tests)
        return 1;
    tests[n] = (struct CMUnitTest){"every event has a case", check_all_events, NULL, NULL, NULL};
    int failed = _cmocka_run_group_tests("golden", tests, (size_t)n + 1, NULL, NULL);
    for (int i = 0; i < n; i++)
        free(tests[i].initial_state == NULL ? NULL : (char *)tests[i].initial_state);
    free(tests);
    return failed;
}
