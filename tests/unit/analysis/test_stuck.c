/* Waits that never end: who owes them. */
#include "judge.h"

/* Rank 0 waits for round 3 of rank 1, which ended after round 2. */
static cb *producer_stops(bool stops) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    for (uint32_t round = 1; round <= 2; round++) {
        cb_signal(c, RING(1, 0), 2000 + round * 1000, slot, round);
        cb_wait_start(c, RING(0, 0), 1500 + round * 1000, slot, round, round - 1);
        cb_wait_end(c, RING(0, 0), 2100 + round * 1000, slot, round, XS_RESULT_OK, 5);
    }
    if (stops) {
        cb_writer_end(c, RING(1, 0), 5000);
        case_open_wait(c, RING(0, 0), 5500, slot, 3, 2);
    } else {
        case_end_writers(c, 2, 1, 6000);
    }
    return c;
}

static void test_producer_that_stopped_is_named(void **state) {
    (void)state;
    judged j = judge(producer_stops(true));
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 full", 1, 0);
    assert_int_equal(j.result->findings[0].rank, 0);
    assert_int_equal(j.result->findings[0].confidence, XSA_HIGH);
    assert_int_equal(xsa_exit_code(j.result), 1);
    judged_free(&j);
    j = judge(producer_stops(false));
    expect_clean(&j);
    assert_int_equal(xsa_exit_code(j.result), 0);
    judged_free(&j);
}

static void test_wait_cycle(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "turn", "", "", 1, 1, 0);
    for (uint32_t r = 0; r < 2; r++) {
        xs_plan_entry e = {XS_PLAN_WRITER, 0, cb_pad_first(c, pad), r, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 1 - r, 0};
        cb_plan(c, &e, 1);
        case_open_wait(c, RING(r, 0), 2000 + r * 100, cb_slot(c, pad, r, 0, 0), 1, 0);
    }
    judged j = judge(c);
    expect_first(&j, XSA_WAIT_CYCLE, XSA_ERROR, "rank 0 turn", 1, 0);
    expect_errors(&j, 1); /* one cause, one finding */
    judged_free(&j);
}

static void test_wait_for_oneself(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    uint32_t pad = cb_pad(c, "own", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    xs_plan_entry e = {XS_PLAN_WRITER, 0, cb_pad_first(c, pad), XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_OWNER, 1};
    cb_plan(c, &e, 1);
    case_open_wait(c, RING(0, 0), 2000, slot, 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_WAIT_CYCLE, XSA_ERROR, "rank 0 own", 0, 0);
    judged_free(&j);
}

/* Who waits for one that waits is evidence, not a finding of its own. */
static void test_chain_names_its_root(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "link", "", "", 1, 1, 0);
    for (uint32_t r = 0; r < 2; r++) {
        xs_plan_entry e = {XS_PLAN_WRITER, 0, cb_pad_first(c, pad), r, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, r + 1, 0};
        cb_plan(c, &e, 1);
        case_open_wait(c, RING(r, 0), 2000 + r, cb_slot(c, pad, r, 0, 0), 1, 0);
    }
    cb_writer_end(c, RING(2, 0), 3000);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 1 link", 2, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

static cb *grid_of(uint32_t grid) {
    cb *c = case_begin(1, grid, 2);
    uint32_t pad = cb_pad(c, "made", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 0);
    if (grid > 2) {
        for (uint32_t b = 0; b < 2; b++)
            case_open_wait(c, RING(0, b), 2000 + b, slot, 1, 0);
        return c;
    }
    cb_signal(c, RING(0, 1), 2000, slot, 1);
    cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
    case_end_writers(c, 1, 2, 3000);
    return c;
}

static void test_block_that_never_started(void **state) {
    (void)state;
    judged j = judge(grid_of(3));
    expect_first(&j, XSA_NON_RESIDENT, XSA_ERROR, "rank 0 made", 0, 2);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(grid_of(2));
    expect_clean(&j);
    judged_free(&j);
}

static void test_rank_that_has_not_started_is_late_not_dead(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 0);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0);
    cb_plan_writer(c, pad, 1);
    cb_writer_begin(c, RING(0, 0), 1000, 1, 0, 1);
    case_open_wait(c, RING(0, 0), 2000, cb_slot(c, pad, 0, 0, 0), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_LATE_RANK, XSA_ERROR, "rank 0 full", 1, -1);
    expect_not(&j, XSA_DEAD_PEER);
    judged_free(&j);
}

