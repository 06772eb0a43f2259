/* Primitives of whole blocks, on threads: barriers and channels, and who waits when somebody stays away. */
#include "kernel_test.h"

enum { RANKS = 4, WARPS = 3, ROUNDS = 40 };
static xs_pad pad;
static xs_channel channel;
static uint64_t cells[2][FAKE_RANKS * FAKE_WARPS]; /* plain memory: what the barrier orders */
static uint64_t ring[4][FAKE_WARPS];               /* payload of a channel's slots */
static uint32_t away;                              /* ranks that stay away, as bits */

/* How many events of a kind are in the rings of a rank. Heads only: a MORE with the kind stands behind a FULL. */
static uint32_t count_events(uint32_t rank, uint32_t kind) {
    uint32_t n = 0;
    for (uint32_t r = rank * FAKE_RINGS; r < (rank + 1) * FAKE_RINGS; r++)
        for (uint32_t i = 0; i < 4096; i++) {
            uint32_t word = fake_record(r, i)->code_object, before = fake_record(r, (i + 4095) & 4095)->code_object >> 24;
            if (word >> 24 == XS_CODE_MORE && before == XS_CODE_FULL)
                n += XS_DETAIL_KIND(word & 0xffffff) == kind;
            else if (word >> 24 == XS_CODE_PASS_ACQ_SYS)
                n += kind == XS_EV_PASS;
            else if (word >> 24 == XS_CODE_SIGNAL_RLX_SYS_FSYS || word >> 24 == XS_CODE_SIGNAL_REL_SYS)
                n += kind == XS_EV_SIGNAL;
        }
    return n;
}

static int begin_blocks(void **state) {
    begin(state);
    fake_reset(4096);
    handle = fake_handle(RANKS);
    away = 0;
    pad = fake_pad(1000, RANKS, 1, RANKS, 0);
    return 0;
}

static void barrier_rounds(uint32_t rank, uint32_t warp, void *failures) {
    xs_writer w = warp == 0 ? xs_writer_begin(&handle, 0) : xs_writer_none(&handle);
    for (uint64_t seq = 1; seq <= ROUNDS; seq++) {
        cells[seq & 1][rank * WARPS + warp] = seq;
        if (xs_barrier_all(&w, &pad, seq, xs_unbounded()))
            __atomic_fetch_add((uint32_t *)failures, 1, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < RANKS * WARPS; i++)
            if (cells[seq & 1][i] != seq)
                __atomic_fetch_add((uint32_t *)failures, 1, __ATOMIC_RELAXED);
    }
    xs_writer_end(&w);
}

static void barrier_joins_all_blocks(void **state) {
    (void)state;
    uint32_t failures = 0;
    fake_run(RANKS, WARPS, barrier_rounds, &failures);
    assert_int_equal(failures, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(count_events(rank, XS_EV_BARRIER_ENTER), ROUNDS);
        assert_int_equal(count_events(rank, XS_EV_BARRIER_LEAVE), ROUNDS);
        assert_int_equal(count_events(rank, XS_EV_SIGNAL), ROUNDS * RANKS);
        /* every one of the N waits counts, passed or not */
        assert_int_equal(count_events(rank, XS_EV_PASS) + count_events(rank, XS_EV_WAIT_END), ROUNDS * RANKS);
        assert_int_equal(count_events(rank, XS_EV_WAIT_START), count_events(rank, XS_EV_WAIT_END));
    }
}

static uint32_t lines_in_state(uint32_t rank, uint32_t first, uint32_t last) {
    uint32_t n = 0;
    for (uint32_t line = 0; line < FAKE_LINES; line++) {
        xs_record part;
        if (fake_part_load(rank * FAKE_RINGS, line, 0, &part))
            n += (part.code_object & 0xff) >= first && (part.code_object & 0xff) <= last;
    }
    return n;
}

static uint32_t expected_open;
/* One of those that stay away: when all others wait for exactly those that do, it ends the test. */
static void watch(void) {
    for (uint32_t settled = 0; settled < RANKS;) {
        settled = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++)
            settled += away >> rank & 1 || lines_in_state(rank, XS_LINE_WAITING, XS_LINE_SLOW) == expected_open;
        xs_host_poll_failed(NULL, 0, 0);
    }
    fake_abort(4);
}

static void barrier_once(uint32_t rank, uint32_t warp, void *results) {
    if (away >> rank & 1) {
        if (warp == 0 && !(away & ((1u << rank) - 1)))
            watch();
        return;
    }
    xs_writer w = warp == 0 ? xs_writer_begin(&handle, 0) : xs_writer_none(&handle);
    ((int *)results)[rank * WARPS + warp] = xs_barrier_all(&w, &pad, 1, xs_unbounded());
}

static void stay_away(uint32_t ranks_away, uint32_t waits_open) {
    int results[RANKS * WARPS] = {0};
    away = ranks_away;
    expected_open = waits_open;
    fake_run(RANKS, WARPS, barrier_once, results);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (away >> rank & 1)
            continue;
        for (uint32_t warp = 0; warp < WARPS; warp++)
            assert_int_equal(results[rank * WARPS + warp], XS_RESULT_ABORTED); /* told to the whole block */
        assert_int_equal(lines_in_state(rank, XS_LINE_GIVEN_UP, XS_LINE_GIVEN_UP), waits_open);
        assert_int_equal(count_events(rank, XS_EV_PASS) + count_events(rank, XS_EV_WAIT_END), RANKS);
    }
}

