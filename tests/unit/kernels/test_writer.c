/* Rings: claimed, handed over, given back; filters; calls from lanes that are not the writer. */
#include <xs/ring_access.h>

#include "kernel_test.h"

static void claims_its_own_bit_first(void **state) {
    (void)state;
    fake_self = (xs_host_thread){2, FAKE_RANKS, 1, 4, NULL}; /* rank 2, block 0 of 1, warp 1 of 4 */
    xs_writer w = xs_writer_begin(&handle, 3);
    /* seed = block * ((warps + 31) / 32) + warp = 1 */
    assert_int_equal(*fake_group(2), 1ull << 1);
    assert_int_equal(xs_writer_ring(&w), 2 * FAKE_RINGS + 1);
    xs_writer other = xs_writer_begin(&handle, 3);
    assert_int_equal(*fake_group(2), 3); /* its bit is taken: the lowest free one */
    assert_int_equal(xs_writer_ring(&other), 2 * FAKE_RINGS);
    xs_writer_end(&w);
    assert_int_equal(*fake_group(2), 1);
    xs_writer_end(&other);
    assert_int_equal(*fake_group(2), 0);
}

static void owner_entry_and_sequence_go_on(void **state) {
    (void)state;
    fake_self = (xs_host_thread){1, FAKE_RANKS, 0, 1, NULL};
    fake_ring(FAKE_RINGS)->next = 0xfffffffffull; /* the low half wraps under the first owner */
    uint64_t expected = 0xfffffffffull;
    for (uint32_t owner = 0; owner < XS_RING_OWNERS + 3; owner++) {
        xs_writer w = xs_writer_begin(&handle, 10 + owner);
        xs_ring_header *ring = fake_ring(xs_writer_ring(&w));
        xs_ring_owner found, *entry = &found;
        assert_true(xs_ring_owner_load(XS_RECORD_WORDS, ring, owner, &found));
        assert_false(xs_ring_owner_load(XS_RECORD_WORDS, ring, owner + 1, &found));
        assert_int_equal(ring->busy, 1);
        assert_int_equal(ring->owners, owner + 1);
        assert_int_equal(ring->mode, XS_OVERWRITE);
        assert_int_equal(entry->first, expected);
        assert_int_equal(entry->launch, 7);
        assert_int_equal(entry->block, 0);
        assert_int_equal(entry->warp_sm, 0);
        assert_int_equal(entry->role, 10 + owner);
        assert_true(entry->time != 0);
        for (uint32_t i = 0; i < owner; i++)
            xs_mark(&w, 1, i);
        xs_writer_end(&w);
        expected += 3 + owner + 2; /* begin, marks, end */
        assert_int_equal(ring->next, expected);
        assert_int_equal(ring->busy, 0);
        assert_int_equal(fake_record(FAKE_RINGS, (uint32_t)(expected - 1) & 63)->sequence, (uint32_t)(expected - 1));
    }
}

/* Entries hold 48 bits of it; the ring's position says the rest. */
static void first_of_an_owner_beyond_48_bits(void **state) {
    (void)state;
    const uint64_t range = 1ull << 48, begins[] = {range - 3, range, 5 * range - 1, 5 * range + 7};
    for (uint32_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        xs_ring_owner owner;
        fake_ring(0)->next = begins[i];
        xs_writer w = xs_writer_begin(&handle, 1);
        for (int k = 0; k < 10; k++)
            xs_mark(&w, 1, 2);
        assert_true(xs_ring_owner_load(XS_RECORD_WORDS, fake_ring(0), i, &owner));
        assert_true(owner.first == begins[i]);
        xs_writer_end(&w);
        assert_true(xs_ring_owner_load(XS_RECORD_WORDS, fake_ring(0), i, &owner));
        assert_true(owner.first == begins[i]);
        fake_ring(0)->next = begins[i] - 2; /* seen before the entry was */
        assert_true(xs_ring_owner_load(XS_RECORD_WORDS, fake_ring(0), i, &owner) && owner.first == begins[i]);
    }
}

static void zeroed_ring_starts_at_one(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    assert_int_equal(fake_record(xs_writer_ring(&w), 1)->sequence, 1);
    assert_int_equal(fake_record(xs_writer_ring(&w), 0)->sequence, 0);
    xs_writer_end(&w);
}

/* An owner of more than 2^32 records: the collector's 64-bit position says how many wraps there were. */
static void next_is_unwrapped_by_what_was_consumed(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    fake_ring(xs_writer_ring(&w))->consumed = 0x2fffffff0ull;
    w.cursor = 5;
    uint32_t ring = xs_writer_ring(&w);
    xs_writer_end(&w);
    assert_int_equal(fake_ring(ring)->next, 0x300000007ull);
}

