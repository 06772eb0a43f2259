/* xs hang, as its users meet it: programs that hang in known ways, in the background, are looked at from outside. */
#include "ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xs/region.h>

/* ---- hangs ---- */

static void missing_signal(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome o = LOOK(
        a.pid, 2, 1, {"$.worlds[0].state", "hung"}, {"$.worlds[0].waits[0].rank", "0"},
        {"$.worlds[0].waits[0].role", "pusher"}, {"$.worlds[0].waits[0].kernel", "hanging"},
        {"$.worlds[0].waits[0].slot", "done[half=1,from=1]"}, {"$.worlds[0].waits[0].owner", "0"},
        {"$.worlds[0].waits[0].has", "2"}, {"$.worlds[0].waits[0].needs", "3"}, {"$.worlds[0].waits[0].word", "7777"},
        {"$.worlds[0].waits[0].epoch", "3"}, {"$.worlds[0].waits[0].state", "hung so far"},
        {"$.worlds[0].waits[0].polls_move", "1"}, {"$.worlds[0].waits[0].supplier", "1"},
        {"$.worlds[0].waits[0].supplier_from", "plan"}, {"$.worlds[0].chain_ends_in", "root"},
        {"$.worlds[0].root.rank", "1"}, {"$.worlds[0].root.state", "writers_ended"},
        {"$.worlds[0].last_signals[0].slot", "done[half=1,from=0]"}, {"$.worlds[0].last_signals[0].owner", "1"},
        {"$.worlds[0].last_signals[0].value", "3"}, {"$.worlds[0].verdict", "~Hung so far: rank 0 has waited"},
        {"$.worlds[0].verdict", "~for rank 1 on done[half=1,from=1] (has 2, needs 3); rank 1 owes"},
        {"$.worlds[0].verdict", "~all its writers in kernel hanging have ended without signalling"});
    assert_true(atoll(at(&o, "$.worlds[0].waits[0].since_ns")) >= 200000000);
    assert_true(atoll(at(&o, "$.worlds[0].waits[0].line")) > 0);
    assert_string_equal(at(&o, "$.worlds[0].waits[0].file"), "hanging.kernel.h");
    outcome_free(&o);
    stop(&a);
}

/* It waited for a rank for which nobody had been started, and was told that who owes it is not known. */
static void a_rank_that_never_came_was_told_as_unknown(void **unused) {
    (void)unused;
    char world[64];
    snprintf(world, sizeof world, "never.%d", (int)getpid());
    setenv("XS_WORLD", world, 1), setenv("XS_RANK", "0", 1), setenv("XS_RANKS", "4", 1);
    app a = start("missing", 3, "no-plan", "one");
    unsetenv("XS_WORLD"), unsetenv("XS_RANK"), unsetenv("XS_RANKS");
    outcome o = LOOK(a.pid, 2, -1, {"$.worlds[0].verdict", "~and none was seen; no process has come for rank 3: start it with the same XS_WORLD"},
                     {"$.worlds[0].ranks[3].state", "process_never_came"});
    outcome_free(&o);
    stop(&a);
}

/* "1 polls, its polls do not move": nobody counts the polls of a loop of the user's, but it wrote its status line again and again. */
static void a_noted_loop_that_polled_was_said_to_stand_still(void **unused) {
    (void)unused;
    app a = start("noted", 2, "plan", "one");
    outcome o = LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].slot", "bar[col=1]"}, {"$.worlds[0].waits[0].polls", "1"},
                     {"$.worlds[0].waits[0].polls_move", "1"});
    outcome_free(&o);
    o = ask(a.pid, "");
    assert_non_null(strstr(o.out, ", 1 poll, "));
    outcome_free(&o);
    stop(&a);
}

/* The hang of "missing": the first rank waits for the third signal of the last one. */
static void look_for_missing(pid_t pid) {
    outcome o = LOOK(pid, 2, 1, {"$.worlds[0].waits[0].rank", "0"}, {"$.worlds[0].waits[0].needs", "3"},
                     {"$.worlds[0].root.state", "writers_ended"});
    outcome_free(&o);
}

