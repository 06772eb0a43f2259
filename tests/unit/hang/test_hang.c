/* xs hang, as its users meet it: programs that hang in known ways, in the background, are looked at from outside. */
#include "run_xs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xs/region.h>

enum { MOST_RANKS = 8 };
#define PATIENCE_S 50 /* less than the programs live */

typedef struct app {
    pid_t pid;
    pid_t ranks[MOST_RANKS]; /* one process each: theirs */
} app;

static void sleep_ms(unsigned ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static app start(const char *way, unsigned ranks, const char *plan, const char *processes) {
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
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    assert_non_null(f);
    for (unsigned i = 0; !strcmp(processes, "each") && i < ranks; i++)
        assert_int_equal(fscanf(f, "%d", &a.ranks[i]), 1);
    fclose(f);
    return a;
}

static void stop(const app *a) {
    for (int i = 0; i < MOST_RANKS; i++)
        if (a->ranks[i])
            kill(a->ranks[i], SIGKILL);
    kill(a->pid, SIGKILL);
    waitpid(a->pid, NULL, 0);
}

/* ---- the answer ---- */

static sqlite3 *db;

/* What stands at a path in the JSON; "" for null and where there is nothing. Valid until the next call but seven. */
static const char *at(const outcome *o, const char *path) {
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

static void is(const outcome *o, const char *path, const char *wanted) {
    if (strcmp(at(o, path), wanted))
        fail_msg("%s is '%s', must be '%s', in\n%s", path, at(o, path), wanted, o->out);
}

static void has_words(const outcome *o, const char *path, const char *words) {
    if (!strstr(at(o, path), words))
        fail_msg("%s is '%s', must hold '%s', in\n%s", path, at(o, path), words, o->out);
}

static outcome ask(pid_t pid, const char *more) {
    char arguments[64];
    snprintf(arguments, sizeof arguments, "hang %d %s", (int)pid, more);
    return run_xs(arguments);
}

/* Asks until as many waits are open as must be, and the code is right: the program needs a moment to come to its hang, and
 * longer where the machine has other things to do. */
static outcome wait_for(pid_t pid, int code, int waits) {
    outcome o = {0, NULL, NULL};
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%d", waits);
    for (double begin = now(); !o.out || now() - begin < PATIENCE_S;) {
        if (o.out)
            outcome_free(&o);
        o = ask(pid, "--json");
        if (o.code == code && is_json(o.out) &&
            (waits < 0 || !strcmp(at(&o, "$.worlds[0].waits[#-1].rank"), "") == !waits)) {
            sqlite3_stmt *s;
            assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_array_length(?, '$.worlds[0].waits')", -1, &s, NULL),
                             SQLITE_OK);
            sqlite3_bind_text(s, 1, o.out, -1, SQLITE_STATIC);
            assert_int_equal(sqlite3_step(s), SQLITE_ROW);
            int open = sqlite3_column_int(s, 0);
            sqlite3_finalize(s);
            if (waits < 0 || open == waits)
                return o;
        }
        sleep_ms(100);
    }
    fail_msg("exit code %d, must be %d with %d open waits: %s%s", o.code, code, waits, o.out, o.err);
    return o;
}

/* ---- hangs ---- */

static void missing_signal(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].state", "hung");
    is(&o, "$.worlds[0].waits[0].rank", "0");
    is(&o, "$.worlds[0].waits[0].role", "pusher");
    is(&o, "$.worlds[0].waits[0].kernel", "hanging");
    is(&o, "$.worlds[0].waits[0].slot", "done[half=1,from=1]");
    is(&o, "$.worlds[0].waits[0].owner", "0");
    is(&o, "$.worlds[0].waits[0].has", "2");
    is(&o, "$.worlds[0].waits[0].needs", "3");
    is(&o, "$.worlds[0].waits[0].word", "7777");
    is(&o, "$.worlds[0].waits[0].epoch", "3");
    is(&o, "$.worlds[0].waits[0].state", "hung so far");
    is(&o, "$.worlds[0].waits[0].polls_move", "1");
    is(&o, "$.worlds[0].waits[0].supplier", "1");
    is(&o, "$.worlds[0].waits[0].supplier_from", "plan");
    is(&o, "$.worlds[0].chain_ends_in", "root");
    is(&o, "$.worlds[0].root.rank", "1");
    is(&o, "$.worlds[0].root.state", "writers_ended");
    is(&o, "$.worlds[0].last_signals[0].slot", "done[half=1,from=0]");
    is(&o, "$.worlds[0].last_signals[0].owner", "1");
    is(&o, "$.worlds[0].last_signals[0].value", "3");
    has_words(&o, "$.worlds[0].verdict", "Hung so far: rank 0 has waited");
    has_words(&o, "$.worlds[0].verdict", "for rank 1 on done[half=1,from=1] (has 2, needs 3); rank 1 owes");
    has_words(&o, "$.worlds[0].verdict", "all its writers in kernel hanging have ended without signalling");
    assert_true(atoll(at(&o, "$.worlds[0].waits[0].since_ns")) > 200000000);
    assert_true(atoll(at(&o, "$.worlds[0].waits[0].line")) > 0);
    outcome_free(&o);
    stop(&a);
}

