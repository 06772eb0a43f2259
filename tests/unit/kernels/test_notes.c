/* The words that each note writes, exactly. */
#include "kernel_test.h"

static xs_writer w;
static xs_slot slot, wide;
static uint32_t cursor; /* of the next record to look at */
#define THIS_FILE xs_file_id(__FILE__, sizeof __FILE__ - 1)

static int begin_notes(void **state) {
    begin(state);
    w = xs_writer_begin(&handle, 5);
    slot = (xs_slot){NULL, 0x1234, 0};
    wide = (xs_slot){NULL, 0x1234, XS_PAD_WIDE};
    cursor = 4; /* writer-begin took 1, 2 and 3 */
    fake_set_time(0x700000000ull);
    return 0;
}

/* Looks at the next record. code_object is given as code, object. */
static void expect(uint32_t code, uint32_t object, uint32_t value, uint32_t time) {
    const xs_record *r = fake_record(xs_writer_ring(&w), cursor);
    assert_int_equal(r->sequence, cursor);
    assert_int_equal(r->code_object >> 24, code);
    assert_int_equal(r->code_object & 0xffffff, object);
    assert_int_equal(r->value, value);
    assert_int_equal(r->time, time);
    cursor++;
}
static void expect_end(void) {
    assert_int_equal(w.cursor, cursor);
    assert_int_equal(fake_record(xs_writer_ring(&w), cursor)->sequence, 0);
}
#define MORE 254
#define FULL 255
#define DETAIL(kind, order, scope, fence, cmp, result, further) \
    ((kind) | (order) << 8 | (scope) << 11 | (fence) << 13 | (cmp) << 16 | (result) << 19 | (further) << 22)

static void writer_begin(void **state) {
    (void)state;
    cursor = 1;
    expect(FULL, 5, 0, 0x10);
    expect(MORE, DETAIL(19, 0, 0, 0, 0, 0, 1), 7, 5);
    expect(MORE, 0, 0, 0);
    expect_end();
}

static void signals(void **state) {
    (void)state;
    xs_note_signal(&w, slot, 0x100000009ull, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE);
    expect(10, 0x1234, 9, 0x10);
    xs_note_signal(&w, slot, 7, XS_RELAXED, XS_SCOPE_GPU, XS_FENCE_SYS);
    expect(5, 0x1234, 7, 0x20);
    assert_int_equal(w.signal_object, 0x1234);
    xs_note_signal(&w, slot, 7, XS_WEAK, XS_SCOPE_GPU, XS_FENCE_NONE); /* no code for it */
    expect(FULL, 0x1234, 7, 0x30);
    expect(MORE, DETAIL(1, XS_WEAK, XS_SCOPE_GPU, 0, 0, 0, 0), 0, 7);
    xs_note_signal(&w, wide, 0x2500000007ull, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE);
    expect(FULL, 0x1234, 7, 0x50);
    expect(MORE, DETAIL(1, XS_RELEASE, XS_SCOPE_SYS, 0, 0, 0, 1), 0, 7);
    expect(MORE, 0, 0x25, 0);
    expect_end();
}

static void watermarks(void **state) {
    (void)state;
    xs_note_watermark(&w, slot, 3, 64, XS_RELEASE, XS_SCOPE_SYS);
    expect(49, 0x1234, 3, 0x10);
    xs_note_watermark(&w, slot, 3, 17, XS_RELEASE, XS_SCOPE_GPU);
    expect(FULL, 0x1234, 3, 0x20);
    expect(MORE, DETAIL(6, XS_RELEASE, XS_SCOPE_GPU, 0, 0, 0, 0), 17, 7);
    xs_note_watermark(&w, wide, 0x500000003ull, 64, XS_RELEASE, XS_SCOPE_SYS);
    expect(FULL, 0x1234, 3, 0x40);
    expect(MORE, DETAIL(6, XS_RELEASE, XS_SCOPE_SYS, 0, 0, 0, 1), 64, 7);
    expect(MORE, 0, 5, 0);
    expect_end();
}

/* A time taken just before the low 32 bits wrap is not moved 4.29 s ahead by the high half read after it. */
static void time_wraps_in_between(void **state) {
    (void)state;
    fake_set_time(0x7ffffffe0ull);
    uint32_t time = xs_note_time(); /* 0xfffffff0 */
    xs_note_signal_at(&w, time, wide, 1, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE); /* looks again at 0x800000000 */
    expect(FULL, 0x1234, 1, 0xfffffff0);
    expect(MORE, DETAIL(1, XS_RELEASE, XS_SCOPE_SYS, 0, 0, 0, 1), 0, 7);
    expect(MORE, 0, 0, 0);
    expect_end();
}

