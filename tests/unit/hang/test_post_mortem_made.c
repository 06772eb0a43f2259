/* xs hang afterwards, on captures made by hand: what does not hang, or is not known to, and files that are none. */
#include "ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <capture_build.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void clean_run(void **unused) {
    (void)unused;
    cb *c = cb_begin("clean.xs");
    cb_process(c, 0, 2, 2);
    uint32_t done = cb_pad(c, "done", "", "", 1, 2, 0);
    cb_writer_begin(c, 0, 1000, cb_role(c, "push"), 0, 1);
    cb_wait_start(c, 0, 2000, cb_slot(c, done, 0, 0, 0), 1, 0);
    cb_wait_end(c, 0, 3000, cb_slot(c, done, 0, 0, 0), 1, 0, 7);
    cb_writer_end(c, 0, 4000);
    assert_int_equal(cb_end(c), 0);
    outcome o = of_file("clean", 0);
    is(&o, "$.worlds[0].verdict", "~Nothing waits at the end");
    is(&o, "$.worlds[0].ranks[0].state", "process_left");
    is(&o, "$.notes[0]", "");
    outcome_free(&o);
}

enum { MS = 1000000, S = 1000 * MS };

/* Rank 0 waits from 10 s on for rank 1, which records at `busy`; the capture ends at `end`. */
static void build(const char *path, uint64_t busy, uint64_t signal, uint64_t end) {
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t done = cb_pad(c, "done", "", "", 1, 2, 0), slot = cb_slot(c, done, 0, 0, 1);
    cb_plan_writer(c, done, XS_PLAN_COLUMN);
    cb_writer_begin_at(c, 0, 1 * S, cb_role(c, "wait"), 0, 1, 0, 0, 0, 1);
    cb_writer_begin_at(c, 64, 1 * S, cb_role(c, "work"), 0, 1, 1, 0, 0, 1);
    cb_wait_start(c, 0, 10ull * S, slot, 5, 3);
    cb_epoch(c, 64, busy, 2); /* its record carries the time in full */
    if (signal) {
        cb_epoch(c, 64, signal - 1, 3);
        cb_signal(c, 64, signal, slot, 4);
    }
    cb_heartbeat(c, 64, end, 0, 1);
    cb_flush_at(c, end);
    cb_process_end(c, 0, 137, 0, 0);
    assert_int_equal(cb_end(c), 0);
}

/* The edge is at 200 ms before the end, for whoever owes; a heartbeat is no progress. */
static void hung_or_slow(void **unused) {
    (void)unused;
    const uint64_t end = 20ull * S;
    build("edge.xs", end - 200 * MS, 0, end);
    outcome o = of_file("edge", 2);
    is(&o, "$.worlds[0].quiet_ns", "200000000");
    is(&o, "$.worlds[0].waits[0].since_ns", "10000000000");
    is(&o, "$.worlds[0].chain_ends_in", "root");
    outcome_free(&o);
    build("edge.xs", end - 200 * MS + 1, 0, end);
    o = of_file("edge", 1);
    is(&o, "$.worlds[0].chain_ends_in", "moving");
    is(&o, "$.worlds[0].verdict", "~Waiting, not shown to hang: rank 0 had waited 10");
    is(&o, "$.worlds[0].verdict", "~but rank 1 still recorded events in the last 200 ms");
    outcome_free(&o);
    build("edge.xs", 2ull * S, end - 100 * MS, end); /* a signal, though not the one */
    o = of_file("edge", 1);
    is(&o, "$.worlds[0].waits[0].state", "moving");
    is(&o, "$.worlds[0].verdict", "~was signalled in the last 200 ms");
    outcome_free(&o);
    build("edge.xs", 2ull * S, 0, 10ull * S + 199 * MS); /* the wait is too young */
    o = of_file("edge", 1);
    is(&o, "$.worlds[0].waits[0].state", "too young to tell");
    is(&o, "$.worlds[0].verdict", "~too short a time to tell");
    outcome_free(&o);
}

/* Its end may be among the records that are lost: it is no wait to rest a verdict on. */
static void lost_end(void **unused) {
    (void)unused;
    cb *c = cb_begin("lost.xs");
    cb_process(c, 0, 2, 2);
    uint32_t done = cb_pad(c, "done", "", "", 1, 2, 0);
    cb_plan_writer(c, done, XS_PLAN_COLUMN);
    cb_writer_begin_at(c, 0, 1 * S, cb_role(c, "wait"), 0, 1, 0, 0, 0, 1);
    cb_wait_start(c, 0, 2ull * S, cb_slot(c, done, 0, 0, 1), 5, 3);
    cb_skip_records(c, 0, 50, XS_LOSS_OVERWRITTEN);
    cb_look(c, 0, cb_next(c, 0) - 1, 9ull * S);
    cb_flush_at(c, 9ull * S);
    cb_process_end(c, 0, 137, 0, 1);
    assert_int_equal(cb_end(c), 0);
    outcome o = of_file("lost", 0);
    is(&o, "$.worlds[0].may_be_over", "1");
    is(&o, "$.worlds[0].waits[0].rank", "");
    is(&o, "$.notes[0]", "~50 records are lost");
    outcome_free(&o);
}

