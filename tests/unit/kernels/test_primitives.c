/* What the primitives of one thread do, and what they note. */
#include "kernel_test.h"
#include <signal.h>

static xs_writer w;
static uint32_t cursor;

static int begin_writer(void **state) {
    begin(state);
    w = xs_writer_begin(&handle, 0);
    cursor = w.cursor;
    return 0;
}

static uint64_t *at(const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column) {
    return (uint64_t *)xs_slot_at(pad, owner, row, column).at;
}
static uint32_t code(uint32_t back) { return fake_record(xs_writer_ring(&w), (w.cursor - back) & 63)->code_object >> 24; }
static uint32_t object(uint32_t back) { return fake_record(xs_writer_ring(&w), (w.cursor - back) & 63)->code_object & 0xffffff; }
static uint32_t value(uint32_t back) { return fake_record(xs_writer_ring(&w), (w.cursor - back) & 63)->value; }
/* Records since the last call. */
static uint32_t made(void) {
    uint32_t n = w.cursor - cursor;
    cursor = w.cursor;
    return n;
}

static void slots_are_named_alike_everywhere(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 3, 4, 5, 0);
    assert_int_equal(xs_slot_at(&pad, 0, 0, 0).object, 1000);
    assert_int_equal(xs_slot_at(&pad, 2, 3, 4).object, 1000 + (2 * 4 + 3) * 5 + 4);
    assert_ptr_equal(at(&pad, 2, 3, 4), (char *)pad.base[2] + 3 * 5 * 64 + 4 * 64);
}

static void signal_and_wait(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 2, 1, 2, 0);
    fake_count = (fake_counts){0};
    xs_signal_slot(&w, &pad, 1, 0, 1, 6);
    assert_int_equal(*at(&pad, 1, 0, 1), 6);
    assert_int_equal(fake_count.steps, 1);
    assert_int_equal(fake_count.releases, 1);
    assert_int_equal(fake_count.release_scope, XS_SCOPE_SYS);
    assert_int_equal(made(), 1);
    assert_int_equal(code(1), XS_CODE_SIGNAL_REL_SYS);
    assert_int_equal(object(1), 1000 + 2 + 1);
    *at(&pad, 0, 0, 1) = 6;
    assert_int_equal(xs_wait_slot(&w, &pad, 0, 1, 6), XS_RESULT_OK);
    assert_int_equal(fake_count.steps, 2);
    assert_int_equal(fake_count.acquires, 1);
    assert_int_equal(fake_count.acquire_scope, XS_SCOPE_SYS);
    assert_int_equal(made(), 1);
    assert_int_equal(code(1), XS_CODE_PASS_ACQ_SYS);
    assert_int_equal(object(1), 1000 + 1); /* its own copy */
    assert_int_equal(xs_wait_slot(&w, &pad, 0, 1, 5), XS_RESULT_OK); /* beyond what is needed: two records */
    assert_int_equal(made(), 2);
    xs_signal_slot_gpu(&w, &pad, 1, 0, 1, 7);
    assert_int_equal(code(1), XS_CODE_SIGNAL_REL_GPU);
}

static uint64_t *hook_slot, hook_value;
static uint32_t hook_left;
static void signal_after_polls(void) {
    if (hook_left-- == 0)
        __atomic_store_n(hook_slot, hook_value, __ATOMIC_RELEASE);
}

