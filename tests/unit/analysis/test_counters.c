/* Counters that several ranks add to, and flags that flip: what they order, who is missing, who told too early. */
#include "judge.h"

enum { WRITE = XS_EV_WRITE_BEGIN, READ = XS_EV_READ_BEGIN };

static void gate_as(cb *c, uint32_t ring, uint64_t at, uint32_t slot, uint32_t old, uint32_t order, uint32_t scope) {
    cb_full event = {.kind = XS_EV_GATE_ARRIVE, .object = slot, .value = old, .order = order, .scope = scope, .detail = 1};
    cb_full_event(c, ring, at, &event);
}
static void equal_wait(cb *c, uint32_t ring, uint64_t at, uint32_t slot, uint32_t need, uint32_t seen, uint32_t result) {
    cb_full begin = {.kind = XS_EV_WAIT_START, .object = slot, .value = need, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS, .cmp = XS_CMP_EQ, .detail = seen};
    cb_full_event(c, ring, at, &begin);
    if (result == XS_RESULT_OK)
        cb_wait_end(c, ring, at + 100, slot, need, XS_RESULT_OK, 3);
}

/* A sense-reversing barrier: the last to arrive sets the counter back and flips the sense. Arrivals are acq_rel, so that each knows of those before
 * it; who flips knows of all, and nobody arrives again before he has seen the flip. */
static cb *sense(uint32_t rounds, bool flips_last) {
    cb *c = case_begin(2, 1, 1);
    uint32_t count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), flag = cb_slot(c, cb_pad(c, "sense", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    for (uint32_t round = 1; round <= rounds; round++) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t r = 0; r < 2; r++)
            cb_epoch(c, RING(r, 0), at + r, round);
        gate_as(c, RING(0, 0), at + 10, count, 0, XS_ACQ_REL, XS_SCOPE_SYS);
        equal_wait(c, RING(0, 0), at + 200, flag, 1 + round % 2, 2 - round % 2, round < rounds || flips_last ? XS_RESULT_OK : XS_RESULT_TIMEOUT);
        gate_as(c, RING(1, 0), at + 210, count, 1, XS_ACQ_REL, XS_SCOPE_SYS);
        cb_reset(c, RING(1, 0), at + 220, count, 0, 1);
        if (round < rounds || flips_last)
            cb_signal(c, RING(1, 0), at + 230, flag, 1 + round % 2);
    }
    return c;
}
static void test_sense_reversing_barrier_is_right(void **state) {
    (void)state;
    cb *c = sense(5, true);
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_clean(&j);
    expect_not(&j, XSA_REGRESSION);
    expect_not(&j, XSA_EQUALITY_OVERSHOOT);
    judged_free(&j);
}
static void test_flip_that_did_not_come_was_not_passed_by(void **state) {
    (void)state;
    judged j = judge(sense(5, false));
    assert_int_equal(j.result->findings[0].severity, XSA_ERROR);
    expect_not(&j, XSA_EQUALITY_OVERSHOOT);
    expect_not(&j, XSA_REGRESSION);
    expect_not(&j, XSA_VANISHED_SIGNAL);
    judged_free(&j);
}

/* Two ranks put a tile to rank 0 and add to its counter, of which the one that adds last is read. What rank 1 does wrong is its own. */
typedef enum wrong { EARLY, NARROW, NOTHING } wrong;
static judged put_and_add(wrong what) {
    cb *c = case_begin(3, 1, 1);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), tile = cb_mark_name(c, "tile");
    for (uint32_t r = 0; r < 3; r++)
        cb_epoch(c, RING(r, 0), 1500, 1);
    for (uint32_t r = 1; r < 3; r++) {
        uint32_t scope = what == NARROW && r == 1 ? XS_SCOPE_GPU : XS_SCOPE_SYS;
        if (what == EARLY && r == 1)
            gate_as(c, RING(r, 0), 1900, sum, 0, XS_RELEASE, scope);
        cb_payload(c, RING(r, 0), 2000 + 10 * r, WRITE, tile, 0, 1, 0, 1, 64);
        cb_payload_end(c, RING(r, 0), 2100 + 10 * r, tile, 0);
        if (what != EARLY || r == 2)
            gate_as(c, RING(r, 0), 2200 + 10 * r, sum, r - 1, XS_RELEASE, scope);
    }
    cb_pass(c, RING(0, 0), 3000, sum, 2, 2);
    for (uint32_t r = 1; r < 3; r++) {
        cb_payload(c, RING(0, 0), 3000 + 10 * r, READ, tile, 0, 1, r, 1, 64);
        cb_payload_end(c, RING(0, 0), 3005 + 10 * r, tile, 0);
    }
    case_end_writers(c, 3, 1, 9000);
    return judge(c);
}
static void test_arrival_before_the_data_is_its_writers_fault(void **state) {
    (void)state;
    judged j = put_and_add(EARLY);
    expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 0 sum", 1, 0);
    judged_free(&j);
}
static void test_narrow_arrival_is_its_writers_fault(void **state) {
    (void)state;
    judged j = put_and_add(NARROW);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 sum", 1, 0);
    judged_free(&j);
    j = put_and_add(NOTHING);
    expect_clean(&j);
    judged_free(&j);
}

/* Of three that add in every round rank 1 leaves out the fourth; the last to arrive was rank 2. */
static void test_missing_arrival_names_its_own_rank(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), count = 0;
    for (uint32_t round = 1; round <= 4; round++)
        for (uint32_t r = 0; r < 3; r++) {
            cb_epoch(c, RING(r, 0), 1000 * round + 2 * r, round);
            if (round < 4 || r != 1)
                cb_gate(c, RING(r, 0), 1000 * round + 2 * r + 1, gate, count++, 1);
        }
    cb_writer_end(c, RING(1, 0), 6000);
    cb_writer_end(c, RING(2, 0), 6000);
    case_open_wait(c, RING(0, 0), 5000, gate, 12, count);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", 1, 0);
    judged_free(&j);
}

/* Nobody has added to it yet. Its owner waits for it; that it owes to itself would be a guess. */
static void test_counter_that_nobody_came_to_is_no_circle(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    case_open_wait(c, RING(0, 0), 2000, gate, 1, 0);
    cb_writer_end(c, RING(1, 0), 3000);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", -1, -1);
    expect_not(&j, XSA_WAIT_CYCLE);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sense_reversing_barrier_is_right),             cmocka_unit_test(test_flip_that_did_not_come_was_not_passed_by),
        cmocka_unit_test(test_arrival_before_the_data_is_its_writers_fault), cmocka_unit_test(test_narrow_arrival_is_its_writers_fault),
        cmocka_unit_test(test_missing_arrival_names_its_own_rank),           cmocka_unit_test(test_counter_that_nobody_came_to_is_no_circle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
