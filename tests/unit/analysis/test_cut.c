/* Captures that end before the run does: what the last pass over the rings has of one ring and not of another is missing, and nobody's fault. */
#include "judge.h"

#include <unistd.h>

/* Rank 0 passes on a value of which no signal is in the capture. */
static cb *passed_unsignalled(uint64_t time) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0);
    cb_plan_writer(c, pad, 1);
    cb_pass(c, RING(0, 0), time, cb_slot(c, pad, 0, 0, 0), 1, 1);
    return c;
}

static void a_signal_of_the_last_pass_is_not_missed(void **state) {
    (void)state;
    judged j = judge_cut(passed_unsignalled(3000));
    expect_errors(&j, 0);
    judged_free(&j);
}

/* Rings were passed over long after: then it is known that nobody signalled. */
static void what_older_passes_lack_was_not_there(void **state) {
    (void)state;
    judged j = judge_killed(passed_unsignalled(3000));
    expect_first(&j, XSA_EARLY_PASS, XSA_ERROR, "rank 0 full", 1, -1);
    judged_free(&j);
    j = judge(passed_unsignalled(3000));
    expect_first(&j, XSA_EARLY_PASS, XSA_ERROR, "rank 0 full", 1, -1);
    judged_free(&j);
}

/* A finding that such records could undo is not made, and its detector says so: the one who owes may have signalled, and the waiter not seen it. */
static cb *gave_up(void) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
    cb_wait_end(c, RING(0, 0), 20000000, slot, 0, XS_RESULT_TIMEOUT, 99);
    cb_epoch(c, RING(1, 0), 20000100, 1);
    return c;
}

static void a_finding_that_the_missing_part_could_undo_is_unknown(void **state) {
    (void)state;
    judged j = judge_killed(gave_up());
    expect_first(&j, XSA_STALL, XSA_ERROR, "rank 0 full", 1, 0);
    judged_free(&j);
    j = judge_cut(gave_up());
    expect_errors(&j, 0);
    assert_int_equal(verdict_of(&j, XSA_STALL)->status, XSA_UNKNOWN);
    judged_free(&j);
}

/* Of two captures that are read together one is whole: the other one's process has no end all the same. */
static void each_capture_is_closed_for_itself(void **state) {
    (void)state;
    char paths[2][64];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "/tmp/xs_cut_%d.%u.xs", (int)getpid(), i);
        cb *c = cb_begin(paths[i]);
        assert_non_null(c);
        cb_process(c, i, 1, 2);
        uint32_t role = cb_role(c, "work"), kernel = cb_kernel(c, "case");
        cb_launch_begin(c, 1, kernel, 900, 1, 32, i, 1);
        cb_writer_begin(c, RING(0, 0), 1000, role, 0, 1);
        cb_flush_at(c, 5000 + i);
        cb_mark(c, RING(0, 0), 6000, 1, 1);
        cb_flush_at(c, 7000 + i);
        assert_int_equal(i ? cb_end(c) : cb_cut(c), 0);
    }
    for (uint32_t order = 0; order < 2; order++) {
        const char *both[2] = {paths[order], paths[1 - order]}, *error = NULL;
        xsr_reader *reader;
        if (xsr_open(both, 2, NULL, &reader, &error))
            fail_msg("%s", error);
        const xsr_model *m = xsr_model_of(reader);
        assert_int_equal(m->process_count, 2);
        for (uint32_t p = 0; p < 2; p++) {
            bool cut = m->processes[p].first_rank == 0;
            assert_int_equal(m->processes[p].known_until, cut ? 5000 : INT64_MAX);
            assert_int_equal(m->processes[p].tail_unknown, cut);
        }
        xsr_close(reader);
    }
    unlink(paths[0]);
    unlink(paths[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_of_the_last_pass_is_not_missed),
        cmocka_unit_test(what_older_passes_lack_was_not_there),
        cmocka_unit_test(a_finding_that_the_missing_part_could_undo_is_unknown),
        cmocka_unit_test(each_capture_is_closed_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
