/* The report as a page: whole whatever the names, true to the database. */
#include "fake_run.h"
#include "page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static char *page_of(fake_run *run) {
    char *text = NULL, *error = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    xsv_report_options how = {.size = sizeof how, .html = 1};
    assert_int_equal(fake_run_export(run, path), 0);
    if (xsv_report(path, &how, out, &error))
        fail_msg("%s", error);
    fclose(out);
    return text;
}

static void expect_whole(const char *text) {
    const char *where;
    if (page_is_broken(text, &where))
        fail_msg("not whole: %.80s", where);
}

static void test_page_is_whole(void **state) {
    (void)state;
    fake_run *run = fake_run_make(2000, 7);
    char *text = page_of(run);
    expect_whole(text);
    for (uint32_t i = 0; i < FAKE_PADS; i++)
        assert_non_null(strstr(text, run->pads[i].name));
    assert_non_null(strstr(text, "waited for other ranks"));
    assert_non_null(strstr(text, "<svg"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    free(text);
    fake_run_free(run);
}

/* Names are the user's: a pad called like markup is a word, not markup. */
static void test_names_are_not_markup(void **state) {
    (void)state;
    static const char name[] = "<script>a&b\"'</td>";
    fake_run *run = fake_run_make(2000, 7);
    for (uint32_t i = 0; i < FAKE_PADS; i++)
        run->pads[i].name = name;
    for (uint32_t i = 0; i < FAKE_SLOTS; i++)
        run->slots[i].name = name;
    run->notes[0] = name;
    char *text = page_of(run);
    expect_whole(text);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "&lt;script&gt;a&amp;b&quot;'&lt;/td&gt;"));
    free(text);
    fake_run_free(run);
}

static void test_nothing_recorded(void **state) {
    (void)state;
    fake_run *run = fake_run_make(0, 7);
    char *text = page_of(run);
    expect_whole(text);
    assert_null(strstr(text, "<svg"));
    free(text);
    fake_run_free(run);
}

/* The checker itself. */
static void test_broken_pages_are_seen(void **state) {
    (void)state;
    static const char *const broken[] = {"<p>",           "</p>", "<p><b></p></b>", "a > b", "a & b",
                                         "<p class=\"x>", "<",    "<p>a < b</p>"};
    const char *where;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        if (!page_is_broken(broken[i], &where))
            fail_msg("taken for whole: %s", broken[i]);
    assert_int_equal(page_is_broken("<p title=\"a > b\">a &lt; b<br/></p>", &where), 0);
}

int main(void) {
    char folder[] = "/tmp/xs_page_XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/run.db", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_is_whole), cmocka_unit_test(test_names_are_not_markup),
        cmocka_unit_test(test_nothing_recorded), cmocka_unit_test(test_broken_pages_are_seen)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
