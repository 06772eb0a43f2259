/* Which round a read, a wait or an arrival belongs to: too early, too little asked, many who add or signal in turn. */
#include "judge.h"

enum { WRITE = XS_EV_WRITE_BEGIN, READ = XS_EV_READ_BEGIN, RANKS = 3 };

typedef struct box { cb *c; uint32_t full, room, name; } box;
static box begin(void) {
    box b = {.c = case_begin(RANKS, 1, 1)};
    b.full = cb_slot(b.c, cb_pad(b.c, "full", "", "", 1, 1, 0), 1, 0, 0);
    b.room = cb_slot(b.c, cb_pad(b.c, "room", "", "", 1, 1, 0), 0, 0, 0);
    b.name = cb_mark_name(b.c, "tile");
    return b;
}
static void access(const box *b, uint32_t rank, uint64_t at, uint32_t kind, uint32_t generation, uint32_t peer) {
    cb_payload(b->c, RING(rank, 0), at, kind, b->name, 0, generation, peer, 1, 64);
    cb_payload_end(b->c, RING(rank, 0), at + 10, b->name, 0);
}
static void round_of(const box *b, uint64_t at, uint32_t g, uint32_t asked) {
    cb_epoch(b->c, RING(0, 0), at, g);
    cb_epoch(b->c, RING(1, 0), at, g);
    if (g > 1)
        cb_pass(b->c, RING(0, 0), at + 10, b->room, g - 1, g - 1);
    access(b, 0, at + 20, WRITE, g, 1);
    cb_signal(b->c, RING(0, 0), at + 40, b->full, g);
    cb_pass(b->c, RING(1, 0), at + 50, b->full, g, asked);
    access(b, 1, at + 60, READ, g, 0);
    cb_signal(b->c, RING(1, 0), at + 80, b->room, g);
}

/* The reader passes on the round before, reads, and gives its credit, behind which the writer writes what was read: order between the two is
 * there, in the wrong direction. */