/* Nothing is declared: the signals that it made before say who the writer is. */
static void missing_signal_without_a_plan(void **unused) {
    (void)unused;
    app a = start("missing", 3, "no-plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].waits[0].rank", "0");
    is(&o, "$.worlds[0].waits[0].supplier", "2");
    is(&o, "$.worlds[0].waits[0].supplier_from", "seen");
    is(&o, "$.worlds[0].root.rank", "2");
    outcome_free(&o);
    stop(&a);
}

static void answers_within_a_second(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    outcome_free(&o);
    double best = 1e9, first = now();
    while (best >= 1 && now() - first < PATIENCE_S) { /* the machine may be busy with other things */
        double begin = now();
        o = ask(a.pid, "");
        double took = now() - begin;
        best = took < best ? took : best;
        assert_int_equal(o.code, 2);
        outcome_free(&o);
    }
    assert_true(best >= 0.2 && best < 1.0);
    stop(&a);
}

static void text_begins_with_the_verdict(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome json = wait_for(a.pid, 2, 1), o = ask(a.pid, "");
    outcome_free(&json);
    assert_int_equal(o.code, 2);
    assert_int_equal(strncmp(o.out, "Hung so far: rank 0 has waited ", 31), 0);
    static const char *const parts[] = {"\nWho waits for whom\n",
                                        "\nOpen waits, oldest first\n",
                                        "rank 0 pusher block 0 warp 0",
                                        "has 2, needs >= 3; owes: rank 1",
                                        "\nPads",
                                        "from=1",
                                        "rank 0 half=1",
                                        "2/3",
                                        "\nRanks\n",
                                        "\nLast signals",
                                        "signalled rank 1 done[half=1,from=0] = 3"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(o.out, parts[i]))
            fail_msg("'%s' is missing in\n%s", parts[i], o.out);
    outcome_free(&o);
    stop(&a);
}

static void cycle_of_two(void **unused) {
    (void)unused;
    app a = start("cycle", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 2);
    is(&o, "$.worlds[0].chain_ends_in", "cycle");
    is(&o, "$.worlds[0].root", "");
    is(&o, "$.worlds[0].cycle[#-1]", strcmp(at(&o, "$.worlds[0].cycle[0]"), "0") ? "0" : "1");
    is(&o, "$.worlds[0].cycle[2]", "");
    has_words(&o, "$.worlds[0].verdict", "the ranks wait for each other: ");
    has_words(&o, "$.worlds[0].verdict", "rank 0 for rank 1 on done[half=1,from=1]");
    has_words(&o, "$.worlds[0].verdict", "rank 1 for rank 0 on done[half=1,from=0]");
    outcome_free(&o);
    stop(&a);
}

/* 0 waits for 2, 1 for 0: from the younger wait, too, the way leads to rank 2. */
static void chain_to_the_root(void **unused) {
    (void)unused;
    app a = start("cycle", 3, "plan", "each");
    outcome o = wait_for(a.ranks[1], 2, 3);
    is(&o, "$.worlds[0].chain_ends_in", "cycle");
    is(&o, "$.worlds[0].cycle[2]", at(&o, "$.worlds[0].cycle[#-1]"));
    outcome_free(&o);
    kill(a.ranks[2], SIGKILL); /* the cycle has a root now */
    o = wait_for(a.ranks[1], 2, 2);
    is(&o, "$.worlds[0].chain_ends_in", "root");
    is(&o, "$.worlds[0].root.rank", "2");
    is(&o, "$.worlds[0].root.state", "process_gone");
    outcome_free(&o);
    stop(&a);
}

