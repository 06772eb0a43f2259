/* What a detector says where nothing was recorded that it looks at: that it did not run, or, where that may be lost, that it does not know. */
#include "judge.h"

#define D(name) (1u << XSA_##name)
#define ALWAYS (D(TRACE_HEALTH) | D(DEAD_PEER)) /* a kernel that stopped in mid-way is seen by the writers that never ended */
#define OF_SIGNALS (D(VANISHED_SIGNAL) | D(MULTI_WRITER) | D(REGRESSION) | D(WRAP_RISK) | D(COUNT_MISMATCH))
#define OF_ARRIVALS (D(VANISHED_SIGNAL) | D(WRAP_RISK) | D(COUNT_MISMATCH) | D(ORDER_SCOPE))
#define OF_WAITS                                                                                                       \
    (D(STALL) | D(LOST_SUPPLIER) | D(WAIT_CYCLE) | D(NON_RESIDENT) | D(LATE_RANK) | D(STUCK_CHAIN) | D(EQUALITY_OVERSHOOT) | D(EARLY_PASS) |      \
     D(HEAD_OF_LINE) | D(UNFAIRNESS) | D(DETECTION_LAG) | D(POLL_PRESSURE) | D(REGRESSION) | D(WRAP_RISK) | D(COUNT_MISMATCH) | D(ORDER_SCOPE))

enum { AT = 1500 };

static void nothing(cb *c, uint32_t slot) { (void)c, (void)slot; }
static void mark(cb *c, uint32_t slot) { (void)slot, cb_mark(c, RING(0, 0), AT, cb_mark_name(c, "here"), 1); }
static void signals(cb *c, uint32_t slot) { cb_signal(c, RING(0, 0), AT, slot, 1); }
static void signals_in_epoch(cb *c, uint32_t slot) { cb_epoch(c, RING(0, 0), AT - 1, 1), signals(c, slot); }
static void passes(cb *c, uint32_t slot) { cb_pass(c, RING(0, 0), AT, slot, 0, 0); }
static void arrives(cb *c, uint32_t slot) { cb_gate(c, RING(0, 0), AT, slot, 0, 1); }
static void expects(cb *c, uint32_t slot) { cb_expect(c, RING(0, 0), AT, slot, 1, 0); }
static void resets(cb *c, uint32_t slot) { cb_reset(c, RING(0, 0), AT, slot, 0, 1); }
static void publishes(cb *c, uint32_t slot) { cb_publish(c, RING(0, 0), AT, slot, 1, 1, 2); }
static void enters(cb *c, uint32_t slot) { cb_barrier_enter(c, RING(0, 0), AT, slot, 1, 1), cb_barrier_leave(c, RING(0, 0), AT + 1, slot, 1, 1, 0); }
static void joins(cb *c, uint32_t slot) { (void)slot, cb_block_enter(c, RING(0, 0), AT, 1, 32), cb_block_leave(c, RING(0, 0), AT + 1, 1, 32); }

static void deep(cb *c, uint32_t slot) {
    case_depth(c, 0, 2);
    signals(c, slot);
}

static void payload(cb *c, uint32_t slot) {
    (void)slot;
    uint32_t name = cb_mark_name(c, "batch");
    cb_payload(c, RING(0, 0), AT, XS_EV_WRITE_BEGIN, name, 0, 1, 0, 1, 64);
    cb_payload_end(c, RING(0, 0), AT + 10, name, 0);
}

static void lose(cb *c, uint64_t from) { cb_lose(c, RING(0, 0), from, cb_next(c, RING(0, 0)) - 1, XS_LOSS_OVERWRITTEN); }

static void ends_a_wait(cb *c, uint32_t slot) { /* its start is lost */
    uint64_t from = cb_next(c, RING(0, 0));
    cb_wait_start(c, RING(0, 0), AT, slot, 1, 0);
    lose(c, from);
    cb_wait_end(c, RING(0, 0), AT + 100, slot, 1, XS_RESULT_OK, 5);
}