/* Four processes: one was killed, one exited; who is the root, and how it ended, is said. */
static void dead_processes(void **unused) {
    (void)unused;
    make_dead_capture("dead.xs");
    outcome o = run_xs("hang --json dead");
    assert_true(o.code == 1 || o.code == 2);
    is(&o, "$.worlds[0].processes[1].exit_status", "137");
    is(&o, "$.worlds[0].processes[2].exit_status", "3");
    is(&o, "$.worlds[0].processes[0].ended", "0");
    outcome_free(&o);
}

/* Who died 200 ms before the last was gone when it hung; who died later was there. */
static void deaths_before_and_at_the_end(void **unused) {
    (void)unused;
    for (int gone = 0; gone < 2; gone++) {
        cb *c = cb_begin("deaths.xs");
        const uint64_t end = 20ull * 1000 * MS;
        for (uint32_t rank = 0; rank < 2; rank++) {
            cb_process(c, rank, 1, 2);
            uint32_t done = cb_pad(c, "done", "", "", 1, 2, 0);
            cb_plan_writer(c, done, XS_PLAN_COLUMN);
            cb_writer_begin_at(c, rank * 64, 1000ull * MS, cb_role(c, "wait"), 0, 1, rank, 0, 0, 1);
            cb_wait_start(c, rank * 64, 2000ull * MS + rank, cb_slot(c, done, rank, 0, 1 - rank), 5, 3);
            cb_flush_at(c, 3000ull * MS);
            xs_frame_end how = {0, rank ? 139 : 137, 0, 1};
            cb_frame(c, XS_FRAME_PROCESS_END, UINT32_MAX, rank ? end - 200ull * MS + !gone : end, &how, sizeof how);
        }
        cb_frame(c, XS_FRAME_END, UINT32_MAX, end + 5000ull * MS, NULL, 0);
        assert_int_equal(cb_cut(c), 0);
        outcome o = of_file("deaths", 2);
        is(&o, "$.worlds[0].chain_ends_in", gone ? "root" : "cycle");
        is(&o, "$.worlds[0].root.state", gone ? "process_gone" : "");
        is(&o, "$.worlds[0].waits[0].since_ns", "18000000000");
        is(&o, "$.worlds[0].processes[1].state", gone ? "gone" : "runs");
        if (gone)
            is(&o, "$.worlds[0].root.why", "~is gone: killed by signal 11 (SIGSEGV)");
        outcome_free(&o);
    }
}

/* Programs that followed each other in one capture are worlds of their own; the worst comes first. */
static void several_worlds(void **unused) {
    (void)unused;
    cb *c = cb_begin("two.xs");
    for (uint32_t i = 0; i < 2; i++) {
        xs_region_header region = cb_region(0, 2, 2);
        region.process += 1 + i;
        region.pid += (int32_t)i;
        cb_process_as(c, &region);
        uint32_t done = cb_pad(c, "done", "", "", 1, 2, 0);
        cb_plan_writer(c, done, XS_PLAN_COLUMN);
        cb_writer_begin_at(c, 0, 1 * S, cb_role(c, "wait"), 0, 1, 0, 0, 0, 1);
        cb_wait_start(c, 0, 2ull * S, cb_slot(c, done, 0, 0, 1), 5, 3);
        if (i == 0) {
            cb_wait_end(c, 0, 3ull * S, cb_slot(c, done, 0, 0, 1), 5, 0, 9);
            cb_writer_end(c, 0, 3ull * S);
        }
        cb_flush_at(c, 4ull * S);
        cb_process_end(c, i == 0, i == 0 ? 0 : 137, 0, 0);
    }
    assert_int_equal(cb_end(c), 0);
    outcome o = of_file("two", 2);
    is(&o, "$.worlds[0].state", "hung");
    is(&o, "$.worlds[0].processes[0].exit_status", "137");
    is(&o, "$.worlds[1].state", "nothing waits");
    is(&o, "$.worlds[2]", "");
    outcome_free(&o);
}

/* "From two" it said of the other's world as well. */
static void the_first_of_several_captures_was_named_for_all(void **unused) {
    (void)unused;
    cb *c = cb_begin("others.xs");
    cb_process(c, 2, 1, 3);
    cb_writer_begin(c, 128, 1000, cb_role(c, "push"), 2, 1);
    cb_writer_end(c, 128, 4000);
    assert_int_equal(cb_end(c), 0);
    outcome o = run_xs("hang clean others");
    assert_int_equal(o.code, 0);
    assert_non_null(strstr(o.out, "\nFrom clean, others: "));
    assert_null(strstr(o.out, "\nFrom clean: "));
    outcome_free(&o);
}

static void wrong_files(void **unused) {
    (void)unused;
    assert_int_equal(
        system("echo a text > text; : > empty; mkdir -p folder; mkfifo pipe; head -c 4096 /dev/zero > zeros"), 0);
    expect_failure("hang text", 66, "text: not an xs capture");
    expect_failure("hang empty", 66, "empty: empty, not a capture");
    expect_failure("hang folder", 66, "a folder without segments, not a capture");
    expect_failure("hang pipe", 66, "neither a file nor a folder");
    expect_failure("hang zeros", 66, "zeros: not an xs capture");
    expect_failure("hang nothing_there", 66, "nothing_there");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_run),
        cmocka_unit_test(hung_or_slow),
        cmocka_unit_test(lost_end),
        cmocka_unit_test(dead_processes),
        cmocka_unit_test(deaths_before_and_at_the_end),
        cmocka_unit_test(several_worlds),
        cmocka_unit_test(the_first_of_several_captures_was_named_for_all),
        cmocka_unit_test(wrong_files),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
