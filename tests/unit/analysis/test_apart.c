/* Records are lost, and the clocks of ranks are apart: which came first is told by who saw what, and what is missing may be just that. */
#include "judge.h"

#include <xs/xs.h>

static void touch(cb *c, uint32_t ring, uint64_t time, uint32_t kind, uint32_t name, uint32_t generation) {
    cb_payload(c, ring, time, kind, name, 0, generation, XS_NO_PEER, 16, 1024);
    cb_payload_end(c, ring, time + 10, name, 0);
}

static void turn(cb *c, uint32_t rank, uint64_t time, uint32_t serving, uint32_t name, uint32_t ticket, bool lost) {
    uint64_t at = cb_next(c, RING(rank, 0));
    cb_pass(c, RING(rank, 0), time, serving, ticket, ticket);
    if (lost)
        cb_lose(c, RING(rank, 0), at, at, XS_LOSS_OVERWRITTEN);
    if (ticket)
        touch(c, RING(rank, 0), time + 20, XS_EV_READ_BEGIN, name, ticket);
    touch(c, RING(rank, 0), time + 50, XS_EV_WRITE_BEGIN, name, ticket + 1);
    cb_signal(c, RING(rank, 0), time + 80, serving, ticket + 1);
}

/* The seventh turn of a lock is stamped within the sixth or before it, and the record of its wait is lost: what it reads and writes has its turn first, and is no
 * race. The first four turns show that the table is one for all. */
static void test_turn_whose_wait_is_lost_may_have_come_later(void **state) {
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++)
        for (uint64_t behind = 0; behind <= 3000; behind += 20) {
            cb *c = case_apart(4, 3300);
            uint32_t serving = cb_slot(c, cb_pad(c, "serving", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), name = cb_mark_name(c, "table");
            for (uint32_t ticket = 0; ticket < 4; ticket++)
                turn(c, ticket, 20000 * (ticket + 1), serving, name, ticket, false);
            turn(c, 0, 120000, serving, name, 4, false);
            turn(c, 1, 122000, serving, name, 5, false);
            turn(c, 2, 124000 - behind, serving, name, 6, lost);
            turn(c, 3, 126000, serving, name, 7, false);
            case_end_writers(c, 4, 1, 140000);
            judged j = judge(c);
            expect_errors(&j, 0);
            if (!lost)
                expect_clean(&j);
            judged_free(&j);
        }
}

enum { NOTHING, WAIT_END, RESET, KINDS };

/* A flag that its reader sets back, and who sets it waits for that, but in the round `unasked`. off: rank 0's clock is ahead and rank 1's behind by so much. */
static judged flags(uint64_t bound, uint64_t off, uint32_t lost, uint32_t lost_round, uint32_t unasked) {
    cb *c = case_apart(2, bound);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), ack = cb_slot(c, cb_pad(c, "ack", "", "", 1, 1, 0), 0, 0, 0), name = cb_mark_name(c, "batch");
    for (uint32_t k = 1; k < 13; k++) {
        uint64_t ahead = 10000 * (k + 1) + off, behind = 10000 * (k + 1) - off;
        if (k != unasked)
            cb_pass(c, RING(0, 0), ahead, ack, k - 1, k - 1);
        cb_payload(c, RING(0, 0), ahead + 100, XS_EV_WRITE_BEGIN, name, 0, k, 1, 16, 1024);
        cb_payload_end(c, RING(0, 0), ahead + 800, name, 0);
        cb_signal(c, RING(0, 0), ahead + 900, ready, 1);
        cb_wait_start(c, RING(1, 0), behind + 500, ready, 1, 0);
        uint64_t at = cb_next(c, RING(1, 0));
        cb_wait_end(c, RING(1, 0), behind + 1000, ready, 1, XS_RESULT_OK, 5);
        if (lost == WAIT_END && k == lost_round)
            cb_lose(c, RING(1, 0), at, at, XS_LOSS_OVERWRITTEN);
        cb_payload(c, RING(1, 0), behind + 1100, XS_EV_READ_BEGIN, name, 0, k, 0, 16, 1024);
        cb_payload_end(c, RING(1, 0), behind + 5000, name, 0);
        at = cb_next(c, RING(1, 0));
        cb_reset(c, RING(1, 0), behind + 5100, ready, 0, 1);
        if (lost == RESET && k == lost_round)
            cb_lose(c, RING(1, 0), at, at, XS_LOSS_OVERWRITTEN);
        cb_signal(c, RING(1, 0), behind + 5200, ack, k);
    }
    case_end_writers(c, 2, 1, 300000);
    return judge(c);
}

