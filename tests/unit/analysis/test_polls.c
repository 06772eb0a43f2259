/* Polls that burden others: crowds on one slot, and cache lines that payload is written to. */
#include "judge.h"

enum { ROUNDS = 8, POLLS = 20 };

/* Rank 0 writes `bytes` of batch, chunk 0, into rank 1's memory and signals; rank 1 polls a flag that lies `at` bytes into the buffer. It is
 * signalled in `others` slots beside, whose writer no plan names. */
static judged flag_beside(uint32_t at, uint32_t bytes, const char *payload, uint64_t polls, uint32_t others) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, XS_PAD_ADOPTED), slot = cb_slot(c, pad, 1, 0, 0), mark = cb_mark_name(c, payload);
    cb_name(c, XS_NAME_BUFFER, 1, "batch");
    xs_plan_entry inside = {XS_PLAN_INSIDE, XS_PLAN_REPORTED, cb_pad_first(c, pad), 1, 0, 0, UINT64_MAX, 1, at};
    cb_plan(c, &inside, 1);
    cb_plan_writer(c, pad, 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        uint64_t t = 1000 + i * 1000;
        cb_wait_start(c, RING(1, 0), t, slot, i, i - 1);
        cb_payload(c, RING(0, 0), t + 100, XS_EV_WRITE_BEGIN, mark, 0, i, 1, 1, bytes);
        cb_payload_end(c, RING(0, 0), t + 150, mark, 0);
        cb_signal(c, RING(0, 0), t + 200, slot, i);
        cb_wait_end(c, RING(1, 0), t + 300, slot, i, XS_RESULT_OK, polls);
    }
    uint32_t free_pad = cb_pad(c, "beside", "", "", 1, others + 1, 0);
    for (uint32_t i = 0; i < others; i++) {
        uint32_t beside = cb_slot(c, free_pad, 1, 0, i);
        cb_signal(c, RING(0, 0), 10000 + 10 * i, beside, 1);
        cb_one(c, RING(1, 0), 12000 + 10 * i, XS_CODE_PASS_ACQ_SYS, beside, 1);
    }
    case_end_writers(c, 2, 1, 20000);
    return judge(c);
}

static judged flag_in_buffer(uint32_t at, uint32_t bytes, const char *payload, uint64_t polls) { return flag_beside(at, bytes, payload, polls, 0); }

static void test_control_word_on_a_line_of_the_data(void **state) {
    (void)state;
    judged j = flag_in_buffer(248, 248, "batch", POLLS);
    expect_first(&j, XSA_POLL_PRESSURE, XSA_WARNING, "rank 1 flag", 0, 0);
    assert_int_equal(j.result->findings[0].rank, 1);
    judged_free(&j);
}

/* What was inferred is added to the plan at the end, which may move it. */
static void test_lines_are_known_when_the_plan_has_grown(void **state) {
    (void)state;
    for (uint32_t others = 1; others < 20; others++) {
        judged j = flag_beside(248, 248, "batch", POLLS, others);
        expect_first(&j, XSA_POLL_PRESSURE, XSA_WARNING, "rank 1 flag", 0, 0);
        assert_true(j.model->plan_count >= 2 + others);
        judged_free(&j);
    }
}

static void expect_no_pressure(judged j) {
    expect_not(&j, XSA_POLL_PRESSURE);
    judged_free(&j);
}

static void test_lines_of_their_own_and_other_memory_are_fine(void **state) {
    (void)state;
    expect_no_pressure(flag_in_buffer(256, 248, "batch", POLLS));  /* the next line */
    expect_no_pressure(flag_in_buffer(248, 128, "batch", POLLS));  /* the data ends on the line before */
    expect_no_pressure(flag_in_buffer(248, 248, "others", POLLS)); /* where that payload lies is not known */
    expect_no_pressure(flag_in_buffer(248, 248, "batch", 1));      /* hardly polled */
}

/* Many blocks of rank 1 wait for one slot in rank `owner`'s memory. */
static void crowd(uint32_t owner, uint32_t blocks, bool found) {
    cb *c = case_begin(2, 1, 0);
    uint32_t pad = cb_pad(c, "mark", "", "", 1, 1, 0), slot = cb_slot(c, pad, owner, 0, 0), role = 1;
    cb_plan_writer(c, pad, 0);
    cb_writer_begin(c, RING(0, 0), 1000, role, 0, 1);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t ring = 128 + b;
        cb_writer_begin_at(c, ring, 1000 + b, role, b, 1, 1, 0, 0, 0);
        cb_wait_start(c, ring, 2000 + b, slot, 1, 0);
    }
    cb_signal(c, RING(0, 0), 5000, slot, 1);
    for (uint32_t b = 0; b < blocks; b++) {
        cb_wait_end(c, 128 + b, 5100 + b, slot, 1, XS_RESULT_OK, 2);
        cb_writer_end(c, 128 + b, 6000 + b);
    }
    cb_writer_end(c, RING(0, 0), 7000);
    judged j = judge(c);
    const xsa_finding *f = finding_of(&j, XSA_POLL_PRESSURE);
    assert_true((f != NULL) == found);
    if (f)
        assert_int_equal(f->owes_rank, 1); /* who polls, wherever the slot lives */
    judged_free(&j);
}

static void test_crowd_is_laid_to_who_polls(void **state) {
    (void)state;
    crowd(1, 256, true);
    crowd(0, 256, true);
    crowd(1, 255, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_control_word_on_a_line_of_the_data),
                                       cmocka_unit_test(test_lines_are_known_when_the_plan_has_grown),
                                       cmocka_unit_test(test_lines_of_their_own_and_other_memory_are_fine),
                                       cmocka_unit_test(test_crowd_is_laid_to_who_polls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