static void late_start(uint64_t start, bool late) {
    xsa_options o = {.size = sizeof o, .late_ns = 1000000};
    cb *c = case_begin(2, 1, 0);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_writer_begin(c, RING(0, 0), 1000, 1, 0, 1);
    cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
    cb_writer_begin(c, RING(1, 0), start, 1, 0, 1);
    cb_signal(c, RING(1, 0), start + 500, slot, 1);
    cb_wait_end(c, RING(0, 0), start + 600, slot, 1, XS_RESULT_OK, 50);
    case_end_writers(c, 2, 1, start + 1000);
    judged j = judge_with(c, &o);
    if (late)
        expect_first(&j, XSA_LATE_RANK, XSA_WARNING, "rank 0 full", 1, -1);
    else
        expect_not(&j, XSA_LATE_RANK);
    expect_clean(&j);
    judged_free(&j);
}

static void test_late_start(void **state) {
    (void)state;
    late_start(5000000, true);
    late_start(100000, false);
}

/* Whoever ends a program that hangs must not be taken for the cause. */
static void test_hang_that_was_killed(void **state) {
    (void)state;
    cb *c = producer_stops(true);
    cb_flush_at(c, 400000000); /* it stood still for as long */
    cb_process_end(c, 0, 137, 0, 1);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 full", 1, 0);
    expect_not(&j, XSA_DEAD_PEER);
    judged_free(&j);
}

/* Two processes; one is killed while the other waits for it, or both are. */
static judged killed_process(bool both) {
    cb *c = case_begin(1, 1, 0); /* rank 0 */
    xs_region_header first = cb_region(0, 1, 2), second = cb_region(1, 1, 2);
    (void)first;
    uint32_t p = cb_process_as(c, &second);
    uint32_t role = cb_role(c, "work");
    cb_pad(c, "full", "", "", 1, 1, 0);
    cb_writer_begin_at(c, 0, 1000, role, 0, 1, 1, 0, 0, 0);
    cb_process_end(c, 0, 137, 0, 1);
    cb_select(c, 0);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0);
    xs_plan_entry e = {XS_PLAN_WRITER, 0, cb_pad_first(c, pad), XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 1, 0};
    cb_plan(c, &e, 1);
    cb_writer_begin(c, 0, 1000, 1, 0, 1);
    case_open_wait(c, 0, 2000, cb_slot(c, pad, 0, 0, 0), 1, 0);
    (void)p;
    if (both)
        cb_process_end(c, 0, 137, 0, 1);
    return judge(c);
}

static void test_dead_process_is_named(void **state) {
    (void)state;
    judged j = killed_process(false);
    expect_first(&j, XSA_DEAD_PEER, XSA_ERROR, "rank 0 full", 1, -1);
    expect_not(&j, XSA_LATE_RANK);
    judged_free(&j);
    j = killed_process(true);
    expect_not(&j, XSA_DEAD_PEER);
    judged_free(&j);
}

/* Two processes of a rank each; what one of them does. */
typedef struct pair { cb *c; uint32_t slot[2]; } pair; /* slot: of rank 0's flag, as each of them knows it */
static pair two_processes(void) {
    pair p = {.c = case_begin(1, 1, 0)};
    xs_region_header second = cb_region(1, 1, 2);
    cb_process_as(p.c, &second);
    for (uint32_t r = 0; r < 2; r++) {
        cb_select(p.c, r);
        uint32_t pad = cb_pad(p.c, "full", "", "", 1, 1, 0);
        xs_plan_entry e = {XS_PLAN_WRITER, 0, cb_pad_first(p.c, pad), XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 1, 0};
        cb_plan(p.c, &e, 1);
        p.slot[r] = cb_slot(p.c, pad, 0, 0, 0);
        cb_writer_begin_at(p.c, 0, 1000, cb_role(p.c, "work"), r, 1, 1, 0, 0, 0);
    }
    return p;
}

/* Of four ranks one was killed, and a signal that it would have seen a moment later had vanished, with high confidence: the others went on for seconds. */
static void test_the_killed_had_not_seen_what_came_last(void **state) {
    (void)state;
    for (int stood = 0; stood < 2; stood++) { /* it had stood there for long: then the signal was not seen */
        pair p = two_processes();
        uint64_t killed = stood ? 900000000 : 6000;
        cb_select(p.c, 0);
        case_open_wait(p.c, 0, 3000, p.slot[0], 1, 0);
        cb_flush_at(p.c, killed);
        cb_process_end(p.c, 0, 137, 0, 1);
        cb_select(p.c, 1);
        cb_signal(p.c, 0, 5000, p.slot[1], 1);
        cb_mark(p.c, 0, 2000000000, 1, 1);
        judged j = judge(p.c);
        if (stood)
            expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 0 full", 1, -1);
        else
            expect_not(&j, XSA_VANISHED_SIGNAL);
        judged_free(&j);
    }
}