static void waits(cb *c, uint32_t slot) { /* all records of it are lost, its status line is there */
    uint64_t from = cb_next(c, RING(0, 0));
    case_open_wait(c, RING(0, 0), AT, slot, 1, 0);
    lose(c, from);
}

static judged judge_case(void (*happens)(cb *c, uint32_t slot), bool ends) {
    cb *c = case_begin(1, 1, 1);
    uint32_t slot = cb_slot(c, cb_pad(c, "word", "", "", 1, 1, 0), 0, 0, 0);
    happens(c, slot);
    if (ends)
        cb_writer_end(c, RING(0, 0), 3000);
    return judge(c);
}

static void expect_ran(void (*happens)(cb *c, uint32_t slot), bool ends, uint32_t want) {
    judged j = judge_case(happens, ends);
    for (uint32_t i = 0; i < j.result->verdict_count; i++) {
        const xsa_verdict *v = &j.result->verdicts[i];
        bool ran = v->status != XSA_NOT_RUN;
        if (ran != (want >> v->detector & 1))
            fail_msg("%s: %s %s", xsa_detector_name(v->detector), xsa_status_name(v->status), v->why);
        assert_true(ran || *v->why);
    }
    judged_free(&j);
}

/* Many of them were clear where nothing was recorded that they could have looked at. */
static void test_what_was_not_looked_at_is_not_clear(void **state) {
    (void)state;
    expect_ran(nothing, true, ALWAYS);
    expect_ran(mark, true, ALWAYS);
    expect_ran(signals, true, ALWAYS | OF_SIGNALS);
    expect_ran(signals_in_epoch, true, ALWAYS | OF_SIGNALS | D(READINESS_COLLAPSE));
    expect_ran(passes, true, ALWAYS | OF_WAITS);
    expect_ran(arrives, true, ALWAYS | OF_ARRIVALS);
    expect_ran(expects, true, ALWAYS | OF_ARRIVALS);
    expect_ran(resets, true, ALWAYS | D(RESET_RACE));
    expect_ran(publishes, true, ALWAYS | D(LAPPING));
    expect_ran(deep, true, ALWAYS | OF_SIGNALS | D(LAPPING));
    expect_ran(payload, true, ALWAYS | D(PAYLOAD_RACE) | D(PARTIAL_PUBLISH) | D(LAPPING));
    expect_ran(enters, true, ALWAYS | D(BARRIER_MISMATCH));
    expect_ran(joins, true, ALWAYS | D(BARRIER_CLASH));
}

/* They were not run for want of waits, though one was there. */
static void test_wait_without_its_start_is_one(void **state) {
    (void)state;
    expect_ran(ends_a_wait, true, ALWAYS | OF_WAITS);
    expect_ran(waits, false, ALWAYS | OF_WAITS);
}

static void passes_unseen(cb *c, uint32_t slot) {
    uint64_t from = cb_next(c, RING(0, 0));
    passes(c, slot);
    lose(c, from);
    cb_signal(c, RING(0, 0), AT + 100, slot, 1);
}

/* Whether one of them gave up is not known: a run all of whose waits are lost was clean. */
static void test_waits_that_are_all_lost_are_unknown(void **state) {
    (void)state;
    judged j = judge_case(passes_unseen, true);
    assert_int_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->status, XSA_UNKNOWN);
    assert_int_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->lost, 1);
    assert_string_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->why, "no wait was recorded, or it is among 1 lost records");
    assert_int_equal(verdict_of(&j, XSA_MULTI_WRITER)->status, XSA_CLEAR);
    assert_int_equal(verdict_of(&j, XSA_PAYLOAD_RACE)->status, XSA_NOT_RUN);
    assert_int_equal(xsa_exit_code(j.result), 2);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_was_not_looked_at_is_not_clear), cmocka_unit_test(test_wait_without_its_start_is_one),
                                       cmocka_unit_test(test_waits_that_are_all_lost_are_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