static void wait_that_has_to_wait(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 1, 1, 1, 0);
    hook_slot = at(&pad, 0, 0, 0), hook_value = 9, hook_left = 39; /* the 40th pause brings it: the 41st read sees it */
    fake_poll_hook = signal_after_polls;
    assert_int_equal(xs_wait_slot(&w, &pad, 0, 0, 8), XS_RESULT_OK);
    uint32_t line = __LINE__ - 1;
    fake_poll_hook = NULL;
    assert_int_equal(made(), 2 + 3); /* no high halves: no fourth record */
    assert_int_equal(code(5), XS_CODE_FULL);
    assert_int_equal(value(5), 8);
    assert_int_equal(value(4), 0);
    assert_int_equal(XS_DETAIL_KIND(object(4)), XS_EV_WAIT_START);
    assert_int_equal(XS_DETAIL_KIND(object(2)), XS_EV_WAIT_END);
    assert_int_equal(XS_DETAIL_FURTHER(object(2)), 1);
    assert_int_equal(value(3), 9);
    assert_int_equal(value(2), 41);
    assert_int_equal(object(1), line | 2 << 16 | XS_END_NAMED); /* stage 2; what was slept follows from the polls */
    assert_int_equal(value(1), xs_file_id(__FILE__, sizeof __FILE__ - 1));
    assert_int_equal(fake_count.polls_failed, 40);
    assert_int_equal(fake_line(xs_writer_ring(&w), 0)->p0.state_stage & 0xff, XS_LINE_OVER);
}

static void back_off_follows_from_the_count(void **state) {
    (void)state;
    uint64_t slept = 0;
    for (uint32_t reads = 1; reads < 1000; reads++) {
        assert_int_equal(xs_backoff_slept(reads), slept);
        slept += xs_backoff_ns(xs_backoff_stage(reads));
    }
    assert_int_equal(xs_backoff_ns(xs_backoff_stage(15)), 0);
    assert_int_equal(xs_backoff_ns(xs_backoff_stage(16)), 32);
    assert_int_equal(xs_backoff_ns(xs_backoff_stage(10 * 16)), 16384);
    assert_int_equal(xs_backoff_ns(xs_backoff_stage(UINT32_MAX)), 20000);
    assert_int_equal(xs_backoff_next(UINT32_MAX), UINT32_MAX - 15);
    assert_true(xs_backoff_due(UINT32_MAX - 15));
    assert_int_equal(xs_backoff_slept(UINT32_MAX) / 1000000000, 85899); /* a day: no overflow */
}

static void bounds_end_a_wait(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 1, 1, 1, 0);
    xs_bound polls = {.polls = 5};
    assert_int_equal(xs_wait_slot_bounded(&w, &pad, 0, 0, 1, polls), XS_RESULT_TIMEOUT);
    assert_int_equal(value(2), 5);
    assert_int_equal(XS_DETAIL_RESULT(object(2)), XS_RESULT_TIMEOUT);
    uint64_t start = xs_host_now();
    assert_int_equal(xs_wait_slot_bounded(&w, &pad, 0, 0, 1, xs_bound_ns(1000000)), XS_RESULT_TIMEOUT);
    uint64_t took = xs_host_now() - start;
    assert_in_range(took, 1000000, 1100000);
    assert_int_equal(fake_line(xs_writer_ring(&w), 0)->p0.state_stage >> 16 & 0xff, XS_RESULT_TIMEOUT);
}

static uint64_t *beat;
static uint32_t beats_left;
static void keep_beating(void) {
    if (beats_left && beats_left--)
        ++*beat;
}

static void heartbeat_that_stops_ends_a_wait(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 2, 1, 1, 0), life = fake_pad(2000, 2, 1, 2, 0);
    beat = at(&life, 0, 0, 1), beats_left = 300;
    fake_poll_hook = keep_beating;
    uint64_t start = xs_host_now();
    assert_int_equal(xs_wait_slot_bounded(&w, &pad, 0, 0, 1, xs_bound_heartbeat(&w, &life, 1, 2000000)), XS_RESULT_PEER_DEAD);
    uint64_t took = xs_host_now() - start;
    fake_poll_hook = NULL;
    assert_int_equal(beats_left, 0);
    assert_true(took > 2000000 + (300 - 192) * 20000); /* it lived for 300 polls, then 2 ms more */
    assert_int_equal(fake_line(xs_writer_ring(&w), 0)->p4.heartbeat, 300);
}

static sigjmp_buf trapped;
static void leave_trap(int number) {
    (void)number;
    siglongjmp(trapped, 1);
}

