/* Pads, adopted pads, buffers, channels: memory, numbering, limits, names. */
#include "lib_test.h"
#include "world.h"

static void slots_have_lines_of_their_own(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "p", 4, 5, 0, &pad), 0);
    assert_int_equal(pad.column_stride, 128);
    assert_int_equal(pad.row_stride, 5 * 128);
    for (uint32_t r = 0; r < 3; r++) {
        assert_int_equal((uintptr_t)pad.base[r] % 128, 0);
        for (uint32_t i = 0; i < 4 * 5 * 128; i++) assert_int_equal(((char *)pad.base[r])[i], 0);
        for (uint32_t s = 0; s < r; s++) assert_ptr_not_equal(pad.base[r], pad.base[s]);
    }
    for (uint32_t r = 0; r < 3; r++)
        for (uint32_t i = 0; i < 20; i++) assert_int_equal(xs_slot_write(world, &pad, r, i / 5, i % 5, 100 * r + i), 0);
    uint64_t value;
    for (uint32_t r = 0; r < 3; r++)
        for (uint32_t i = 0; i < 20; i++) {
            assert_int_equal(xs_slot_read(world, &pad, r, i / 5, i % 5, &value), 0);
            assert_int_equal(value, 100 * r + i);
            assert_int_equal(*test_slot(&pad, r, i / 5, i % 5), value);
        }
    assert_int_equal(xs_slot_read(world, &pad, 3, 0, 0, &value), XS_E_ARGUMENT);
    assert_int_equal(xs_slot_read(world, &pad, 0, 4, 0, &value), XS_E_ARGUMENT);
    assert_int_equal(xs_slot_write(world, &pad, 0, 0, 5, 1), XS_E_ARGUMENT);
    xs_world_destroy(world);
}

static void objects_are_numbered_in_order(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    xs_pad a, b, again;
    assert_int_equal(world->heartbeat.first, 1);
    assert_int_equal(xs_pad_create(world, "a", 2, 3, 0, &a), 0);
    assert_int_equal(a.first, 1 + 2 * 1 * 2); /* behind the heartbeat's 2 owners x 1 x 2 */
    assert_int_equal(xs_pad_create(world, "b", 1, 1, 0, &b), 0);
    assert_int_equal(b.first, a.first + 2 * 2 * 3);
    assert_int_equal(xs_pad_create(world, "a", 2, 3, 0, &again), 0); /* the same again */
    assert_int_equal(again.first, a.first);
    assert_ptr_equal(again.base, a.base);
    assert_int_equal(xs_pad_create(world, "a", 3, 2, 0, &again), XS_E_SHAPE);
    assert_int_equal(xs_pad_create(world, "a", 2, 3, XS_PAD_WIDE, &again), XS_E_SHAPE);
    xs_world_destroy(world);
}

static void limits(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "none", 0, 1, 0, &pad), XS_E_ARGUMENT);
    assert_int_equal(xs_pad_create(world, "none", 1, 0, 0, &pad), XS_E_ARGUMENT);
    assert_int_equal(xs_pad_create(world, "", 1, 1, 0, &pad), XS_E_NAME);
    assert_int_equal(xs_pad_create(world, "flags", 1, 1, XS_PAD_32, &pad), XS_E_ARGUMENT);
    assert_int_equal(xs_pad_create(world, "flags", 1, 1, XS_PAD_ADOPTED, &pad), XS_E_ARGUMENT);
    assert_int_equal(xs_pad_create(world, "huge", 1u << 24, 1, 0, &pad), XS_E_TOO_MANY);
    assert_int_equal(xs_pad_create(world, "huge", UINT32_MAX, UINT32_MAX, 0, &pad), XS_E_TOO_MANY);
    assert_int_equal(xs_pad_create(world, "huge", 1u << 23, 1, 0, &pad), XS_E_TOO_MANY); /* twice, for two ranks */
    uint32_t before = world->next_object;
    assert_int_equal(xs_pad_create(world, "fits", 1, 1, 0, &pad), 0); /* failures used up nothing */
    assert_int_equal(pad.first, before);
    xs_world_destroy(world);
}

