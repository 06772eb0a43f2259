/* Kernels that stop where they are: a check of their own that failed, an error of the GPU. */
#include "judge.h"

#include <xs/errors.h>

enum { WAITS_ENDED = 1, NOBODY_WAITS = 2, STOPPER_ENDED = 4, NO_REASON = 8, SUPPLIER_LOST = 16, GAVE_UP = 32, CAME_BACK = 64, IN_A_FILE = 128 };

/* Rank 1 owes rank 0 round 2 and stops at 3000 ns; its process ends in order. check: it has said why. */
static judged stopped(bool check, unsigned how) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_signal(c, RING(1, 0), 2000, slot, 1);
    cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
    if (!(how & NOBODY_WAITS) && (how & WAITS_ENDED)) {
        cb_wait_start(c, RING(0, 0), 2200, slot, 2, 1);
        cb_wait_end(c, RING(0, 0), how & GAVE_UP ? 50000000 : 3100, slot, 1, how & GAVE_UP ? XS_RESULT_TIMEOUT : XS_RESULT_ABORTED, 9);
        cb_writer_end(c, RING(0, 0), how & GAVE_UP ? 50000100 : 3200);
    } else if (!(how & NOBODY_WAITS)) {
        case_open_wait(c, RING(0, 0), 2200, slot, 2, 1);
    } else {
        cb_writer_end(c, RING(0, 0), 2900);
    }
    if (check) {
        cb_full abort = {.kind = XS_EV_ABORT, .object = how & IN_A_FILE ? 0x77 : 0, .value = (uint32_t)-XS_E_TRAPPED, .detail = 34};
        cb_name(c, XS_NAME_FILE, 0x77, "case.kernel.h");
        cb_full_event(c, RING(1, 0), 3000, &abort);
    }
    if (how & CAME_BACK)
        cb_signal(c, RING(1, 0), 60000000, slot, 2);
    if (how & SUPPLIER_LOST)
        cb_skip_records(c, RING(1, 0), 3, XS_LOSS_OVERWRITTEN);
    if (how & STOPPER_ENDED)
        cb_writer_end(c, RING(1, 0), 3300);
    uint32_t reason = how & NO_REASON ? 0 : (uint32_t)(check ? -XS_E_TRAPPED : -XS_E_SYSTEM);
    cb_process_end(c, 1, -1, reason, 0);
    return judge(c);
}

static void expect_stopped(judged j, const char *slot, const char *words) {
    expect_first(&j, XSA_DEAD_PEER, XSA_ERROR, slot, 1, 0);
    expect_errors(&j, 1);
    if (!strstr(j.result->findings[0].text, words))
        fail_msg("'%s' does not say '%s'", j.result->findings[0].text, words);
    judged_free(&j);
}

static void test_failed_check_is_named_with_its_line(void **state) {
    (void)state;
    expect_stopped(stopped(true, 0), "rank 0 full", "a check of its own failed, line 34 of kernel case");
    expect_stopped(stopped(true, WAITS_ENDED), "rank 0 full", "a check of its own failed");
    judged j = stopped(true, IN_A_FILE);
    assert_string_equal(j.result->findings[0].file, "case.kernel.h");
    assert_int_equal(j.result->findings[0].line, 34);
    expect_stopped(j, "rank 0 full", "a check of its own failed, case.kernel.h:34 of kernel case");
    expect_stopped(stopped(true, NOBODY_WAITS), "", "a check of its own failed");
}

/* The GPU says nothing of who it was: it is not the one that waited. */
static void test_bad_address_is_laid_to_who_did_not_wait(void **state) {
    (void)state;
    expect_stopped(stopped(false, 0), "rank 0 full", "stopped by an error of its GPU");
    expect_stopped(stopped(false, WAITS_ENDED), "rank 0 full", "stopped by an error of its GPU");
    expect_stopped(stopped(false, NOBODY_WAITS), "", "stopped by an error of its GPU");
}

/* The driver tells of it a second later: the wait has come to its bound by then, and its writer to its end. */
static void test_bad_address_told_after_the_wait_gave_up(void **state) {
    (void)state;
    expect_stopped(stopped(false, WAITS_ENDED | GAVE_UP), "rank 0 full", "its kernel case was stopped by an error of its GPU");
    judged j = stopped(false, WAITS_ENDED | GAVE_UP | CAME_BACK); /* it signalled after that: that wait was not left by it */
    const xsa_finding *f = finding_of(&j, XSA_DEAD_PEER);
    assert_true(f && f->slot == XSR_NONE);
    judged_free(&j);
}

static void expect_no_dead_peer(judged j) {
    expect_not(&j, XSA_DEAD_PEER);
    judged_free(&j);
}

/* Writers that went on to their end, and worlds that nothing stopped. */
static void test_whoever_ended_was_not_stopped(void **state) {
    (void)state;
    expect_no_dead_peer(stopped(false, STOPPER_ENDED | WAITS_ENDED));
    expect_no_dead_peer(stopped(false, NO_REASON));
    expect_no_dead_peer(stopped(false, NO_REASON | NOBODY_WAITS));
}

/* Its end may be among them. */
static void test_lost_records_undo_it(void **state) {
    (void)state;
    judged j = stopped(false, SUPPLIER_LOST | WAITS_ENDED);
    expect_not(&j, XSA_DEAD_PEER);
    assert_int_equal(verdict_of(&j, XSA_DEAD_PEER)->status, XSA_UNKNOWN);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_check_is_named_with_its_line), cmocka_unit_test(test_bad_address_is_laid_to_who_did_not_wait),
        cmocka_unit_test(test_bad_address_told_after_the_wait_gave_up), cmocka_unit_test(test_whoever_ended_was_not_stopped), cmocka_unit_test(test_lost_records_undo_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