/* A bare trap would leave the waits of others as they are, and their rings overwritten. */
static void failed_check_aborts_and_freezes(void **state) {
    (void)state;
    void (*old)(int) = signal(SIGILL, leave_trap);
    volatile int right = 1;
    xs_assert(&w, right);
    assert_int_equal(*handle.abort, 0);
    uint32_t before = w.cursor;
    if (!sigsetjmp(trapped, 1)) {
        xs_assert(&w, !right);
        fail_msg("the check did not stop");
    }
    signal(SIGILL, old);
    const xs_record *record = fake_record(xs_writer_ring(&w), before);
    assert_int_equal(record->code_object >> 24, XS_CODE_FULL);
    assert_int_equal(record->value, -XS_E_TRAPPED);
    assert_int_equal(fake_record(xs_writer_ring(&w), before + 1)->code_object & 0xff, XS_EV_ABORT);
    assert_int_equal(*handle.abort, -XS_E_TRAPPED);
    assert_int_equal(fake_control()->freeze, 1);
    xs_writer_refresh(&w);
    uint32_t after = w.cursor;
    xs_mark(&w, 1, 2);
    assert_int_equal(w.cursor, after); /* frozen */
}

static void abort_ends_every_wait(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 1, 1, 2, 0);
    assert_int_equal(xs_aborted(&w), 0);
    assert_int_equal(made(), 0);
    xs_kernel_abort(&w, XS_E_TIMEOUT);
    assert_int_equal(*handle.abort, 4);
    xs_kernel_abort(&w, XS_E_DEADLOCK); /* the first reason stays */
    assert_int_equal(*handle.abort, 4);
    assert_int_equal(made(), 4);
    assert_int_equal(xs_aborted(&w), 1);
    assert_int_equal(made(), 2);
    assert_int_equal(xs_wait_slot(&w, &pad, 0, 0, 1), XS_RESULT_ABORTED);
    assert_int_equal(xs_gate_wait(&w, &pad, 0, 0, 1), XS_RESULT_ABORTED);
    assert_int_equal(xs_wait_ge_bounded(&w, xs_slot_at(&pad, 0, 0, 0), 1, xs_unbounded()), XS_RESULT_ABORTED);
    assert_int_equal(xs_barrier_all(&w, &pad, 1, xs_unbounded()), XS_RESULT_ABORTED);
}

static void publish_by_fence(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 1, 1, 1, 0);
    fake_count = (fake_counts){0};
    xs_pub_release(&w, xs_slot_at(&pad, 0, 0, 0), 3);
    assert_int_equal(*at(&pad, 0, 0, 0), 3);
    assert_int_equal(fake_count.releases, 1);
    assert_int_equal(made(), 1);
    assert_int_equal(code(1), XS_CODE_SIGNAL_RLX_SYS_FSYS);
    xs_pub_release_gpu(&w, xs_slot_at(&pad, 0, 0, 0), 4);
    assert_int_equal(code(1), XS_CODE_SIGNAL_RLX_GPU_FGPU);
    assert_int_equal(xs_wait_ge_bounded(&w, xs_slot_at(&pad, 0, 0, 0), 4, xs_unbounded()), XS_RESULT_OK);
    assert_int_equal(fake_count.acquires, 0);
    assert_int_equal(code(1), XS_CODE_PASS_RLX_SYS);
    xs_acq_fence(&w);
    assert_int_equal(fake_count.acquires, 1);
    assert_int_equal(code(1), XS_CODE_FENCE_ACQ_SYS);
    assert_int_equal(value(1), __LINE__ - 3);
}

