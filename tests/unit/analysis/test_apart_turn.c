/* A record is lost while the clocks of ranks are apart, so that of two events the later one has its turn first. */
#include "judge.h"

#include <xs/xs.h>

/* Rank 0 signals a slot until it hands it over to rank 1, whose clock is behind: its signal is stamped before rank 0's last ones, and has its turn before
 * them where the record of its wait is lost. asks: it waits. */
static judged hand_over(uint64_t behind, bool asks, bool lost) {
    cb *c = case_apart(3, 3300);
    uint32_t turn_of = cb_slot(c, cb_pad(c, "log", "", "", 1, 1, 0), 2, 0, 0), token = cb_slot(c, cb_pad(c, "token", "", "", 1, 1, 0), 1, 0, 0), name = cb_mark_name(c, "mine");
    for (uint32_t k = 1; k <= 4; k++)
        cb_signal(c, RING(0, 0), 20000 + 1000 * k, turn_of, k);
    cb_signal(c, RING(0, 0), 24100, token, 1);
    uint64_t at = cb_next(c, RING(1, 0));
    if (asks)
        cb_pass(c, RING(1, 0), 24200 - behind, token, 1, 1);
    if (lost)
        cb_lose(c, RING(1, 0), at, at, XS_LOSS_OVERWRITTEN);
    cb_mark(c, RING(1, 0), 24250 - behind, name, 0); /* the gap is over before that, by its own clock */
    cb_signal(c, RING(1, 0), 24300 - behind, turn_of, 5);
    case_end_writers(c, 3, 1, 60000);
    return judge(c);
}

/* By its own clock the gap was over before all that it could have ordered: it was not counted. */
static void test_who_waited_in_lost_records_was_handed_the_slot(void **state) {
    (void)state;
    for (uint64_t behind = 0; behind <= 3000; behind += 100) {
        judged j = hand_over(behind, true, false);
        expect_clean(&j);
        judged_free(&j);
        j = hand_over(behind, true, true);
        expect_errors(&j, 0);
        assert_int_equal(verdict_of(&j, XSA_MULTI_WRITER)->status, XSA_UNKNOWN);
        judged_free(&j);
        j = hand_over(behind, false, false);
        expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 2 log", -1, -1);
        judged_free(&j);
    }
}

/* One buffer, given back by its reader, whose writer's clock is behind. In round 4 the writer does not wait for that, or the record that it did is lost: then its
 * write has its turn before the read of the round before. The reader has heard of nothing, but the writer may have. */
static judged given_back(uint64_t behind, bool asks, bool lost) {
    cb *c = case_apart(2, 3300);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0), name = cb_mark_name(c, "batch");
    for (uint32_t k = 1; k <= 8; k++) {
        uint64_t at = 20000 + 400 * k, record = cb_next(c, RING(0, 0));
        if (k > 1 && (k != 4 || asks))
            cb_pass(c, RING(0, 0), at - behind, credit, k - 1, k - 1);
        if (k == 4 && lost)
            cb_lose(c, RING(0, 0), record, record, XS_LOSS_OVERWRITTEN);
        cb_mark(c, RING(0, 0), at - behind + 20, name, k); /* the gap is over before the write begins */
        cb_payload(c, RING(0, 0), at - behind + 50, XS_EV_WRITE_BEGIN, name, 0, k, 1, 16, 1024);
        cb_payload_end(c, RING(0, 0), at - behind + 60, name, 0);
        cb_signal(c, RING(0, 0), at - behind + 80, ready, k);
        cb_pass(c, RING(1, 0), at + 100, ready, k, k);
        cb_payload(c, RING(1, 0), at + 120, XS_EV_READ_BEGIN, name, 0, k, 0, 16, 1024);
        cb_payload_end(c, RING(1, 0), at + 130, name, 0);
        cb_signal(c, RING(1, 0), at + 150, credit, k);
    }
    case_end_writers(c, 2, 1, 60000);
    return judge(c);
}

/* Only the second of two accesses was asked whether it can have heard of the first. */
static void test_first_by_its_turn_may_have_heard_of_the_second(void **state) {
    (void)state;
    for (uint64_t behind = 0; behind <= 3000; behind += 100)
        for (uint32_t lost = 0; lost < 2; lost++) {
            judged j = given_back(behind, true, lost);
            expect_errors(&j, 0);
            if (!lost)
                expect_clean(&j);
            judged_free(&j);
            j = given_back(behind, false, false);
            expect_first(&j, XSA_LAPPING, XSA_ERROR, "", 0, 0);
            judged_free(&j);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_who_waited_in_lost_records_was_handed_the_slot),
                                       cmocka_unit_test(test_first_by_its_turn_may_have_heard_of_the_second)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