/* The numbers run out exactly at 24 bits: adopted pads need no memory, so the limit is reached at once. */
static void object_numbers_run_out(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    static uint64_t word;
    void *base[1] = {&word};
    xs_adopt adopt = {.size = sizeof adopt,
                      .rows = 0xfffffe - world->next_object,
                      .columns = 1,
                      .row_stride = 8,
                      .width = 64,
                      .base = base};
    xs_pad pad, one;
    assert_int_equal(xs_pad_adopt(world, "nearly all", &adopt, &pad), 0);
    assert_int_equal(xs_pad_create(world, "last", 1, 1, 0, &one), 0);
    assert_int_equal(one.first, 0xfffffe);
    assert_int_equal(xs_pad_create(world, "one more", 1, 1, 0, &one), XS_E_TOO_MANY);
    xs_world_destroy(world);
}

static void adopted_pads(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    static uint32_t mine[2][64];
    void *base[2] = {mine[0], mine[1]};
    xs_adopt adopt = {.size = sizeof adopt,
                      .rows = 2,
                      .columns = 3,
                      .row_stride = 32,
                      .column_stride = 4,
                      .width = 32,
                      .flags = XS_PAD_NO_DATA,
                      .base = base};
    xs_pad pad, again;
    assert_int_equal(xs_pad_adopt(world, "flags", &adopt, &pad), 0);
    assert_int_equal(pad.flags, XS_PAD_32 | XS_PAD_ADOPTED | XS_PAD_NO_DATA);
    base[0] = NULL; /* the table was copied */
    assert_ptr_equal(pad.base[0], mine[0]);
    assert_int_equal(xs_slot_write(world, &pad, 1, 1, 2, 77), 0);
    assert_int_equal(mine[1][8 + 2], 77);
    assert_int_equal(xs_slot_write(world, &pad, 1, 1, 2, 1ull << 32), XS_E_ARGUMENT);
    uint64_t value;
    mine[0][1] = 0xffffffffu;
    assert_int_equal(xs_slot_read(world, &pad, 0, 0, 1, &value), 0);
    assert_true(value == 0xffffffffu);
    base[0] = mine[0];
    assert_int_equal(xs_pad_adopt(world, "flags", &adopt, &again), 0);
    base[0] = mine[0] + 1;
    assert_int_equal(xs_pad_adopt(world, "flags", &adopt, &again), XS_E_SHAPE);
    xs_world_destroy(world);
}

static void adopting_is_checked(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    static uint64_t memory[64];
    void *base[2] = {memory, memory + 32};
    xs_pad pad;
    const xs_adopt good = {
        .size = sizeof good, .rows = 2, .columns = 2, .row_stride = 16, .column_stride = 8, .width = 64, .base = base};
    xs_adopt bad = good;
    bad.width = 16;
    assert_int_equal(xs_pad_adopt(world, "x", &bad, &pad), XS_E_ARGUMENT);
    bad = good;
    bad.column_stride = 4;
    assert_int_equal(xs_pad_adopt(world, "x", &bad, &pad), XS_E_ARGUMENT);
    bad = good;
    bad.row_stride = 12;
    assert_int_equal(xs_pad_adopt(world, "x", &bad, &pad), XS_E_ARGUMENT);
    bad = good;
    bad.flags = 1u << 20;
    assert_int_equal(xs_pad_adopt(world, "x", &bad, &pad), XS_E_ARGUMENT);
    bad = good;
    bad.size = 0;
    assert_int_equal(xs_pad_adopt(world, "x", &bad, &pad), XS_E_ARGUMENT);
    base[1] = (char *)memory + 4;
    assert_int_equal(xs_pad_adopt(world, "x", &good, &pad), XS_E_ARGUMENT);
    base[1] = NULL;
    assert_int_equal(xs_pad_adopt(world, "x", &good, &pad), XS_E_ARGUMENT);
    xs_world_destroy(world);
}

static void labels(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    xs_pad pad, strange = {.first = 999};
    assert_int_equal(xs_pad_create(world, "p", 1, 1, 0, &pad), 0);
    assert_int_equal(xs_pad_labels(world, &pad, "src", NULL), 0);
    assert_int_equal(xs_pad_labels(world, &strange, "src", NULL), XS_E_ARGUMENT);
    xs_world_destroy(world);
}

