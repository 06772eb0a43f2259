/* Signals that went elsewhere, and who would have made those that nobody has made. */
#include "judge.h"

/* Rank 1 sends to rank 0 and to rank 2, round by round, and waits for both. In round 4 it signals column 1 instead of column 0. */
static judged wrong_column(uint32_t ranks, bool by_plan) {
    cb *c = case_begin(ranks, 1, 1);
    uint32_t pad = cb_pad(c, "box", "", "side", 1, 2, 0), back = cb_pad(c, "back", "", "", 1, 1, 0);
    uint32_t left = cb_slot(c, pad, 0, 0, 0), right = cb_slot(c, pad, 0, 0, 1), ack = cb_slot(c, back, 1, 0, 0);
    if (by_plan)
        cb_plan_writer(c, pad, 1);
    for (uint32_t round = 1; round <= 3; round++) {
        uint64_t at = 1000 * (round + 1);
        cb_signal(c, RING(1, 0), at, left, round);
        cb_signal(c, RING(1, 0), at + 10, right, round);
        cb_pass(c, RING(0, 0), at + 100, left, round, round);
        cb_pass(c, RING(0, 0), at + 110, right, round, round);
        cb_signal(c, RING(0, 0), at + 200, ack, round);
        cb_pass(c, RING(1, 0), at + 300, ack, round, round);
    }
    cb_signal(c, RING(1, 0), 5000, right, 4);
    cb_signal(c, RING(1, 0), 5010, right, 4);
    case_open_wait(c, RING(1, 0), 5100, ack, 4, 3);
    case_open_wait(c, RING(0, 0), 5200, left, 4, 3);
    return judge(c);
}

/* The place that got it twice follows from that: no error of its own, and no circle, since nothing held the sender up. */
static void test_signal_that_went_to_another_column(void **state) {
    (void)state;
    for (int by_plan = 0; by_plan < 2; by_plan++) {
        judged j = wrong_column(2, by_plan);
        expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 box[side=0]", 1, 0);
        assert_non_null(strstr(j.result->findings[0].text, "signalled rank 0 box[side=1] instead"));
        expect_errors(&j, 1);
        judged_free(&j);
    }
}

/* A leader lets its members go when all have come, round by round, and leaves out the last of them in round 4. Both stand still then, and each
 * waits for the other; but the leader had got past its signal, as it shows by having let the other one go. */
static judged member_left_out(bool skips) {
    cb *c = case_begin(3, 1, 1);
    uint32_t come = cb_pad(c, "come", "", "from", 1, 3, 0), go = cb_pad(c, "go", "", "", 1, 1, 0);
    uint32_t from[3] = {0, cb_slot(c, come, 0, 0, 1), cb_slot(c, come, 0, 0, 2)}, to[3] = {0, cb_slot(c, go, 1, 0, 0), cb_slot(c, go, 2, 0, 0)};
    for (uint32_t round = 1; round <= 4; round++) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t r = 1; r < 3 && (round < 4 || skips || r == 1); r++) {
            cb_signal(c, RING(r, 0), at + r, from[r], round);
            cb_pass(c, RING(0, 0), at + 10 + r, from[r], round, round);
        }
        for (uint32_t r = 1; r < 3 && (round < 4 || (skips && r == 1)); r++) {
            cb_signal(c, RING(0, 0), at + 20 + r, to[r], round);
            cb_pass(c, RING(r, 0), at + 30 + r, to[r], round, round);
        }
    }
    if (skips) {
        cb_signal(c, RING(1, 0), 5900, from[1], 5);
        cb_pass(c, RING(0, 0), 5910, from[1], 5, 5);
        case_open_wait(c, RING(0, 0), 6000, from[2], 5, 4);
    } else {
        case_open_wait(c, RING(0, 0), 6000, from[2], 4, 3);
    }
    case_open_wait(c, RING(2, 0), 6100, to[2], 4, 3);
    return judge(c);
}
static void test_who_went_past_its_signal_is_in_no_circle(void **state) {
    (void)state;
    judged j = member_left_out(true);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 2 go", 0, 0);
    expect_not(&j, XSA_WAIT_CYCLE);
    judged_free(&j);
    j = member_left_out(false);
    assert_int_equal(j.result->findings[0].detector, XSA_WAIT_CYCLE);
    judged_free(&j);
}