static void no_ring_is_counted_and_harmless(void **state) {
    (void)state;
    *fake_group(0) = ~0ull;
    xs_writer w = xs_writer_begin(&handle, 0);
    assert_int_equal(fake_control()->no_ring, 1);
    xs_mark(&w, 1, 2);
    xs_writer_epoch(&w, 4);
    xs_slot slot = {NULL, 3, 0};
    xs_wait_note n = xs_note_wait_begin(&w, slot, 4, 0, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    xs_note_wait_poll(&w, &n, 1, 2);
    xs_note_wait_end(&w, &n, 4, XS_RESULT_OK);
    xs_writer_end(&w);
    assert_int_equal(*fake_group(0), ~0ull);
    for (uint32_t ring = 0; ring < FAKE_RINGS; ring++)
        for (uint32_t i = 0; i < 68; i++)
            assert_int_equal(fake_record(ring, i)->code_object, 0);
    assert_int_equal(fake_line(0, 0)->p0.generation, 0);
    assert_int_equal(fake_control()->foreign, 0);
    assert_int_equal(fake_control()->no_line, 0);
}

static void other_groups_of_the_rank_are_tried(void **state) {
    (void)state;
    uint64_t groups[3] = {~0ull, ~0ull, ~(1ull << 40)};
    assert_int_equal(xs_ring_claim(groups, 3, 5), 2 * 64 + 40);
    assert_int_equal(groups[2], ~0ull);
    assert_int_equal(xs_ring_claim(groups, 3, 5), XS_RING_NONE);
    groups[0] = 0;
    assert_int_equal(xs_ring_claim(groups, 3, 2 * 64 + 7), 7); /* its own group is full: its bit of the next one */
}

static void not_started_records_nothing(void **state) {
    (void)state;
    fake_control()->started = 0;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_mark(&w, 1, 2);
    assert_int_equal(w.cursor, 1);
    assert_int_equal(fake_record(xs_writer_ring(&w), 1)->code_object, 0);
    fake_control()->started = XS_STARTED; /* seen at the next epoch */
    xs_mark(&w, 1, 2);
    assert_int_equal(w.cursor, 1);
    xs_writer_epoch(&w, 1);
    assert_int_equal(w.cursor, 3);
    xs_mark(&w, 1, 2);
    xs_write_begin(&w, 1, 2, 3, 4, 5, 6); /* payload is not started */
    assert_int_equal(w.cursor, 4);
    fake_control()->freeze = 1;
    xs_writer_epoch(&w, 2);
    xs_mark(&w, 1, 2);
    assert_int_equal(w.cursor, 4);
    uint32_t ring = xs_writer_ring(&w);
    xs_writer_end(&w);
    assert_int_equal(fake_ring(ring)->next, 4);
}

static void started_is_seen_at_back_off_stages(void **state) {
    (void)state;
    fake_control()->started = 0;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_slot slot = {NULL, 3, 0};
    xs_wait_note n = xs_note_wait_begin(&w, slot, 4, 0, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    assert_int_equal(w.cursor, 1);
    fake_control()->started = XS_STARTED;
    xs_note_wait_poll(&w, &n, 1, 1);
    xs_note_wait_end(&w, &n, 4, XS_RESULT_OK);
    assert_int_equal(w.cursor, 4);
    xs_writer_end(&w);
}

static bool records(void) {
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_writer_epoch(&w, 5);
    bool on = xs_emit_stores(&w);
    xs_writer_end(&w);
    assert_int_equal(*fake_group(fake_self.block), 0); /* a filtered writer gives its ring back too */
    return on;
}

static void filters(void **state) {
    (void)state;
    xs_control *c = fake_control();
    fake_self.block = 3;
    assert_true(records());
    c->rank_first = 4;
    assert_true(records()); /* nobody looks */
    c->started |= XS_STARTED_FILTERED;
    assert_false(records());
    c->rank_first = 3, c->rank_last = 3;
    assert_true(records());
    c->rank_first = 0, c->rank_last = 2;
    assert_false(records());
    c->rank_last = 7, c->block_first = 1;
    assert_false(records());
    c->block_first = 0, c->block_last = 0;
    assert_true(records());
    c->epoch_first = 6;
    assert_false(records());
    c->epoch_first = 5, c->epoch_last = 5;
    assert_true(records());
    c->epoch_last = 4;
    assert_false(records());
}

/* A filtered writer does not come alive at a back-off stage, and still has its status line. */
static void filtered_writer_in_a_wait(void **state) {
    (void)state;
    fake_control()->epoch_first = 9;
    fake_control()->started |= XS_STARTED_FILTERED;
    xs_writer w = xs_writer_begin(&handle, 0);
    uint32_t ring = xs_writer_ring(&w);
    xs_slot slot = {NULL, 3, 0};
    xs_wait_note n = xs_note_wait_begin(&w, slot, 4, 0, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    xs_note_wait_poll(&w, &n, 1, 1);
    assert_int_equal(w.cursor, 1);
    assert_int_equal(fake_line(ring, 0)->p0.state_stage & 0xff, XS_LINE_SLOW);
    xs_note_wait_end(&w, &n, 4, XS_RESULT_OK);
    xs_writer_epoch(&w, 9);
    assert_int_equal(w.cursor, 3);
    xs_writer_end(&w);
    assert_int_equal(fake_ring(ring)->next, 5);
}

/* What a lane that is not the writer has after xs_writer_begin. */
static xs_writer foreign_lane(void) {
    xs_writer w = xs_writer_none(&handle);
    w.base = XS_RING_FOREIGN;
    w.payload = 1;
    return w;
}

static void foreign_lanes_are_counted(void **state) {
    (void)state;
    xs_writer w = foreign_lane();
    xs_writer_epoch(&w, 1); /* by all lanes together: none of their business */
    xs_writer_role(&w, 1);
    for (uint32_t i = 0; i < 5; i++)
        xs_mark(&w, 1, i);
    assert_int_equal(fake_control()->foreign, 0); /* costs nothing on the way: counted in the lane's cursor */
    xs_writer_end(&w);
    assert_int_equal(fake_control()->foreign, 5);
    for (uint32_t i = 0; i < 68; i++)
        assert_int_equal(fake_record(0, i)->code_object, 0);
}

static void foreign_lanes_are_counted_before_a_hang(void **state) {
    (void)state;
    xs_writer w = foreign_lane();
    xs_slot slot = {NULL, 3, 0};
    xs_note_wait_begin(&w, slot, 4, 0, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    assert_int_equal(fake_control()->foreign, 3); /* the records that it would have written */
    assert_int_equal(fake_line(0, 0)->p0.generation, 0);
}

static void none_is_silent_on_purpose(void **state) {
    (void)state;
    xs_writer w = xs_writer_none(&handle);
    xs_mark(&w, 1, 2);
    xs_writer_end(&w);
    assert_int_equal(fake_control()->foreign, 0);
    assert_int_equal(fake_control()->no_ring, 0);
    assert_int_equal(*fake_group(0), 0);
}

static void hand_over_under_load_body(uint32_t rank, uint32_t warp, void *argument) {
    (void)rank, (void)warp;
    uint64_t *written = argument;
    for (uint32_t i = 0; i < 500; i++) {
        xs_writer w = xs_writer_begin(&handle, 0);
        uint32_t ring = xs_writer_ring(&w), before = w.cursor - 3;
        for (uint32_t k = 0; k < i % 7; k++)
            xs_mark(&w, 1, k);
        uint32_t count = w.cursor + 2 - before;
        xs_writer_end(&w);
        __atomic_fetch_add(&written[ring], count, __ATOMIC_RELAXED);
    }
}

/* Rings go from writer to writer while all run; no sequence is used twice or left out. */
static void hand_over_under_load(void **state) {
    (void)state;
    static uint64_t written[FAKE_RANKS * FAKE_RINGS];
    memset(written, 0, sizeof written);
    *fake_group(0) = *fake_group(1) = ~7ull; /* three rings a rank for four writers: some find none */
    fake_run(2, 4, hand_over_under_load_body, written);
    uint64_t owners = 0;
    for (uint32_t ring = 0; ring < 2 * FAKE_RINGS; ring++) {
        if (fake_ring(ring)->owners)
            assert_int_equal(fake_ring(ring)->next, written[ring] + 1);
        owners += fake_ring(ring)->owners;
    }
    assert_int_equal(*fake_group(0), ~7ull);
    assert_int_equal(*fake_group(1), ~7ull);
    assert_int_equal(owners + fake_control()->no_ring, 2 * 4 * 500);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(claims_its_own_bit_first), TEST(owner_entry_and_sequence_go_on), TEST(first_of_an_owner_beyond_48_bits), TEST(zeroed_ring_starts_at_one),
        TEST(next_is_unwrapped_by_what_was_consumed), TEST(no_ring_is_counted_and_harmless), TEST(other_groups_of_the_rank_are_tried),
        TEST(not_started_records_nothing), TEST(started_is_seen_at_back_off_stages), TEST(filters), TEST(filtered_writer_in_a_wait),
        TEST(foreign_lanes_are_counted), TEST(foreign_lanes_are_counted_before_a_hang), TEST(none_is_silent_on_purpose),
        TEST(hand_over_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
