/* Whose turn it is, where stamps tell another story than values: nothing is wrong in these, and nothing is found. */
#include "judge.h"

/* The record of a publication stands behind its store. A quick reader has given that batch back by then; what the producer had to hear of was the
 * one before. */
static void test_batch_given_back_before_its_publication_is_noted(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    for (uint32_t batch = 1; batch <= 4; batch++) {
        uint64_t t = 1000 + 1000 * batch;
        if (batch > 1)
            cb_pass(c, RING(0, 0), t, credit, batch - 1, batch - 1);
        cb_signal(c, RING(0, 0), t + 100, ready, batch);
        cb_pass(c, RING(1, 0), t + 200, ready, batch, batch);
        cb_consume(c, RING(1, 0), t + 300, ready, batch, 8, 1);
        cb_signal(c, RING(1, 0), t + 400, credit, batch);
        cb_publish(c, RING(0, 0), t + 500, ready, batch, 8, 1);
    }
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_clean(&j);
    judged_free(&j);
}

/* It still is one that does not wait for its credit. */
static void test_batch_without_credit_is_found(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    for (uint32_t batch = 1; batch <= 4; batch++) {
        uint64_t t = 1000 + 1000 * batch;
        cb_signal(c, RING(0, 0), t + 100, ready, batch);
        cb_pass(c, RING(1, 0), t + 200, ready, batch, batch);
        cb_consume(c, RING(1, 0), t + 300, ready, batch, 8, 1);
        cb_signal(c, RING(1, 0), t + 400, credit, batch);
        cb_publish(c, RING(0, 0), t + 500, ready, batch, 8, 1);
    }
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_first(&j, XSA_LAPPING, XSA_ERROR, "rank 1 ready", 0, 0);
    judged_free(&j);
}

/* Two warps of a block arrive, and stamps say that the second one came first; it is elected and signals. Its reader's clock is early. */
static void test_warps_that_arrive_in_another_order_than_their_stamps(void **state) {
    (void)state;
    for (uint64_t inverted = 0; inverted < 50; inverted += 25) {
        cb *c = case_begin(2, 1, 1);
        uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
        uint32_t name = cb_mark_name(c, "push");
        cb_writer_begin_at(c, RING(0, 1), 1500, 1, 0, 1, 0, 1, 0, 0);
        cb_wait_start(c, RING(1, 0), 2000, ready, 1, 0);
        cb_wait_end(c, RING(1, 0), 2050, ready, 1, XS_RESULT_OK, 9);
        cb_payload(c, RING(1, 0), 2060, XS_EV_READ_BEGIN, name, 0, 1, 0, 16, 1024);
        cb_payload_end(c, RING(1, 0), 2070, name, 0);
        for (uint32_t warp = 0; warp < 2; warp++) {
            cb_payload(c, RING(0, warp), 2100 + warp, XS_EV_WRITE_BEGIN, name, 0, 1, 1, 8, 512);
            cb_payload_end(c, RING(0, warp), 2200 + warp, name, 0);
        }
        cb_arrive(c, RING(0, 1), 2300 + inverted, count, 0, 1, 2);
        cb_arrive(c, RING(0, 0), 2300, count, 1, 1, 2);
        cb_signal(c, RING(0, 0), 2400, ready, 1);
        cb_writer_end(c, RING(0, 1), 8900);
        case_end_writers(c, 2, 1, 9000);
        judged j = judge(c);
        expect_clean(&j);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batch_given_back_before_its_publication_is_noted), cmocka_unit_test(test_batch_without_credit_is_found),
                                       cmocka_unit_test(test_warps_that_arrive_in_another_order_than_their_stamps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
