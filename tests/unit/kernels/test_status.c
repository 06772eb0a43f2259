/* Status lines: content, generations, several at once, when there are none left. */
#include "kernel_test.h"

static void whole(const xs_status_line *l) {
    const uint32_t *words = (const uint32_t *)(const void *)l;
    assert_true(words[0] != 0);
    for (int part = 1; part < 8; part++)
        assert_int_equal(words[part * 4], words[0]);
}

static void content(void **state) {
    (void)state;
    fake_self = (xs_host_thread){5, FAKE_RANKS, 2, 4, NULL};
    fake_set_time(0x912345670ull);
    xs_writer w = xs_writer_begin(&handle, 11);
    xs_writer_epoch(&w, 42);
    xs_writer_word(&w, 0xabcd);
    xs_slot signalled = {NULL, 77, 0}, slot = {NULL, 0x1234, 0};
    xs_note_signal(&w, signalled, 0x500000006ull, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE);
    xs_wait_note n = xs_note_wait_begin_line(&w, slot, 0x200000009ull, 0x100000004ull, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GT,
                                             XS_SOURCE(321, 0x123456));
    const xs_status_line *l = fake_line(xs_writer_ring(&w), 0);
    whole(l);
    uint64_t start = l->p3.start_lo | (uint64_t)l->p3.start_hi << 32;
    assert_in_range(start, 0x912345670ull, 0x912345870ull);
    assert_int_equal(l->p0.state_stage, XS_LINE_WAITING | XS_CMP_GT << 24);
    assert_int_equal(l->p0.object, 0x1234);
    assert_int_equal(l->p0.need_lo, 9);
    assert_int_equal(l->p1.need_hi, 2);
    assert_int_equal(l->p1.observed_lo, 4);
    assert_int_equal(l->p1.observed_hi, 1);
    assert_int_equal(l->p2.polls, 1);
    assert_int_equal(l->p2.time_lo, l->p3.start_lo - 0x10); /* read one after the other */
    assert_int_equal(l->p2.time_hi, 9);
    assert_int_equal(l->p3.epoch, 42);
    assert_int_equal(l->p4.line_role, 321 | 11 << 16);
    assert_int_equal(l->p4.user, 0xabcd);
    assert_int_equal(l->p4.heartbeat, 0);
    assert_int_equal(l->p5.signal_object, 77);
    assert_int_equal(l->p5.file, 0x123456);
    assert_int_equal(l->p6.cursor, w.cursor);
    assert_int_equal(l->p6.block, 0);
    assert_int_equal(l->p6.warp_sm, 2);
    assert_int_equal(l->p7.launch, 7);
    assert_int_equal(l->p7.rank, 5);
    assert_int_equal(l->p7.polls_hi, 0);
    uint32_t generation = l->p0.generation;

    n.polls = 0x300000010ull, n.heartbeat = 99;
    xs_note_wait_poll(&w, &n, 5, 3);
    whole(l = fake_line(xs_writer_ring(&w), 0));
    assert_int_not_equal(l->p0.generation, generation);
    generation = l->p0.generation;
    assert_int_equal(l->p0.state_stage, XS_LINE_SLOW | 3 << 8 | XS_CMP_GT << 24);
    assert_int_equal(l->p1.observed_lo, 5);
    assert_int_equal(l->p2.polls, 0x10);
    assert_int_equal(l->p7.polls_hi, 3);
    assert_true((l->p2.time_lo | (uint64_t)l->p2.time_hi << 32) > start);
    assert_int_equal(l->p3.start_lo | (uint64_t)l->p3.start_hi << 32, start); /* kept from the begin */
    assert_int_equal(l->p3.epoch, 42);
    assert_int_equal(l->p4.heartbeat, 99);
    assert_int_equal(l->p6.warp_sm, 2);
    assert_int_equal(l->p7.rank, 5);

    xs_note_wait_end(&w, &n, 5, XS_RESULT_PEER_DEAD);
    whole(l = fake_line(xs_writer_ring(&w), 0));
    assert_int_not_equal(l->p0.generation, generation);
    assert_int_equal(l->p0.state_stage, XS_LINE_GIVEN_UP | 3 << 8 | XS_RESULT_PEER_DEAD << 16 | (uint32_t)XS_CMP_GT << 24);
    assert_int_equal(l->p3.start_lo | (uint64_t)l->p3.start_hi << 32, start);
    generation = l->p0.generation;

    n = xs_note_wait_begin_line(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE, 322); /* the same line again */
    whole(l = fake_line(xs_writer_ring(&w), 0));
    assert_int_not_equal(l->p0.generation, generation);
    assert_true((l->p3.start_lo | (uint64_t)l->p3.start_hi << 32) > start);
    xs_note_wait_end(&w, &n, 9, XS_RESULT_OK);
    whole(l = fake_line(xs_writer_ring(&w), 0));
    assert_int_equal(l->p0.state_stage & 0xff, XS_LINE_OVER);
    assert_int_equal(l->p0.object, 0x1234);
    assert_int_equal(w.lines, 0);
    xs_writer_end(&w);
}

static void several_open_at_once(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_wait_note n[FAKE_LINES + 1];
    for (uint32_t i = 0; i < FAKE_LINES; i++) {
        xs_slot slot = {NULL, 100 + i, 0};
        n[i] = xs_note_wait_begin(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    }
    assert_int_equal(fake_control()->no_line, 0);
    for (uint32_t i = 0; i < FAKE_LINES; i++)
        assert_int_equal(fake_line(xs_writer_ring(&w), i)->p0.object, 100 + i);
    xs_slot one_more = {NULL, 200, 0};
    n[FAKE_LINES] = xs_note_wait_begin(&w, one_more, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    assert_int_equal(fake_control()->no_line, 1);
    assert_int_equal(fake_line(xs_writer_ring(&w) + 1, 0)->p0.generation, 0); /* nothing behind the last line */
    xs_note_wait_poll(&w, &n[FAKE_LINES], 4, 1);
    xs_note_wait_end(&w, &n[FAKE_LINES], 9, XS_RESULT_OK);
    xs_note_wait_end(&w, &n[1], 9, XS_RESULT_OK); /* not the last one begun */
    xs_wait_note again = xs_note_wait_begin(&w, one_more, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    assert_int_equal(again.line, 1);
    assert_int_equal(fake_line(xs_writer_ring(&w), 1)->p0.object, 200);
    assert_int_equal(fake_line(xs_writer_ring(&w), 2)->p0.object, 102);
    xs_writer_end(&w);
}

static void written_when_not_started(void **state) {
    (void)state;
    fake_control()->started = 0;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_slot slot = {NULL, 5, 0};
    xs_wait_note n = xs_note_wait_begin(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    whole(fake_line(xs_writer_ring(&w), 0));
    xs_note_wait_end(&w, &n, 9, XS_RESULT_OK);
    assert_int_equal(fake_line(xs_writer_ring(&w), 0)->p0.state_stage & 0xff, XS_LINE_OVER);
    assert_int_equal(w.cursor, 1);
    xs_writer_end(&w);
}

static void a_pass_needs_no_line(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_pad pad = fake_pad(1, 1, 1, 1, 0);
    *(uint64_t *)pad.base[0] = 3;
    assert_int_equal(xs_wait_slot(&w, &pad, 0, 0, 3), XS_RESULT_OK);
    assert_int_equal(fake_line(xs_writer_ring(&w), 0)->p0.generation, 0);
    xs_writer_end(&w);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(content), TEST(several_open_at_once), TEST(written_when_not_started), TEST(a_pass_needs_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