/* A launcher takes the status of all, and the one that was killed while the others went on, and then hung until they were ended too, had "recorded nothing
 * since". */
static void test_who_died_first_of_many_whose_ends_are_not_known(void **state) {
    (void)state;
    for (int hung = 0; hung < 2; hung++) { /* it was ended behind the hang, as the other was */
        pair p = two_processes();
        cb_select(p.c, 1);
        cb_flush_at(p.c, hung ? 1900000000 : 2500);
        cb_process_end(p.c, 0, -1, 0, 1);
        cb_select(p.c, 0);
        case_open_wait(p.c, 0, 3000, p.slot[0], 1, 0);
        cb_flush_at(p.c, 2200000000);
        cb_process_end(p.c, 0, -1, 0, 1);
        judged j = judge(p.c);
        if (hung)
            expect_not(&j, XSA_DEAD_PEER);
        else
            expect_first(&j, XSA_DEAD_PEER, XSA_ERROR, "rank 0 full", 1, -1);
        judged_free(&j);
    }
}

static cb *election(uint32_t arrivals, uint32_t expected, bool with_plan) {
    cb *c = case_begin(2, 3, 3);
    uint32_t done = cb_pad(c, "done", "", "", 1, 1, 0), count = cb_pad(c, "cnt", "", "", 1, 1, XS_PAD_SHARED);
    uint32_t slot = cb_slot(c, done, 0, 0, 0), counter = cb_slot(c, count, 1, 0, 0);
    cb_plan_writer(c, done, 1);
    if (with_plan) {
        xs_plan_entry e = {XS_PLAN_ARRIVALS, 0, cb_pad_first(c, count), XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 3, 0};
        cb_plan(c, &e, 1);
    }
    for (uint32_t b = 0; b < arrivals; b++)
        cb_arrive(c, RING(1, b), 2000 + b * 10, counter, b, 1, expected);
    if (arrivals >= expected)
        cb_signal(c, RING(1, expected - 1), 2100, slot, 1);
    for (uint32_t b = 0; b < 3; b++)
        cb_writer_end(c, RING(1, b), 3000);
    if (arrivals >= expected)
        cb_pass(c, RING(0, 0), 2500, slot, 1, 1);
    else
        case_open_wait(c, RING(0, 0), 2500, slot, 1, 0);
    for (uint32_t b = 0; b < 3; b++)
        if (b || arrivals >= expected)
            cb_writer_end(c, RING(0, b), 3000);
    return c;
}

static void test_expected_count_too_large(void **state) {
    (void)state;
    judged j = judge(election(3, 4, false));
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 1 cnt", 1, -1);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(election(3, 4, true)); /* the plan knows better, at the first arrival */
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 1 cnt", 1, -1);
    judged_free(&j);
    j = judge(election(3, 3, true));
    expect_clean(&j);
    judged_free(&j);
}

static void test_expected_count_too_small(void **state) {
    (void)state;
    judged j = judge(election(3, 2, false));
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 1 cnt", 1, 2);
    judged_free(&j);
}

static void test_missing_arrival(void **state) {
    (void)state;
    judged j = judge(election(2, 3, false));
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 1 cnt", 1, -1);
    assert_non_null(strstr(j.result->findings[0].text, "2 of 3"));
    judged_free(&j);
}

static void test_nothing_is_expected_and_somebody_waits(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t done = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, done, 0, 0, 0);
    cb_plan_writer(c, done, 1);
    cb_expect(c, RING(0, 0), 1500, slot, 0, 0);
    cb_writer_end(c, RING(1, 0), 2000);
    case_open_wait(c, RING(0, 0), 2500, slot, 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 done", 1, -1);
    expect_errors(&j, 1);
    judged_free(&j);
}