static void arrivals(void **state) {
    (void)state;
    xs_note_arrive(&w, slot, 1000 + 5, 1000, 32, 512, XS_ACQ_REL, XS_SCOPE_GPU);
    expect(35, 0x1234, 5 | 32 << 12 | 512u << 20, 0x10);
    xs_note_arrive(&w, slot, 0x100000005ull, 0x100000000ull, 300, 512, XS_ACQ_REL, XS_SCOPE_GPU); /* weight has 8 bits */
    expect(FULL, 0x1234, 5, 0x20);
    expect(MORE, DETAIL(5, XS_ACQ_REL, XS_SCOPE_GPU, 0, 0, 0, 1), 512, 7);
    expect(MORE, 300, 1, 512);
    xs_note_gate(&w, slot, 41, 1, XS_RELEASE, XS_SCOPE_GPU);
    expect(65, 0x1234, 41, 0x40); /* what takes more than one record looks at the clock twice: at 0x20 and for the high half */
    xs_note_gate(&w, slot, 41, 3, XS_RELEASE, XS_SCOPE_GPU);
    expect(FULL, 0x1234, 41, 0x50);
    expect(MORE, DETAIL(7, XS_RELEASE, XS_SCOPE_GPU, 0, 0, 0, 0), 3, 7);
    xs_note_gate(&w, wide, 0x900000001ull, 1, XS_RELEASE, XS_SCOPE_GPU);
    expect(FULL, 0x1234, 1, 0x70);
    expect(MORE, DETAIL(7, XS_RELEASE, XS_SCOPE_GPU, 0, 0, 0, 1), 1, 7);
    expect(MORE, 0, 9, 0);
    expect_end();
}

static void passes(void **state) {
    (void)state;
    xs_note_pass(&w, slot, 9, 9, XS_ACQUIRE, XS_SCOPE_SYS);
    expect(21, 0x1234, 9, 0x10);
    xs_note_pass(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_GPU);
    expect(FULL, 0x1234, 9, 0x20);
    expect(MORE, DETAIL(4, XS_ACQUIRE, XS_SCOPE_GPU, 0, 0, 0, 0), 4, 7);
    xs_note_pass(&w, wide, 0xa00000009ull, 0xa00000004ull, XS_ACQUIRE, XS_SCOPE_SYS);
    expect(FULL, 0x1234, 9, 0x30);
    expect(MORE, DETAIL(4, XS_ACQUIRE, XS_SCOPE_SYS, 0, 0, 0, 1), 4, 7);
    expect(MORE, 0, 0xa, 0xa);
    expect_end();
}

static void waits(void **state) {
    (void)state;
    xs_wait_note n = xs_note_wait_begin(&w, slot, 0x200000009ull, 4, XS_RELAXED, XS_SCOPE_SYS, XS_CMP_GT);
    uint32_t line = __LINE__ - 1;
    expect(FULL, 0x1234, 9, 0x10);
    expect(MORE, DETAIL(2, XS_RELAXED, XS_SCOPE_SYS, 0, XS_CMP_GT, 0, 1), 4, 7);
    expect(MORE, THIS_FILE, 2, 0); /* the end has room for it only where nothing was slept */
    n.polls = 0x300000007ull;
    n.slept = 0x20000000bull;
    n.last_fail = 0x15;
    n.stage = 6;
    xs_note_wait_end(&w, &n, 0x20000000aull, XS_RESULT_TIMEOUT);
    expect(FULL, 0x1234, 10, 0x70); /* the status line was written before, twice, with three looks at the clock, then two */
    expect(MORE, DETAIL(3, XS_RELAXED, XS_SCOPE_SYS, 0, XS_CMP_GT, XS_RESULT_TIMEOUT, 2), 7, 7);
    expect(MORE, line | 6u << 16, 0xb, 0x70 - 0x15);
    expect(MORE, 2u | 3u << 16, 2, 2);
    expect_end();
}

/* What has no file says so, and takes no record for it. */
static void waits_without_a_file(void **state) {
    (void)state;
    xs_note_wait_begin_line(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE, 1);
    expect(FULL, 0x1234, 9, 0x10);
    expect(MORE, DETAIL(2, XS_ACQUIRE, XS_SCOPE_SYS, 0, 0, 0, 0), 4, 7);
    expect_end();
}

static void waits_on_wide_pads(void **state) {
    (void)state;
    xs_note_wait_begin_line(&w, wide, 0x200000009ull, 0x300000004ull, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE, 1);
    expect(FULL, 0x1234, 9, 0x10);
    expect(MORE, DETAIL(2, XS_ACQUIRE, XS_SCOPE_SYS, 0, 0, 0, 1), 4, 7);
    expect(MORE, 0, 2, 3);
    expect_end();
}

