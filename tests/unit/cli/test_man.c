/* Every command has help and a man page, and both name the same options. */
#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *load_page(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.1", MAN, name);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 16), *to = text;
    size_t n = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    for (size_t i = 0; i < n; i++) /* \- is a minus */
        if (text[i] != '\\' || text[i + 1] != '-')
            *to++ = text[i];
    *to = 0;
    return text;
}

/* Each --option of `from` stands in `in`. Returns how many there were. */
static int options_in(const char *from, const char *in, const char *where) {
    int n = 0;
    for (const char *at = from; (at = strstr(at, "--")); at += 2) {
        char option[64];
        size_t length = 2 + strcspn(at + 2, "=, \n\"\\|].");
        if (!islower((unsigned char)at[2]) || length >= sizeof option)
            continue;
        snprintf(option, sizeof option, "%.*s", (int)length, at);
        if (!strstr(in, option))
            fail_msg("%s does not name %s", where, option);
        n++;
    }
    return n;
}

/* The options part of a help text. */
static char *options_of(const char *help) {
    const char *begin = strstr(help, "\nOptions:\n"), *end = strstr(help, "\nMore: man");
    assert_true(begin && end);
    return strndup(begin, (size_t)(end - begin));
}

static char *section(const char *page, const char *name) {
    char heading[32];
    snprintf(heading, sizeof heading, ".SH %s\n", name);
    const char *at = strstr(page, heading);
    assert_non_null(at);
    at += strlen(heading);
    const char *end = strstr(at, "\n.SH");
    return strndup(at, end ? (size_t)(end - at) : strlen(at));
}

/* A quote in a macro's line groups its arguments and is not shown: what stands there to be typed would lack it. */
static void check_examples(const char *page, const char *name) {
    for (const char *line = page; (line = strstr(line, ".B xs ")); line++) {
        int length = (int)strcspn(line, "\n");
        if (memchr(line, '"', (size_t)length))
            fail_msg("%s: the quotes of '%.*s' are not shown", name, length, line);
    }
}

static void check_command(const char *name) {
    char arguments[64], page_name[64], other[64];
    snprintf(arguments, sizeof arguments, "%s --help", name);
    snprintf(other, sizeof other, "help %s", name);
    snprintf(page_name, sizeof page_name, "xs-%s", name);
    outcome help = run_xs(arguments), same = run_xs(other);
    assert_int_equal(help.code, 0);
    assert_string_equal(help.err, "");
    assert_string_equal(help.out, same.out);
    char *page = load_page(page_name), *options = options_of(help.out), *described = section(page, "OPTIONS"), *codes = section(page, "EXIT STATUS");
    assert_true(options_in(options, described, page_name) >= 1);
    assert_true(options_in(described, options, arguments) >= 1);
    assert_non_null(strstr(codes, !strcmp(name, "record") ? "128" : "64") ? codes : strstr(codes, "xs (1)")); /* six pages said nothing */
    check_examples(page, page_name);
    free(codes);
    free(described);
    free(options);
    free(page);
    outcome_free(&help);
    outcome_free(&same);
}

static void test_commands(void **state) {
    (void)state;
    outcome list = run_xs("help");
    char *index = load_page("xs"), *commands = section(index, "COMMANDS"), *see_also = section(index, "SEE ALSO");
    int n = 0;
    assert_int_equal(list.code, 0);
    for (char *line = strtok(strstr(list.out, "\n\n  ") + 2, "\n"); line && line[0] == ' ';
         line = strtok(NULL, "\n"), n++) {
        char name[32], reference[64];
        if (!strcmp(line, "Begin with:") || sscanf(line, " %31s", name) != 1 || !strcmp(name, "xs"))
            break;
        snprintf(reference, sizeof reference, "xs-%s (1)", name);
        if (!strstr(commands, reference) || !strstr(see_also, reference))
            fail_msg("xs.1 does not name %s twice", reference);
        check_command(name);
    }
    assert_true(n >= 7);
    free(commands);
    free(see_also);
    free(index);
    outcome_free(&list);
}

/* Exit codes are part of the interface. */
static void test_exit_codes(void **state) {
    (void)state;
    char *index = load_page("xs"), *codes = section(index, "EXIT STATUS");
    static const char *const all[] = {"0", "64", "66", "70", "73", "74"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char line[16];
        snprintf(line, sizeof line, ".B %s\n", all[i]);
        assert_non_null(strstr(codes, line));
    }
    free(codes);
    free(index);
}

static void test_pages_are_sound(void **state) {
    (void)state;
    if (system("command -v man > /dev/null 2>&1"))
        skip();
    char command[1024];
    snprintf(command, sizeof command,
             "for page in %s/*.1; do man --warnings -E UTF-8 -l -Tutf8 -Z $page 2>&1 > /dev/null; done | grep .", MAN);
    assert_int_not_equal(system(command), 0);
}

static void test_version(void **state) {
    (void)state;
    outcome a = run_xs("version"), b = run_xs("--version"), help = run_xs("--help"), list = run_xs("help");
    assert_int_equal(a.code, 0);
    assert_string_equal(a.out, b.out);
    assert_true(!strncmp(a.out, "xs ", 3));
    assert_string_equal(help.out, list.out);
    outcome_free(&a);
    outcome_free(&b);
    outcome_free(&help);
    outcome_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_commands), cmocka_unit_test(test_exit_codes),
                                       cmocka_unit_test(test_pages_are_sound), cmocka_unit_test(test_version)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