static void test_elected_and_no_signal(void **state) {
    (void)state;
    cb *c = case_begin(2, 2, 2);
    uint32_t done = cb_pad(c, "done", "", "", 1, 1, 0), count = cb_pad(c, "cnt", "", "", 1, 1, XS_PAD_SHARED);
    uint32_t slot = cb_slot(c, done, 0, 0, 0), counter = cb_slot(c, count, 1, 0, 0);
    cb_plan_writer(c, done, 1);
    for (uint32_t round = 1; round <= 2; round++) {
        for (uint32_t b = 0; b < 2; b++)
            cb_epoch(c, RING(1, b), 1000 + round * 1000, round);
        cb_epoch(c, RING(0, 0), 1000 + round * 1000, round);
        cb_arrive(c, RING(1, 0), 1100 + round * 1000, counter, 0, 1, 2);
        cb_arrive(c, RING(1, 1), 1200 + round * 1000, counter, 1, 1, 2);
        if (round == 1) {
            cb_signal(c, RING(1, 1), 1300 + round * 1000, slot, round);
            cb_pass(c, RING(0, 0), 1400 + round * 1000, slot, round, round);
        }
    }
    case_open_wait(c, RING(0, 0), 3400, slot, 2, 1);
    for (uint32_t b = 0; b < 2; b++)
        cb_writer_end(c, RING(1, b), 4000);
    judged j = judge(c);
    expect_first(&j, XSA_STUCK_CHAIN, XSA_ERROR, "rank 0 done", 1, 1);
    judged_free(&j);
}

static void test_signal_that_is_not_seen(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_signal(c, RING(1, 0), 2000, slot, 1);
    cb_writer_end(c, RING(1, 0), 2100);
    case_open_wait(c, RING(0, 0), 3000, slot, 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 0 full", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* A run that moves is killed: its waits are open, and some of them have what they need. Found by killing the examples. */
static void broken_off(uint64_t after, bool gate) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, gate ? XS_PAD_SHARED : 0), slot = cb_slot(c, pad, 0, 0, 0);
    case_open_wait(c, RING(0, 0), 3000, slot, 1, 0);
    if (gate)
        cb_gate(c, RING(1, 0), 5000, slot, 0, 1);
    else
        cb_signal(c, RING(1, 0), 5000, slot, 1);
    cb_mark(c, RING(1, 0), 5000 + after, 1, 1); /* it goes on */
    judged j = judge_killed(c);
    if (after < 200000000)
        expect_clean(&j);
    else
        expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 0 full", 1, 0);
    judged_free(&j);
}

static void test_run_that_was_broken_off(void **state) {
    (void)state;
    for (int gate = 0; gate < 2; gate++) {
        broken_off(0, gate);
        broken_off(800000, gate);
        broken_off(199000000, gate);
        broken_off(300000000, gate);
    }
}

static cb *increments(bool lost) {
    cb *c = case_begin(2, 2, 2);
    uint32_t pad = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    cb_gate(c, RING(1, 0), 2000, slot, 0, 1);
    cb_gate(c, RING(0, 1), 2100, slot, 1, 1);
    cb_gate(c, RING(1, 1), 2200, slot, lost ? 1 : 2, 1); /* found what another one found */
    for (uint32_t b = 0; b < 2; b++)
        cb_writer_end(c, RING(1, b), 2500);
    cb_writer_end(c, RING(0, 1), 2500);
    if (lost)
        case_open_wait(c, RING(0, 0), 2300, slot, 3, 2);
    else
        cb_pass(c, RING(0, 0), 2300, slot, 3, 3), cb_writer_end(c, RING(0, 0), 2600);
    return c;
}

static void test_lost_increment(void **state) {
    (void)state;
    judged j = judge(increments(true));
    expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 0 gate", 1, -1);
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(increments(false));
    expect_not(&j, XSA_VANISHED_SIGNAL);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_producer_that_stopped_is_named), cmocka_unit_test(test_wait_cycle), cmocka_unit_test(test_wait_for_oneself),
        cmocka_unit_test(test_chain_names_its_root), cmocka_unit_test(test_block_that_never_started),
        cmocka_unit_test(test_rank_that_has_not_started_is_late_not_dead), cmocka_unit_test(test_late_start), cmocka_unit_test(test_dead_process_is_named),
        cmocka_unit_test(test_the_killed_had_not_seen_what_came_last), cmocka_unit_test(test_who_died_first_of_many_whose_ends_are_not_known),
        cmocka_unit_test(test_hang_that_was_killed), cmocka_unit_test(test_run_that_was_broken_off),
        cmocka_unit_test(test_expected_count_too_large), cmocka_unit_test(test_expected_count_too_small), cmocka_unit_test(test_missing_arrival),
        cmocka_unit_test(test_nothing_is_expected_and_somebody_waits), cmocka_unit_test(test_elected_and_no_signal),
        cmocka_unit_test(test_signal_that_is_not_seen), cmocka_unit_test(test_lost_increment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
