#include "ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void sleep_ms(unsigned ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Those that run: what a test that failed leaves must not disturb the next one. */
static pid_t running[4];

void stop(const app *a) {
    for (int i = 0; i < MOST_RANKS; i++)
        if (a->ranks[i])
            kill(a->ranks[i], SIGKILL);
    kill(a->pid, SIGKILL);
    waitpid(a->pid, NULL, 0);
    for (size_t i = 0; i < sizeof running / sizeof *running; i++)
        if (running[i] == a->pid)
            running[i] = 0;
}

int stop_all(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof running / sizeof *running; i++)
        if (running[i])
            stop(&(app){.pid = running[i], .ranks = {0}}); /* its ranks die with it */
    return 0;
}

static void remember(const app *a) {
    size_t i = 0;
    while (running[i])
        i++;
    running[i] = a->pid;
}

app start(const char *way, unsigned ranks, const char *plan, const char *processes) {
    int ends[2];
    char count[16];
    app a = {0, {0}};
    snprintf(count, sizeof count, "%u", ranks);
    assert_int_equal(pipe(ends), 0);
    a.pid = fork();
    if (a.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        execl(HANGING, HANGING, way, count, plan, processes, (char *)NULL);
        _exit(127);
    }
    remember(&a);
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    assert_non_null(f);
    for (unsigned i = 0; !strcmp(processes, "each") && i < ranks; i++)
        assert_int_equal(fscanf(f, "%d", &a.ranks[i]), 1);
    fclose(f);
    return a;
}

static sqlite3 *db;

const char *at(const outcome *o, const char *path) {
    static char texts[8][4096];
    static int turn;
    char *text = texts[turn++ % 8];
    sqlite3_stmt *s;
    *text = 0;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_extract(?, ?)", -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_text(s, 1, o->out, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, path, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    if (sqlite3_column_text(s, 0))
        snprintf(text, sizeof texts[0], "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

static int is_right(const outcome *o, const want *w) {
    return *w->text == '~' ? strstr(at(o, w->path), w->text + 1) != NULL : !strcmp(at(o, w->path), w->text);
}

void is(const outcome *o, const char *path, const char *text) {
    if (!is_right(o, &(want){path, text}))
        fail_msg("%s is '%s', must be '%s', in\n%s", path, at(o, path), text, o->out);
}

outcome ask(pid_t pid, const char *more) {
    char arguments[64];
    snprintf(arguments, sizeof arguments, "hang %d %s", (int)pid, more);
    return run_xs(arguments);
}

static int open_waits(const outcome *o) {
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_array_length(?, '$.worlds[0].waits')", -1, &s, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(s, 1, o->out, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int open = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return open;
}

/* The first thing that is not as it must be, in words; NULL: all is. */
static const char *what_is_wrong(const outcome *o, int code, int waits, const want *wants, size_t count) {
    static char text[256];
    snprintf(text, sizeof text, "exit code %d, must be %d", o->code, code);
    if (o->code != code || !is_json(o->out))
        return text;
    snprintf(text, sizeof text, "%d open waits, must be %d", open_waits(o), waits);
    if (waits >= 0 && open_waits(o) != waits)
        return text;
    for (size_t i = 0; i < count; i++)
        if (!is_right(o, &wants[i])) {
            snprintf(text, sizeof text, "%s is '%.60s', must be '%.100s'", wants[i].path, at(o, wants[i].path),
                     wants[i].text);
            return text;
        }
    return NULL;
}

outcome look_for(pid_t pid, int code, int waits, const want *wants, size_t count) {
    for (double begin = now();; sleep_ms(20)) {
        outcome o = ask(pid, "--json");
        const char *wrong = what_is_wrong(&o, code, waits, wants, count);
        if (!wrong)
            return o;
        if (now() - begin > PATIENCE_S)
            fail_msg("%s: %s%s", wrong, o.out, o.err);
        outcome_free(&o);
    }
}

void look(pid_t pid, int code, int waits) {
    outcome o = look_for(pid, code, waits, NULL, 0);
    outcome_free(&o);
}

int open_database(void **unused) {
    (void)unused;
    return sqlite3_open(":memory:", &db);
}

int close_database(void **unused) {
    (void)unused;
    return sqlite3_close(db);
}

int open_folder(void **unused) {
    enter_folder();
    return open_database(unused);
}

int close_folder(void **unused) {
    leave_folder();
    return close_database(unused);
}

outcome of_file(const char *file, int code) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "hang --json %s", file);
    outcome o = run_xs(arguments);
    if (o.code != code || !is_json(o.out))
        fail_msg("xs %s: exit code %d, must be %d: %s%s", arguments, o.code, code, o.out, o.err);
    return o;
}
