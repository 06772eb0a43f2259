/* Signals of the host program, and ranks that are CPU threads beside those on a GPU. */
#include "judge.h"

#include <xs/xs.h>

static void by_host(cb *c, uint32_t pad, uint32_t column) {
    xs_plan_entry e = {XS_PLAN_HOST_SUPPLIER, XS_PLAN_DECLARED, cb_pad_first(c, pad), XS_PLAN_ANY, XS_PLAN_ANY, column, UINT64_MAX, 0, 0};
    cb_plan(c, &e, 1);
}

static uint32_t go_pad(cb *c) {
    uint32_t pad = cb_pad(c, "go", "", "", 1, 1, 0);
    by_host(c, pad, XS_PLAN_ANY);
    return pad;
}

static void given(cb *c, uint32_t ring, uint32_t slot, uint64_t rounds) {
    for (uint64_t r = 1; r <= rounds; r++) {
        cb_wait_start(c, ring, 1500 + r * 1000, slot, r, r - 1);
        cb_wait_end(c, ring, 2100 + r * 1000, slot, r, XS_RESULT_OK, 5);
    }
}

/* What is in no ring is no loss: the plan says who owes it, with all certainty. One host program of two ranks: one finding. */
static void test_host_that_stopped_is_named(void **state) {
    (void)state;
    for (uint32_t stops = 0; stops < 2; stops++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = go_pad(c);
        for (uint32_t rank = 0; rank < 2; rank++) {
            given(c, RING(rank, 0), cb_slot(c, pad, rank, 0, 0), 3);
            if (stops)
                case_open_wait(c, RING(rank, 0), 8000 + rank, cb_slot(c, pad, rank, 0, 0), 4, 3);
            else
                cb_writer_end(c, RING(rank, 0), 8000);
        }
        judged j = judge(c);
        if (stops) {
            expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 go", 0, (int)XSR_NONE);
            expect_errors(&j, 1);
            assert_int_equal(j.result->findings[0].confidence, XSA_HIGH);
            assert_int_equal(j.result->findings[0].owes_writer, XSR_NONE);
            assert_non_null(strstr(j.result->findings[0].text, "the host of rank 0 owes it"));
            assert_int_equal(j.result->blame->spans[j.result->blame->span_count - 1].part, XSA_PART_OWED);
        } else {
            expect_clean(&j);
        }
        judged_free(&j);
    }
}

/* Neighbours in its pad are signalled by one rank, which was taken for who owes it. */
static void test_host_was_taken_for_the_rank_that_signals_beside(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "go", "", "", 1, 3, 0);
    by_host(c, pad, 2);
    for (uint32_t r = 1; r <= 2; r++) {
        for (uint32_t column = 0; column < 2; column++)
            cb_signal(c, RING(0, 0), 2000 + r * 1000 + column, cb_slot(c, pad, 1, 0, column), r);
        cb_wait_start(c, RING(1, 0), 1500 + r * 1000, cb_slot(c, pad, 1, 0, 0), r, r - 1);
        cb_wait_end(c, RING(1, 0), 2100 + r * 1000, cb_slot(c, pad, 1, 0, 0), r, XS_RESULT_OK, 5);
    }
    cb_writer_end(c, RING(0, 0), 5000);
    case_open_wait(c, RING(1, 0), 8000, cb_slot(c, pad, 1, 0, 2), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 1 go[col=2]", 1, (int)XSR_NONE);
    assert_int_equal(j.result->findings[0].owes_writer, XSR_NONE);
    judged_free(&j);
}

/* Rank 1 waits for rank 0, and that one for the host. */
static void test_chain_ends_at_the_host(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t go = cb_slot(c, go_pad(c), 0, 0, 0), pad = cb_pad(c, "done", "", "", 1, 1, 0), done = cb_slot(c, pad, 1, 0, 0);
    cb_plan_writer(c, pad, 0);
    given(c, RING(0, 0), go, 1);
    cb_signal(c, RING(0, 0), 3200, done, 1);
    cb_pass(c, RING(1, 0), 3500, done, 1, 1);
    cb_wait_start(c, RING(1, 0), 3800, done, 2, 1);
    cb_wait_start(c, RING(0, 0), 4000, go, 2, 1);
    cb_wait_end(c, RING(1, 0), 20000000, done, 1, XS_RESULT_TIMEOUT, 5);
    cb_wait_end(c, RING(0, 0), 20000100, go, 1, XS_RESULT_TIMEOUT, 5);
    case_end_writers(c, 2, 1, 20001000);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 go", 0, (int)XSR_NONE);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* The host seeds a gate, blocks add the rest: what is missing there is theirs. */
static void test_seed_of_a_gate_is_not_what_it_lacks(void **state) {
    (void)state;
    cb *c = case_begin(1, 3, 3);
    uint32_t pad = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), gate = cb_slot(c, pad, 0, 0, 0);
    by_host(c, pad, XS_PLAN_ANY);
    for (uint32_t epoch = 1; epoch <= 3; epoch++) {
        for (uint32_t block = 0; block < 3; block++)
            cb_epoch(c, RING(0, block), 1000 + epoch * 1000 + block, epoch);
        cb_gate(c, RING(0, 1), 1100 + epoch * 1000, gate, 2 * (epoch - 1) + 1, 1);
        if (epoch < 3) {
            cb_gate(c, RING(0, 2), 1200 + epoch * 1000, gate, 2 * (epoch - 1) + 2, 1);
            cb_pass(c, RING(0, 0), 1300 + epoch * 1000, gate, 2 * epoch + 1, 2 * epoch + 1);
        }
    }
    cb_writer_end(c, RING(0, 1), 5000);
    cb_writer_end(c, RING(0, 2), 5000);
    case_open_wait(c, RING(0, 0), 5500, gate, 7, 6);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", 0, 2);
    judged_free(&j);
}

