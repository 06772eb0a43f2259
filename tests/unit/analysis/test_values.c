/* What the values of slots tell: second writers, regressions, wrap, equality, stale values. */
#include "judge.h"

static void signal_how(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t value) { cb_one(c, ring, time, XS_CODE_SIGNAL_REL_SYS, object, value); }

static void test_second_rank_on_a_slot(void **state) {
    (void)state;
    for (int declared = 0; declared < 2; declared++) {
        cb *c = case_begin(3, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        if (declared)
            cb_plan_writer(c, pad, 1);
        signal_how(c, RING(1, 0), 2000, slot, 1);
        signal_how(c, RING(2, 0), 2500, slot, 2);
        case_end_writers(c, 3, 1, 3000);
        judged j = judge(c);
        expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 full", 2, 0);
        expect_errors(&j, 1);
        judged_free(&j);
    }
}

/* The second block heard of the first by a signal: a hand-over. Two that nothing orders, in one epoch, are a fault. */
static void blocks_of_a_rank(bool ordered) {
    cb *c = case_begin(1, 2, 2);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    uint32_t turn = cb_pad(c, "turn", "", "", 1, 1, 0), mine = cb_slot(c, turn, 0, 0, 0);
    signal_how(c, RING(0, 0), 2000, slot, 1);
    signal_how(c, RING(0, 0), 2050, mine, 1);
    if (ordered)
        cb_pass(c, RING(0, 1), 2100, mine, 1, 1);
    signal_how(c, RING(0, 1), 2200, slot, 2);
    case_end_writers(c, 1, 2, 3000);
    judged j = judge(c);
    if (ordered)
        expect_clean(&j);
    else
        expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 full", 0, 1);
    judged_free(&j);
}

static void test_second_block_on_a_slot(void **state) {
    (void)state;
    blocks_of_a_rank(false);
    blocks_of_a_rank(true);
}

static void test_shared_counter_may_have_many_writers(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "lock", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    signal_how(c, RING(0, 0), 2000, slot, 1);
    signal_how(c, RING(1, 0), 2100, slot, 2);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_not(&j, XSA_MULTI_WRITER);
    judged_free(&j);
}

static void test_sequence_that_falls(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    signal_how(c, RING(1, 0), 2000, slot, 7);
    signal_how(c, RING(1, 0), 2100, slot, 6);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_first(&j, XSA_REGRESSION, XSA_ERROR, "rank 0 full", 1, 0);
    judged_free(&j);
}

static void test_producer_may_skip_versions(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    signal_how(c, RING(1, 0), 2000, slot, 5);
    signal_how(c, RING(1, 0), 2100, slot, 7);
    cb_pass(c, RING(0, 0), 2200, slot, 7, 5);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_clean(&j);
    assert_int_equal(j.result->finding_count, 0);
    judged_free(&j);
}

static void test_producer_ids_in_high_bits(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "any", "", "", 1, 1, XS_PAD_WIDE | XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    cb_signal_wide(c, RING(2, 0), 2000, slot, (2ull << 48) + 1);
    cb_signal_wide(c, RING(1, 0), 2100, slot, (1ull << 48) + 1);
    cb_signal_wide(c, RING(2, 0), 2200, slot, (2ull << 48) + 2);
    case_end_writers(c, 3, 1, 3000);
    judged j = judge(c);
    expect_clean(&j);
    assert_int_equal(j.result->finding_count, 0);
    judged_free(&j);
}

/* Signed: 2^31 is below 2^31 - 1, so the wait passes a round early. */
static void test_signed_compare_at_2_31(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, XS_PAD_32), slot = cb_slot(c, pad, 0, 0, 0);
    signal_how(c, RING(1, 0), 2000, slot, 0x7fffffffu);
    cb_pass(c, RING(0, 0), 2100, slot, 0x7fffffffu, 0x7fffffffu);
    cb_pass(c, RING(0, 0), 2200, slot, 0x7fffffffu, 0x80000000u);
    signal_how(c, RING(1, 0), 2300, slot, 0x80000000u);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_first(&j, XSA_WRAP_RISK, XSA_ERROR, "rank 0 flag", 0, 0);
    judged_free(&j);
}

