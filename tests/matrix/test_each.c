/* A process a fault: runs that hang, die, spoil their process, leak or take too long. What a run comes to is made up here. */
#include "matrix.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

enum { NOTHING, HANGS, DIES, SPOILS, LEAKS, LASTS };

typedef struct script {
    int32_t act[16];       /* of the fault's run with that seed */
    int32_t always;        /* of every run */
    uint32_t processes;    /* that made a run */
    int32_t last;          /* pid of the newest */
    uint32_t made, twins;
    char newest[128];      /* capture */
} script;
static script *shared;

static int act_of(uint64_t seed, bool twin) { return shared->always ? shared->always : !twin && seed < 16 ? shared->act[seed] : NOTHING; }

void matrix_judge(const fault *f, const matrix_settings *settings, uint64_t seed, bool twin, const char *capture, matrix_verdict *verdict) {
    matrix_verdict v = {.ran = true, .first = !twin, .slot = true, .culprit = true};
    char path[128];
    snprintf(path, sizeof path, "%s.xs", capture);
    int file = open(path, O_CREAT | O_RDWR, 0600);
    (void)f, (void)settings;
    close(file);
    snprintf(shared->newest, sizeof shared->newest, "%s", path);
    shared->processes += shared->last != getpid();
    shared->last = getpid();
    ++*(twin ? &shared->twins : &shared->made);
    switch (act_of(seed, twin)) {
    case HANGS:
        for (;;)
            pause();
    case DIES: raise(SIGKILL); break; /* its capture stays */
    case SPOILS: v.spoilt = true; break;
    case LEAKS: (void)!open("/dev/null", O_RDONLY); break;
    case LASTS: usleep(20000); break;
    default: break;
    }
    unlink(path);
    *verdict = v;
}

/* One fault's row; the number of processes that died. */
static uint32_t make(script s, const char *only, matrix_options o, matrix_row *row) {
    matrix_row *rows = mmap(NULL, fault_count * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(rows != MAP_FAILED);
    *shared = s;
    o.only = only;
    o.backend = "cuda";
    o.judge = FAULT_CUDA;
    o.seed = 1;
    o.patience = 5;
    uint32_t died = matrix_each(&(matrix_settings){.count = 1, .of = {o}}, rows);
    for (uint32_t i = 0; i < fault_count; i++)
        if (strcmp(fault_table[i]->name, only) == 0)
            *row = rows[i];
    munmap(rows, fault_count * sizeof *rows);
    return died;
}

static void test_what_hangs_or_dies_is_one_run(void **state) {
    (void)state;
    matrix_row row;
    uint32_t died = make((script){.act = {[3] = HANGS, [5] = DIES}}, "wrong_slot", (matrix_options){.runs = 10, .twins = 10}, &row);
    assert_int_equal(died, 2);
    assert_int_equal(row.broken, 2);
    assert_int_equal(row.runs, 8);
    assert_int_equal(row.twins, 10);
    assert_int_equal(row.short_runs, 0);
    assert_int_equal(row.misses[0].seed, 3);
    assert_string_equal(row.misses[0].got, "no end within 5 s");
    assert_int_equal(shared->processes, 3);
}

static void test_fault_that_always_dies_is_given_up(void **state) {
    (void)state;
    matrix_row row;
    assert_int_equal(make((script){.always = DIES}, "wrong_slot", (matrix_options){.runs = 10, .twins = 10}, &row), 3);
    assert_int_equal(row.broken, 3);
    assert_int_equal(row.short_runs, 1);
    assert_int_equal(access(shared->newest, F_OK), -1); /* nothing is left behind */
}

static void test_spoilt_process_is_replaced(void **state) {
    (void)state;
    matrix_row row;
    assert_int_equal(make((script){.act = {[2] = SPOILS}}, "wrong_slot", (matrix_options){.runs = 4, .twins = 4}, &row), 0);
    assert_int_equal(row.runs, 4);
    assert_int_equal(row.broken, 0);
    assert_int_equal(shared->processes, 2);
}

/* Ten runs, each in a process of its own; the twins need none. */
static void test_fault_that_spoils_its_gpu(void **state) {
    (void)state;
    matrix_row row;
    assert_int_equal(make((script){0}, "bad_address", (matrix_options){.runs = 50, .twins = 50}, &row), 0);
    assert_int_equal(row.runs, 10);
    assert_int_equal(row.twins, 50);
    assert_int_equal(row.short_runs, 0);
    assert_true(shared->processes >= 10);
}

static void test_leak_is_seen(void **state) {
    (void)state;
    matrix_row row;
    assert_int_equal(make((script){.always = LEAKS}, "wrong_slot", (matrix_options){.runs = 5, .twins = 5}, &row), 0);
    assert_int_equal(row.leaked, 9);
    assert_int_equal(make((script){0}, "wrong_slot", (matrix_options){.runs = 5, .twins = 5}, &row), 0);
    assert_int_equal(row.leaked, 0);
}

static void test_time_is_over(void **state) {
    (void)state;
    matrix_row row;
    assert_int_equal(make((script){.always = LASTS}, "wrong_slot", (matrix_options){.runs = 1000000, .twins = 1000000, .seconds = 1}, &row), 0);
    assert_int_equal(row.short_runs, 1);
    assert_true(row.runs >= 1);
    assert_true(row.runs - row.twins <= 1); /* in turn */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_hangs_or_dies_is_one_run), cmocka_unit_test(test_fault_that_always_dies_is_given_up),
        cmocka_unit_test(test_spoilt_process_is_replaced),    cmocka_unit_test(test_fault_that_spoils_its_gpu),
        cmocka_unit_test(test_leak_is_seen),                  cmocka_unit_test(test_time_is_over)};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