/* Nothing is declared: the signals that it made before say who the writer is. */
static void missing_signal_without_a_plan(void **unused) {
    (void)unused;
    app a = start("missing", 3, "no-plan", "one");
    outcome o = LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].rank", "0"}, {"$.worlds[0].waits[0].needs", "3"},
                     {"$.worlds[0].waits[0].supplier", "2"}, {"$.worlds[0].waits[0].supplier_from", "seen"},
                     {"$.worlds[0].root.rank", "2"});
    outcome_free(&o);
    stop(&a);
}

static double took(const char *arguments, int code) {
    double begin = now();
    outcome o = run_xs(arguments);
    double end = now();
    assert_int_equal(o.code, code);
    outcome_free(&o);
    return end - begin;
}

/* Beyond what the program needs to start, which on a busy machine is anything; the best of many, for the same reason.
 */
static void answers_within_a_second(void **unused) {
    (void)unused;
    char arguments[32];
    app a = start("missing", 2, "plan", "one");
    look_for_missing(a.pid);
    snprintf(arguments, sizeof arguments, "hang %d", (int)a.pid);
    double answer = 1e9, started = 1e9, begin = now();
    do {
        double one = took("version", 0), other = took(arguments, 2);
        started = one < started ? one : started;
        answer = other < answer ? other : answer;
    } while (answer - started >= 0.9 && now() - begin < PATIENCE_S);
    assert_true(answer >= 0.2 && answer - started < 0.9);
    stop(&a);
}

