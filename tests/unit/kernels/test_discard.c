/* Discard mode: a full ring keeps its oldest records, and the overflow slot says exactly what was dropped. */
#define XS_RING_MODE 1
#include "kernel_test.h"

static xs_writer w;
static const xs_record *overflow(void) { return fake_overflow(xs_writer_ring(&w)); }
static int begin_full(void **state) {
    begin(state);
    w = xs_writer_begin(&handle, 0); /* 3 of 64 */
    assert_int_equal(fake_ring(xs_writer_ring(&w))->mode, XS_DISCARD);
    for (uint32_t i = 4; i <= 64; i++)
        xs_mark(&w, 1, i);
    return 0;
}

static void nothing_dropped_until_full(void **state) {
    (void)state;
    for (uint32_t i = 1; i <= 64; i++)
        assert_int_equal(fake_record(xs_writer_ring(&w), i & 63)->sequence, i);
    assert_int_equal(overflow()->code_object, 0);
}

static void full_ring_drops_the_newest(void **state) {
    (void)state;
    for (uint32_t i = 65; i <= 80; i++)
        xs_mark(&w, 1, i);
    for (uint32_t i = 1; i <= 64; i++)
        assert_int_equal(fake_record(xs_writer_ring(&w), i & 63)->sequence, i);
    const xs_record *drop = overflow();
    assert_int_equal(drop->sequence, 80);
    assert_int_equal(drop->code_object, (uint32_t)XS_CODE_DROP << 24);
    assert_int_equal(w.cursor, 81);
}

static void room_is_found_again(void **state) {
    (void)state;
    xs_mark(&w, 1, 65);
    fake_ring(xs_writer_ring(&w))->consumed = 10; /* records 1 to 10 are taken: 66 .. 74 fit */
    for (uint32_t i = 66; i <= 80; i++)
        xs_mark(&w, 1, i);
    assert_int_equal(fake_record(xs_writer_ring(&w), 1)->sequence, 1); /* 65 was dropped: its slot is free for 129 alone */
    for (uint32_t i = 66; i <= 74; i++)
        assert_int_equal(fake_record(xs_writer_ring(&w), i & 63)->sequence, i);
    assert_int_equal(fake_record(xs_writer_ring(&w), 11)->sequence, 11);
    assert_int_equal(overflow()->sequence, 80);
}

static void writer_end_counts_drops(void **state) {
    (void)state;
    for (uint32_t i = 65; i <= 80; i++)
        xs_mark(&w, 1, i);
    uint32_t ring = xs_writer_ring(&w);
    xs_writer_end(&w);
    assert_int_equal(fake_ring(ring)->next, 83); /* emitted 82: 64 kept, 18 dropped */
    assert_int_equal(fake_overflow(ring)->sequence, 82);
}

/* The next owner starts with what is consumed at that time, and goes on where the sequence was. */
static void next_owner_sees_the_full_ring(void **state) {
    (void)state;
    uint32_t ring = xs_writer_ring(&w);
    xs_writer_end(&w);
    w = xs_writer_begin(&handle, 0);
    assert_int_equal(xs_writer_ring(&w), ring);
    assert_int_equal(fake_overflow(ring)->sequence, 64 + 2 + 3);
    assert_int_equal(fake_record(ring, 3)->sequence, 3);
}

static void stopped_writer_does_not_look(void **state) {
    (void)state;
    fake_control()->started = 0;
    xs_writer_epoch(&w, 1);
    for (uint32_t i = 0; i < 10; i++)
        xs_mark(&w, 1, i);
    assert_int_equal(w.cursor, 65);
    assert_int_equal(overflow()->code_object, 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin_full)
    const struct CMUnitTest tests[] = {
        TEST(nothing_dropped_until_full), TEST(full_ring_drops_the_newest), TEST(room_is_found_again),
        TEST(writer_end_counts_drops),    TEST(next_owner_sees_the_full_ring), TEST(stopped_writer_does_not_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