static void barrier_with_one_away(void **unused) {
    (void)unused;
    app a = start("away", 4, "plan", "one");
    outcome o = wait_for(a.pid, 2, 3);
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "$.worlds[0].waits[%d].slot", i);
        is(&o, path, "bar[col=3]");
        snprintf(path, sizeof path, "$.worlds[0].waits[%d].supplier", i);
        is(&o, path, "3");
        snprintf(path, sizeof path, "$.worlds[0].waits[%d].needs", i);
        is(&o, path, "5");
    }
    is(&o, "$.worlds[0].root.rank", "3");
    is(&o, "$.worlds[0].ranks[3].open_waits", "0");
    is(&o, "$.worlds[0].ranks[2].open_waits", "1");
    outcome_free(&o);
    stop(&a);
}

static void killed_process(void **unused) {
    (void)unused;
    char words[64];
    app a = start("slow", 3, "plan", "each");
    outcome o = wait_for(a.ranks[0], 1, -1);
    outcome_free(&o);
    kill(a.ranks[2], SIGKILL);
    o = wait_for(a.ranks[0], 2, 2);
    snprintf(words, sizeof words, "process %d is gone", (int)a.ranks[2]);
    is(&o, "$.worlds[0].world_ranks", "3");
    is(&o, "$.worlds[0].root.rank", "2");
    is(&o, "$.worlds[0].root.state", "process_gone");
    has_words(&o, "$.worlds[0].root.why", words);
    has_words(&o, "$.worlds[0].verdict", words);
    is(&o, "$.worlds[0].ranks[2].state", "process_gone");
    is(&o, "$.worlds[0].ranks[1].state", "running");
    is(&o, "$.worlds[0].processes[2].pid", "");
    outcome_free(&o);
    stop(&a);
}

/* Asks until the chain ends at this rank, in this state. */
static outcome wait_for_root(pid_t pid, const char *rank, const char *state) {
    outcome o;
    for (double begin = now();;) {
        o = wait_for(pid, 2, -1);
        if (!strcmp(at(&o, "$.worlds[0].root.state"), state) && !strcmp(at(&o, "$.worlds[0].root.rank"), rank))
            return o;
        if (now() - begin > PATIENCE_S)
            fail_msg("the chain must end at rank %s, %s: %s", rank, state, o.out);
        outcome_free(&o);
    }
}

/* 1: every thread of the process is stopped. */
static int all_stopped(pid_t pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    int stopped = tasks != NULL;
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        char file[400];
        if (d->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s/stat", path, d->d_name);
        FILE *f = fopen(file, "r");
        const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        stopped = stopped && end && end[2] == 'T';
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return stopped;
}

/* A signal takes its time: what runs on until then may still answer, or see an answer. */
static void halt(pid_t pid) {
    kill(pid, SIGSTOP);
    for (double begin = now(); !all_stopped(pid); sleep_ms(1))
        if (now() - begin > PATIENCE_S)
            fail_msg("process %d does not stop", (int)pid);
}

/* First 0 is stopped, so that 1 waits for it; then 1, in that wait, which 0 answers before it waits for 1. */
static void stopped_process(void **unused) {
    (void)unused;
    app a = start("slow", 2, "plan", "each");
    outcome o = wait_for(a.ranks[0], 1, -1);
    outcome_free(&o);
    halt(a.ranks[0]);
    o = wait_for_root(a.ranks[0], "0", "process_stopped");
    is(&o, "$.worlds[0].chain[0]", "1");
    outcome_free(&o);
    halt(a.ranks[1]);
    kill(a.ranks[0], SIGCONT); /* nothing was broken by the look */
    o = wait_for_root(a.ranks[0], "1", "process_stopped");
    is(&o, "$.worlds[0].chain[0]", "0");
    is(&o, "$.worlds[0].chain[1]", "");
    is(&o, "$.worlds[0].waits[0].rank", "1");
    is(&o, "$.worlds[0].waits[0].answered", "1");
    is(&o, "$.worlds[0].waits[1].answered", "0");
    outcome_free(&o);
    kill(a.ranks[1], SIGCONT);
    o = wait_for(a.ranks[0], 1, -1);
    outcome_free(&o);
    stop(&a);
}

static void kernel_not_launched(void **unused) {
    (void)unused;
    app a = start("late", 2, "plan", "each");
    outcome o = wait_for(a.pid, 2, 1); /* the parent has no region: it stands for what it started */
    is(&o, "$.worlds[0].waits[0].has", "0");
    is(&o, "$.worlds[0].waits[0].needs", "1");
    is(&o, "$.worlds[0].root.rank", "1");
    is(&o, "$.worlds[0].root.state", "not_launched");
    has_words(&o, "$.worlds[0].verdict", "no kernel was launched on it");
    outcome_free(&o);
    stop(&a);
}

static void busy_elsewhere(void **unused) {
    (void)unused;
    app a = start("busy", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].root.rank", "1");
    is(&o, "$.worlds[0].root.state", "running");
    has_words(&o, "$.worlds[0].verdict", "1 writer, none waits: busy elsewhere");
    outcome_free(&o);
    stop(&a);
}

/* Nobody has ever signalled it, and no plan names it: said, not guessed. */
static void unknown_supplier(void **unused) {
    (void)unused;
    app a = start("self", 2, "no-plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].waits[0].supplier", "");
    is(&o, "$.worlds[0].waits[0].supplier_from", "unknown");
    is(&o, "$.worlds[0].chain_ends_in", "unknown");
    has_words(&o, "$.worlds[0].verdict", "who owes it is not known");
    outcome_free(&o);
    stop(&a);
    a = start("self", 2, "plan", "one");
    o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].chain_ends_in", "self");
    has_words(&o, "$.worlds[0].verdict", "owes to itself");
    outcome_free(&o);
    stop(&a);
}