static void buffers(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    xs_buffer a, again;
    xs_pad pad;
    assert_int_equal(xs_buffer_create(world, "rows", 1000, &a), 0);
    assert_int_equal(a.bytes, 1000);
    memset(XS_BUFFER_AT(a, char, 0), 1, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(XS_BUFFER_AT(a, char, 1)[i], 0);
    assert_int_equal(xs_buffer_create(world, "rows", 1000, &again), 0);
    assert_ptr_equal(again.base, a.base);
    assert_int_equal(xs_buffer_create(world, "rows", 1001, &again), XS_E_SHAPE);
    assert_int_equal(xs_pad_create(world, "rows", 1, 1, 0, &pad), XS_E_NAME);
    assert_int_equal(xs_pad_create(world, "p", 1, 1, 0, &pad), 0);
    assert_int_equal(xs_buffer_create(world, "p", 8, &again), XS_E_NAME);
    assert_int_equal(xs_buffer_create(world, "none", 0, &again), XS_E_ARGUMENT);
    xs_world_destroy(world);
}

static void channels(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_channel ch;
    xs_pad pad;
    assert_int_equal(xs_channel_create(world, "work", 0, 6, 4, &ch), 0);
    assert_int_equal(ch.producer, 0);
    assert_int_equal(ch.depth, 4);
    assert_int_equal(ch.consumers, 6);
    assert_int_equal(ch.sequence.rows, 1);
    assert_int_equal(ch.sequence.columns, 4);
    assert_int_equal(ch.batch.columns, 4);
    assert_int_equal(ch.credit.columns, 3);
    assert_int_equal(xs_pad_create(world, "work.credit", 1, 3, 0, &pad), 0); /* it is the pad of that name */
    assert_int_equal(pad.first, ch.credit.first);
    assert_int_equal(xs_channel_create(world, "x", 3, 6, 4, &ch), XS_E_ARGUMENT);
    assert_int_equal(xs_channel_create(world, "x", 0, 0, 4, &ch), XS_E_ARGUMENT);
    assert_int_equal(xs_channel_create(world, "x", 0, 8, 4, &ch), XS_E_ARGUMENT);
    assert_int_equal(xs_channel_create(world, "x", 0, 6, 0, &ch), XS_E_ARGUMENT);
    char longest[96];
    memset(longest, 'n', 95);
    longest[95] = 0;
    assert_int_equal(xs_channel_create(world, longest, 0, 6, 4, &ch), XS_E_NAME);
    xs_world_destroy(world);
}

/* The plan of a channel is declared with it: another writer of its slots is a contradiction. */
static void channels_declare_their_writers(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_channel ch;
    assert_int_equal(xs_channel_create(world, "work", 1, 5, 4, &ch), 0);
    xs_plan_entry e = {
        .kind = XS_PLAN_WRITER, .pad_first = ch.sequence.first, .owner = 0, .column = 2, .epoch = UINT64_MAX, .a = 1};
    assert_int_equal(xs_plan_add(world, &e, 1), 0);
    e.a = 2;
    assert_int_equal(xs_plan_add(world, &e, 1), XS_E_PLAN);
    e = (xs_plan_entry){
        .kind = XS_PLAN_WRITER, .pad_first = ch.credit.first, .owner = 1, .column = 2, .epoch = UINT64_MAX, .a = 2};
    assert_int_equal(xs_plan_add(world, &e, 1), 0);
    e.a = 0;
    assert_int_equal(xs_plan_add(world, &e, 1), XS_E_PLAN);
    xs_world_destroy(world);
}

static void heartbeats(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    uint64_t beat = 9;
    assert_int_equal(xs_heartbeat_read(world, 1, &beat), 0);
    assert_int_equal(beat, 0);
    *test_slot(&world->heartbeat, 0, 0, 1) = 5; /* rank 1's beat in rank 0's copy */
    assert_int_equal(xs_heartbeat_read(world, 1, &beat), 0);
    assert_int_equal(beat, 5);
    assert_int_equal(xs_heartbeat_read(world, 2, &beat), XS_E_ARGUMENT);
    xs_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_have_lines_of_their_own),
        cmocka_unit_test(objects_are_numbered_in_order),
        cmocka_unit_test(limits),
        cmocka_unit_test(object_numbers_run_out),
        cmocka_unit_test(adopted_pads),
        cmocka_unit_test(adopting_is_checked),
        cmocka_unit_test(labels),
        cmocka_unit_test(buffers),
        cmocka_unit_test(channels),
        cmocka_unit_test(channels_declare_their_writers),
        cmocka_unit_test(heartbeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
