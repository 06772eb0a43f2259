/* xs hang afterwards: a capture, or rings left behind, give the answer that was given live. */
#include "ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <capture_build.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a hang under xs record ---- */

typedef struct recorded {
    pid_t recorder;
    outcome live; /* while it hung */
} recorded;

static pid_t recorders[2]; /* that run */

/* What is asked for, and that no wait is young or moves any more: the others of a hang may begin to hang later. */
static outcome look_at_rest(pid_t pid, int waits, const want *wants, size_t count) {
    enum { MOST = 8 };
    static const char *const states[] = {"$.worlds[0].waits[0].state", "$.worlds[0].waits[1].state",
                                         "$.worlds[0].waits[2].state"};
    want all[MOST];
    assert_true(waits <= 3 && count + 3 <= MOST);
    memcpy(all, wants, count * sizeof *wants);
    for (int i = 0; i < waits; i++)
        all[count++] = (want){states[i], "hung so far"};
    return look_for(pid, 2, waits, all, count);
}

static recorded record(const char *way, const char *ranks, const char *plan, const char *processes, int waits,
                       const char *bound, const want *wants, size_t count) {
    recorded r = {.recorder = fork()};
    if (r.recorder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(600);
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl(XS_PROGRAM, XS_PROGRAM, "record", "--no-export", "-o", "run", bound, "--", HANGING, way, ranks, plan,
              processes, (char *)NULL);
        _exit(127);
    }
    recorders[recorders[0] != 0] = r.recorder;
    r.live = look_at_rest(r.recorder, waits, wants, count);
    return r;
}
#define RECORD(way, ranks, plan, processes, waits, bound, ...)                     \
    record(way, ranks, plan, processes, waits, bound, (const want[]){__VA_ARGS__}, \
           sizeof((const want[]){__VA_ARGS__}) / sizeof(want))
/* The hang of "missing" for two ranks, when it has come to its end. */
#define MISSING                                                                \
    {"$.worlds[0].waits[0].rank", "0"}, {"$.worlds[0].waits[0].needs", "3"}, { \
        "$.worlds[0].root.state", "writers_ended"                              \
    }

static recorded record_missing(const char *bound) { return RECORD("missing", "2", "plan", "one", 1, bound, MISSING); }

static pid_t process_of(const outcome *o, int index) {
    char path[64];
    snprintf(path, sizeof path, "$.worlds[0].processes[%d].pid", index);
    return (pid_t)atoi(at(o, path));
}

static void kill_all(const outcome *o) {
    for (int i = 0; i < MOST_RANKS && process_of(o, i) > 0; i++)
        kill(process_of(o, i), SIGKILL);
}

/* The program is killed, and what starts it; the recorder writes to the end. */
static void end(const recorded *r) {
    kill_all(&r->live);
    kill(r->recorder, SIGTERM); /* which it hands on */
    waitpid(r->recorder, NULL, 0);
    recorders[recorders[0] != r->recorder] = 0;
}

/* What a test that failed leaves. */
static int end_all(void **unused) {
    for (int i = 0; i < 2; i++)
        if (recorders[i]) {
            kill(recorders[i], SIGTERM);
            waitpid(recorders[i], NULL, 0);
            recorders[i] = 0;
        }
    return stop_all(unused);
}

static void same_at(const outcome *a, const char *path, const outcome *b, const char *other) {
    if (strcmp(at(a, path), at(b, other)))
        fail_msg("%s was '%s' live, and is '%s' afterwards, in\n%s\n%s", path, at(a, path), at(b, other), a->out,
                 b->out);
}

static void same(const outcome *a, const outcome *b, const char *path) { same_at(a, path, b, path); }

static int lines_told; /* waits whose status line was whole */

/* Where the wait stands in the other answer: their order is that of their begins, and a status line begins later than its
 * wait, which on a busy machine turns two of them round. */
static int place_of(const outcome *a, int index, const outcome *b, int waits) {
    static const char *const who[] = {"rank", "block", "warp", "slot"};
    for (int i = 0; i < waits; i++) {
        int equal = 1;
        for (size_t k = 0; k < sizeof who / sizeof *who; k++) {
            char path[64], other[64];
            snprintf(path, sizeof path, "$.worlds[0].waits[%d].%s", index, who[k]);
            snprintf(other, sizeof other, "$.worlds[0].waits[%d].%s", i, who[k]);
            equal &= !strcmp(at(a, path), at(b, other));
        }
        if (equal)
            return i;
    }
    return index;
}

