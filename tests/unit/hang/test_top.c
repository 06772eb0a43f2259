/* xs top: as text where there is no terminal, and on one. */
#include "ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static app hung_program(void) {
    app a = start("missing", 2, "plan", "one");
    outcome o = LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].needs", "3"}, {"$.worlds[0].root.state", "writers_ended"});
    outcome_free(&o);
    return a;
}

static outcome top_of(pid_t pid, const char *options) {
    char arguments[96];
    snprintf(arguments, sizeof arguments, "top %s %d", options, (int)pid);
    return run_xs(arguments);
}

static void expect(const outcome *o, const char *words) {
    if (!strstr(o->out, words))
        fail_msg("'%s' is not in: %s", words, o->out);
}

/* The hang is seen in every frame, with the words of xs hang. */
static void frames_of_a_hang(void **unused) {
    (void)unused;
    app a = hung_program();
    outcome o = top_of(a.pid, "--delay 200 --frames 3");
    assert_int_equal(o.code, 0);
    expect(&o, "Hung so far: rank 0 has waited");
    expect(&o, "all its writers in kernel hanging have ended without signalling");
    expect(&o, "rank 1       done[half=1,from=1] has 2 needs");
    expect(&o, "writers ended");
    expect(&o, "2 ranks in 1 process, 1 writer, 1 open wait, ");
    expect(&o, " records/s: ");
    int frames = 0;
    for (const char *c = o.out; (c = strstr(c, "records/s  waits")); c++)
        frames++;
    assert_int_equal(frames, 3);
    outcome_free(&o);
    stop(&a);
}

/* "process_never_came", as JSON has it, did not fit its column either. */
static void a_state_was_shown_by_its_json_name(void **unused) {
    (void)unused;
    char world[64];
    snprintf(world, sizeof world, "top.never.%d", (int)getpid());
    setenv("XS_WORLD", world, 1), setenv("XS_RANK", "0", 1), setenv("XS_RANKS", "4", 1);
    app a = start("missing", 3, "no-plan", "one");
    unsetenv("XS_WORLD"), unsetenv("XS_RANK"), unsetenv("XS_RANKS");
    outcome o = LOOK(a.pid, 2, -1, {"$.worlds[0].ranks[3].state", "process_never_came"});
    outcome_free(&o);
    o = top_of(a.pid, "--frames 1");
    expect(&o, "\n    3        -  not come yet     ");
    if (strstr(o.out, "process_"))
        fail_msg("%s", o.out);
    outcome_free(&o);
    stop(&a);
}

static void nobody_to_watch(void **unused) {
    (void)unused;
    outcome o = top_of(getpid(), "-n 1");
    assert_int_equal(o.code, 0);
    expect(&o, "no traced process among these");
    outcome_free(&o);
}

static void wrong_arguments(void **unused) {
    (void)unused;
    expect_failure("top --delay=199", 64, "--delay=199");
    expect_failure("top --frames=-1", 64, "--frames=-1");
    expect_failure("top run", 64, "'run' is no process id");
    expect_failure("top run", 64, "xs hang NAME");
    expect_failure("top 0", 64, "'0' is no process id");
    expect_failure("top 2147483647 --frames 1", 66, "process 2147483647: there is no such process"); /* it waited for it in silence */
}

/* What the terminal got until `words` came, or until its end (NULL). */
static void read_until(int terminal, const char *words, char *text, size_t size) {
    size_t length = strlen(text);
    while (!words || !strstr(text, words)) {
        ssize_t n = length + 1 < size ? read(terminal, text + length, size - 1 - length) : 0;
        if (n <= 0 && words)
            fail_msg("the end came before '%s': %s", words, text);
        if (n <= 0)
            return;
        text[length += (size_t)n] = 0;
    }
}

/* xs top on a terminal of its own; its process. */
static pid_t top_on(int *terminal, const char *kind, unsigned short columns, const char *frames, pid_t watched) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)watched);
    struct winsize size = {.ws_row = 30, .ws_col = columns};
    pid_t child = forkpty(terminal, NULL, NULL, &size);
    if (!child) {
        setenv("TERM", kind, 1);
        execl(XS_PROGRAM, "xs", "top", "--delay", "400", "--frames", frames, pid, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static void ends_well(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The end of the verdict, where the culprit stands, was cut; rows of the table ran over into the next. */
static void a_narrow_terminal_cut_the_verdict(void **unused) {
    (void)unused;
    static char text[1 << 16];
    int terminal;
    app a = hung_program();
    pid_t child = top_on(&terminal, "xterm", 40, "0", a.pid);
    text[0] = 0;
    read_until(terminal, "q quit", text, sizeof text);
    assert_non_null(strstr(text, "Hung so far"));
    assert_non_null(strstr(text, "signalling."));
    assert_null(strstr(text, "needs >= 3")); /* far to the right in its row */
    assert_int_equal(write(terminal, "q", 1), 1);
    read_until(terminal, NULL, text, sizeof text);
    ends_well(child);
    close(terminal);
    stop(&a);
}

/* It cannot move its cursor: it got spaces. */
static void a_dumb_terminal_was_drawn_on(void **unused) {
    (void)unused;
    static const char *const kinds[] = {"dumb", "no-such-terminal"};
    static char text[1 << 16];
    int terminal;
    app a = hung_program();
    for (int i = 0; i < 2; i++) {
        pid_t child = top_on(&terminal, kinds[i], 80, "1", a.pid);
        text[0] = 0;
        read_until(terminal, NULL, text, sizeof text);
        assert_non_null(strstr(text, "has 2 needs >= 3\r\n"));
        assert_null(strchr(text, '\033'));
        ends_well(child);
        close(terminal);
    }
    stop(&a);
}

/* Draws, obeys, and leaves the terminal as it was. */
static void on_a_terminal(void **unused) {
    (void)unused;
    static char text[1 << 16];
    int terminal;
    app a = hung_program();
    pid_t child = top_on(&terminal, "xterm", 160, "0", a.pid);
    text[0] = 0;
    read_until(terminal, "space stops", text, sizeof text);
    assert_non_null(strstr(text, "Hung so far"));
    assert_non_null(strstr(text, "done[half=1,from=1]"));
    assert_int_equal(write(terminal, " ", 1), 1);
    read_until(terminal, "goes on", text, sizeof text);
    assert_int_equal(write(terminal, "q", 1), 1);
    read_until(terminal, NULL, text, sizeof text);
    assert_non_null(strstr(text, "\033[?1049l")); /* the other screen is back */
    ends_well(child);
    close(terminal);
    stop(&a);
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, stop_all)
    const struct CMUnitTest tests[] = {TEST(frames_of_a_hang), TEST(a_state_was_shown_by_its_json_name), TEST(nobody_to_watch), TEST(wrong_arguments), TEST(on_a_terminal),
                                       TEST(a_narrow_terminal_cut_the_verdict), TEST(a_dumb_terminal_was_drawn_on)};
    setenv("XS_BACKEND", "host", 0);
    return cmocka_run_group_tests(tests, open_database, close_database);
}