/* No plan, and nobody has ever signalled that slot: all others of the pad are signalled by the rank before their owner. */
static void test_supplier_as_with_its_neighbours(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "token", "", "", 1, 1, 0);
    for (uint32_t r = 0; r < 4; r++)
        if (r != 2)
            cb_signal(c, RING(r, 0), 2000 + r, cb_slot(c, pad, (r + 1) % 4, 0, 0), 1);
    cb_writer_end(c, RING(2, 0), 3000);
    case_open_wait(c, RING(3, 0), 2500, cb_slot(c, pad, 3, 0, 0), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 3 token", 2, 0);
    assert_int_equal(j.result->findings[0].confidence, XSA_MEDIUM);
    judged_free(&j);
}

/* Where neighbours differ in a way that no law tells, nobody is accused. */
static void test_neighbours_without_a_law_name_nobody(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "token", "", "", 1, 1, 0);
    cb_signal(c, RING(1, 0), 2000, cb_slot(c, pad, 0, 0, 0), 1);
    cb_signal(c, RING(3, 0), 2000, cb_slot(c, pad, 1, 0, 0), 1);
    cb_signal(c, RING(0, 0), 2000, cb_slot(c, pad, 2, 0, 0), 1);
    case_open_wait(c, RING(3, 0), 2500, cb_slot(c, pad, 3, 0, 0), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 3 token", -1, -1);
    assert_int_equal(j.result->findings[0].owes_rank, XSR_NONE);
    judged_free(&j);
}

/* Several blocks, and the slot of one of them was never signalled: the block that signals the other column of that row owes it. */
static void test_block_as_with_its_neighbours(void **state) {
    (void)state;
    cb *c = case_begin(2, 3, 3);
    uint32_t pad = cb_pad(c, "msg", "", "", 6, 2, 0);
    cb_plan_writer(c, pad, 0);
    for (uint32_t row = 0; row < 6; row++)
        for (uint32_t column = 0; column < 2; column++)
            if (row != 4 || column != 1)
                cb_signal(c, RING(0, row / 2), 2000 + row * 10 + column, cb_slot(c, pad, 1, row, column), 1);
    for (uint32_t b = 0; b < 3; b++)
        cb_writer_end(c, RING(0, b), 3000 + b);
    case_open_wait(c, RING(1, 2), 2500, cb_slot(c, pad, 1, 4, 1), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 1 msg[row=4,col=1]", 0, 2);
    judged_free(&j);
}

/* Rank 2 has signalled its slot in every round; once rank 1 does, whose signal rank 2 cannot know of. The stranger is rank 1. */
static void test_stranger_came_before_the_usual_writer(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "up", "", "", 1, 1, 0), go = cb_pad(c, "go", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    for (uint32_t round = 1; round <= 4; round++) {
        cb_signal(c, RING(2, 0), 1000 * (round + 1), slot, round);
        cb_pass(c, RING(0, 0), 1000 * (round + 1) + 100, slot, round, round);
        cb_signal(c, RING(0, 0), 1000 * (round + 1) + 200, cb_slot(c, go, 1, 0, 0), round);
        cb_pass(c, RING(1, 0), 1000 * (round + 1) + 300, cb_slot(c, go, 1, 0, 0), round, round);
    }
    cb_signal(c, RING(1, 0), 6000, slot, 5);
    cb_signal(c, RING(2, 0), 6100, slot, 5);
    case_end_writers(c, 3, 1, 7000);
    judged j = judge(c);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 up", 1, 0);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_that_went_to_another_column), cmocka_unit_test(test_who_went_past_its_signal_is_in_no_circle),
        cmocka_unit_test(test_supplier_as_with_its_neighbours),    cmocka_unit_test(test_neighbours_without_a_law_name_nobody),
        cmocka_unit_test(test_block_as_with_its_neighbours),       cmocka_unit_test(test_stranger_came_before_the_usual_writer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
