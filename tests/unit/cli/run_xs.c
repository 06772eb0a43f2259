#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <capture_build.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 32 };
static char folder[64];

static char **split(const char *arguments, char *copy) {
    static char *argv[MOST + 2];
    int n = 0;
    strcpy(copy, arguments);
    argv[n++] = "xs";
    for (char *at = copy; *at && n < MOST;) {
        char end = *at == '\'' ? '\'' : ' ';
        at += end == '\'';
        argv[n++] = at;
        at += strcspn(at, (char[]){end, 0});
        while (end == '\'' && at[0] && at[1] == '\'') { /* two quotes: one */
            memmove(at, at + 1, strlen(at));
            at++;
            at += strcspn(at, "'");
        }
        if (*at)
            *at++ = 0;
        while (*at == ' ')
            at++;
    }
    argv[n] = NULL;
    return argv;
}

static char *slurp(FILE *f) {
    char *text = calloc(1, 1 << 20);
    rewind(f);
    if (fread(text, 1, (1 << 20) - 1, f) == 0 && ferror(f))
        abort();
    fclose(f);
    return text;
}

static void child(char **argv, FILE *out, FILE *err, size_t file_bytes, int nobody) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    struct rlimit limit = {file_bytes, file_bytes};
    if (file_bytes && setrlimit(RLIMIT_FSIZE, &limit))
        _exit(99);
    int program = open(XS_PROGRAM, O_RDONLY); /* nobody may not be allowed to walk there */
    if (nobody && geteuid() == 0 && (setgid(65534) || setuid(65534)))
        _exit(97);
    fexecve(program, argv, environ);
    _exit(98);
}

static outcome run_as(const char *arguments, size_t file_bytes, int nobody) {
    char copy[1024];
    char **argv = split(arguments, copy);
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out && err);
    pid_t pid = fork();
    if (pid == 0)
        child(argv, out, err, file_bytes, nobody);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    outcome o = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
    o.out = slurp(out);
    o.err = slurp(err);
    return o;
}

outcome run_xs_bounded(const char *arguments, size_t file_bytes) { return run_as(arguments, file_bytes, 0); }

outcome run_xs_as_nobody(const char *arguments) { return run_as(arguments, 0, 1); }

outcome run_xs(const char *arguments) { return run_xs_bounded(arguments, 0); }

void outcome_free(outcome *o) {
    free(o->out);
    free(o->err);
}

int count_lines(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

int is_json(const char *text) {
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_valid(?)", -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int valid = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return valid;
}

void expect_failure(const char *arguments, int code, const char *words) {
    outcome o = run_xs(arguments);
    if (o.code != code || count_lines(o.err) != 1 || !strstr(o.err, words) || strncmp(o.err, "xs: ", 4))
        fail_msg("xs %s: exit code %d, wanted %d; said: %s(wanted: one line with '%s')", arguments, o.code, code, o.err,
                 words);
    outcome_free(&o);
}

void enter_folder(void) {
    strcpy(folder, "/tmp/xs_cli_XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
}

void leave_folder(void) {
    char command[128];
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

void make_capture(const char *name, int waits) { make_capture_from(name, 0, waits); }

void make_capture_from(const char *name, uint32_t rank, int waits) {
    cb *c = cb_begin(name);
    uint32_t ring = rank * 64, other = ring + 64;
    assert_non_null(c);
    cb_process(c, rank, 2, rank + 2);
    uint32_t push = cb_role(c, "push"), consume = cb_role(c, "consume"),
             done = cb_pad(c, "done", "src", "chunk", 2, 4, 0);
    cb_plan_writer(c, done, XS_PLAN_ROW);
    cb_writer_begin_at(c, ring, 1000, push, rank, 1, 0, 0, 0, 1);
    cb_writer_begin_at(c, other, 1000, consume, rank + 1, 1, 1, 0, 0, 1);
    for (int i = 1; i < waits; i++) {
        uint64_t t = 1000 + 1000ull * (uint64_t)i;
        uint32_t slot = cb_slot(c, done, rank + 1, 0, (uint32_t)i % 4);
        cb_wait_start(c, other, t + 10, slot, (uint64_t)i, (uint64_t)i - 1);
        cb_signal(c, ring, t + 300, slot, (uint64_t)i);
        cb_wait_end(c, other, t + 320 + (uint64_t)(i * i % 400), slot, (uint64_t)i, 0, 7);
    }
    cb_wait_start(c, other, 1000ull * (uint64_t)waits + 2000, cb_slot(c, done, rank + 1, 0, 0), (uint64_t)waits + 9,
                  (uint64_t)waits);
    assert_int_equal(cb_end(c), 0);
}

void make_dead_capture(const char *name) {
    cb *c = cb_begin(name);
    assert_non_null(c);
    const uint32_t waits_for[] = {1, 0, 1, 2};
    for (uint32_t rank = 0; rank < 4; rank++) {
        uint32_t ring = rank * 64;
        cb_process(c, rank, 1, 4);
        uint32_t push = cb_role(c, "push"), done = cb_pad(c, "done", "src", "", 4, 1, 0);
        cb_plan_writer(c, done, XS_PLAN_ROW);
        cb_writer_begin_at(c, ring, 1000, push, rank, 1, 0, 0, 0, 1);
        cb_signal(c, ring, 2000 + rank, cb_slot(c, done, (rank + 1) % 4, rank, 0), 1);
        if (rank != 1)
            cb_wait_start(c, ring, 5000000 + rank, cb_slot(c, done, rank, waits_for[rank], 0), 2, 1);
        if (rank)
            cb_process_end(c, 0, rank == 1 ? 137 : rank == 2 ? 3 : 0, 0, rank == 1);
    }
    cb_flush(c);
    cb_frame(c, XS_FRAME_END, UINT32_MAX, 6000000, NULL, 0); /* closed, and rank 0 has not ended */
    assert_int_equal(cb_cut(c), 0);
}

void make_gone_capture(const char *name) {
    cb *c = cb_begin(name);
    assert_non_null(c);
    cb_process(c, 0, 1, 1);
    cb_writer_begin_at(c, 0, 1000, cb_role(c, "push"), 0, 1, 0, 0, 0, 1);
    cb_process_end(c, 0, -1, 0, 1);
    assert_int_equal(cb_end(c), 0);
}

int widest_line(const char *text) {
    int width = 0, most = 0;
    for (; *text; text++) {
        width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
        most = width > most ? width : most;
    }
    return most;
}