/* Who is killed may have been writing its status line: a half-written one tells nothing, what records say is there. */
static void same_wait(const outcome *a, const outcome *b, int index, int waits) {
    static const char *const fields[] = {"rank",          "block",         "warp",     "role",  "kernel",  "epoch",
                                         "slot",          "owner",         "has",      "needs", "compare", "supplier",
                                         "supplier_from", "supplier_role", "answered", "state", "file",    "line",  "word"};
    enum { FIELDS = sizeof fields / sizeof *fields, OF_LINE = 3 };
    char path[64], other[64];
    int place = place_of(a, index, b, waits);
    snprintf(path, sizeof path, "$.worlds[0].waits[%d].polls", place);
    int told = atoll(at(b, path)) > 0;
    lines_told += told;
    for (size_t i = 0; i < FIELDS - (told ? 0 : OF_LINE); i++) {
        snprintf(path, sizeof path, "$.worlds[0].waits[%d].%s", index, fields[i]);
        snprintf(other, sizeof other, "$.worlds[0].waits[%d].%s", place, fields[i]);
        same_at(a, path, b, other);
    }
}

/* A chain begins at the oldest wait: the same ranks, from another one on. */
static void same_chain(const outcome *a, const outcome *b) {
    static const char *const fields[] = {"chain[0]", "chain[1]", "chain[2]", "cycle[0]", "cycle[1]"};
    if (strcmp(at(a, "$.worlds[0].waits[0].rank"), at(b, "$.worlds[0].waits[0].rank")))
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char path[64];
        snprintf(path, sizeof path, "$.worlds[0].%s", fields[i]);
        same(a, b, path);
    }
}

static void same_answer(const outcome *live, const outcome *after, int waits) {
    static const char *const fields[] = {"state",
                                         "world_ranks",
                                         "chain_ends_in",
                                         "root.rank",
                                         "root.state",
                                         "ranks[0].state",
                                         "ranks[1].state",
                                         "ranks[0].open_waits",
                                         "ranks[1].open_waits",
                                         "last_signals[0].slot",
                                         "last_signals[0].value"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char path[64];
        snprintf(path, sizeof path, "$.worlds[0].%s", fields[i]);
        same(live, after, path);
    }
    same_chain(live, after);
    for (int i = 0; i <= waits; i++) /* one more: nothing */
        same_wait(live, after, i, waits);
}

/* ---- captures ---- */

static void killed_in_a_hang(void **unused) {
    (void)unused;
    lines_told = 0;
    static const struct {
        const char *way, *ranks, *plan;
        int waits;
        want wants[4];
    } hangs[] = {
        {"missing", "2", "plan", 1, {MISSING}},
        {"missing", "3", "no-plan", 1, {MISSING, {"$.worlds[0].ranks[1].state", "writers_ended"}}},
        {"cycle", "2", "plan", 2, {{"$.worlds[0].waits[0].needs", "3"}, {"$.worlds[0].waits[1].needs", "3"}}},
        {"skips", "2", "plan", 2, {{"$.worlds[0].chain_ends_in", "left_out"}, {"$.worlds[0].root.rank", "1"}}},
        {"away", "4", "plan", 3, {{"$.worlds[0].ranks[3].state", "writers_ended"}, {"$.worlds[0].root.rank", "3"}}},
        {"self", "2", "plan", 1, {{"$.worlds[0].ranks[1].state", "writers_ended"}}},
        {"self", "2", "no-plan", 1, {{"$.worlds[0].ranks[1].state", "writers_ended"}}},
        {"host", "2", "plan", 2, {{"$.worlds[0].chain_ends_in", "host"}, {"$.worlds[0].waits[1].needs", "3"}}},
        {"gate", "2", "no-plan", 1, {{"$.worlds[0].ranks[1].state", "writers_ended"}}}};
    for (size_t i = 0; i < sizeof hangs / sizeof *hangs; i++) {
        size_t count = 0;
        while (count < 4 && hangs[i].wants[count].path)
            count++;
        recorded r = record(hangs[i].way, hangs[i].ranks, hangs[i].plan, "one", hangs[i].waits, "--max-bytes=1G",
                            hangs[i].wants, count);
        end(&r);
        outcome o = of_file("run", 2), by_file = of_file("run.xs", 2);
        is(&o, "$.worlds[0].source", "capture");
        is(&o, "$.worlds[0].processes[0].exit_status", "137");
        is(&o, "$.worlds[0].processes[0].state", "runs");
        int place = place_of(&r.live, 0, &o, hangs[i].waits);
        char since[64];
        snprintf(since, sizeof since, "$.worlds[0].waits[%d].since_ns", place);
        assert_true(atoll(at(&o, since)) >= atoll(at(&r.live, "$.worlds[0].waits[0].since_ns")));
        same_answer(&r.live, &o, hangs[i].waits);
        same_answer(&o, &by_file, hangs[i].waits);
        is(&o, "$.worlds[0].verdict", "~Hung at the end: ");
        outcome_free(&o);
        outcome_free(&by_file);
        outcome_free(&r.live);
        assert_int_equal(system("rm -rf run.xs"), 0);
    }
    assert_true(lines_told > 0); /* of ten waits */
}