/* Once a wait's end is lost, the reset behind it has its turn before the signal that the wait saw, and every wait from then on could be taken for that of
 * the round before: a race, an early pass, a value that is signalled twice. The same where the reset is lost. */
static void test_flag_is_not_one_round_behind_for_good(void **state) {
    (void)state;
    for (uint32_t lost = NOTHING; lost < KINDS; lost++)
        for (uint32_t round = 1; round < 12; round += 3)
            for (uint64_t off = 0; off <= 4800; off += 1600) {
                judged j = flags(5000, off, lost, round, 0);
                expect_errors(&j, 0);
                if (lost == NOTHING)
                    expect_clean(&j);
                judged_free(&j);
            }
}

/* Clocks that are good enough to tell rounds apart: what was lost in one of them hides no race in another. */
static void test_flag_is_known_again_where_stamps_tell_rounds_apart(void **state) {
    (void)state;
    for (uint32_t lost = NOTHING; lost < KINDS; lost++)
        for (uint32_t unasked = 0; unasked < 12; unasked += 10) {
            judged j = flags(100, 90, lost, 4, unasked);
            expect_errors(&j, unasked != 0);
            if (unasked)
                expect_first(&j, XSA_RESET_RACE, XSA_ERROR, "rank 1 ready", 1, 0);
            judged_free(&j);
        }
}

/* Three ranks each put a tile to rank 0 in a round and count it there. Rank 1's clock is behind what is known of it by `off`. In the last round rank 2 leaves out
 * the release, or not. */
static judged counted_tiles(uint64_t off, bool weak) {
    cb *c = case_apart(4, 500);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), name = cb_mark_name(c, "tile"), count = 0, rounds = 8;
    for (uint32_t k = 1; k <= rounds; k++) {
        for (uint32_t rank = 1; rank < 4; rank++, count++) {
            uint64_t at = 10000 + 20000 * k + 2000 * rank + (rank == 1 ? off : 0);
            cb_full add = {.kind = XS_EV_GATE_ARRIVE, .object = sum, .value = count, .order = weak && k == rounds && rank == 2 ? XS_RELAXED : XS_RELEASE, .scope = XS_SCOPE_SYS, .detail = 1};
            cb_epoch(c, RING(rank, 0), at - 10, k);
            cb_payload(c, RING(rank, 0), at, XS_EV_WRITE_BEGIN, name, 3 * k + rank, k, 0, 16, 1024);
            cb_payload_end(c, RING(rank, 0), at + 100, name, 3 * k + rank);
            cb_full_event(c, RING(rank, 0), at + 200, &add);
        }
        cb_pass(c, RING(0, 0), 20000 + 20000 * k, sum, count, count);
        for (uint32_t rank = 1; rank < 4; rank++) {
            cb_payload(c, RING(0, 0), 20200 + 20000 * k + 100 * rank, XS_EV_READ_BEGIN, name, 3 * k + rank, k, rank, 16, 1024);
            cb_payload_end(c, RING(0, 0), 20250 + 20000 * k + 100 * rank, name, 3 * k + rank);
        }
    }
    case_end_writers(c, 4, 1, 400000);
    return judge(c);
}

/* Arrivals tell in which order they were, and so that stamps are farther apart than is known of them: a tile counted long ago was a race. */
static void test_count_that_comes_later_than_clocks_allow_makes_no_race(void **state) {
    (void)state;
    judged j = counted_tiles(0, false);
    expect_clean(&j);
    judged_free(&j);
    j = counted_tiles(0, true);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 sum", 2, 0);
    judged_free(&j);
    j = counted_tiles(60000, false);
    expect_errors(&j, 0);
    assert_int_equal(xsa_exit_code(j.result), 2);
    judged_free(&j);
}

