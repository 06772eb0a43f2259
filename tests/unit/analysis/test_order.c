/* Order: edges that are too weak or too narrow, resets that race. */
#include "judge.h"

/* Rank 1 signals rank 0 by `code`; rank 0 passes by `pass`, then perhaps fences, then signals on. */
static judged edge(uint32_t flags, uint32_t code, uint32_t pass, uint32_t fence_before, uint32_t fence_behind) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, flags), slot = cb_slot(c, pad, 0, 0, 0);
    uint32_t credit = cb_pad(c, "room", "", "", 1, 1, 0), room = cb_slot(c, credit, 1, 0, 0);
    if (fence_before)
        cb_one(c, RING(1, 0), 1900, fence_before, 0, 10);
    cb_one(c, RING(1, 0), 2000, code, slot, 1);
    cb_one(c, RING(0, 0), 2100, pass, slot, 1);
    if (fence_behind)
        cb_one(c, RING(0, 0), 2150, fence_behind, 0, 20);
    cb_signal(c, RING(0, 0), 2200, room, 1);
    case_end_writers(c, 2, 1, 3000);
    return judge(c);
}

static void test_edges_that_hold(void **state) {
    (void)state;
    static const uint32_t good[][4] = {{XS_CODE_SIGNAL_REL_SYS, XS_CODE_PASS_ACQ_SYS, 0, 0},
                                       {XS_CODE_SIGNAL_RLX_SYS_FSYS, XS_CODE_PASS_ACQ_SYS, 0, 0},
                                       {XS_CODE_SIGNAL_RLX_SYS, XS_CODE_PASS_ACQ_SYS, XS_CODE_FENCE_ACQREL_SYS, 0},
                                       {XS_CODE_SIGNAL_REL_SYS, XS_CODE_PASS_RLX_SYS, 0, XS_CODE_FENCE_ACQ_SYS},
                                       {XS_CODE_SIGNAL_UNKNOWN, XS_CODE_PASS_UNKNOWN, 0, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        judged j = edge(0, good[i][0], good[i][1], good[i][2], good[i][3]);
        expect_clean(&j);
        expect_not(&j, XSA_ORDER_SCOPE);
        judged_free(&j);
    }
}

static void test_release_that_is_weak_or_narrow(void **state) {
    (void)state;
    static const uint32_t bad[][2] = {{XS_CODE_SIGNAL_RLX_SYS, 0}, {XS_CODE_SIGNAL_REL_GPU, 0}, {XS_CODE_SIGNAL_RLX_SYS_FGPU, 0},
                                      {XS_CODE_SIGNAL_RLX_GPU_FSYS, 0}, {XS_CODE_SIGNAL_RLX_SYS, XS_CODE_FENCE_ACQREL_GPU}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        judged j = edge(0, bad[i][0], XS_CODE_PASS_ACQ_SYS, bad[i][1], 0);
        expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 full", 1, 0);
        judged_free(&j);
    }
}

static void test_acquire_that_is_missing_or_narrow(void **state) {
    (void)state;
    static const uint32_t bad[][2] = {{XS_CODE_PASS_RLX_SYS, 0}, {XS_CODE_PASS_ACQ_GPU, 0}, {XS_CODE_PASS_RLX_SYS, XS_CODE_FENCE_ACQ_GPU}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        judged j = edge(0, XS_CODE_SIGNAL_REL_SYS, bad[i][0], 0, bad[i][1]);
        expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 full", 0, 0);
        judged_free(&j);
    }
}

static void test_pads_that_guard_no_data_and_adopted_ones(void **state) {
    (void)state;
    judged j = edge(XS_PAD_NO_DATA, XS_CODE_SIGNAL_RLX_SYS, XS_CODE_PASS_RLX_SYS, 0, 0);
    expect_not(&j, XSA_ORDER_SCOPE);
    judged_free(&j);
    j = edge(XS_PAD_ADOPTED, XS_CODE_SIGNAL_RLX_SYS, XS_CODE_PASS_ACQ_SYS, 0, 0);
    assert_non_null(finding_of(&j, XSA_ORDER_SCOPE));
    assert_int_equal(finding_of(&j, XSA_ORDER_SCOPE)->severity, XSA_NOTE);
    expect_clean(&j);
    judged_free(&j);
}

/* gpu scope is enough between blocks of one GPU, and not between two. */
static void scope_on_devices(int32_t second_device, bool fault) {
    cb *c = case_begin(1, 1, 0);
    (void)c;
    xs_region_header region = cb_region(1, 2, 3);
    region.device = 0;
    cb_process_as(c, &region);
    uint32_t role = cb_role(c, "work"), pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 2, 0, 0);
    cb_device_clock(c, 0, 1000, 1000, 10);
    cb_device_clock(c, 0, 9000, 9000, 10);
    if (second_device)
        cb_device_clock(c, 1, 1000, 1000, 10), cb_device_clock(c, 1, 9000, 9000, 10);
    cb_ring_device(c, 64, second_device);
    cb_writer_begin_at(c, 0, 1500, role, 0, 1, 1, 0, 0, 0);
    cb_writer_begin_at(c, 64, 1500, role, 0, 1, 2, 0, 0, 0);
    cb_one(c, 0, 2000, XS_CODE_SIGNAL_REL_GPU, slot, 1);
    cb_one(c, 64, 2100, XS_CODE_PASS_ACQ_GPU, slot, 1);
    cb_writer_end(c, 0, 3000);
    cb_writer_end(c, 64, 3000);
    judged j = judge(c);
    if (fault)
        expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 2 full", 1, 0);
    else
        expect_not(&j, XSA_ORDER_SCOPE);
    judged_free(&j);
}