static void text_begins_with_the_verdict(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    look_for_missing(a.pid);
    outcome o = ask(a.pid, "");
    assert_int_equal(o.code, 2);
    assert_int_equal(strncmp(o.out, "Hung so far: rank 0 has waited ", 31), 0);
    static const char *const parts[] = {"\nWho waits for whom\n",
                                        "\nOpen waits, oldest first\n",
                                        "rank 0 pusher block 0 warp 0",
                                        "has 2, needs >= 3; owes: rank 1",
                                        ", epoch 3, word 7777, ",
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

static void a_writer_without_a_word_shows_none(void **unused) {
    (void)unused;
    app a = start("self", 2, "plan", "one");
    outcome o = LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].word", "0"});
    outcome_free(&o);
    o = ask(a.pid, "");
    assert_non_null(strstr(o.out, ", epoch 3, "));
    assert_null(strstr(o.out, ", word "));
    outcome_free(&o);
    stop(&a);
}

static void cycle_of_two(void **unused) {
    (void)unused;
    app a = start("cycle", 2, "plan", "one");
    outcome o = LOOK(a.pid, 2, 2, {"$.worlds[0].chain_ends_in", "cycle"}, {"$.worlds[0].root", ""},
                     {"$.worlds[0].cycle[2]", ""}, {"$.worlds[0].verdict", "~the ranks wait for each other: "},
                     {"$.worlds[0].verdict", "~rank 0 for rank 1 on done[half=1,from=1]"},
                     {"$.worlds[0].verdict", "~rank 1 for rank 0 on done[half=1,from=0]"},
                     {"$.worlds[0].verdict", "~: a circle, or one of them has left a signal out and gone on"});
    is(&o, "$.worlds[0].cycle[#-1]", strcmp(at(&o, "$.worlds[0].cycle[0]"), "0") ? "0" : "1");
    outcome_free(&o);
    stop(&a);
}

/* Two that wait for each other: one of them has gone on without its signal. The newest records of its ring show that it never got so far before. */
static void one_that_left_its_signal_out(void **unused) {
    (void)unused;
    for (int each = 0; each < 2; each++) {
        app a = start("skips", 2, "plan", each ? "each" : "one");
        outcome o = LOOK(a.ranks[0] ? a.ranks[0] : a.pid, 2, 2, {"$.worlds[0].chain_ends_in", "left_out"}, {"$.worlds[0].root.rank", "1"},
                         {"$.worlds[0].chain[#-1]", "0"}, {"$.worlds[0].cycle[0]", ""},
                         {"$.worlds[0].root.why", "~more waits than ever between two"},
                         {"$.worlds[0].verdict", "~rank 1 has left it out: since its last signal there"});
        outcome_free(&o);
        stop(&a);
    }
}

/* Rank 1 waits for rank 0, and that one for the program that launched it. */
static void the_host_owes_it(void **unused) {
    (void)unused;
    app a = start("host", 2, "plan", "one");
    outcome o = LOOK(a.pid, 2, 2, {"$.worlds[0].chain_ends_in", "host"}, {"$.worlds[0].verdict", "~; the host program of rank 0 owes it."});
    int first = atoi(at(&o, "$.worlds[0].waits[0].rank"));
    is(&o, first ? "$.worlds[0].chain[1]" : "$.worlds[0].waits[0].slot", first ? "0" : "go");
    is(&o, first ? "$.worlds[0].waits[1].supplier_from" : "$.worlds[0].waits[0].supplier_from", "host");
    outcome_free(&o);
    stop(&a);
    a = start("host", 2, "no-plan", "one"); /* nobody is known to signal it: no rank is accused */
    o = LOOK(a.pid, 2, 2, {"$.worlds[0].chain_ends_in", "unknown"}, {"$.worlds[0].root", ""});
    outcome_free(&o);
    stop(&a);
}

/* 0 waits for 2, 1 for 0: from the younger wait, too, the way leads to rank 2. */
static void chain_to_the_root(void **unused) {
    (void)unused;
    app a = start("cycle", 3, "plan", "each");
    outcome o = LOOK(a.ranks[1], 2, 3, {"$.worlds[0].chain_ends_in", "cycle"});
    is(&o, "$.worlds[0].cycle[2]", at(&o, "$.worlds[0].cycle[#-1]"));
    outcome_free(&o);
    kill(a.ranks[2], SIGKILL); /* the cycle has a root now */
    o = LOOK(a.ranks[1], 2, 2, {"$.worlds[0].chain_ends_in", "root"}, {"$.worlds[0].root.rank", "2"},
             {"$.worlds[0].root.state", "process_gone"});
    outcome_free(&o);
    stop(&a);
}

static void barrier_with_one_away(void **unused) {
    (void)unused;
    app a = start("away", 4, "plan", "one");
    outcome o =
        LOOK(a.pid, 2, 3, {"$.worlds[0].waits[0].slot", "bar[col=3]"}, {"$.worlds[0].waits[1].slot", "bar[col=3]"},
             {"$.worlds[0].waits[2].slot", "bar[col=3]"}, {"$.worlds[0].waits[0].supplier", "3"},
             {"$.worlds[0].waits[1].supplier", "3"}, {"$.worlds[0].waits[2].supplier", "3"},
             {"$.worlds[0].waits[0].needs", "5"}, {"$.worlds[0].waits[1].needs", "5"},
             {"$.worlds[0].waits[2].needs", "5"}, {"$.worlds[0].root.rank", "3"},
             {"$.worlds[0].ranks[3].open_waits", "0"}, {"$.worlds[0].ranks[2].open_waits", "1"});
    outcome_free(&o);
    stop(&a);
}

static void killed_process(void **unused) {
    (void)unused;
    char words[64];
    app a = start("slow", 3, "plan", "each");
    look(a.ranks[0], 1, -1);
    kill(a.ranks[2], SIGKILL);
    snprintf(words, sizeof words, "~process %d is gone", (int)a.ranks[2]);
    outcome o = LOOK(a.ranks[0], 2, 2, {"$.worlds[0].world_ranks", "3"}, {"$.worlds[0].root.rank", "2"},
                     {"$.worlds[0].root.state", "process_gone"}, {"$.worlds[0].root.why", words},
                     {"$.worlds[0].verdict", words}, {"$.worlds[0].ranks[2].state", "process_gone"},
                     {"$.worlds[0].ranks[1].state", "running"}, {"$.worlds[0].processes[2].pid", ""});
    outcome_free(&o);
    stop(&a);
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
    look(a.ranks[0], 1, -1);
    halt(a.ranks[0]);
    outcome o = LOOK(a.ranks[0], 2, -1, {"$.worlds[0].root.rank", "0"}, {"$.worlds[0].root.state", "process_stopped"},
                     {"$.worlds[0].chain[0]", "1"});
    outcome_free(&o);
    halt(a.ranks[1]);
    kill(a.ranks[0], SIGCONT); /* nothing was broken by the look */
    o = LOOK(a.ranks[0], 2, 2, {"$.worlds[0].root.rank", "1"}, {"$.worlds[0].root.state", "process_stopped"},
             {"$.worlds[0].chain[0]", "0"}, {"$.worlds[0].chain[1]", ""}, {"$.worlds[0].waits[0].rank", "1"},
             {"$.worlds[0].waits[0].answered", "1"}, {"$.worlds[0].waits[1].answered", "0"});
    outcome_free(&o);
    kill(a.ranks[1], SIGCONT);
    look(a.ranks[0], 1, -1);
    stop(&a);
}

/* Of a combine whose one process was stopped, its gemm's warps were said to wait for each other, and nothing was said of the process. */
static void a_stopped_process_was_a_circle_and_no_more(void **unused) {
    (void)unused;
    char words[128];
    app a = start("cycle", 2, "plan", "each");
    outcome o = LOOK(a.ranks[0], 2, 2, {"$.worlds[0].chain_ends_in", "cycle"},
                     {"$.worlds[0].verdict", "~: a circle, or one of them has left a signal out and gone on"});
    outcome_free(&o);
    halt(a.ranks[1]);
    snprintf(words, sizeof words,
             "~: process %d of rank 1 is stopped (SIGSTOP, or a debugger); if it is not that, a circle, ", (int)a.ranks[1]);
    o = LOOK(a.ranks[0], 2, 2, {"$.worlds[0].chain_ends_in", "cycle"}, {"$.worlds[0].verdict", words});
    outcome_free(&o);
    kill(a.ranks[1], SIGCONT);
    stop(&a);
}

static void kernel_not_launched(void **unused) {
    (void)unused;
    app a = start("late", 2, "plan", "each");
    outcome o =
        LOOK(a.pid, 2, 1, /* the parent has no region: it stands for what it started */
             {"$.worlds[0].waits[0].has", "0"}, {"$.worlds[0].waits[0].needs", "1"}, {"$.worlds[0].root.rank", "1"},
             {"$.worlds[0].root.state", "not_launched"}, {"$.worlds[0].verdict", "~no kernel was launched on it"});
    outcome_free(&o);
    stop(&a);
}

static void busy_elsewhere(void **unused) {
    (void)unused;
    app a = start("busy", 2, "plan", "one");
    outcome o =
        LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].needs", "3"}, {"$.worlds[0].root.rank", "1"},
             {"$.worlds[0].root.state", "running"}, {"$.worlds[0].verdict", "~1 writer, none waits: busy elsewhere"});
    outcome_free(&o);
    stop(&a);
}

