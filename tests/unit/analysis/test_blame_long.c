/* The critical path of runs that are longer than the log of who waited for whom, and of clocks that do not agree. */
#include "judge.h"

#include <stdlib.h>

/* Two ranks hand a word to and fro: each waits for the other, works 700 and signals. Group g has ranks 2 g and 2 g + 1. */
static void hand_to_and_fro(cb *c, uint32_t pad, uint32_t group, uint64_t turns, uint64_t start) {
    for (uint64_t i = 0; i < turns; i++) {
        uint32_t from = 2 * group + (i & 1), to = 2 * group + !(i & 1);
        uint64_t t = start + i * 1000, value = i / 2 + 1;
        cb_wait_start(c, RING(to, 0), t + 50, cb_slot(c, pad, to, 0, 0), value, value - 1);
        cb_signal(c, RING(from, 0), t + 700, cb_slot(c, pad, to, 0, 0), value);
        cb_wait_end_at(c, RING(to, 0), t + 1000, cb_slot(c, pad, to, 0, 0), value, 0, 9, 0, 100, 7, 0);
        if (i % 1024 == 1023)
            cb_flush(c);
    }
}

static judged two_by_two(uint32_t groups, uint64_t turns, uint32_t entries) {
    cb *c = case_begin(2 * groups, 1, 1);
    uint32_t pad = cb_pad(c, "turn", "", "", 1, 1, 0);
    for (uint32_t g = 0; g < groups; g++)
        hand_to_and_fro(c, pad, g, turns, 1000 + g);
    for (uint32_t g = 0; g < groups; g++) {
        uint64_t end = 1000 + turns * 1000 + 10 * (g + 1);
        cb_writer_end(c, RING(2 * g, 0), end);
        cb_writer_end(c, RING(2 * g + 1, 0), end + 1);
    }
    xsa_options how = {.size = sizeof how, .blame_entries = entries};
    return judge_with(c, &how);
}

static int64_t length_of(const xsa_blame *b) {
    int64_t at = b->begin;
    for (uint32_t i = 0; i < b->span_count; i++) {
        assert_int_equal(b->spans[i].begin, at);
        assert_true(b->spans[i].end > at);
        at = b->spans[i].end;
    }
    assert_int_equal(at, b->end);
    return at - b->begin;
}

/* 1 000 turns are 3 000 entries: the log of 1 024 is settled many times over, and what comes out is the same. */
static void a_short_log_gives_the_same_path(void **state) {
    (void)state;
    judged whole = two_by_two(1, 1000, 0), pieces = two_by_two(1, 1000, 1024);
    const xsa_blame *x = whole.result->blame, *y = pieces.result->blame;
    assert_int_equal(length_of(x), 1000 * 1000 + 11);
    assert_int_equal(length_of(y), 1000 * 1000 + 11);
    assert_int_equal(x->ns[XSA_PART_LAG], 999 * 100); /* behind the last signal the path stays with who made it */
    assert_int_equal(x->ns[XSA_PART_LINK], 999 * 200);
    assert_int_equal(y->cuts, 0);
    for (uint32_t p = 0; p < XSA_PART_COUNT; p++)
        assert_int_equal(x->ns[p], y->ns[p]);
    assert_int_equal(x->slot_count, y->slot_count);
    for (uint32_t i = 0; i < x->slot_count; i++) {
        assert_int_equal(x->slots[i].ns, y->slots[i].ns);
        assert_int_equal(x->slots[i].slack_ns, 0);
        assert_int_equal(y->slots[i].slack_ns, 0);
        assert_int_equal(x->slots[i].awaited, y->slots[i].awaited);
    }
    judged_free(&whole);
    judged_free(&pieces);
}

/* Two pairs that never meet: which of them has the end is not known when the first part is settled. That is counted, and the sum is right. */
static void a_path_that_was_cut_says_so(void **state) {
    (void)state;
    judged whole = two_by_two(2, 1000, 0), pieces = two_by_two(2, 1000, 1024);
    assert_int_equal(whole.result->blame->cuts, 0);
    assert_true(length_of(whole.result->blame) == length_of(pieces.result->blame));
    int64_t sum = 0;
    for (uint32_t p = 0; p < XSA_PART_COUNT; p++)
        sum += pieces.result->blame->ns[p];
    assert_int_equal(sum, length_of(pieces.result->blame));
    uint32_t on_first = 0, on_second = 0; /* on one pair alone where nothing was cut */
    for (uint32_t i = 0; i < whole.result->blame->span_count; i++)
        *(whole.result->blame->spans[i].owes_rank < 2 ? &on_first : &on_second) += 1;
    assert_true(on_first == 0 && on_second > 1000);
    judged_free(&whole);
    judged_free(&pieces);
}