static void test_scope_is_judged_by_device(void **state) {
    (void)state;
    scope_on_devices(0, false);
    scope_on_devices(1, true);
}

static void test_relaxed_arrival(void **state) {
    (void)state;
    cb *c = case_begin(1, 2, 2);
    uint32_t pad = cb_pad(c, "cnt", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    cb_one(c, RING(0, 0), 2000, XS_CODE_ARRIVE_RLX_GPU, slot, XS_ARRIVE_PACK(0, 1, 2));
    cb_one(c, RING(0, 1), 2100, XS_CODE_ARRIVE_ACQREL_GPU, slot, XS_ARRIVE_PACK(1, 1, 2));
    case_end_writers(c, 1, 2, 3000);
    judged j = judge(c);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 cnt", 0, 0);
    judged_free(&j);
}

/* What an arrival read is told of after its own release has moved those of the slot to a larger place. */
static void test_relaxed_arrivals_that_outgrow_their_place(void **state) {
    (void)state;
    enum { BLOCKS = 24 };
    for (uint32_t strong = 1; strong < BLOCKS; strong++) {
        cb *c = case_begin(1, BLOCKS, BLOCKS);
        uint32_t pad = cb_pad(c, "cnt", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
        for (uint32_t b = 0; b < BLOCKS; b++)
            cb_one(c, RING(0, b), 2000 + 100 * b, b + 1 == strong ? XS_CODE_ARRIVE_RLX_GPU : XS_CODE_ARRIVE_ACQREL_GPU, slot,
                   XS_ARRIVE_PACK(b, 1, BLOCKS));
        case_end_writers(c, 1, BLOCKS, 9000);
        judged j = judge(c);
        expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 cnt", 0, strong - 1);
        judged_free(&j);
    }
}

/* The leader sees the count and zeroes it; the other block still polls for it. */
/* A block that waits, relaxed, for so many slots and puts a fence behind them, or none. */
static judged many_relaxed(uint32_t slots, bool fence) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "parts", "", "part", 1, slots, 0), own = cb_slot(c, cb_pad(c, "whole", "", "", 1, 1, 0), 1, 0, 0);
    for (uint32_t i = 0; i < slots; i++) {
        cb_one(c, RING(1, 0), 2000 + 20 * i, XS_CODE_SIGNAL_REL_SYS, cb_slot(c, pad, 0, 0, i), 1);
        cb_one(c, RING(0, 0), 2010 + 20 * i, XS_CODE_PASS_RLX_SYS, cb_slot(c, pad, 0, 0, i), 1);
    }
    if (fence)
        cb_one(c, RING(0, 0), 8000, XS_CODE_FENCE_ACQ_SYS, 0, 20);
    cb_signal(c, RING(0, 0), 8100, own, 1);
    cb_pass(c, RING(1, 0), 8200, own, 1, 1);
    case_end_writers(c, 2, 1, 9000);
    return judge(c);
}

/* More than are kept were forgotten without a word. */
static void test_more_relaxed_waits_than_are_kept_are_told(void **state) {
    (void)state;
    for (uint32_t fence = 0; fence < 2; fence++)
        for (uint32_t slots = 64; slots <= 65; slots++) {
            judged j = many_relaxed(slots, fence);
            bool told = verdict_of(&j, XSA_ORDER_SCOPE)->status == XSA_UNKNOWN || strstr(verdict_of(&j, XSA_ORDER_SCOPE)->why, "1 relaxed waits had 64 others");
            expect_errors(&j, fence ? 0 : 1);
            assert_int_equal(told, !fence && slots > 64);
            judged_free(&j);
        }
}