/* Nobody has ever signalled it, and no plan names it: said, not guessed. */
static void unknown_supplier(void **unused) {
    (void)unused;
    app a = start("self", 2, "no-plan", "one");
    outcome o =
        LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].supplier", ""}, {"$.worlds[0].waits[0].supplier_from", "unknown"},
             {"$.worlds[0].chain_ends_in", "unknown"}, {"$.worlds[0].verdict", "~who owes it is not known"});
    outcome_free(&o);
    stop(&a);
    a = start("self", 2, "plan", "one");
    o = LOOK(a.pid, 2, 1, {"$.worlds[0].chain_ends_in", "self"}, {"$.worlds[0].verdict", "~owes to itself"});
    outcome_free(&o);
    stop(&a);
}

/* Arrivals at a counter are seen as signals are: a gate of the rank's own is owed by the rank itself. */
static void gate_of_its_own(void **unused) {
    (void)unused;
    app a = start("gate", 2, "no-plan", "one");
    outcome o =
        LOOK(a.pid, 2, 1, {"$.worlds[0].waits[0].supplier", "0"}, {"$.worlds[0].waits[0].supplier_from", "seen"},
             {"$.worlds[0].chain_ends_in", "self"}, {"$.worlds[0].verdict", "~rank 0 owes to itself"});
    outcome_free(&o);
    stop(&a);
}

/* ---- what does not hang ---- */

/* It stays so, but where the program did not come to run for 200 ms. */
static void slow_but_moving(void **unused) {
    (void)unused;
    app a = start("slow", 2, "plan", "one");
    for (int moving = 0; moving < 5; moving++) {
        outcome o = LOOK(a.pid, 1, -1, {"$.worlds[0].state", "slow"},
                         {"$.worlds[0].verdict", "~Slow, moving: rank 0 has waited"});
        outcome_free(&o);
    }
    stop(&a);
}