static void text_says_what_it_rests_on(void **unused) {
    (void)unused;
    recorded r = record_missing("--max-bytes=1G");
    end(&r);
    outcome o = run_xs("hang run");
    assert_int_equal(o.code, 2);
    static const char *const parts[] = {"Hung at the end: rank 0 had waited ",
                                        "for rank 1 on done[half=1,from=1] (has 2, needs 3); rank 1 owes",
                                        "\nFrom run: nobody recorded anything in the last ",
                                        "2/3",
                                        "no change seen",
                                        "at the end: killed by signal 9 (SIGKILL)",
                                        " before the end"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(o.out, parts[i]))
            fail_msg("'%s' is missing in\n%s", parts[i], o.out);
    outcome_free(&o);
    outcome_free(&r.live);
}

/* One of three is killed: it is gone, as it is live. The capture is being written. */
static void one_was_killed_before(void **unused) {
    (void)unused;
    recorded r = RECORD("cycle", "3", "plan", "each", 3, "--max-bytes=1G", {"$.worlds[0].waits[0].needs", "3"},
                        {"$.worlds[0].waits[1].needs", "3"}, {"$.worlds[0].waits[2].needs", "3"});
    kill(process_of(&r.live, 2), SIGKILL);
    outcome live = LOOK(r.recorder, 2, 2, {"$.worlds[0].root.state", "process_gone"}), o = run_xs("hang --json run");
    for (double begin = now(); o.code != 2 || strcmp(at(&o, "$.worlds[0].root.state"), "process_gone"); sleep_ms(50)) {
        if (now() - begin > PATIENCE_S)
            fail_msg("the capture never tells of the death: %s", o.out);
        outcome_free(&o);
        o = run_xs("hang --json run");
    }
    is(&live, "$.worlds[0].root.state", "process_gone");
    is(&o, "$.worlds[0].root.rank", "2");
    is(&o, "$.worlds[0].root.why",
       "~is gone: killed, or ended without destroying its world"); /* not the recorder's child */
    is(&o, "$.worlds[0].processes[2].ended", "1");
    is(&o, "$.worlds[0].processes[2].state", "gone");
    is(&o, "$.worlds[0].processes[1].ended", "0");
    is(&o, "$.worlds[0].waits[1].rank", strcmp(at(&o, "$.worlds[0].waits[0].rank"), "0") ? "0" : "1");
    is(&o, "$.worlds[0].waits[2]", "");
    is(&o, "$.notes[0]", "~still runs");
    outcome_free(&o);
    outcome_free(&live);
    end(&r);
    outcome_free(&r.live);
}