/* Arrivals at a counter are seen as signals are: a gate of the rank's own is owed by the rank itself. */
static void gate_of_its_own(void **unused) {
    (void)unused;
    app a = start("gate", 2, "no-plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    is(&o, "$.worlds[0].waits[0].supplier", "0");
    is(&o, "$.worlds[0].waits[0].supplier_from", "seen");
    is(&o, "$.worlds[0].chain_ends_in", "self");
    has_words(&o, "$.worlds[0].verdict", "rank 0 owes to itself");
    outcome_free(&o);
    stop(&a);
}

/* ---- what does not hang ---- */

static void slow_but_moving(void **unused) {
    (void)unused;
    app a = start("slow", 2, "plan", "one");
    outcome o = wait_for(a.pid, 1, -1);
    is(&o, "$.worlds[0].state", "slow");
    has_words(&o, "$.worlds[0].verdict", "Slow, moving: rank 0 has waited");
    outcome_free(&o);
    int moving = 0, hung = 0;
    while (moving < 5 && hung < 5) { /* it stays so, but where the program did not come to run for 200 ms */
        o = ask(a.pid, "--json");
        hung += o.code == 2;
        moving += o.code != 2;
        outcome_free(&o);
    }
    assert_int_equal(moving, 5);
    stop(&a);
}

static void nothing_waits(void **unused) {
    (void)unused;
    app a = start("ends", 2, "plan", "one");
    outcome o = wait_for(a.pid, 0, 0);
    is(&o, "$.worlds[0].state", "nothing waits");
    has_words(&o, "$.worlds[0].verdict", "Nothing waits");
    outcome_free(&o);
    stop(&a);
}

static void worlds_are_told_apart(void **unused) {
    (void)unused;
    app a = start("ends", 2, "plan", "each"), b = start("missing", 2, "plan", "each"),
        c = start("missing", 2, "plan", "each");
    for (int i = 0; i < 3; i++) {
        outcome one = wait_for(i == 0 ? a.pid : i == 1 ? b.pid : c.pid, i ? 2 : 0, i ? 1 : 0);
        is(&one, "$.worlds[1]", "");
        is(&one, "$.worlds[0].processes[1].first_rank", "1");
        outcome_free(&one);
    }
    char arguments[96];
    snprintf(arguments, sizeof arguments, "hang --json %d %d %d", (int)a.ranks[0], (int)b.ranks[1], (int)c.pid);
    outcome o = run_xs(arguments);
    assert_int_equal(o.code, 2);
    is(&o, "$.worlds[0].state", "hung"); /* worst first */
    is(&o, "$.worlds[1].state", "hung");
    is(&o, "$.worlds[2].state", "nothing waits");
    is(&o, "$.worlds[3]", "");
    outcome_free(&o);
    stop(&a);
    stop(&b);
    stop(&c);
}

static void finds_them_by_itself(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 1), all = run_xs("hang --json");
    char pid[32];
    snprintf(pid, sizeof pid, "{\"pid\": %d,", (int)a.pid);
    assert_int_equal(all.code, 2);
    assert_non_null(strstr(all.out, pid));
    outcome_free(&o);
    outcome_free(&all);
    stop(&a);
}

