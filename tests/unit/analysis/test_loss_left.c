/* What is left of lost records names the culprit: events of which one record is there, generations of which others tell, and records that
 * cannot hold what would have to be missing. Each with its opposite: where the loss could hide it, nothing is said. */
#include "judge.h"

static void lose_one(cb *c, uint32_t ring, uint64_t at) { cb_lose(c, ring, at, at, XS_LOSS_OVERWRITTEN); }

/* The first record of a wait's end is lost. The second one says that it gave up. */
static void test_second_record_says_that_a_wait_gave_up(void **state) {
    (void)state;
    for (uint32_t lost = 1; lost <= 2; lost++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        cb_plan_writer(c, pad, 1);
        cb_signal(c, RING(1, 0), 2000, slot, 1);
        cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
        cb_wait_start(c, RING(0, 0), 2300, slot, 2, 1);
        cb_writer_end(c, RING(1, 0), 2400);
        uint64_t end = cb_next(c, RING(0, 0));
        cb_wait_end(c, RING(0, 0), 9000000, slot, 1, XS_RESULT_TIMEOUT, 50);
        cb_lose(c, RING(0, 0), end, end + lost - 1, XS_LOSS_OVERWRITTEN);
        cb_writer_end(c, RING(0, 0), 9000100);
        judged j = judge(c);
        const xsa_finding *f = finding_of(&j, XSA_LOST_SUPPLIER);
        assert_int_equal(f != NULL, lost == 1);
        assert_true(!f || (f->owes_rank == 1 && f->owes_block == 0));
        judged_free(&j);
    }
}

/* All arrive, block 1 is elected and does not signal. What another block has lost afterwards is no signal of it; what it lost itself may be. */
static void test_what_others_lose_is_no_signal_of_the_elected(void **state) {
    (void)state;
    for (uint32_t loser = 0; loser < 2; loser++) {
        cb *c = case_begin(2, 2, 2);
        uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0), count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
        cb_plan_writer(c, pad, 0);
        for (uint32_t round = 1; round <= 2; round++) {
            uint64_t t = 1000 + 1000 * round;
            for (uint32_t b = 0; b < 2; b++) {
                cb_epoch(c, RING(0, b), t + b, round);
                cb_arrive_full(c, RING(0, b), t + 100 + b, count, (round - 1) * 2 + b, 1, 2, round * 2);
            }
            cb_epoch(c, RING(1, 0), t + 10, round);
            if (round == 1) {
                cb_signal(c, RING(0, 1), t + 200, ready, round);
                cb_pass(c, RING(1, 0), t + 300, ready, round, round);
            }
        }
        cb_wait_start(c, RING(1, 0), 3300, ready, 2, 1);
        uint64_t lost = cb_next(c, RING(0, loser));
        cb_one(c, RING(0, loser), 3400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        lose_one(c, RING(0, loser), lost);
        for (uint32_t b = 0; b < 2; b++)
            cb_writer_end(c, RING(0, b), 3500);
        cb_wait_end(c, RING(1, 0), 9000000, ready, 1, XS_RESULT_TIMEOUT, 50);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_STUCK_CHAIN) != NULL, loser == 0);
        if (loser == 0)
            expect_first(&j, XSA_STUCK_CHAIN, XSA_ERROR, "rank 1 ready", 0, 1);
        judged_free(&j);
    }
}

static void enter(cb *c, uint32_t pad, uint32_t rank, uint64_t t, uint64_t generation) {
    cb_barrier_enter(c, RING(rank, 0), t, cb_slot(c, pad, rank, 0, rank), generation, 2);
    for (uint32_t to = 0; to < 2; to++)
        cb_signal(c, RING(rank, 0), t + 10 + to, cb_slot(c, pad, to, 0, rank), generation);
}
static void leave(cb *c, uint32_t pad, uint32_t rank, uint64_t t, uint64_t generation) {
    for (uint32_t from = 0; from < 2; from++)
        cb_pass(c, RING(rank, 0), t + from, cb_slot(c, pad, rank, 0, from), generation, generation);
    cb_barrier_leave(c, RING(rank, 0), t + 10, cb_slot(c, pad, rank, 0, rank), generation, 2, 0);
}

/* Two ranks, four generations. skip: rank 1 leaves out the third; the first of `from` records of it there are lost. */
static judged barriers(bool skip, uint32_t from, uint32_t lost) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "bar", "", "from", 1, 2, 0);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    for (uint32_t g = 1; g <= 4; g++) {
        uint64_t t = 2000 + 1000 * g, at = cb_next(c, RING(1, 0));
        enter(c, pad, 0, t, g);
        if (g == 3 && skip)
            for (uint32_t i = 0; i < 8; i++)
                cb_one(c, RING(1, 0), t + 100 + i, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        else
            enter(c, pad, 1, t + 100, g);
        if (g != 3 || !skip)
            leave(c, pad, 0, t + 200, g);
        if (g != 3 || !skip)
            leave(c, pad, 1, t + 200, g);
        if (g == 3 && lost)
            cb_lose(c, RING(1, 0), at + from, at + from + lost - 1, XS_LOSS_OVERWRITTEN);
    }
    case_end_writers(c, 2, 1, 9000);
    return judge(c);
}

