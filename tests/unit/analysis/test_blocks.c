/* Barriers: of all ranks, and of a block. Blocks that get their room late. */
#include "judge.h"

#include <xs/errors.h>

static void warps(cb *c, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        cb_writer_begin_at(c, RING(0, i), 1000, 1, 0, 1, 0, i, 0, 0);
}

static void test_two_counts_at_a_time(void **state) {
    (void)state;
    for (int fault = 0; fault < 2; fault++) {
        cb *c = case_begin(1, 1, 0);
        warps(c, 2);
        cb_block_enter(c, RING(0, 0), 2000, 1, 256);
        if (!fault)
            cb_block_leave(c, RING(0, 0), 2050, 1, 256);
        cb_block_enter(c, RING(0, 1), 2100, 1, 288);
        if (fault)
            cb_block_leave(c, RING(0, 0), 2200, 1, 256);
        cb_block_leave(c, RING(0, 1), 2300, 1, 288);
        for (uint32_t i = 0; i < 2; i++)
            cb_writer_end(c, RING(0, i), 3000);
        judged j = judge(c);
        if (fault)
            expect_first(&j, XSA_BARRIER_CLASH, XSA_ERROR, "", 0, 0);
        else
            expect_clean(&j);
        judged_free(&j);
    }
}

static void test_barrier_that_not_all_reach(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 0);
    warps(c, 2);
    cb_block_enter(c, RING(0, 0), 2000, 1, 64);
    cb_writer_end(c, RING(0, 1), 2500);
    cb_writer_end(c, RING(0, 0), 3000); /* it left without having left the barrier */
    judged j = judge(c);
    expect_first(&j, XSA_BARRIER_CLASH, XSA_ERROR, "", 0, 0);
    judged_free(&j);
}

/* Three ranks, three generations; rank `odd` does something else with the second. */
static cb *barrier(int odd, bool enters_late) {
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "bar", "", "from", 1, 3, 0);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    for (uint32_t g = 1; g <= 3; g++)
        for (uint32_t r = 0; r < 3; r++) {
            uint64_t at = 1000 + 1000 * g + 20 * r + (enters_late && (int)r == odd ? 300 : 0);
            if ((int)r == odd && g == 2 && !enters_late)
                continue;
            cb_barrier_enter(c, RING(r, 0), at, cb_slot(c, pad, r, 0, r), g, 3);
            for (uint32_t to = 0; to < 3; to++)
                cb_signal(c, RING(r, 0), at + 1 + to, cb_slot(c, pad, to, 0, r), g);
            for (uint32_t from = 0; from < 3; from++)
                if (odd < 0 || enters_late || g != 2 || (int)from != odd)
                    cb_pass(c, RING(r, 0), 1500 + 1000 * g + r, cb_slot(c, pad, r, 0, from), g, g);
            cb_barrier_leave(c, RING(r, 0), 1600 + 1000 * g + r, cb_slot(c, pad, r, 0, r), g, 3, 0);
        }
    case_end_writers(c, 3, 1, 9000);
    return c;
}

static void test_generation_left_out(void **state) {
    (void)state;
    judged j = judge(barrier(1, false));
    expect_first(&j, XSA_BARRIER_MISMATCH, XSA_ERROR, "", 1, 0);
    judged_free(&j);
    j = judge(barrier(-1, false));
    expect_clean(&j);
    judged_free(&j);
    j = judge(barrier(1, true)); /* late is not away */
    expect_clean(&j);
    judged_free(&j);
}

static void test_rank_that_stays_away(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "bar", "", "from", 1, 2, 0);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    cb_barrier_enter(c, RING(0, 0), 2000, cb_slot(c, pad, 0, 0, 0), 1, 2);
    for (uint32_t to = 0; to < 2; to++)
        cb_signal(c, RING(0, 0), 2010 + to, cb_slot(c, pad, to, 0, 0), 1);
    cb_pass(c, RING(0, 0), 2020, cb_slot(c, pad, 0, 0, 0), 1, 1);
    case_open_wait(c, RING(0, 0), 2030, cb_slot(c, pad, 0, 0, 1), 1, 0);
    cb_writer_end(c, RING(1, 0), 3000);
    judged j = judge(c);
    expect_first(&j, XSA_BARRIER_MISMATCH, XSA_ERROR, "rank 0 bar[from=1]", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

static void test_participants_that_differ_from_the_plan(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "bar", "", "from", 1, 2, 0);
    xs_plan_entry e = {XS_PLAN_PARTICIPANTS, 0, cb_pad_first(c, pad), XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 2, 0};
    cb_plan(c, &e, 1);
    cb_barrier_enter(c, RING(0, 0), 2000, cb_slot(c, pad, 0, 0, 0), 1, 1);
    cb_barrier_leave(c, RING(0, 0), 2100, cb_slot(c, pad, 0, 0, 0), 1, 1, 0);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_first(&j, XSA_BARRIER_MISMATCH, XSA_ERROR, "rank 0 bar[from=0]", 0, 0);
    judged_free(&j);
}

/* Blocks of rank 0 fill the GPU and wait for the block of rank 1. The world is aborted for that, and as the first of them leave it gets its
 * room and signals while others are still on their way out: the signal did not vanish, it had no room. */
static void test_block_that_an_abort_lets_in(void **state) {
    (void)state;
    cb *c = case_begin(2, 3, 0);
    uint32_t pad = cb_pad(c, "made", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    for (uint32_t b = 0; b < 3; b++) {
        cb_writer_begin(c, RING(0, b), 1000 + b, 1, b, 1);
        cb_wait_start(c, RING(0, b), 2000 + b, slot, 1, 0);
    }
    cb_wait_end(c, RING(0, 0), 20000000, slot, 0, XS_RESULT_ABORTED, 90);
    cb_writer_end(c, RING(0, 0), 20000100);
    cb_writer_begin(c, RING(1, 0), 20001000, 1, 2, 1);
    cb_signal(c, RING(1, 0), 20002000, slot, 1);
    cb_writer_end(c, RING(1, 0), 20002500);
    cb_wait_end(c, RING(0, 1), 20003000, slot, 0, XS_RESULT_ABORTED, 99);
    cb_writer_end(c, RING(0, 1), 20003100);
    cb_wait_end(c, RING(0, 2), 20003200, slot, 1, XS_RESULT_OK, 99);
    cb_writer_end(c, RING(0, 2), 20003300);
    cb_process_end(c, 1, 0, (uint32_t)-XS_E_NOT_RESIDENT, 0);
    judged j = judge(c);
    expect_first(&j, XSA_NON_RESIDENT, XSA_ERROR, "rank 0 made", 1, 2);
    expect_not(&j, XSA_VANISHED_SIGNAL);
    expect_errors(&j, 1);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_block_that_an_abort_lets_in), cmocka_unit_test(test_two_counts_at_a_time), cmocka_unit_test(test_barrier_that_not_all_reach),
                                       cmocka_unit_test(test_generation_left_out), cmocka_unit_test(test_rank_that_stays_away),
                                       cmocka_unit_test(test_participants_that_differ_from_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