/* ---- what cannot be read ---- */

static char image[64]; /* header of a real region */
static pid_t holder; /* a process that holds a memfd named as a region is */

/* what: 0 no seal, 1 garbage, 2 offsets outside, 3 a rank outside the world, 4 newer. */
static void hold(int what, size_t bytes) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    holder = fork();
    if (holder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(60);
        int fd = memfd_create("xs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        xs_region_header h;
        memset(&h, 0x55, sizeof h);
        if (what >= 2) {
            int real = open(image, O_RDONLY);
            if (real < 0 || read(real, &h, sizeof h) != sizeof h)
                _exit(1);
            bytes = h.total_bytes;
        }
        if (what == 2)
            h.status_offset = h.total_bytes - 64;
        if (what == 3)
            h.first_rank = 0xfffffff0;
        if (what == 4)
            h.version = 99;
        if (ftruncate(fd, (off_t)bytes) || pwrite(fd, &h, sizeof h, 0) != sizeof h ||
            (what && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)) || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
}

static void release(void) {
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* The header of a real region, for the forgeries. */
static void keep_a_real_header(void) {
    app a = start("missing", 2, "plan", "one");
    outcome o = wait_for(a.pid, 2, 1);
    outcome_free(&o);
    char command[256];
    snprintf(image, sizeof image, "/tmp/xs-hang-%d.region", (int)getpid());
    snprintf(command, sizeof command,
             "for f in /proc/%d/fd/*; do case $(readlink $f) in '/memfd:xs (deleted)') head -c %zu $f > %s;; esac; done",
             (int)a.pid, sizeof(xs_region_header), image);
    assert_int_equal(system(command), 0);
    stop(&a);
}

static void hostile_regions(void **unused) {
    (void)unused;
    static const char *const words[] = {"its trace memory is not sealed", "is damaged", "is damaged", "is damaged",
                                        "is of a newer version"};
    char arguments[32];
    keep_a_real_header();
    for (int what = 0; what < 5; what++) {
        hold(what, 1 << 20);
        snprintf(arguments, sizeof arguments, "hang %d", (int)holder);
        expect_failure(arguments, 66, words[what]);
        release();
    }
    hold(1, sizeof(xs_region_header));
    snprintf(arguments, sizeof arguments, "hang %d", (int)holder);
    expect_failure(arguments, 66, "is damaged");
    release();
    unlink(image);
}

static void wrong_use(void **unused) {
    (void)unused;
    char arguments[32];
    expect_failure("hang nobody", 64, "'nobody' is no process id");
    expect_failure("hang 0", 64, "no process id");
    expect_failure("hang --rows=-1", 64, "--rows=-1");
    expect_failure("hang --loud", 64, "--loud");
    expect_failure("hang 2147483647", 66, "process 2147483647: there is no such process");
    snprintf(arguments, sizeof arguments, "hang %d", (int)getpid());
    expect_failure(arguments, 66, "no traced process among these");
}

static int open_database(void **unused) {
    (void)unused;
    return sqlite3_open(":memory:", &db);
}

static int close_database(void **unused) {
    (void)unused;
    return sqlite3_close(db);
}

int main(void) {
    alarm(280);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_signal),
        cmocka_unit_test(missing_signal_without_a_plan),
        cmocka_unit_test(answers_within_a_second),
        cmocka_unit_test(text_begins_with_the_verdict),
        cmocka_unit_test(cycle_of_two),
        cmocka_unit_test(chain_to_the_root),
        cmocka_unit_test(barrier_with_one_away),
        cmocka_unit_test(killed_process),
        cmocka_unit_test(stopped_process),
        cmocka_unit_test(kernel_not_launched),
        cmocka_unit_test(busy_elsewhere),
        cmocka_unit_test(unknown_supplier),
        cmocka_unit_test(gate_of_its_own),
        cmocka_unit_test(slow_but_moving),
        cmocka_unit_test(nothing_waits),
        cmocka_unit_test(worlds_are_told_apart),
        cmocka_unit_test(finds_them_by_itself),
        cmocka_unit_test(hostile_regions),
        cmocka_unit_test(wrong_use),
    };
    setenv("XS_BACKEND", "host", 0);
    return cmocka_run_group_tests(tests, open_database, close_database);
}