static judged late_host(uint32_t late_round) {
    cb *c = case_begin(2, 1, 1);
    uint32_t slot = cb_slot(c, go_pad(c), 0, 0, 0);
    uint64_t at = 2000;
    cb_writer_end(c, RING(1, 0), at);
    for (uint32_t r = 1; r <= 40; r++) {
        cb_wait_start(c, RING(0, 0), at, slot, r, r - 1);
        at += r == late_round ? 60000000 : 10000;
        cb_wait_end(c, RING(0, 0), at, slot, r, XS_RESULT_OK, 5);
        at += 5000;
    }
    cb_writer_end(c, RING(0, 0), at);
    return judge(c);
}

/* Its time was blamed on nobody, and the way to the culprit was an arrow that there is not. */
static void test_late_host_is_named(void **state) {
    (void)state;
    judged j = late_host(35);
    expect_first(&j, XSA_STALL, XSA_WARNING, "rank 0 go", 0, (int)XSR_NONE);
    assert_non_null(strstr(j.result->findings[0].text, "the host of rank 0 signals it"));
    assert_null(strstr(j.result->findings[0].cure, "arrow"));
    assert_int_equal(xsa_exit_code(j.result), 0);
    const xsa_blamed *most = &j.result->blame->sums[0];
    assert_int_equal(most->part, XSA_PART_UNKNOWN); /* in no ring: when the host wrote is not known */
    assert_int_equal(most->why, XSA_BLAME_HOST);
    assert_int_equal(most->ns, 60000000 + 39 * 10000);
    assert_int_equal(j.result->blame->ns[XSA_PART_COMPUTE], 1000 + 40 * 5000);
    judged_free(&j);
    j = late_host(0);
    expect_not(&j, XSA_STALL);
    judged_free(&j);
}

/* Credit that the host gives back is credit. */
static void test_ring_that_the_host_reads_is_not_lapped(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    uint32_t full = cb_pad(c, "full", "", "", 1, 1, 0), pad = cb_pad(c, "ack", "", "", 1, 1, 0), ack = cb_slot(c, pad, 0, 0, 0);
    by_host(c, pad, XS_PLAN_ANY);
    cb_plan_writer(c, full, 0);
    case_depth(c, full, 2);
    for (uint32_t r = 1; r <= 8; r++) {
        if (r > 2) {
            cb_wait_start(c, RING(0, 0), 1000 + r * 1000, ack, r - 2, r - 3);
            cb_wait_end(c, RING(0, 0), 1300 + r * 1000, ack, r - 2, XS_RESULT_OK, 3);
        }
        cb_signal(c, RING(0, 0), 1500 + r * 1000, cb_slot(c, full, 0, 0, 0), r);
    }
    case_end_writers(c, 1, 1, 10000);
    judged j = judge(c);
    expect_clean(&j);
    judged_free(&j);
}

static void test_kernel_that_signals_in_place_of_the_host(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t slot = cb_slot(c, go_pad(c), 0, 0, 0);
    given(c, RING(0, 0), slot, 3);
    cb_signal(c, RING(1, 0), 6000, slot, 4);
    cb_wait_start(c, RING(0, 0), 5500, slot, 4, 3);
    cb_wait_end(c, RING(0, 0), 6100, slot, 4, XS_RESULT_OK, 5);
    cb_wait_start(c, RING(0, 0), 6500, slot, 5, 4);
    cb_wait_end(c, RING(0, 0), 7100, slot, 5, XS_RESULT_OK, 5);
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 go", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* ---- rank 0 on a GPU whose clock is known to 3.3 us, rank 1 a CPU thread of the same process ---- */

static cb *gpu_and_cpu(uint64_t cpu_begins) {
    xs_region_header region = cb_region(0, 2, 2);
    region.device = 0;
    cb *c = case_begin_as(&region, 1, 0);
    cb_device_clock(c, 0, 500, 500, 6600);
    cb_device_clock(c, 0, 900000000, 900000000, 6600);
    cb_ring_device(c, RING(0, 0), 0);
    cb_ring_device(c, RING(1, 0), -1);
    cb_writer_begin_at(c, RING(0, 0), 1000, 1, 0, 1, 0, 0, 0, 0);
    cb_writer_begin_at(c, RING(1, 0), cpu_begins, 1, 0, 1, 1, 0, 0, 0);
    return c;
}

static uint32_t full_of_rank_0(cb *c) {
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0);
    cb_plan_writer(c, pad, 1);
    return cb_slot(c, pad, 0, 0, 0);
}