static void elections_are_cumulative(void **state) {
    (void)state;
    xs_pad counters = fake_pad(1000, 1, 1, 1, XS_PAD_SHARED), pad = fake_pad(2000, 2, 1, 1, 0);
    for (uint64_t epoch = 1; epoch <= 3; epoch++)
        for (uint32_t i = 1; i <= 4; i++) {
            int published = xs_elect_and_publish(&w, &counters, 0, 0, 1, epoch * 4, 4, &pad, 1, 0, 0, epoch);
            assert_int_equal(published, i == 4);
            assert_int_equal(*at(&pad, 1, 0, 0), i == 4 ? epoch : epoch - 1);
            assert_int_equal(made(), i == 4 ? 2 : 1);
            uint32_t packed = value(i == 4 ? 2 : 1);
            assert_int_equal(packed, (i - 1) | 1 << 12 | 4 << 20); /* old counts from the epoch's base */
        }
    assert_int_equal(xs_elect_warp(&w, &counters, 0, 0, 13, 1), 1); /* on the host a warp is one lane */
    assert_int_equal(*at(&counters, 0, 0, 0), 13);
}

static void nothing_expected(void **state) {
    (void)state;
    xs_pad counters = fake_pad(1000, 1, 1, 1, XS_PAD_SHARED), pad = fake_pad(2000, 2, 1, 1, 0);
    assert_int_equal(xs_elect_and_publish(&w, &counters, 0, 0, 1, 0, 0, &pad, 1, 0, 0, 1), 0);
    assert_int_equal(*at(&counters, 0, 0, 0), 0);
    assert_int_equal(*at(&pad, 1, 0, 0), 0);
    assert_int_equal(made(), 0);
    assert_int_equal(xs_wait_expected(&w, &pad, 0, 0, 1, 0), XS_RESULT_OK);
    assert_int_equal(code(1), XS_CODE_SKIP);
    xs_publish_without_arrivals(&w, &pad, 1, 0, 0, 1);
    assert_int_equal(*at(&pad, 1, 0, 0), 1);
    *at(&pad, 0, 0, 0) = 1;
    assert_int_equal(xs_wait_expected(&w, &pad, 0, 0, 1, 5), XS_RESULT_OK);
    assert_int_equal(code(1), XS_CODE_PASS_ACQ_SYS);
}

static void watermark_is_the_longest_prefix(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 2, 2, 5, 0);
    xs_watermark_advance(&w, &pad, 0, 0, 1, 64);
    xs_watermark_advance(&w, &pad, 0, 1, 1, 64);
    xs_watermark_advance(&w, &pad, 0, 3, 1, 17);
    assert_int_equal(made(), 1 + 1 + 2);
    assert_int_equal(xs_watermark_prefix(&pad, 0, 0, 1, 0), 2);
    assert_int_equal(xs_watermark_wait(&w, &pad, 0, 3, 1), XS_RESULT_OK); /* out of order is legal */
    xs_watermark_advance(&w, &pad, 0, 2, 1, 64);
    assert_int_equal(xs_watermark_prefix(&pad, 0, 0, 1, 2), 4);
    xs_watermark_advance(&w, &pad, 0, 4, 1, 64);
    assert_int_equal(xs_watermark_prefix(&pad, 0, 0, 1, 0), 5);
    assert_int_equal(xs_watermark_prefix(&pad, 0, 0, 2, 0), 0);
}

static void gates_open_at_or_beyond_the_target(void **state) {
    (void)state;
    xs_pad pad = fake_pad(1000, 1, 1, 1, XS_PAD_SHARED);
    *at(&pad, 0, 0, 0) = 2; /* padding seeded by the host */
    xs_gate_arrive(&w, &pad, 0, 0, 1);
    assert_int_equal(code(1), XS_CODE_GATE_REL_GPU);
    assert_int_equal(value(1), 2);
    xs_gate_arrive(&w, &pad, 0, 0, 5);
    assert_int_equal(xs_gate_wait(&w, &pad, 0, 0, 7), XS_RESULT_OK); /* overshot: 8 */
    assert_int_equal(xs_gate_wait_bounded(&w, &pad, 0, 0, 9, xs_bound_ns(100)), XS_RESULT_TIMEOUT);
}