static void block_events(void **state) {
    (void)state;
    xs_note_barrier_enter(&w, slot, 3, 8);
    expect(FULL, 0x1234, 3, 0x10);
    expect(MORE, DETAIL(8, 0, 0, 0, 0, 0, 0), 8, 7);
    xs_note_barrier_leave(&w, slot, 3, 8, XS_RESULT_ABORTED);
    expect(FULL, 0x1234, 3, 0x20);
    expect(MORE, DETAIL(9, 0, 0, 0, 0, XS_RESULT_ABORTED, 0), 8, 7);
    xs_note_block_enter(&w, 2, 288);
    expect(96, 2, 288, 0x30);
    xs_note_block_leave(&w, 2, 288);
    expect(97, 2, 288, 0x40);
    xs_note_publish(&w, slot, 0x100000003ull, 100, 4);
    expect(FULL, 0x1234, 3, 0x50);
    expect(MORE, DETAIL(12, 0, 0, 0, 0, 0, 1), 100, 7);
    expect(MORE, 4, 1, 0);
    xs_note_consume(&w, slot, 3, 1ull << 40, 4); /* a batch beyond 32 bits reads as "at least" */
    expect(FULL, 0x1234, 3, 0x60);
    expect(MORE, DETAIL(13, 0, 0, 0, 0, 0, 1), UINT32_MAX, 7);
    expect(MORE, 4, 0, 0);
    expect_end();
}

static void fences_and_lives(void **state) {
    (void)state;
    xs_note_fence(&w, XS_ACQUIRE, XS_SCOPE_SYS);
    expect(82, THIS_FILE, __LINE__ - 1, 0x10);
    xs_note_bus_flush(&w, slot, 12);
    expect(98, 0x1234, 12, 0x20);
    xs_note_heartbeat(&w, slot, 13);
    expect(99, 0x1234, 13, 0x30);
    xs_note_reset(&w, slot, 0, 5);
    expect(FULL, 0x1234, 0, 0x40);
    expect(MORE, DETAIL(16, 0, 0, 0, 0, 0, 0), 5, 7);
    xs_note_reset(&w, slot, 1ull << 32, 1);
    expect(FULL, 0x1234, 0, 0x50);
    expect(MORE, DETAIL(16, 0, 0, 0, 0, 0, 1), 1, 7);
    expect(MORE, 0, 1, 0);
    xs_note_abort(&w, 4);
    uint32_t line = __LINE__ - 1;
    expect(FULL, THIS_FILE, 4, 0x60);
    expect(MORE, DETAIL(18, 0, 0, 0, 0, 0, 0), line, 7);
    xs_note_skip(&w, slot, 6);
    expect(105, 0x1234, 6, 0x70);
    xs_note_expect(&w, slot, 40, 2);
    expect(FULL, 0x1234, 40, 0x80);
    expect(MORE, DETAIL(31, 0, 0, 0, 0, 0, 0), 2, 7);
    expect_end();
}

static void user_events(void **state) {
    (void)state;
    xs_mark(&w, 9, 77);
    expect(102, 9, 77, 0x10);
    xs_scope_begin(&w, 9, 78);
    expect(103, 9, 78, 0x20);
    xs_scope_end(&w, 9, 79);
    expect(104, 9, 79, 0x30);
    xs_write_begin(&w, 9, 3, 5, 2, 64, 4096);
    expect(FULL, 9, 3, 0x40);
    expect(MORE, DETAIL(23, 0, 0, 0, 0, 0, 1), 5, 7);
    expect(MORE, 2, 64, 4096);
    xs_read_begin(&w, 9, 3, 5, XS_NO_PEER, 64, 1ull << 33);
    expect(FULL, 9, 3, 0x50);
    expect(MORE, DETAIL(22, 0, 0, 0, 0, 0, 1), 5, 7);
    expect(MORE, 0xffffff, 64, UINT32_MAX);
    xs_work_begin(&w, 9, 3, 5, XS_NO_PEER, 0, 0);
    expect(FULL, 9, 3, 0x60);
    expect(MORE, DETAIL(25, 0, 0, 0, 0, 0, 1), 5, 7);
    expect(MORE, 0xffffff, 0, 0);
    xs_payload_end(&w, 9, 3);
    expect(101, 9, 3, 0x70);
    w.payload = 0;
    xs_write_begin(&w, 9, 3, 5, 2, 64, 4096);
    xs_payload_end(&w, 9, 3);
    expect_end();
}

static void writer_events(void **state) {
    (void)state;
    xs_writer_role(&w, 6);
    expect(100, 6, 0, 0x10);
    xs_writer_epoch(&w, 0x100000002ull);
    expect(FULL, 0, 2, 0x20);
    expect(MORE, DETAIL(29, 0, 0, 0, 0, 0, 0), 1, 7);
    expect_end();
    uint32_t base = w.base, next = w.cursor + 2;
    xs_writer_end(&w);
    w.base = base;
    expect(FULL, 6, next, 0x30);
    expect(MORE, DETAIL(20, 0, 0, 0, 0, 0, 0), 0, 7);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin_notes)
    const struct CMUnitTest tests[] = {
        TEST(writer_begin), TEST(signals), TEST(watermarks), TEST(time_wraps_in_between), TEST(arrivals), TEST(passes),
        TEST(waits), TEST(waits_without_a_file), TEST(waits_on_wide_pads), TEST(block_events), TEST(fences_and_lives),
        TEST(user_events), TEST(writer_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