static void test_read_of_a_round_that_is_written_behind_it(void **state) {
    (void)state;
    box b = begin();
    for (uint32_t g = 1; g <= 3; g++)
        round_of(&b, 2000 + 1000 * g, g, g);
    cb_epoch(b.c, RING(1, 0), 6000, 4);
    cb_pass(b.c, RING(1, 0), 6010, b.full, 3, 3);
    access(&b, 1, 6020, READ, 4, 0);
    cb_signal(b.c, RING(1, 0), 6040, b.room, 4);
    cb_epoch(b.c, RING(0, 0), 6050, 4);
    cb_pass(b.c, RING(0, 0), 6060, b.room, 4, 3);
    access(&b, 0, 6070, WRITE, 4, 1);
    cb_signal(b.c, RING(0, 0), 6090, b.full, 4);
    case_end_writers(b.c, RANKS, 1, 9000);
    judged j = judge(b.c);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* Signals count on by two a round, so that the value of the round before is more than the number of this one: that the writer told of it by that
 * signal would be a hasty conclusion. */
static void test_signal_of_the_round_before_tells_nothing_of_this_one(void **state) {
    (void)state;
    box b = begin();
    for (uint32_t g = 1; g <= 4; g++) {
        uint64_t at = 1000 * (g + 1);
        cb_epoch(b.c, RING(0, 0), at, g), cb_epoch(b.c, RING(1, 0), at, g);
        access(&b, 0, at + 20, WRITE, g, 1);
        cb_signal(b.c, RING(0, 0), at + 40, b.full, 2 * g);
        if (g < 4) {
            cb_pass(b.c, RING(1, 0), at + 50, b.full, 2 * g, 2 * g);
            access(&b, 1, at + 60, READ, g, 0);
            cb_signal(b.c, RING(1, 0), at + 70, b.room, g);
            cb_pass(b.c, RING(0, 0), at + 80, b.room, g, g);
        } else {
            access(&b, 1, at + 60, READ, g, 0);
        }
    }
    case_end_writers(b.c, RANKS, 1, 9000);
    judged j = judge(b.c);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
    judged_free(&j);
}

/* A reader that does not wait reads too early, and has not heard either that what it sends next was read: one wait is missing. */
static void test_missing_wait_is_no_missing_credit(void **state) {
    (void)state;
    box b = begin();
    for (uint32_t g = 1; g <= 4; g++) {
        uint64_t at = 1000 * (g + 1);
        access(&b, 0, at, WRITE, g, 1);
        cb_signal(b.c, RING(0, 0), at + 20, b.full, g);
        cb_pass(b.c, RING(1, 0), at + 30, b.full, g, g);
        access(&b, 1, at + 40, READ, g, 0);
        access(&b, 1, at + 60, WRITE, g, 0);
        cb_signal(b.c, RING(1, 0), at + 80, b.room, g);
        if (g != 3)
            cb_pass(b.c, RING(0, 0), at + 90, b.room, g, g);
        access(&b, 0, at + 100, READ, g, 1);
    }
    case_end_writers(b.c, RANKS, 1, 9000);
    judged j = judge(b.c);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 0, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* A ring of one with a declared depth: from round 3 on its reader asks for the round before. The producer is not to blame. */
static void test_reader_that_asks_too_little_is_not_lapped(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), full = cb_slot(c, pad, 1, 0, 0), room = cb_slot(c, cb_pad(c, "room", "", "", 1, 1, 0), 0, 0, 0);
    case_depth(c, pad, 1);
    for (uint32_t g = 1; g <= 5; g++) {
        if (g > 1)
            cb_pass(c, RING(0, 0), 1000 * g + 10, room, g - 1, g - 1);
        cb_signal(c, RING(0, 0), 1000 * g + 20, full, g);
        cb_pass(c, RING(1, 0), 1000 * g + 30, full, g, g < 3 ? g : g - 1);
        cb_signal(c, RING(1, 0), 1000 * g + 40, room, g);
    }
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_first(&j, XSA_EARLY_PASS, XSA_ERROR, "rank 1 full", 1, 0);
    expect_not(&j, XSA_LAPPING);
    judged_free(&j);
}

/* Two producers take turns at one place of a queue; its reader names none of them. The second writes before the first one's was read. */
static judged queue(bool waits) {
    box b = begin();
    uint32_t item = cb_slot(b.c, cb_pad(b.c, "item", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), head = cb_pad(b.c, "head", "", "", 1, 1, 0);
    for (uint32_t g = 1; g <= 4; g++) {
        uint32_t by = 1 + g % 2;
        uint64_t at = 1000 * (g + 1);
        if (g > 1 && (waits || g != 3))
            cb_pass(b.c, RING(by, 0), at, cb_slot(b.c, head, by, 0, 0), g - 1, g - 1);
        access(&b, by, at + 10, WRITE, g, 0);
        cb_signal(b.c, RING(by, 0), at + 30, item, g);
        cb_pass(b.c, RING(0, 0), at + 40, item, g, g);
        access(&b, 0, at + 50, READ, g, XS_NO_PEER);
        for (uint32_t r = 1; r < RANKS; r++)
            cb_signal(b.c, RING(0, 0), at + 70 + r, cb_slot(b.c, head, r, 0, 0), g);
    }
    case_end_writers(b.c, RANKS, 1, 9000);
    return judge(b.c);
}
static void test_queue_of_several_producers_is_one_place(void **state) {
    (void)state;
    judged j = queue(false);
    expect_first(&j, XSA_LAPPING, XSA_ERROR, "", 2, 0);
    judged_free(&j);
    j = queue(true);
    expect_clean(&j);
    judged_free(&j);
}

/* Its consumer waits for a slot that others signal in turn: it does not wait for itself, though it was the last to pass. Who left early owes it. */
static void test_consumer_of_a_queue_does_not_wait_for_itself(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t item = cb_slot(c, cb_pad(c, "item", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    for (uint32_t g = 1; g <= 4; g++) {
        cb_epoch(c, RING(1 + g % 2, 0), 1000 * g, (g + 1) / 2);
        cb_signal(c, RING(1 + g % 2, 0), 1000 * g + 10, item, g);
        cb_pass(c, RING(0, 0), 1000 * g + 20, item, g, g);
    }
    cb_writer_end(c, RING(1, 0), 5000);
    cb_epoch(c, RING(2, 0), 5000, 3);
    cb_writer_end(c, RING(2, 0), 6000);
    case_open_wait(c, RING(0, 0), 4500, item, 5, 4);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 item", 1, 0);
    expect_not(&j, XSA_WAIT_CYCLE);
    judged_free(&j);
}

/* Two who add to a gate, its waiter being one of them, and both have in this round: it asks for more than that. The other one waits for what comes
 * behind the gate. That is no circle: nobody in it could add anything. */
static void test_gate_that_asks_for_too_much_is_no_circle(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), next = cb_slot(c, cb_pad(c, "next", "", "", 1, 1, 0), 1, 0, 0);
    for (uint32_t round = 1; round <= 3; round++) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t r = 0; r < 2; r++) {
            cb_epoch(c, RING(r, 0), at, round);
            cb_gate(c, RING(r, 0), at + 10 + r, gate, 2 * (round - 1) + r, 1);
        }
        if (round < 3) {
            cb_pass(c, RING(0, 0), at + 20, gate, 2 * round, 2 * round);
            cb_signal(c, RING(0, 0), at + 30, next, round);
            cb_pass(c, RING(1, 0), at + 40, next, round, round);
        }
    }
    case_open_wait(c, RING(0, 0), 5000, gate, 7, 6);
    case_open_wait(c, RING(1, 0), 5010, next, 3, 2);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", -1, -1);
    expect_not(&j, XSA_WAIT_CYCLE);
    judged_free(&j);
}

/* Arrivals by routing: some come in one round and not in the next. Of several that have not come none is accused. */
static void test_arrivals_now_and_then_accuse_nobody(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    static const uint8_t comes[4][3] = {{1, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 0, 0}};
    uint64_t count = 0;
    for (uint32_t round = 1; round <= 4; round++)
        for (uint32_t r = 0; r < 3; r++) {
            cb_epoch(c, RING(r, 0), 1000 * round + 2 * r, round);
            if (comes[round - 1][r])
                cb_gate(c, RING(r, 0), 1000 * round + 2 * r + 1, gate, count++, 1);
        }
    cb_writer_end(c, RING(1, 0), 6000);
    cb_writer_end(c, RING(2, 0), 6000);
    case_open_wait(c, RING(0, 0), 5000, gate, count + 1, count);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", -1, -1);
    assert_int_equal(j.result->findings[0].owes_rank, XSR_NONE);
    assert_non_null(strstr(j.result->findings[0].text, "2 of the 3 who arrive there now and then"));
    judged_free(&j);
}

/* Two in a lock at once: the later of them lets it go with the lower number. That signal was not lost on its way. */
static void test_signal_under_a_lower_one_has_not_vanished(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t turn = cb_slot(c, cb_pad(c, "turn", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    cb_signal(c, RING(0, 0), 2000, turn, 1);
    cb_pass(c, RING(1, 0), 2100, turn, 1, 1);
    cb_signal(c, RING(1, 0), 2200, turn, 3);
    cb_pass(c, RING(0, 0), 2250, turn, 3, 1);
    cb_signal(c, RING(0, 0), 2300, turn, 2);
    case_open_wait(c, RING(2, 0), 2400, turn, 3, 2);
    judged j = judge(c);
    expect_first(&j, XSA_REGRESSION, XSA_ERROR, "rank 0 turn", 0, 0);
    expect_not(&j, XSA_VANISHED_SIGNAL);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_of_a_round_that_is_written_behind_it), cmocka_unit_test(test_signal_of_the_round_before_tells_nothing_of_this_one),
        cmocka_unit_test(test_missing_wait_is_no_missing_credit),         cmocka_unit_test(test_reader_that_asks_too_little_is_not_lapped),
        cmocka_unit_test(test_queue_of_several_producers_is_one_place),   cmocka_unit_test(test_consumer_of_a_queue_does_not_wait_for_itself),
        cmocka_unit_test(test_gate_that_asks_for_too_much_is_no_circle),  cmocka_unit_test(test_arrivals_now_and_then_accuse_nobody),
        cmocka_unit_test(test_signal_under_a_lower_one_has_not_vanished)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