static void nothing_waits(void **unused) {
    (void)unused;
    app a = start("ends", 2, "plan", "one");
    outcome o = LOOK(a.pid, 0, 0, {"$.worlds[0].state", "nothing waits"}, {"$.worlds[0].verdict", "~Nothing waits"});
    outcome_free(&o);
    stop(&a);
}

static void worlds_are_told_apart(void **unused) {
    (void)unused;
    app a = start("ends", 2, "plan", "each"), b = start("missing", 2, "plan", "each"),
        c = start("missing", 2, "plan", "each");
    outcome ends = LOOK(a.pid, 0, 0, {"$.worlds[1]", ""}, {"$.worlds[0].processes[1].first_rank", "1"},
                        {"$.worlds[0].ranks[0].state", "kernel_ended"}, {"$.worlds[0].ranks[1].state", "kernel_ended"});
    outcome_free(&ends);
    for (int i = 0; i < 2; i++) {
        outcome one = LOOK(i ? c.pid : b.pid, 2, 1, {"$.worlds[1]", ""}, {"$.worlds[0].processes[1].first_rank", "1"},
                           {"$.worlds[0].waits[0].needs", "3"}, {"$.worlds[0].root.state", "kernel_ended"});
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
    look_for_missing(a.pid);
    outcome all = run_xs("hang --json");
    char pid[32];
    snprintf(pid, sizeof pid, "{\"pid\": %d,", (int)a.pid);
    assert_int_equal(all.code, 2);
    assert_non_null(strstr(all.out, pid));
    outcome_free(&all);
    stop(&a);
}

/* ---- what cannot be read ---- */

static char image[64]; /* header of a real region */
static pid_t holder;   /* a process that holds a memfd named as a region is */

/* what: 0 no seal, 1 garbage, 2 offsets outside, 3 a rank outside the world, 4 newer. */
static void hold(int what, size_t bytes) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    holder = fork();
    if (holder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(600);
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
    look_for_missing(a.pid);
    char command[256];
    snprintf(image, sizeof image, "/tmp/xs-hang-%d.region", (int)getpid());
    snprintf(
        command, sizeof command,
        "for f in /proc/%d/fd/*; do case $(readlink $f) in '/memfd:xs (deleted)') head -c %zu $f > %s;; esac; done",
        (int)a.pid, sizeof(xs_region_header), image);
    assert_int_equal(system(command), 0);
    stop(&a);
}

static void hostile_regions(void **unused) {
    (void)unused;
    static const char *const words[] = {"its trace memory is not sealed", "is damaged", "is damaged", "is damaged",
                                        "is of another version"};
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
    expect_failure("hang nobody", 66, "nobody");
    expect_failure("hang 1 nobody", 64, "processes or files, not both");
    expect_failure("hang 99999999999", 64, "no process id");
    expect_failure("hang 0", 64, "no process id");
    expect_failure("hang --rows=-1", 64, "--rows=-1");
    expect_failure("hang --loud", 64, "--loud");
    expect_failure("hang 2147483647", 66, "process 2147483647: there is no such process");
    snprintf(arguments, sizeof arguments, "hang %d", (int)getpid());
    expect_failure(arguments, 66, "no traced process among these");
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, stop_all)
    const struct CMUnitTest tests[] = {
        TEST(missing_signal),
        TEST(missing_signal_without_a_plan),
        TEST(a_rank_that_never_came_was_told_as_unknown),
        TEST(a_noted_loop_that_polled_was_said_to_stand_still),
        TEST(answers_within_a_second),
        TEST(text_begins_with_the_verdict),
        TEST(a_writer_without_a_word_shows_none),
        TEST(cycle_of_two),
        TEST(one_that_left_its_signal_out),
        TEST(the_host_owes_it),
        TEST(chain_to_the_root),
        TEST(barrier_with_one_away),
        TEST(killed_process),
        TEST(stopped_process),
        TEST(a_stopped_process_was_a_circle_and_no_more),
        TEST(kernel_not_launched),
        TEST(busy_elsewhere),
        TEST(unknown_supplier),
        TEST(gate_of_its_own),
        TEST(slow_but_moving),
        TEST(nothing_waits),
        TEST(worlds_are_told_apart),
        TEST(finds_them_by_itself),
        TEST(hostile_regions),
        TEST(wrong_use),
    };
    setenv("XS_BACKEND", "host", 0);
    return cmocka_run_group_tests(tests, open_database, close_database);
}