static void thirty_two_bit_slots_wrap(void **state) {
    (void)state;
    uint32_t memory[2] = {0xfffffffe, 0x55555555};
    void *base[1] = {memory};
    xs_pad pad = {base, 1000, 1, 1, 4, 4, XS_PAD_32 | XS_PAD_ADOPTED};
    xs_signal_slot_u32(&w, &pad, 0, 0, 0, 0xffffffff);
    assert_int_equal(memory[0], 0xffffffff);
    assert_int_equal(xs_wait_slot_u32(&w, &pad, 0, 0, 0xffffffff), XS_RESULT_OK);
    assert_int_equal(xs_wait_slot_bounded_u32(&w, &pad, 0, 0, 1, (xs_bound){.polls = 2}), XS_RESULT_TIMEOUT); /* 2 ahead */
    xs_signal_slot_u32(&w, &pad, 0, 0, 0, 3);
    assert_int_equal(xs_wait_slot_u32(&w, &pad, 0, 0, 1), XS_RESULT_OK);
    assert_int_equal(memory[1], 0x55555555);
    assert_int_equal(xs_bus_flush_u32(&w, xs_slot_at(&pad, 0, 0, 0)), 3);
}

static void comparisons(void **state) {
    (void)state;
    static const uint32_t cmp[] = {XS_CMP_GE, XS_CMP_EQ, XS_CMP_NE, XS_CMP_LT, XS_CMP_GT};
    static const bool holds[3][5] = {{0, 0, 1, 1, 0}, {1, 1, 0, 0, 0}, {1, 0, 1, 0, 1}}; /* seen 4, 5, 6; need 5 */
    for (uint64_t seen = 4; seen <= 6; seen++)
        for (int c = 0; c < 5; c++) {
            assert_int_equal(xs_core_holds(seen, 5, cmp[c], 64), holds[seen - 4][c]);
            assert_int_equal(xs_core_holds(seen, 5, cmp[c], 32), holds[seen - 4][c]);
        }
    assert_false(xs_core_holds(5, 0xffffffff00000005ull, XS_CMP_GE, 64));
}

static void lives_and_flushes(void **state) {
    (void)state;
    xs_pad life = fake_pad(1000, 3, 1, 3, XS_PAD_NO_DATA);
    xs_heartbeat(&w, &life, 12);
    for (uint32_t rank = 0; rank < 3; rank++)
        assert_int_equal(*at(&life, rank, 0, 0), 12);
    assert_int_equal(made(), 1);
    assert_int_equal(code(1), XS_CODE_HEARTBEAT);
    assert_int_equal(xs_bus_flush(&w, xs_slot_at(&life, 2, 0, 0)), 12);
    assert_int_equal(code(1), XS_CODE_BUS_FLUSH);
    assert_int_equal(xs_block_sync(&w, 3, 32), XS_RESULT_OK);
    assert_int_equal(code(2), XS_CODE_BLOCK_ENTER);
    assert_int_equal(code(1), XS_CODE_BLOCK_LEAVE);
}

static void payload_accesses(void **state) {
    (void)state;
    float numbers[4] = {1, 2, 3, 4}, copy[4] = {0};
    const float *from = numbers;
    XS_STORE(&numbers[2], 7);
    float one = XS_LOAD(&from[2]);
    assert_true(one == 7);
    xs_copy_out(copy, numbers, sizeof copy);
    xs_copy_in(numbers, copy, sizeof copy);
    assert_memory_equal(numbers, copy, sizeof copy);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin_writer)
    const struct CMUnitTest tests[] = {
        TEST(slots_are_named_alike_everywhere), TEST(signal_and_wait), TEST(wait_that_has_to_wait), TEST(back_off_follows_from_the_count),
        TEST(bounds_end_a_wait), TEST(heartbeat_that_stops_ends_a_wait), TEST(abort_ends_every_wait), TEST(failed_check_aborts_and_freezes), TEST(publish_by_fence),
        TEST(elections_are_cumulative), TEST(nothing_expected), TEST(watermark_is_the_longest_prefix),
        TEST(gates_open_at_or_beyond_the_target), TEST(thirty_two_bit_slots_wrap), TEST(comparisons), TEST(lives_and_flushes),
        TEST(payload_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