static void add(cb *c, uint32_t rank, uint64_t at, uint32_t slot, uint32_t old) {
    cb_full event = {.kind = XS_EV_GATE_ARRIVE, .object = slot, .value = old, .order = XS_RELEASE, .scope = XS_SCOPE_SYS, .detail = 1};
    cb_full_event(c, RING(rank, 0), at, &event);
}

/* Threads: rank 1 writes and counts, and is set aside before its stamp for 15 ms, which is nothing odd. Rank 3, which found its count, goes on; what it
 * does is put off until then, and `events` of it are more than there is room for. Rank 0 reads what was counted. */
static judged put_off(uint32_t events) {
    cb *c = case_begin(4, 1, 1);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), name = cb_mark_name(c, "tile"), other = cb_mark_name(c, "own");
    uint64_t late = 15000000;
    add(c, 2, 1900, sum, 0);
    cb_payload(c, RING(1, 0), 1950, XS_EV_WRITE_BEGIN, name, 1, 1, 0, 16, 1024);
    cb_payload_end(c, RING(1, 0), 1990, name, 1);
    add(c, 3, 2000, sum, 2); /* of 2: one of them is not there yet */
    for (uint32_t i = 0; i < events; i++)
        cb_payload(c, RING(3, 0), 3000 + 100 * i, XS_EV_WRITE_BEGIN, other, i % 8, i, 3, 16, 1024);
    cb_pass(c, RING(0, 0), 14000000, sum, 3, 3);
    cb_payload(c, RING(0, 0), 14000100, XS_EV_READ_BEGIN, name, 1, 1, 1, 16, 1024);
    cb_payload_end(c, RING(0, 0), 14000200, name, 1);
    add(c, 1, late, sum, 1);
    case_end_writers(c, 4, 1, late + 1000);
    return judge(c);
}
static void test_queue_that_is_full_makes_no_race(void **state) {
    (void)state;
    judged j = put_off(100);
    expect_clean(&j);
    judged_free(&j);
    j = put_off(70000);
    expect_errors(&j, 0);
    assert_int_equal(xsa_exit_code(j.result), 2);
    judged_free(&j);
}