/* An entry, two signals and the leaving are four records: of three that are lost some would be left. */
static void test_few_lost_records_hide_no_generation(void **state) {
    (void)state;
    for (uint32_t lost = 0; lost < 6; lost++) {
        judged j = barriers(true, 0, lost);
        const xsa_finding *f = finding_of(&j, XSA_BARRIER_MISMATCH);
        assert_int_equal(f != NULL, lost < 4);
        assert_true(!f || f->owes_rank == 1);
        judged_free(&j);
    }
}

static void test_generation_whose_entry_is_lost_is_shown_by_its_signals(void **state) {
    (void)state;
    for (uint32_t lost = 1; lost <= 6; lost++) {
        judged j = barriers(false, 0, lost);
        expect_not(&j, XSA_BARRIER_MISMATCH);
        judged_free(&j);
    }
}

/* Rank 1, a block of two warps, reads a batch before rank 0 writes it, and nobody had told it to. What the reader lost in between cannot have told it of a write that
 * had not begun; a record of the writer may be the write that it read. */
static void test_read_ahead_of_its_write_needs_no_record_of_the_reader(void **state) {
    (void)state;
    for (uint32_t loser = 0; loser < 2; loser++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 1, 0, 0), name = cb_mark_name(c, "push");
        cb_writer_begin_at(c, RING(1, 1), 1500, 1, 0, 1, 1, 1, 0, 0);
        cb_payload(c, RING(1, 0), 2200, XS_EV_READ_BEGIN, name, 0, 1, 0, 16, 1024);
        cb_payload_end(c, RING(1, 0), 2300, name, 0);
        uint64_t lost = cb_next(c, RING(loser, 0));
        cb_one(c, RING(loser, 0), 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        lose_one(c, RING(loser, 0), lost);
        cb_payload(c, RING(0, 0), 4000, XS_EV_WRITE_BEGIN, name, 0, 1, 1, 16, 1024);
        cb_payload_end(c, RING(0, 0), 4100, name, 0);
        cb_signal(c, RING(0, 0), 4200, slot, 1);
        cb_pass(c, RING(1, 0), 4300, slot, 1, 1);
        cb_writer_end(c, RING(1, 1), 8900);
        case_end_writers(c, 2, 1, 9000);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_PAYLOAD_RACE) != NULL, loser == 1);
        if (loser == 1)
            expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
        else
            assert_int_equal(verdict_of(&j, XSA_PAYLOAD_RACE)->status, XSA_UNKNOWN);
        judged_free(&j);
    }
}

/* A counter is set back under a poll that began before the last arrival came: whatever a third block lost. Its own gap may be its end. */
static void test_reset_under_a_poll_needs_the_poller_alone(void **state) {
    (void)state;
    for (uint32_t loser = 1; loser < 3; loser++) {
        cb *c = case_begin(1, 3, 3);
        uint32_t count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
        cb_gate(c, RING(0, 1), 2000, count, 0, 1);
        cb_wait_start(c, RING(0, 1), 2100, count, 3, 1);
        cb_gate(c, RING(0, 2), 2200, count, 1, 1);
        cb_gate(c, RING(0, 0), 2300, count, 2, 1);
        uint64_t lost = cb_next(c, RING(0, loser));
        cb_one(c, RING(0, loser), 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        lose_one(c, RING(0, loser), lost);
        cb_reset(c, RING(0, 0), 2500, count, 0, 1);
        cb_wait_end(c, RING(0, 1), 9000000, count, 0, XS_RESULT_TIMEOUT, 50);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_RESET_RACE) != NULL, loser == 2);
        judged_free(&j);
    }
}

/* Two find the same count, and the stamp of a third one lies between them. A record that is lost there may be a reset. */
static void test_count_found_twice_though_others_lie_between(void **state) {
    (void)state;
    for (int hides = 0; hides < 2; hides++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 1, 0, 0);
        cb_gate(c, RING(0, 0), 2000, count, 0, 1);
        cb_gate(c, RING(0, 0), 2100, count, 1, 1);
        uint64_t lost = cb_next(c, RING(1, 0));
        cb_one(c, RING(1, 0), 2110, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        if (hides)
            lose_one(c, RING(1, 0), lost);
        cb_gate(c, RING(1, 0), 2120, count, 0, 1);
        cb_gate(c, RING(1, 0), 2130, count, 2, 1);
        lost = cb_next(c, RING(1, 0)); /* behind it: no matter */
        cb_one(c, RING(1, 0), 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        lose_one(c, RING(1, 0), lost);
        case_end_writers(c, 2, 1, 9000);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_VANISHED_SIGNAL) != NULL, !hides);
        if (!hides)
            expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 1 count", 0, -1);
        judged_free(&j);
    }
}