/* 90 000 pieces: the short ones are joined, the sums stay exact, and the spans still lie end to end. */
static void many_pieces_are_joined(void **state) {
    (void)state;
    judged j = two_by_two(1, 30000, 0);
    const xsa_blame *b = j.result->blame;
    assert_int_equal(length_of(b), 30000 * 1000 + 11);
    assert_true(b->span_count < 65536);
    assert_true(b->joined_ns > 0);
    assert_int_equal(b->ns[XSA_PART_LAG], 29999 * 100);
    uint64_t pieces = 0;
    for (uint32_t i = 0; i < b->span_count; i++)
        pieces += b->spans[i].pieces;
    assert_int_equal(pieces, 3 * 29999 + 2);
    judged_free(&j);
}

/* Two GPUs whose clocks are known to within about 1 us each. Rank 1's stamps are off by `shift`. The signal comes at 50 000 and is seen
 * `lag` later by rank 1, which has waited since 20 000. */
static judged on_two_gpus(int64_t shift, int64_t lag, uint64_t begin) {
    cb *c = cb_begin(judged_path());
    assert_non_null(c);
    for (uint32_t r = 0; r < 2; r++) {
        xs_region_header region = cb_region(r, 1, 2);
        region.device = (int32_t)r;
        cb_process_as(c, &region);
        for (uint64_t t = 1000; t <= 201000; t += 20000)
            cb_device_clock(c, r, t, t, 2000);
    }
    cb_select(c, 0);
    uint32_t role = cb_role(c, "work"), ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    cb_writer_begin(c, 0, 10000, role, 0, 1);
    cb_signal(c, 0, 50000, ready, 1);
    cb_writer_end(c, 0, 51000);
    cb_flush_at(c, 60000);
    cb_select(c, 1);
    role = cb_role(c, "work"), ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    cb_writer_begin(c, 0, (uint64_t)(10000 + shift), role, 0, 1);
    cb_wait_start(c, 0, begin + (uint64_t)shift, ready, 1, 0);
    cb_wait_end_at(c, 0, (uint64_t)(50000 + lag + shift), ready, 1, 0, 9, 0, 50, 7, 0);
    cb_writer_end(c, 0, (uint64_t)(100000 + shift));
    cb_flush_at(c, 200000);
    return judge(c);
}

static int64_t bound_of(const judged *j) {
    int64_t bound = 0;
    for (uint32_t i = 0; i < j->model->clock_count; i++)
        if (j->model->clocks[i].device >= 0)
            bound += j->model->clocks[i].bound_ns;
    assert_true(bound > 1000 && bound < 10000);
    return bound;
}

static void a_lag_below_the_clock_bound_is_not_known(void **state) {
    (void)state;
    judged near = on_two_gpus(0, 500, 20000), far = on_two_gpus(0, 20000, 20000);
    assert_true(bound_of(&near) > 500 && bound_of(&far) < 20000);
    assert_int_equal(near.result->blame->ns[XSA_PART_LAG] + near.result->blame->ns[XSA_PART_LINK], 0);
    assert_int_equal(near.result->blame->ns[XSA_PART_UNKNOWN], 500);
    assert_int_equal(far.result->blame->ns[XSA_PART_LAG], 50);
    assert_int_equal(far.result->blame->ns[XSA_PART_LINK], 19950);
    assert_int_equal(far.result->blame->ns[XSA_PART_UNKNOWN], 0);
    judged_free(&near);
    judged_free(&far);
}

static bool goes_over(const judged *j) { /* to the one who signalled, in compute */
    for (uint32_t i = 0; i < j->result->blame->span_count; i++)
        if (j->result->blame->spans[i].part == XSA_PART_COMPUTE && j->result->blame->spans[i].owes_rank == 0)
            return true;
    return false;
}

/* Within what the clocks may be apart the path takes the same way, and no piece moves by more; only where the wait began as near to the
 * signal as that it may take the other. */
static void shifted_stamps_move_blame_by_no_more(void **state) {
    (void)state;
    for (int64_t shift = -900; shift <= 900; shift += 300) {
        judged right = on_two_gpus(0, 20000, 20000), moved = on_two_gpus(shift, 20000, 20000);
        const xsa_blame *x = right.result->blame, *y = moved.result->blame;
        assert_true(goes_over(&right) && goes_over(&moved));
        for (uint32_t p = 0; p < XSA_PART_COUNT; p++)
            assert_true(llabs(x->ns[p] - y->ns[p]) <= llabs(shift));
        judged_free(&right);
        judged_free(&moved);
    }
    judged before = on_two_gpus(0, 20000, 49900), after = on_two_gpus(300, 20000, 49900);
    assert_true(goes_over(&before));
    assert_false(goes_over(&after));
    judged_free(&before);
    judged_free(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_short_log_gives_the_same_path), cmocka_unit_test(a_path_that_was_cut_says_so),
                                       cmocka_unit_test(many_pieces_are_joined), cmocka_unit_test(a_lag_below_the_clock_bound_is_not_known),
                                       cmocka_unit_test(shifted_stamps_move_blame_by_no_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
