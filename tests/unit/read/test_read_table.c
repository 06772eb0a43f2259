/* Tables that grow: what was there stays, what is new is zero, a ring buffer keeps its order, a search finds the first. */
#include "read_help.h"

#include "table.h"

#include <stdlib.h>

static void rows_that_nobody_touched_are_zero(void **state) {
    (void)state;
    uint64_t *rows = NULL;
    uint32_t room = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        assert_int_equal(RD_ROWS(rows, room, n + 1), 0);
        assert_true(room > n);
        for (uint32_t i = n; i < room; i++)
            assert_int_equal(rows[i], 0);
        rows[n] = n + 1;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_int_equal(rows[n], n + 1);
    free(rows);
}

static void room_that_does_not_fit_is_refused_and_nothing_is_lost(void **state) {
    (void)state;
    char *rows = NULL, *had;
    uint32_t room = 0;
    assert_int_equal(RD_ROWS(rows, room, 1), 0);
    had = rows;
    rows[0] = 'x';
    assert_int_equal(RD_ROWS(rows, room, UINT32_MAX), XS_E_MEMORY);
    assert_ptr_equal(rows, had);
    assert_int_equal(rows[0], 'x');
    free(rows);
}

/* With its oldest at every place when it grows. */
static void a_ring_buffer_grows_in_its_order(void **state) {
    (void)state;
    for (uint32_t turned = 0; turned < 40; turned++) {
        uint32_t *items = NULL, room = 0, first = 0, count = 0, in = 0, out = 0;
        for (uint32_t step = 0; step < 200; step++) {
            assert_int_equal(RD_CIRCLE(items, room, first, count), 0);
            items[(first + count++) & (room - 1)] = in++;
            if (step >= turned)
                continue;
            assert_int_equal(items[first], out++);
            first = (first + 1) & (room - 1);
            count--;
        }
        for (; count; count--) {
            assert_int_equal(items[first], out++);
            first = (first + 1) & (room - 1);
        }
        assert_int_equal(out, in);
        free(items);
    }
}

static void a_full_ring_buffer_that_cannot_grow_is_left_as_it_is(void **state) {
    (void)state;
    char one = 'x', *items = &one;
    uint32_t room = 1u << 31, first = 7;
    assert_int_equal(RD_CIRCLE(items, room, first, room), XS_E_MEMORY);
    assert_ptr_equal(items, &one);
    assert_int_equal(room, 1u << 31);
    assert_int_equal(first, 7);
}

static void a_search_finds_the_first_of_equals_and_the_end(void **state) {
    (void)state;
    static const int list[] = {1, 3, 3, 3, 8};
    for (int value = 0; value < 10; value++)
        for (uint32_t from = 0; from <= 5; from++)
            for (uint32_t to = from; to <= 5; to++) {
                uint32_t found, plain = from;
                while (plain < to && list[plain] < value)
                    plain++;
                RD_SEARCH(found, from, to, list[found] < value);
                assert_int_equal(found, plain);
            }
    uint32_t none;
    RD_SEARCH(none, 1, 0, true);
    assert_int_equal(none, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_nobody_touched_are_zero),
        cmocka_unit_test(room_that_does_not_fit_is_refused_and_nothing_is_lost),
        cmocka_unit_test(a_ring_buffer_grows_in_its_order),
        cmocka_unit_test(a_full_ring_buffer_that_cannot_grow_is_left_as_it_is),
        cmocka_unit_test(a_search_finds_the_first_of_equals_and_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