/* One signal an epoch is planned, and the second epoch has two. Elsewhere records may be lost; between the two it may be the third that began. */
static void test_signals_too_many_need_no_record_elsewhere(void **state) {
    (void)state;
    for (int between = 0; between < 2; between++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0);
        xs_plan_entry once = {.kind = XS_PLAN_SIGNALS, .pad_first = cb_pad_first(c, pad), .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY, .column = XS_PLAN_ANY,
                              .epoch = UINT64_MAX, .a = 1};
        cb_plan_writer(c, pad, 0);
        cb_plan(c, &once, 1);
        uint64_t value = 0;
        for (uint32_t round = 1; round <= 4; round++) {
            uint64_t t = 1000 + 1000 * round;
            cb_epoch(c, RING(0, 0), t, round);
            cb_epoch(c, RING(1, 0), t, round);
            cb_signal(c, RING(0, 0), t + 100, ready, ++value);
            uint64_t lost = cb_next(c, RING(0, 0));
            cb_one(c, RING(0, 0), t + 110, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
            if (round == (between ? 2 : 3))
                lose_one(c, RING(0, 0), lost);
            if (round == 2)
                cb_signal(c, RING(0, 0), t + 120, ready, ++value);
            cb_pass(c, RING(1, 0), t + 300, ready, value, value);
        }
        case_end_writers(c, 2, 1, 9000);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH) != NULL, !between);
        judged_free(&j);
    }
}

/* Of a wait whose start is lost only the end is left, and not what it needed. Its producer heard of it: it is not too far ahead. */
static void test_wait_whose_start_is_lost_was_for_what_it_saw(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    case_depth(c, pad, 1);
    for (uint32_t round = 1; round <= 4; round++) {
        uint64_t t = 1000 + 1000 * round, start = cb_next(c, RING(1, 0));
        cb_wait_start(c, RING(1, 0), t, ready, round, round - 1);
        lose_one(c, RING(1, 0), start);
        if (round > 1)
            cb_pass(c, RING(0, 0), t + 50, credit, round - 1, round - 1);
        cb_signal(c, RING(0, 0), t + 100, ready, round);
        cb_wait_end(c, RING(1, 0), t + 200, ready, round, XS_RESULT_OK, 9);
        cb_signal(c, RING(1, 0), t + 300, credit, round);
    }
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_errors(&j, 0);
    judged_free(&j);
}

/* Rank 1 lost a record in the middle of a silence of 5 ms, and may have waited itself meanwhile. The wait whose start is
 * lost, too, slept for as long as its back-off asked for, not for as long as that took: next to it 5 ms are not short. */
static void test_gap_is_not_short_beside_a_guessed_begin(void **state) {
    (void)state;
    for (uint32_t gap = 0; gap < 2; gap++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        cb_plan_writer(c, pad, 1);
        cb_signal(c, RING(1, 0), 2000, slot, 1);
        cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
        uint64_t start = cb_next(c, RING(0, 0)), lost = cb_next(c, RING(1, 0));
        cb_wait_start(c, RING(0, 0), 2300, slot, 2, 1);
        lose_one(c, RING(0, 0), start);
        if (gap) {
            cb_one(c, RING(1, 0), 3000, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
            lose_one(c, RING(1, 0), lost);
        }
        cb_writer_end(c, RING(1, 0), 5000000);
        cb_wait_end_at(c, RING(0, 0), 9000000, slot, 1, XS_RESULT_TIMEOUT, 50, 265000000000u, 1, 0, 0);
        cb_writer_end(c, RING(0, 0), 9000100);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_LOST_SUPPLIER) != NULL, gap == 0);
        judged_free(&j);
    }
}

/* A thread of a host let others run a thousand million times within 8 us: with back-off that would have been five hours. */
static void test_wait_whose_start_is_lost_did_not_begin_before_the_run(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_writer_end(c, RING(1, 0), 1500);
    uint64_t start = cb_next(c, RING(0, 0));
    cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
    lose_one(c, RING(0, 0), start);
    cb_wait_end_at(c, RING(0, 0), 10000, slot, 0, XS_RESULT_TIMEOUT, 1000000000, UINT64_MAX, 10, 7, 0);
    cb_writer_end(c, RING(0, 0), 10100);
    judged j = judge(c);
    const xsa_finding *f = finding_of(&j, XSA_LOST_SUPPLIER);
    assert_non_null(f);
    assert_int_equal(f->begin, 1000);
    assert_non_null(strstr(f->text, "since 0 ns after the start"));
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_record_says_that_a_wait_gave_up),
        cmocka_unit_test(test_what_others_lose_is_no_signal_of_the_elected),
        cmocka_unit_test(test_few_lost_records_hide_no_generation),
        cmocka_unit_test(test_generation_whose_entry_is_lost_is_shown_by_its_signals),
        cmocka_unit_test(test_read_ahead_of_its_write_needs_no_record_of_the_reader),
        cmocka_unit_test(test_reset_under_a_poll_needs_the_poller_alone),
        cmocka_unit_test(test_count_found_twice_though_others_lie_between),
        cmocka_unit_test(test_signals_too_many_need_no_record_elsewhere),
        cmocka_unit_test(test_wait_whose_start_is_lost_was_for_what_it_saw),
        cmocka_unit_test(test_gap_is_not_short_beside_a_guessed_begin),
        cmocka_unit_test(test_wait_whose_start_is_lost_did_not_begin_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