static void one_rank_stays_away(void **state) {
    (void)state;
    stay_away(1 << 2, 1);
    for (uint32_t line = 0; line < FAKE_LINES; line++)
        if ((fake_line(0, line)->p0.state_stage & 0xff) == XS_LINE_GIVEN_UP)
            assert_int_equal(fake_line(0, line)->p0.object, 1000 + 0 * RANKS + 2); /* the line names whom it waits for */
}
static void two_ranks_stay_away(void **state) {
    (void)state;
    stay_away(1 << 1 | 1 << 3, 2);
}

/* Waits for columns inside another wait take lines of their own. */
static void columns_leave_open_lines_alone(void **state) {
    (void)state;
    xs_writer w = xs_writer_begin(&handle, 0);
    xs_slot slot = {NULL, 5, 0};
    xs_wait_note outer = xs_note_wait_begin(&w, slot, 9, 4, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    assert_int_equal(xs_barrier_all(&w, &pad, 1, (xs_bound){.polls = 3}), XS_RESULT_TIMEOUT);
    assert_int_equal(fake_line(0, 0)->p0.object, 5);
    assert_int_equal(fake_line(0, 0)->p0.state_stage & 0xff, XS_LINE_WAITING);
    assert_int_equal(fake_line(0, 2)->p0.object, 1001); /* column 1; column 0 is its own signal and passed */
    assert_int_equal(fake_line(0, 3)->p0.object, 1002);
    assert_int_equal(fake_control()->no_line, 1);
    assert_int_equal(w.lines, 1);
    xs_note_wait_end(&w, &outer, 9, XS_RESULT_OK);
    xs_writer_end(&w);
}

static void make_channel(uint64_t consumers, uint32_t depth) {
    channel.sequence = fake_pad(2000, RANKS, 1, depth, 0);
    channel.batch = fake_pad(3000, RANKS, 1, depth, XS_PAD_NO_DATA);
    channel.credit = fake_pad(4000, RANKS, 1, RANKS, 0);
    channel.producer = 1;
    channel.depth = depth;
    channel.consumers = consumers;
}

static void channel_rounds(uint32_t rank, uint32_t warp, void *failures) {
    xs_writer w = warp == 0 ? xs_writer_begin(&handle, 0) : xs_writer_none(&handle);
    uint32_t bad = 0, empty = 0;
    for (uint64_t seq = 1; seq <= ROUNDS; seq++) {
        uint64_t batch = 99, *payload = ring[seq % channel.depth];
        if (rank == channel.producer) {
            bad += xs_publish_begin(&w, &channel, seq, xs_unbounded()) != XS_RESULT_OK;
            payload[warp] = seq * 10 + warp;
            bad += xs_publish(&w, &channel, seq, seq + 5) != XS_RESULT_OK;
        } else if (xs_channel_consumes(&channel, rank)) {
            if (rank == 0)
                bad += xs_consume(&w, &channel, seq, &batch, xs_unbounded()) != XS_RESULT_OK;
            else
                while (!xs_try_consume(&w, &channel, seq, &batch)) {
                    bad += batch != 0; /* always told, also that there is nothing */
                    empty++;
                }
            bad += batch != seq + 5;
            for (uint32_t i = 0; i < WARPS; i++) /* every thread reads what all threads wrote */
                bad += payload[i] != seq * 10 + i;
            bad += xs_consume_end(&w, &channel, seq) != XS_RESULT_OK;
        }
    }
    (void)empty;
    xs_writer_end(&w);
    __atomic_fetch_add((uint32_t *)failures, bad, __ATOMIC_RELAXED);
}

static void channel_passes_batches_with_credit(void **state) {
    (void)state;
    uint32_t failures = 0;
    make_channel(1 << 0 | 1 << 3, 3);
    fake_run(RANKS, WARPS, channel_rounds, &failures);
    assert_int_equal(failures, 0);
    assert_int_equal(count_events(1, XS_EV_PUBLISH), 2 * ROUNDS); /* one a consumer */
    assert_int_equal(count_events(0, XS_EV_CONSUME), ROUNDS);
    assert_int_equal(count_events(3, XS_EV_CONSUME), ROUNDS);
    assert_int_equal(count_events(0, XS_EV_SIGNAL), ROUNDS);      /* credit */
    assert_int_equal(count_events(2, XS_EV_WRITER_BEGIN), 1);
    assert_int_equal(count_events(2, XS_EV_SIGNAL), 0);
}

static void full_ring_stops_the_producer(void **state) {
    (void)state;
    make_channel(1 << 0, 2);
    fake_self = (xs_host_thread){1, RANKS, 0, 1, NULL};
    xs_writer w = xs_writer_begin(&handle, 0);
    for (uint64_t seq = 1; seq <= 2; seq++) {
        assert_int_equal(xs_publish_begin(&w, &channel, seq, xs_bound_ns(1000)), XS_RESULT_OK);
        assert_int_equal(xs_publish(&w, &channel, seq, 1), XS_RESULT_OK);
    }
    assert_int_equal(xs_publish_begin(&w, &channel, 3, xs_bound_ns(1000)), XS_RESULT_TIMEOUT);
    fake_self.block = 0;
    uint64_t batch;
    assert_int_equal(xs_try_consume(&w, &channel, 1, &batch), 1);
    assert_int_equal(xs_consume_end(&w, &channel, 1), XS_RESULT_OK);
    fake_self.block = 1;
    assert_int_equal(xs_publish_begin(&w, &channel, 3, xs_bound_ns(1000)), XS_RESULT_OK);
    assert_int_equal(xs_publish_begin(&w, &channel, 4, xs_bound_ns(1000)), XS_RESULT_TIMEOUT);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin_blocks)
    const struct CMUnitTest tests[] = {
        TEST(barrier_joins_all_blocks), TEST(one_rank_stays_away), TEST(two_ranks_stay_away), TEST(columns_leave_open_lines_alone),
        TEST(channel_passes_batches_with_credit), TEST(full_ring_stops_the_producer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