/* Four ranks meet; who comes last flips a flag, which all wait for by equality. Their clocks are off by `off`, one ahead and one behind. */
static judged flips(uint64_t bound, uint64_t off) {
    cb *c = case_apart(4, bound);
    uint32_t in = cb_slot(c, cb_pad(c, "in", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), flag = cb_slot(c, cb_pad(c, "sense", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    uint32_t name = cb_mark_name(c, "batch");
    for (uint32_t round = 1; round <= 12; round++)
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t r = (round + i) % 4, ring = RING(r, 0), sense = round % 2;
            uint64_t at = 20000 * round + 100 * i + (r & 1 ? off : 0) - (r & 2 ? off : 0);
            cb_full arrives = {.kind = XS_EV_GATE_ARRIVE, .object = in, .value = 4 * (round - 1) + i, .order = XS_ACQ_REL, .scope = XS_SCOPE_SYS, .detail = 1};
            cb_full begins = {.kind = XS_EV_WAIT_START, .object = flag, .value = sense, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS, .cmp = XS_CMP_EQ, .detail = 1 - sense};
            cb_epoch(c, ring, at, round);
            cb_payload(c, ring, at + 1, XS_EV_WRITE_BEGIN, name, round, round, (r + 1) % 4, 1, 64);
            cb_payload_end(c, ring, at + 2, name, round);
            cb_full_event(c, ring, at + 3, &arrives);
            if (i == 3)
                cb_signal(c, ring, at + 10, flag, sense);
            else
                cb_full_event(c, ring, at + 10, &begins);
            if (i == 3)
                cb_pass(c, ring, at + 20, flag, sense, sense);
            else
                cb_wait_end(c, ring, at + 1000, flag, sense, XS_RESULT_OK, 3);
            cb_payload(c, ring, at + 1010, XS_EV_READ_BEGIN, name, round, round, (r + 3) % 4, 1, 64);
            cb_payload_end(c, ring, at + 1020, name, round);
        }
    case_end_writers(c, 4, 1, 400000);
    return judge(c);
}
/* What one of several readers has seen was forgotten when another one had: each could be taken to see the value of the round before the last. */
static void test_flag_that_several_wait_for_is_read_by_each_in_its_own_round(void **state) {
    (void)state;
    for (uint64_t off = 0; off <= 3200; off += 400) {
        judged j = flips(3300, off);
        expect_clean(&j);
        judged_free(&j);
    }
}

/* The record with which one rank entered its round is lost, in which it signalled: that signal is none of an earlier round. */
static void test_signal_behind_a_lost_epoch_is_of_its_own_round(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t flag = cb_slot(c, cb_pad(c, "turn", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    for (uint32_t round = 1; round <= 8; round++)
        for (uint32_t i = 0; i < 2; i++) { /* they signal in turn; the value comes again every other round */
            uint32_t ring = RING((round + i) % 2, 0);
            uint64_t at = 10000 * round + 1000 * i, record = cb_next(c, ring);
            cb_epoch(c, ring, at, round);
            if (round == 4 && i == 0)
                cb_lose(c, ring, record, cb_next(c, ring) - 1, XS_LOSS_OVERWRITTEN);
            if (i == 0)
                cb_signal(c, ring, at + 100, flag, round % 4 / 2);
            cb_pass(c, ring, at + 200, flag, round % 4 / 2, round % 4 / 2);
        }
    case_end_writers(c, 2, 1, 400000);
    judged j = judge(c);
    assert_null(finding_of(&j, XSA_EARLY_PASS));
    judged_free(&j);
}

/* A ring of three between two ranks. The record that a batch was given back is lost, and by the stamps the reader gives the next one back before it is published. */
static void test_credit_that_is_lost_was_given_behind_the_one_before(void **state) {
    (void)state;
    cb *c = case_apart(2, 3300);
    uint32_t ready = cb_pad(c, "ready", "", "", 1, 3, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    for (uint32_t seq = 1; seq <= 12; seq++) {
        uint64_t at = 20000 * seq, record;
        uint32_t slot = cb_slot(c, ready, 1, 0, seq % 3);
        if (seq > 3)
            cb_pass(c, RING(0, 0), at, credit, seq - 1, seq - 3);
        cb_signal(c, RING(0, 0), at + 100, slot, seq);
        cb_publish(c, RING(0, 0), at + 110, slot, seq, 1, 3);
        cb_pass(c, RING(1, 0), at + 200 - 3000, slot, seq, seq);
        record = cb_next(c, RING(1, 0));
        cb_consume(c, RING(1, 0), at + 300 - 3000, slot, seq, 1, 3);
        if (seq == 6)
            cb_lose(c, RING(1, 0), record, cb_next(c, RING(1, 0)) - 1, XS_LOSS_OVERWRITTEN);
        cb_signal(c, RING(1, 0), at + 400 - 3000, credit, seq);
    }
    case_end_writers(c, 2, 1, 400000);
    judged j = judge(c);
    expect_errors(&j, 0);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turn_whose_wait_is_lost_may_have_come_later), cmocka_unit_test(test_flag_is_not_one_round_behind_for_good),
                                       cmocka_unit_test(test_flag_is_known_again_where_stamps_tell_rounds_apart),
                                       cmocka_unit_test(test_count_that_comes_later_than_clocks_allow_makes_no_race),
                                       cmocka_unit_test(test_queue_that_is_full_makes_no_race),
                                       cmocka_unit_test(test_flag_that_several_wait_for_is_read_by_each_in_its_own_round),
                                       cmocka_unit_test(test_signal_behind_a_lost_epoch_is_of_its_own_round),
                                       cmocka_unit_test(test_credit_that_is_lost_was_given_behind_the_one_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