static cb *leader_resets(bool early) {
    cb *c = case_begin(1, 2, 2);
    uint32_t pad = cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    uint32_t ack = cb_pad(c, "seen", "", "", 1, 1, 0), seen = cb_slot(c, ack, 0, 0, 0);
    cb_gate(c, RING(0, 0), 2000, slot, 0, 1);
    cb_wait_start(c, RING(0, 1), 1900, slot, 2, 0);
    cb_gate(c, RING(0, 0), 2100, slot, 1, 1);
    if (!early) {
        cb_wait_end(c, RING(0, 1), 2150, slot, 2, XS_RESULT_OK, 3);
        cb_signal(c, RING(0, 1), 2200, seen, 1);
        cb_pass(c, RING(0, 0), 2300, seen, 1, 1);
    }
    cb_reset(c, RING(0, 0), 2400, slot, 0, 1);
    cb_writer_end(c, RING(0, 0), 2500);
    if (early) {
        xs_status_line line = cb_status_line(XS_LINE_SLOW, slot, 2, 0, 100, 1900, 3000);
        cb_status(c, RING(0, 1), 0, 3000, &line);
    } else {
        cb_writer_end(c, RING(0, 1), 3000);
    }
    return c;
}

static void test_counter_reset_under_a_poll(void **state) {
    (void)state;
    judged j = judge(leader_resets(true));
    expect_first(&j, XSA_RESET_RACE, XSA_ERROR, "rank 0 count", 0, 0);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(leader_resets(false));
    expect_clean(&j);
    judged_free(&j);
}

/* A boolean flag between rounds: the consumer clears it and nothing keeps the producer's next round behind that. */
static cb *boolean_flag(bool credit) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    uint32_t ack = cb_pad(c, "room", "", "", 1, 1, 0), room = cb_slot(c, ack, 1, 0, 0);
    for (uint32_t round = 1; round <= 3; round++) {
        uint64_t at = 2000 + round * 1000;
        if (credit && round > 1)
            cb_pass(c, RING(1, 0), at - 50, room, round - 1, round - 1);
        cb_signal(c, RING(1, 0), at, slot, 1);
        cb_pass(c, RING(0, 0), at + 100, slot, 1, 1);
        cb_reset(c, RING(0, 0), at + 200, slot, 0, 1);
        if (credit)
            cb_signal(c, RING(0, 0), at + 300, room, round);
    }
    case_end_writers(c, 2, 1, 9000);
    return c;
}

static void test_boolean_flag_with_reset(void **state) {
    (void)state;
    judged j = judge(boolean_flag(false));
    expect_first(&j, XSA_RESET_RACE, XSA_ERROR, "rank 0 flag", 0, 0);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(boolean_flag(true));
    expect_clean(&j);
    judged_free(&j);
}

/* Stamps of the two ranks are shifted against each other: what is ordered stays so, what is not stays a fault. */
static void test_order_does_not_hang_on_stamps(void **state) {
    (void)state;
    for (int shift = -3000; shift <= 3000; shift += 1500) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        uint32_t flag = cb_pad(c, "flag", "", "", 1, 1, 0), mine = cb_slot(c, flag, 0, 0, 0);
        uint64_t late = (uint64_t)(5000 + shift);
        cb_signal(c, RING(1, 0), late, mine, 1);
        cb_signal(c, RING(1, 0), late + 10, slot, 1);
        cb_pass(c, RING(0, 0), 5100, slot, 1, 1);
        cb_pass(c, RING(0, 0), 5110, mine, 1, 1);
        cb_reset(c, RING(0, 0), 5200, mine, 0, 1);
        cb_writer_end(c, RING(0, 0), 9000);
        cb_writer_end(c, RING(1, 0), late + 900);
        judged j = judge(c);
        expect_not(&j, XSA_RESET_RACE);
        expect_not(&j, XSA_ORDER_SCOPE);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_that_hold), cmocka_unit_test(test_release_that_is_weak_or_narrow), cmocka_unit_test(test_acquire_that_is_missing_or_narrow),
        cmocka_unit_test(test_pads_that_guard_no_data_and_adopted_ones), cmocka_unit_test(test_scope_is_judged_by_device), cmocka_unit_test(test_more_relaxed_waits_than_are_kept_are_told), cmocka_unit_test(test_relaxed_arrival),
        cmocka_unit_test(test_relaxed_arrivals_that_outgrow_their_place),
        cmocka_unit_test(test_counter_reset_under_a_poll), cmocka_unit_test(test_boolean_flag_with_reset), cmocka_unit_test(test_order_does_not_hang_on_stamps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
