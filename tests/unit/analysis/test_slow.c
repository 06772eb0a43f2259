/* How much slower than others a rank works: its warps that go on when another one of their block has waited are not busy meanwhile. */
#include "judge.h"

/* Three ranks with a block of two warps, from 1 000 to 9 000. Warp 0 waits for the host: for 6 000 of ranks 0 and 1, for 2 000 of rank 2. */
static judged two_warps_each(const char *beside, bool signals) {
    cb *c = case_begin(3, 1, 0);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), back = cb_pad(c, "back", "", "", 1, 1, 0);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint32_t ready = cb_slot(c, pad, rank, 0, 0);
        cb_writer_begin_at(c, RING(rank, 0), 1000, cb_role(c, "work"), 0, 1, rank, 0, 0, 0);
        cb_writer_begin_at(c, RING(rank, 1), 1000, cb_role(c, beside), 0, 1, rank, 1, 0, 0);
        cb_wait_start(c, RING(rank, 0), 2000, ready, 1, 0);
        cb_wait_end_at(c, RING(rank, 0), rank == 2 ? 4000 : 8000, ready, 1, 0, 9, 0, 300, 7, 0);
        if (signals)
            cb_signal(c, RING(rank, 1), 8500, cb_slot(c, back, rank, 0, 0), 1);
        cb_writer_end(c, RING(rank, 0), 9000);
        cb_writer_end(c, RING(rank, 1), 9000);
    }
    return judge(c);
}

static void expect_slow(judged j, double usual, double last) {
    const xsa_blame *b = j.result->blame;
    assert_int_equal(b->rank_count, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        double want = rank == 2 ? last : usual, off = b->ranks[rank].slow - want;
        if (off > 1e-9 || off < -1e-9)
            fail_msg("rank %u: %g times as long as others, should be %g", rank, b->ranks[rank].slow, want);
    }
    judged_free(&j);
}

/* They were counted as busy all the time, and three times the work of the others looked like 1.4 times. */
static void warps_beside_the_one_that_waits_are_not_busy_meanwhile(void **state) {
    (void)state;
    expect_slow(two_warps_each("work", false), 1, 6000.0 / 2000);
    expect_slow(two_warps_each("work", true), 1, 6000.0 / 2000);
    expect_slow(two_warps_each("compute", false), 1, 6000.0 / 2000);
}

static void a_warp_of_another_role_that_signals_goes_its_own_way(void **state) {
    (void)state;
    expect_slow(two_warps_each("compute", true), 1, (6000.0 + 8000) / (2000 + 8000));
}

/* A block without any wait is as slow as it runs, with each of its warps. */
static void warps_of_a_block_that_never_waits_are_busy(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        for (uint32_t warp = 0; warp < 2; warp++) {
            cb_writer_begin_at(c, RING(rank, warp), 1000, cb_role(c, "work"), 0, 1, rank, warp, 0, 0);
            cb_writer_end(c, RING(rank, warp), rank == 2 ? 5000 + 2000 * warp : 3000);
        }
    expect_slow(judge(c), 1, (4000.0 + 6000) / (2000 + 2000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(warps_beside_the_one_that_waits_are_not_busy_meanwhile),
                                       cmocka_unit_test(a_warp_of_another_role_that_signals_goes_its_own_way),
                                       cmocka_unit_test(warps_of_a_block_that_never_waits_are_busy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