static void test_cpu_rank_that_stopped_is_named(void **state) {
    (void)state;
    cb *c = gpu_and_cpu(1000);
    uint32_t full = full_of_rank_0(c);
    for (uint32_t r = 1; r <= 3; r++) {
        cb_wait_start(c, RING(0, 0), r * 100000, full, r, r - 1);
        cb_signal(c, RING(1, 0), r * 100000 + 20000, full, r);
        cb_wait_end(c, RING(0, 0), r * 100000 + 21000, full, r, XS_RESULT_OK, 5);
    }
    cb_writer_end(c, RING(1, 0), 350000);
    case_open_wait(c, RING(0, 0), 400000, full, 4, 3);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 full", 1, 0);
    expect_errors(&j, 1);
    assert_int_equal(j.result->findings[0].confidence, XSA_HIGH); /* no matter of times */
    judged_free(&j);
}

static void test_cpu_rank_that_is_late_is_not_dead(void **state) {
    (void)state;
    cb *c = gpu_and_cpu(80000000);
    uint32_t full = full_of_rank_0(c);
    cb_wait_start(c, RING(0, 0), 100000, full, 1, 0);
    cb_signal(c, RING(1, 0), 80001000, full, 1);
    cb_wait_end(c, RING(0, 0), 80003000, full, 1, XS_RESULT_OK, 5);
    case_end_writers(c, 2, 1, 80010000);
    judged j = judge(c);
    expect_first(&j, XSA_LATE_RANK, XSA_WARNING, "rank 0 full", 1, -1);
    assert_int_equal(j.result->findings[0].confidence, XSA_LOW);
    assert_int_equal(xsa_exit_code(j.result), 0);
    assert_in_range(j.result->blame->ns[XSA_PART_LATE], 79000000, 80000000);
    judged_free(&j);
}

static void test_circle_of_gpu_and_cpu(void **state) {
    (void)state;
    cb *c = gpu_and_cpu(1000);
    uint32_t full = full_of_rank_0(c), pad = cb_pad(c, "credit", "", "", 1, 1, 0);
    cb_plan_writer(c, pad, 0);
    case_open_wait(c, RING(0, 0), 400000, full, 1, 0);
    case_open_wait(c, RING(1, 0), 400100, cb_slot(c, pad, 1, 0, 0), 1, 0);
    judged j = judge(c);
    expect_first(&j, XSA_WAIT_CYCLE, XSA_ERROR, "rank 0 full", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

static void hand_over(cb *c, uint32_t code, uint32_t from, uint32_t full, uint32_t name) {
    cb_payload(c, RING(from, 0), 100000, XS_EV_WRITE_BEGIN, name, 0, 1, 1 - from, 16, 1024);
    cb_payload_end(c, RING(from, 0), 110000, name, 0);
    cb_one(c, RING(from, 0), 120000, code, full, 1);
    cb_pass(c, RING(1 - from, 0), 150000, full, 1, 1);
    cb_payload(c, RING(1 - from, 0), 160000, XS_EV_READ_BEGIN, name, 0, 1, from, 16, 1024);
    cb_payload_end(c, RING(1 - from, 0), 170000, name, 0);
}

/* What a GPU releases at its own scope, no CPU sees. */
static void test_gpu_scope_does_not_reach_a_cpu(void **state) {
    (void)state;
    for (uint32_t narrow = 0; narrow < 2; narrow++) {
        cb *c = gpu_and_cpu(1000);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0);
        cb_plan_writer(c, pad, 0);
        hand_over(c, narrow ? XS_CODE_SIGNAL_REL_GPU : XS_CODE_SIGNAL_REL_SYS, 0, cb_slot(c, pad, 1, 0, 0), cb_mark_name(c, "batch"));
        case_end_writers(c, 2, 1, 200000);
        judged j = judge(c);
        if (narrow)
            expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 1 full", 0, 0);
        else
            expect_clean(&j);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_that_stopped_is_named),
        cmocka_unit_test(test_host_was_taken_for_the_rank_that_signals_beside),
        cmocka_unit_test(test_chain_ends_at_the_host),
        cmocka_unit_test(test_seed_of_a_gate_is_not_what_it_lacks),
        cmocka_unit_test(test_late_host_is_named),
        cmocka_unit_test(test_ring_that_the_host_reads_is_not_lapped),
        cmocka_unit_test(test_kernel_that_signals_in_place_of_the_host),
        cmocka_unit_test(test_cpu_rank_that_stopped_is_named),
        cmocka_unit_test(test_cpu_rank_that_is_late_is_not_dead),
        cmocka_unit_test(test_circle_of_gpu_and_cpu),
        cmocka_unit_test(test_gpu_scope_does_not_reach_a_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
