/* What one does in round after round tells what is wrong in this one, and what is not: flags that flip, credits of the round before, counts that are
 * reached by as many waits as others' work asks for. */
#include "judge.h"

typedef struct pair { cb *c; uint32_t ready, empty; } pair;

/* Rank 0 hands a buffer to rank 1 by a flag that flips, and gets it back by another. All waits pass at once: their records do not say that
 * they compare by equality. */
static pair flips(void) {
    pair p = {.c = case_begin(2, 1, 1)};
    p.ready = cb_slot(p.c, cb_pad(p.c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    p.empty = cb_slot(p.c, cb_pad(p.c, "empty", "", "", 1, 1, 0), 0, 0, 0);
    return p;
}
static uint64_t flip_begins(const pair *p, uint64_t round) {
    uint64_t t = 1000 * (round + 1);
    cb_epoch(p->c, RING(0, 0), t, round);
    cb_epoch(p->c, RING(1, 0), t, round);
    return t;
}
static void flip_goes(const pair *p, uint64_t round) {
    uint64_t t = flip_begins(p, round);
    cb_pass(p->c, RING(0, 0), t + 100, p->empty, (round - 1) & 1, (round - 1) & 1);
    cb_signal(p->c, RING(0, 0), t + 200, p->ready, round & 1);
    cb_pass(p->c, RING(1, 0), t + 300, p->ready, round & 1, round & 1);
}
static void flip_returns(const pair *p, uint64_t round) { cb_signal(p->c, RING(1, 0), 1000 * (round + 1) + 400, p->empty, round & 1); }

static void test_flag_that_flips_has_not_fallen(void **state) {
    (void)state;
    pair p = flips();
    for (uint64_t round = 1; round <= 6; round++)
        flip_goes(&p, round), flip_returns(&p, round);
    case_end_writers(p.c, 2, 1, 9000);
    judged j = judge(p.c);
    expect_clean(&j);
    judged_free(&j);
}

/* Those who wait ask for more each time: then it has. */
static void test_value_that_falls_under_a_need_that_rises(void **state) {
    (void)state;
    pair p = flips();
    for (uint64_t round = 1; round <= 6; round++) {
        uint64_t t = flip_begins(&p, round);
        cb_signal(p.c, RING(0, 0), t + 200, p.ready, round == 5 ? 3 : 10 + round);
        cb_pass(p.c, RING(1, 0), t + 300, p.ready, round == 5 ? 3 : 10 + round, round == 5 ? 3 : round - 1);
    }
    case_end_writers(p.c, 2, 1, 9000);
    judged j = judge(p.c);
    expect_first(&j, XSA_REGRESSION, XSA_ERROR, "rank 1 ready", 0, 0);
    judged_free(&j);
}

/* The wait that the second signal of 1 is for is lost, with what entered its round: the one before it has not passed on an old value for that. */
static void test_lost_wait_for_a_flag_is_no_early_pass(void **state) {
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        pair p = flips();
        for (uint64_t round = 1; round <= 6; round++) {
            uint64_t entered = cb_next(p.c, RING(0, 0));
            flip_goes(&p, round);
            if (lost && round == 3)
                cb_lose(p.c, RING(0, 0), entered, entered + 2, XS_LOSS_OVERWRITTEN);
            flip_returns(&p, round);
        }
        case_end_writers(p.c, 2, 1, 9000);
        judged j = judge(p.c);
        expect_not(&j, XSA_EARLY_PASS);
        expect_errors(&j, 0);
        judged_free(&j);
    }
}

static void flip_stands(const pair *p, uint32_t ring, uint64_t time, uint32_t object, uint64_t need) {
    cb_full_event(p->c, ring, time, &(cb_full){.kind = XS_EV_WAIT_START, .object = object, .value = (uint32_t)need, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS, .cmp = XS_CMP_EQ, .detail = (uint32_t)!need});
    xs_status_line line = cb_status_line(XS_LINE_SLOW | XS_CMP_EQ << 24, object, need, !need, 100, time, time + 1000);
    cb_status(p->c, ring, 0, time + 1000, &line);
}

/* The buffer is not given back in round 5, and rank 1 waits in the next: that wait is an effect, and no half of a circle. It gave back in each round before,
 * and is through with this one. */
static void test_credit_left_out_is_no_circle(void **state) {
    (void)state;
    pair p = flips();
    for (uint64_t round = 1; round <= 5; round++) {
        flip_goes(&p, round);
        if (round < 5)
            flip_returns(&p, round);
    }
    flip_begins(&p, 6);
    flip_stands(&p, RING(0, 0), 7500, p.empty, 1);
    flip_stands(&p, RING(1, 0), 7500, p.ready, 0);
    judged j = judge(p.c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 empty", 1, 0);
    expect_not(&j, XSA_WAIT_CYCLE);
    judged_free(&j);
}

/* Three in a ring pass on what they got; rank `first` begins each round, and in the last it does not: it stands at the wait that it used to come to
 * behind its signal. Who is to blame was whoever stood before the lowest rank. lost: one record of it, early. */
static judged ring_of_three(uint32_t first, bool lost) {
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), slot[3];
    for (uint32_t rank = 0; rank < 3; rank++)
        slot[rank] = cb_slot(c, pad, rank, 0, 0);
    for (uint32_t round = 1; round <= 6; round++) {
        uint64_t t = 1000 + 1000 * round;
        for (uint32_t rank = 0; rank < 3; rank++)
            cb_epoch(c, RING(rank, 0), t, round);
        if (lost && round == 2)
            cb_skip_records(c, RING(first, 0), 1, XS_LOSS_OVERWRITTEN);
        if (round == 6)
            break;
        cb_signal(c, RING(first, 0), t + 50, slot[(first + 1) % 3], round);
        for (uint32_t i = 1; i <= 3; i++) {
            uint32_t rank = (first + i) % 3;
            cb_pass(c, RING(rank, 0), t + 100 * i, slot[rank], round, round);
            if (rank != first)
                cb_signal(c, RING(rank, 0), t + 100 * i + 50, slot[(rank + 1) % 3], round);
        }
    }
    for (uint32_t rank = 0; rank < 3; rank++)
        case_open_wait(c, RING(rank, 0), 7100 + rank, slot[rank], 6, 5);
    return judge(c);
}
static void test_circle_is_told_of_who_turned_its_signal_and_its_wait_around(void **state) {
    (void)state;
    static const char *const owed[] = {"rank 1 ready", "rank 2 ready", "rank 0 ready"};
    for (uint32_t first = 0; first < 3; first++) {
        judged j = ring_of_three(first, false);
        expect_first(&j, XSA_WAIT_CYCLE, XSA_ERROR, owed[first], (int)first, 0);
        assert_non_null(strstr(j.result->findings[0].text, "or turned the two around"));
        expect_errors(&j, 1);
        judged_free(&j);
        j = ring_of_three(first, true); /* its habit is not known any more: nobody is accused of having broken it */
        for (uint32_t i = 0; i < j.result->finding_count; i++)
            assert_null(strstr(j.result->findings[i].text, "or turned the two around"));
        judged_free(&j);
    }
}

/* One signal of another block of that rank, ahead of its own: not whose slot it is has signalled twice. */
static void test_block_that_strays_is_to_blame_also_where_it_comes_first(void **state) {
    (void)state;
    cb *c = case_begin(2, 2, 2);
    uint32_t slot = cb_slot(c, cb_pad(c, "done", "", "", 1, 2, 0), 0, 0, 0);
    for (uint64_t round = 1; round <= 6; round++) {
        uint64_t t = 1000 + 1000 * round;
        cb_epoch(c, RING(1, 0), t, round);
        cb_epoch(c, RING(1, 1), t, round);
        if (round == 6)
            cb_signal(c, RING(1, 1), t + 100, slot, round);
        cb_signal(c, RING(1, 0), t + 200, slot, round);
        cb_pass(c, RING(0, 0), t + 300, slot, round, round);
    }
    case_end_writers(c, 2, 2, 9000);
    judged j = judge(c);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 done[col=0]", 1, 1);
    judged_free(&j);
}

/* All arrive at a gate of rank 0 in each round; rank 2 behind as many waits for rank 1 as there is work for it. Rank 1 has ended: rank 2 is still on its
 * way to the gate, though it has passed as many waits as in the round that had the most. */
static void test_who_waits_now_less_now_more_is_not_past_its_arrival(void **state) {
    (void)state;
    static const uint32_t work[] = {0, 1, 3, 1, 2, 1};
    cb *c = case_begin(3, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "meet", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), part = cb_slot(c, cb_pad(c, "part", "", "", 1, 1, 0), 2, 0, 0), parts = 0;
    for (uint32_t round = 1; round <= 5; round++) {
        uint64_t t = 1000 + 1000 * round;
        for (uint32_t rank = 0; rank < 3; rank++)
            cb_epoch(c, RING(rank, 0), t, round);
        for (uint32_t i = 0; i < work[round]; i++) {
            cb_signal(c, RING(1, 0), t + 10 + 20 * i, part, ++parts);
            cb_pass(c, RING(2, 0), t + 20 + 20 * i, part, parts, parts);
        }
        for (uint32_t rank = 0; rank < 3; rank++)
            cb_gate(c, RING(rank, 0), t + 200 + rank, gate, 3 * (round - 1) + rank, 1);
        for (uint32_t rank = 0; rank < 3; rank++)
            cb_pass(c, RING(rank, 0), t + 300 + rank, gate, 3 * round, 3 * round);
    }
    cb_epoch(c, RING(1, 0), 7000, 6);
    for (uint32_t i = 0; i < 3; i++)
        cb_signal(c, RING(1, 0), 7010 + 20 * i, part, ++parts);
    cb_writer_end(c, RING(1, 0), 7100);
    cb_epoch(c, RING(0, 0), 7000, 6);
    cb_gate(c, RING(0, 0), 7200, gate, 15, 1);
    cb_epoch(c, RING(2, 0), 7000, 6);
    for (uint32_t i = 0; i < 3; i++)
        cb_pass(c, RING(2, 0), 7020 + 20 * i, part, parts - 2 + i, parts - 2 + i);
    case_open_wait(c, RING(2, 0), 7300, part, parts + 1, parts);
    case_open_wait(c, RING(0, 0), 7200, gate, 18, 16);
    judged j = judge(c);
    uint32_t hung = 0;
    for (uint32_t i = 0; i < j.result->finding_count; i++) {
        const xsa_finding *f = &j.result->findings[i];
        if (f->detector != XSA_LOST_SUPPLIER && f->detector != XSA_COUNT_MISMATCH)
            continue;
        assert_int_equal(f->owes_rank, 1);
        hung++;
    }
    assert_true(hung >= 1);
    judged_free(&j);
}

/* Rank 0 serves what ranks 1 to 3 send as routing has it: rank 3 had nothing in round 3. In round 6 it is gone, and the others, which came in each
 * round so far, have nothing: they are through, and wait for the next. */
static void test_who_came_each_time_had_nothing_to_send(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), pad = cb_pad(c, "go", "", "", 1, 1, 0);
    uint32_t go[4], sent = 0;
    for (uint32_t rank = 0; rank < 4; rank++)
        go[rank] = cb_slot(c, pad, rank, 0, 0);
    for (uint32_t round = 1; round <= 6; round++) {
        uint64_t t = 1000 + 1000 * round;
        for (uint32_t rank = 0; rank < (round < 6 ? 4u : 3u); rank++)
            cb_epoch(c, RING(rank, 0), t, round);
        for (uint32_t rank = 1; rank < 4 && round < 6; rank++)
            if (rank < 3 || round != 3)
                cb_gate(c, RING(rank, 0), t + 100 + rank, gate, sent++, 1);
        if (round == 6)
            break;
        cb_pass(c, RING(0, 0), t + 200, gate, sent, sent);
        for (uint32_t rank = 1; rank < 4; rank++) {
            cb_signal(c, RING(0, 0), t + 300 + rank, go[rank], round);
            cb_pass(c, RING(rank, 0), t + 400 + rank, go[rank], round, round);
        }
    }
    cb_writer_end(c, RING(3, 0), 6900);
    for (uint32_t rank = 1; rank < 3; rank++)
        case_open_wait(c, RING(rank, 0), 7300, go[rank], 6, 5);
    case_open_wait(c, RING(0, 0), 7200, gate, sent + 1, sent);
    judged j = judge(c);
    for (uint32_t i = 0; i < j.result->finding_count; i++)
        assert_true(j.result->findings[i].owes_rank != 1 && j.result->findings[i].owes_rank != 2);
    assert_true(j.result->finding_count > 0);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flag_that_flips_has_not_fallen), cmocka_unit_test(test_value_that_falls_under_a_need_that_rises),
                                       cmocka_unit_test(test_lost_wait_for_a_flag_is_no_early_pass),
                                       cmocka_unit_test(test_circle_is_told_of_who_turned_its_signal_and_its_wait_around), cmocka_unit_test(test_credit_left_out_is_no_circle),
                                       cmocka_unit_test(test_block_that_strays_is_to_blame_also_where_it_comes_first),
                                       cmocka_unit_test(test_who_waits_now_less_now_more_is_not_past_its_arrival),
                                       cmocka_unit_test(test_who_came_each_time_had_nothing_to_send)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
