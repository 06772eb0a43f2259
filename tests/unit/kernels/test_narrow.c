/* Sequences of 8 bits: the stored ones wrap, slots and `next` go on. */
#define KERNEL_TEST_BITS 8
#include "kernel_test.h"

static void sequences_wrap_and_slots_do_not(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    for (uint32_t i = 4; i <= 1000; i++)
        xs_mark(&w, 1, i);
    for (uint32_t i = 1000 - 63; i <= 1000; i++) {
        assert_int_equal(fake_record(xs_writer_ring(&w), i & 63)->sequence, i & 0xff);
        assert_int_equal(fake_record(xs_writer_ring(&w), i & 63)->value, i);
    }
    uint32_t ring = xs_writer_ring(&w);
    xs_writer_end(&w);
    assert_int_equal(fake_ring(ring)->next, 1003);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(sequences_wrap_and_slots_do_not, begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