static void bounded_capture(void **unused) {
    (void)unused;
    recorded r = record_missing("--max-bytes=4M");
    end(&r);
    struct stat st;
    assert_int_equal(stat("run.xs", &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    outcome o = of_file("run", 2);
    same_answer(&r.live, &o, 1);
    outcome_free(&o);
    o = of_file("run.xs/", 2); /* as a shell completes it */
    same_answer(&r.live, &o, 1);
    outcome_free(&o);
    outcome_free(&r.live);
}

/* Cut off in the frames of its end, it still gives the answer; anywhere else an answer, or one line. */
static void truncated_capture(void **unused) {
    (void)unused;
    recorded r = record_missing("--max-seconds=0");
    end(&r);
    struct stat st;
    assert_int_equal(stat("run.xs", &st), 0);
    char command[128];
    for (int part = 0; part <= 40; part++) {
        snprintf(command, sizeof command, "head -c %lld run.xs > cut.xs",
                 (long long)st.st_size * part / 40 - (part == 40));
        assert_int_equal(system(command), 0);
        outcome o = run_xs("hang --json cut");
        if (o.code == 66 ? count_lines(o.err) != 1 : o.code > 2 || !is_json(o.out))
            fail_msg("%s: exit code %d, %s%s", command, o.code, o.out, o.err);
        if (part == 40) {
            assert_int_equal(o.code, 2);
            same_answer(&r.live, &o, 1);
            is(&o, "$.notes[0]", "~cut off");
        }
        outcome_free(&o);
    }
    outcome_free(&r.live);
}

/* ---- rings left behind ---- */

/* Copies the memory of a process that hangs to left.region, once more where a status line was being written just then.
 */
static void copy_memory(pid_t pid) {
    char command[256];
    snprintf(
        command, sizeof command,
        "for f in /proc/%d/fd/*; do case $(readlink $f) in '/memfd:xs (deleted)') cat $f > left.region;; esac; done",
        (int)pid);
    for (double begin = now();; sleep_ms(20)) {
        assert_int_equal(system(command), 0);
        outcome o = run_xs("hang --json left.region");
        int hangs = o.code == 2;
        if (!hangs && now() - begin > PATIENCE_S)
            fail_msg("no copy shows the hang: %s%s", o.out, o.err);
        outcome_free(&o);
        if (hangs)
            return;
    }
}

/* The recorder is killed, then the program: its memory was copied before, as a child that still has it would. */
static void rings_left_behind(void **unused) {
    (void)unused;
    recorded r = record_missing("--max-seconds=0");
    outcome told = run_xs("hang --json run");
    /* Where nothing is recorded, long waits alone move the end of the capture on. */
    for (double begin = now(); told.code != 2 || atoi(at(&told, "$.worlds[0].waits[0].line")) == 0; sleep_ms(50)) {
        if (now() - begin > PATIENCE_S)
            fail_msg("the capture never shows the hang: %s", told.out);
        outcome_free(&told);
        told = run_xs("hang --json run");
    }
    outcome_free(&told);
    kill(r.recorder, SIGKILL);
    waitpid(r.recorder, NULL, 0);
    recorders[0] = 0;
    look(process_of(&r.live, 0), 2, 1); /* it goes on to hang */
    copy_memory(process_of(&r.live, 0));
    kill_all(&r.live);
    outcome o = of_file("left.region", 2), from_capture = of_file("run", 2);
    is(&o, "$.worlds[0].source", "image");
    is(&o, "$.worlds[0].verdict", "~Hung when its memory was kept: rank 0 had waited ");
    same_answer(&r.live, &o, 1);
    is(&from_capture, "$.notes[0]", "~the capture has no end for process");
    same_answer(&r.live, &from_capture, 1);
    outcome_free(&o);
    outcome_free(&from_capture);
    outcome_free(&r.live);
}

/* A core file with the region as one of its segments, `at` bytes from its start. */
static void make_core(const char *path, size_t at, size_t kept) {
    FILE *in = fopen("left.region", "r"), *out = fopen(path, "w");
    assert_true(in && out);
    struct stat st;
    assert_int_equal(fstat(fileno(in), &st), 0);
    char *bytes = malloc((size_t)st.st_size);
    assert_int_equal(fread(bytes, 1, (size_t)st.st_size, in), st.st_size);
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_CORE,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 2};
    Elf64_Phdr p[2] = {{.p_type = PT_NOTE},
                       {.p_type = PT_LOAD, .p_offset = at, .p_filesz = kept, .p_memsz = (size_t)st.st_size}};
    fwrite(&h, sizeof h, 1, out);
    fwrite(p, sizeof p, 1, out);
    assert_int_equal(fseek(out, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, kept, out), kept);
    fclose(in);
    fclose(out);
    free(bytes);
}

static void core_file(void **unused) {
    (void)unused;
    app a = start("missing", 2, "plan", "one");
    outcome live = LOOK(a.pid, 2, 1, MISSING);
    copy_memory(a.pid);
    stop(&a);
    struct stat st;
    assert_int_equal(stat("left.region", &st), 0);
    static const size_t places[] = {4096, 4104}; /* where a kernel puts it, and where a debugger may */
    for (int i = 0; i < 2; i++) {
        make_core("core.1", places[i], (size_t)st.st_size);
        outcome o = of_file("core.1", 2);
        same_answer(&live, &o, 1);
        outcome_free(&o);
    }
    make_core("core.2", 4096, (size_t)st.st_size / 2);
    expect_failure("hang core.2", 66, "trace memory that is cut or damaged");
    make_core("core.3", 4096, 0);
    expect_failure("hang core.3", 66, "without trace memory");
    assert_int_equal(system("head -c 100000 left.region > half.region; head -c 100 core.1 > core.4"), 0);
    expect_failure("hang half.region", 66, "cut or damaged");
    expect_failure("hang core.4", 66, "without trace memory");
    make_capture("a.xs", 3);
    expect_failure("hang left.region a", 64, "not both");
    outcome_free(&live);
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, end_all)
    const struct CMUnitTest tests[] = {
        TEST(killed_in_a_hang),
        TEST(text_says_what_it_rests_on),
        TEST(one_was_killed_before),
        TEST(bounded_capture),
        TEST(truncated_capture),
        TEST(rings_left_behind),
        TEST(core_file),
    };
    setenv("XS_BACKEND", "host", 0);
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