static void test_compare_by_distance_may_wrap(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t limit = i ? 0u : 0x80000000u;
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, XS_PAD_32), slot = cb_slot(c, pad, 0, 0, 0);
        for (uint32_t k = 0; k < 40; k++) {
            signal_how(c, RING(1, 0), 2000 + 100 * k, slot, limit - 20 + k);
            cb_pass(c, RING(0, 0), 2050 + 100 * k, slot, limit - 20 + k, limit - 20 + k);
        }
        case_end_writers(c, 2, 1, 9000);
        judged j = judge(c);
        expect_clean(&j);
        expect_not(&j, XSA_WRAP_RISK);
        judged_free(&j);
    }
}

static void wait_start_eq(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t need, uint32_t observed) {
    cb_full_event(c, ring, time, &(cb_full){.kind = XS_EV_WAIT_START, .object = object, .value = need, .order = XS_ACQUIRE, .scope = XS_SCOPE_GPU,
                                           .cmp = XS_CMP_EQ, .detail = observed});
}

static void test_equality_that_is_jumped_over(void **state) {
    (void)state;
    cb *c = case_begin(1, 2, 2);
    uint32_t pad = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    cb_gate(c, RING(0, 1), 2000, slot, 1, 2); /* seeded by one too many */
    cb_gate(c, RING(0, 1), 2100, slot, 3, 2);
    cb_writer_end(c, RING(0, 1), 2200);
    wait_start_eq(c, RING(0, 0), 1900, slot, 4, 1);
    xs_status_line line = cb_status_line(XS_LINE_SLOW | XS_CMP_EQ << 24, slot, 4, 5, 100, 1900, 3000);
    cb_status(c, RING(0, 0), 0, 3000, &line);
    judged j = judge(c);
    expect_first(&j, XSA_EQUALITY_OVERSHOOT, XSA_ERROR, "rank 0 gate", 0, 1);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* One launch after the other signals the same value: the second one's wait passes before its signal. */
static cb *launches(uint32_t second) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    signal_how(c, RING(1, 0), 2000, slot, 1);
    cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
    case_end_writers(c, 2, 1, 3000);
    cb_launch_end(c, 1, 3100, 0);
    cb_launch_begin(c, 2, 1, 3200, 1, 32, 0, 2);
    for (uint32_t r = 0; r < 2; r++)
        cb_writer_begin(c, RING(r, 0), 3300, 1, 0, 2);
    if (second == 1)
        cb_pass(c, RING(0, 0), 3400, slot, 1, 1);
    signal_how(c, RING(1, 0), 3500, slot, second);
    if (second == 2)
        cb_pass(c, RING(0, 0), 3600, slot, 2, 2);
    case_end_writers(c, 2, 1, 4000);
    cb_launch_end(c, 2, 4100, 0);
    return c;
}

static void test_value_baked_into_a_replay(void **state) {
    (void)state;
    judged j = judge(launches(1));
    expect_first(&j, XSA_EARLY_PASS, XSA_ERROR, "rank 0 full", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(launches(2));
    expect_clean(&j);
    assert_int_equal(j.result->finding_count, 0);
    judged_free(&j);
}

static void test_pass_on_what_nobody_signalled(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_pass(c, RING(0, 0), 2000, slot, 9, 1);
    signal_how(c, RING(1, 0), 2500, slot, 10);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_first(&j, XSA_EARLY_PASS, XSA_ERROR, "rank 0 full", 1, -1);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_rank_on_a_slot), cmocka_unit_test(test_second_block_on_a_slot), cmocka_unit_test(test_shared_counter_may_have_many_writers),
        cmocka_unit_test(test_sequence_that_falls), cmocka_unit_test(test_producer_may_skip_versions), cmocka_unit_test(test_producer_ids_in_high_bits),
        cmocka_unit_test(test_signed_compare_at_2_31), cmocka_unit_test(test_compare_by_distance_may_wrap), cmocka_unit_test(test_equality_that_is_jumped_over),
        cmocka_unit_test(test_value_baked_into_a_replay), cmocka_unit_test(test_pass_on_what_nobody_signalled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
