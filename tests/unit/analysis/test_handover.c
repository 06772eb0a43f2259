/* A place that is handed on: by a lock, by credits, by counts. Who is to blame where nothing orders two accesses of it. */
#include "judge.h"

enum { WRITE = XS_EV_WRITE_BEGIN, READ = XS_EV_READ_BEGIN };

static void touch(cb *c, uint32_t ring, uint64_t at, uint32_t kind, uint32_t name, uint32_t index, uint32_t generation, uint32_t peer) {
    cb_payload(c, ring, at, kind, name, index, generation, peer, 1, 64);
    cb_payload_end(c, ring, at + 10, name, index);
}

static void add_as(cb *c, uint32_t ring, uint64_t at, uint32_t slot, uint32_t old, uint32_t add, uint32_t order) {
    cb_full event = {.kind = XS_EV_GATE_ARRIVE, .object = slot, .value = old, .order = order, .scope = XS_SCOPE_SYS, .detail = add};
    cb_full_event(c, ring, at, &event);
}

/* Three ranks take turns at what a ticket lock guards, in one place for all: no reader or writer names a peer. Turn t waits for t and signals
 * t + 1. In turn 7, which is rank 1's, something is wrong. */
typedef enum wrong { RIGHT, WEAK_RELEASE, WEAK_ACQUIRE, READS_BEHIND, WRITES_BEHIND, LETS_IN_TWO } wrong;
enum { TURNS = 11, TURN = 7 };
static judged lock(wrong what) {
    cb *c = case_begin(3, 1, 1);
    uint32_t serving = cb_slot(c, cb_pad(c, "serving", "", "", 1, 1, XS_PAD_SHARED | XS_PAD_ADOPTED), 0, 0, 0), name = cb_mark_name(c, "table");
    for (uint32_t t = 0; t < TURNS; t++) {
        uint32_t ring = RING(t % 3, 0);
        uint64_t at = 1000 * (t + 2) - (what == LETS_IN_TWO && t == TURN + 2 ? 985 : 0);
        wrong here = t == TURN ? what : RIGHT;
        if (t == 0)
            cb_pass(c, ring, at, serving, 0, 0);
        else if (here == WEAK_ACQUIRE)
            cb_one(c, ring, at, XS_CODE_PASS_RLX_SYS, serving, t);
        else
            cb_pass(c, ring, at, serving, what == LETS_IN_TWO && t == TURN + 1 ? t + 1 : t, t);
        if (t)
            touch(c, ring, at + 20, READ, name, 0, t, XS_NO_PEER);
        if (here == WRITES_BEHIND)
            cb_signal(c, ring, at + 35, serving, t + 1);
        touch(c, ring, at + 40, WRITE, name, 0, t + 1, XS_NO_PEER);
        if (here == WEAK_RELEASE)
            cb_one(c, ring, at + 60, XS_CODE_SIGNAL_RLX_SYS, serving, t + 1);
        else if (here != WRITES_BEHIND)
            cb_signal(c, ring, at + 60, serving, t + (here == LETS_IN_TWO ? 2 : 1));
        if (here == READS_BEHIND)
            touch(c, ring, at + 70, READ, name, 0, t + 1, XS_NO_PEER);
    }
    case_end_writers(c, 3, 1, 90000);
    return judge(c);
}
static void test_lock_that_is_right(void **state) {
    (void)state;
    judged j = lock(RIGHT);
    expect_clean(&j);
    judged_free(&j);
}
static void blamed(wrong what, uint32_t detector, int rank, const char *words) {
    judged j = lock(what);
    expect_first(&j, detector, XSA_ERROR, "rank 0 serving", rank, 0);
    if (!strstr(j.result->findings[0].text, words))
        fail_msg("%s: not said: %s", j.result->findings[0].text, words);
    judged_free(&j);
}
static void test_weak_side_of_a_lock_is_named(void **state) {
    (void)state;
    blamed(WEAK_RELEASE, XSA_ORDER_SCOPE, TURN % 3, "the signal at serving does not release that far");
    blamed(WEAK_ACQUIRE, XSA_ORDER_SCOPE, TURN % 3, "the wait for serving before it does not acquire that far");
}
static void test_read_behind_the_release_is_its_readers_fault(void **state) {
    (void)state;
    blamed(READS_BEHIND, XSA_PAYLOAD_RACE, TURN % 3, "has waited for serving, but given it on before");
}
static void test_write_behind_the_release_is_told_too_early(void **state) {
    (void)state;
    blamed(WRITES_BEHIND, XSA_PARTIAL_PUBLISH, TURN % 3, "of generation 8");
}
static void test_two_that_are_let_in_are_not_to_blame(void **state) {
    (void)state;
    blamed(LETS_IN_TWO, XSA_COUNT_MISMATCH, TURN % 3, "though that was not its turn");
}

/* A ring of four buffers, with a credit behind every second read. In round 6 the reader gives it before it reads, gives it twice, or weakly. */
typedef enum credit { BEHIND, BEFORE, TWICE, WEAKLY } credit;
static judged ring_of_four(credit what) {
    cb *c = case_begin(2, 1, 1);
    uint32_t full = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 1, 0, 0), room = cb_slot(c, cb_pad(c, "room", "", "", 1, 1, XS_PAD_SHARED | XS_PAD_ADOPTED), 0, 0, 0),
             name = cb_mark_name(c, "tile");
    uint32_t given = 0;
    for (uint32_t g = 1; g <= 12; g++) {
        uint64_t at = 1000 * (g + 1), add = at + 60;
        if (g > 4)
            cb_pass(c, RING(0, 0), at, room, given, g - 4);
        touch(c, RING(0, 0), at + 10, WRITE, name, g % 4, g, 1);
        cb_signal(c, RING(0, 0), at + 30, full, g);
        cb_pass(c, RING(1, 0), at + 40, full, g, g);
        if (g == 6 && what == BEFORE)
            add = at + 45;
        if (g % 2 == 0 && add < at + 50)
            add_as(c, RING(1, 0), add, room, given, 2, XS_RELEASE), given += 2;
        if (g == 6 && what == BEFORE) /* the writer is two rounds ahead by then */
            cb_pass(c, RING(0, 0), at + 46, room, given, 6), touch(c, RING(0, 0), at + 47, WRITE, name, 10 % 4, 10, 1);
        touch(c, RING(1, 0), at + 50, READ, name, g % 4, g, 0);
        if (g == 6 && what == BEFORE)
            break;
        if (g % 2 == 0 && what == WEAKLY)
            add_as(c, RING(1, 0), add, room, given, 2, XS_RELAXED), given += 2;
        else if (g % 2 == 0)
            add_as(c, RING(1, 0), add, room, given, 2, XS_RELEASE), given += 2;
        if (g == 6 && what == TWICE) {
            add_as(c, RING(1, 0), add + 5, room, given, 2, XS_RELEASE), given += 2;
            cb_pass(c, RING(0, 0), at + 70, room, given, 8);
            touch(c, RING(0, 0), at + 80, WRITE, name, 7 % 4, 7, 1);
            cb_signal(c, RING(0, 0), at + 95, full, 7);
            cb_pass(c, RING(1, 0), at + 100, full, 7, 7);
            touch(c, RING(1, 0), at + 110, READ, name, 7 % 4, 7, 0);
            touch(c, RING(0, 0), at + 130, WRITE, name, 11 % 4, 11, 1);
            break;
        }
    }
    case_end_writers(c, 2, 1, 90000);
    return judge(c);
}
static void test_credits_that_are_right(void **state) {
    (void)state;
    judged j = ring_of_four(BEHIND);
    expect_clean(&j);
    judged_free(&j);
}
static void test_credit_before_the_read_is_its_readers_fault(void **state) {
    (void)state;
    for (credit what = BEFORE; what <= TWICE; what++) {
        judged j = ring_of_four(what);
        expect_first(&j, XSA_LAPPING, XSA_ERROR, "rank 0 room", 1, 0);
        assert_non_null(strstr(j.result->findings[0].text, "behind fewer reads than ever before"));
        judged_free(&j);
    }
}
static void test_weak_credit_is_its_readers_fault(void **state) {
    (void)state;
    judged j = ring_of_four(WEAKLY);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 0 room", 1, 0);
    judged_free(&j);
}

/* Two buffers in turn. In round 6 the batch is written beside them, or looked for where the one before was. */
static judged misplaced(uint32_t written, uint32_t read, bool late) { /* late: looked for when that place has the next one */
    cb *c = case_begin(2, 1, 1);
    uint32_t full = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 1, 0, 0), room = cb_slot(c, cb_pad(c, "room", "", "", 1, 1, 0), 0, 0, 0), name = cb_mark_name(c, "tile");
    for (uint32_t g = 1; g <= 9; g++) {
        uint64_t at = 1000 * (g + 1);
        if (g > 2)
            cb_pass(c, RING(0, 0), at, room, late && g == 7 ? 5 : g - 1, late && g == 7 ? 5 : g - 1);
        touch(c, RING(0, 0), at + 10, WRITE, name, g == 6 ? written : g % 2, g, 1);
        if (late && g == 7)
            touch(c, RING(1, 0), at + 21, READ, name, read, 6, 0), cb_signal(c, RING(1, 0), at + 29, room, 6);
        cb_signal(c, RING(0, 0), at + 30, full, g);
        cb_pass(c, RING(1, 0), at + 40, full, g, g);
        if (late && g == 6)
            continue;
        touch(c, RING(1, 0), at + 50, READ, name, g == 6 ? read : g % 2, g, 0);
        cb_signal(c, RING(1, 0), at + 70, room, g);
    }
    case_end_writers(c, 2, 1, 90000);
    return judge(c);
}
static void test_batch_that_was_never_written(void **state) {
    (void)state;
    judged j = misplaced(2, 0, false);
    expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 1 full", 0, 0);
    assert_non_null(strstr(j.result->findings[0].text, "never wrote there"));
    expect_errors(&j, 1);
    judged_free(&j);
}
static void test_batch_that_was_looked_for_elsewhere(void **state) {
    (void)state;
    for (uint32_t late = 0; late < 2; late++) {
        judged j = misplaced(0, 1, late);
        expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "rank 1 full", 1, 0);
        assert_non_null(strstr(j.result->findings[0].text, "where rank 0 work block 0 writes one in 2 and never that one"));
        judged_free(&j);
        j = misplaced(0, 0, late);
        expect_clean(&j);
        judged_free(&j);
    }
}

/* Credits of a ring of three are counted. From round 5 on each third is left out, or none is and in round 9 the writer waits for one more. */
static cb *counted_credits(bool left_out) {
    cb *c = case_begin(2, 1, 1);
    uint32_t full = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 1, 0, 0), room = cb_slot(c, cb_pad(c, "room", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), given = 0;
    for (uint32_t g = 1; g <= 20; g++) {
        uint64_t at = 1000 * (g + 1), need = g > 3 ? g - 3 : 0;
        need = !left_out && g == 9 ? g : need;
        cb_epoch(c, RING(0, 0), at, g);
        cb_epoch(c, RING(1, 0), at + 1, g);
        if (given < need) {
            case_open_wait(c, RING(0, 0), at + 10, room, need, given);
            case_open_wait(c, RING(1, 0), at + 20, full, g, g - 1);
            break;
        }
        if (need)
            cb_pass(c, RING(0, 0), at + 10, room, given, need);
        cb_signal(c, RING(0, 0), at + 30, full, g);
        cb_pass(c, RING(1, 0), at + 40, full, g, g);
        if (!left_out || g < 5 || g % 3 != 2)
            add_as(c, RING(1, 0), at + 60, room, given++, 1, XS_RELEASE);
    }
    return c;
}
static void test_credits_left_out_are_no_circle(void **state) {
    (void)state;
    judged j = judge(counted_credits(true));
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 room", 1, 0);
    assert_non_null(strstr(j.result->findings[0].text, "has gone past 3 of its rounds without arriving there"));
    expect_errors(&j, 1);
    judged_free(&j);
    j = judge(counted_credits(false));
    expect_first(&j, XSA_WAIT_CYCLE, XSA_ERROR, "", -1, -1);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* With some records lost, which is it? Both hang for sure; it was unknown whatever was lost. */
typedef struct told { uint32_t right, runs; } told;
static void tell(told *t, bool left_out, uint32_t rank, uint64_t first, uint64_t last) {
    cb *c = counted_credits(left_out);
    cb_lose(c, RING(rank, 0), first, last, XS_LOSS_OVERWRITTEN);
    judged j = judge(c);
    const xsa_finding *false_one = finding_of(&j, left_out ? XSA_WAIT_CYCLE : XSA_COUNT_MISMATCH), *right = finding_of(&j, left_out ? XSA_COUNT_MISMATCH : XSA_WAIT_CYCLE);
    if (false_one || j.result->errors != (right ? 1 : 0)) {
        print_all(&j);
        fail_msg("rank %u without records %d to %d", rank, (int)first, (int)last);
    }
    t->right += right != NULL;
    t->runs++;
    judged_free(&j);
}
static void test_counts_tell_a_circle_from_credits_left_out_where_records_are_lost(void **state) {
    (void)state;
    for (uint32_t left_out = 0; left_out < 2; left_out++) {
        told alone = {0}, runs = {0};
        cb *c = counted_credits(left_out);
        uint64_t records[2] = {cb_next(c, RING(0, 0)), cb_next(c, RING(1, 0))};
        judged j = judge(c);
        judged_free(&j);
        for (uint32_t rank = 0; rank < 2; rank++)
            for (uint64_t first = 1; first < records[rank]; first++) {
                tell(&alone, left_out, rank, first, first);
                tell(&runs, left_out, rank, first, first + 2 < records[rank] ? first + 2 : records[rank] - 1);
            }
        if (alone.right * 2 < alone.runs || runs.right * 3 < runs.runs)
            fail_msg("told in %u of %u with one lost, %u of %u with three", alone.right, alone.runs, runs.right, runs.runs);
    }
}

/* Three ranks put a tile each to rank 0 and add one. In round 5 rank 2 adds twice, and rank 0 goes on without rank 1's. */
static void test_count_that_another_has_filled(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), name = cb_mark_name(c, "tile"), count = 0;
    for (uint32_t round = 1; round <= 5; round++) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t r = 0; r < 4; r++)
            cb_epoch(c, RING(r, 0), at + r, round);
        for (uint32_t r = 3; r > 0; r--) {
            uint64_t when = round == 5 && r == 1 ? at + 500 : at + 100 - 10 * r;
            touch(c, RING(r, 0), when, WRITE, name, r + 4 * round, round, 0);
            add_as(c, RING(r, 0), when + 20 + r, sum, round == 5 && r == 1 ? count + 1 : count, 1, XS_RELEASE);
            count += round != 5 || r != 1;
            if (round == 5 && r == 2)
                add_as(c, RING(r, 0), when + 40, sum, count, 1, XS_RELEASE);
        }
        cb_pass(c, RING(0, 0), at + 300, sum, 3 * round, 3 * round);
        for (uint32_t r = 1; r < 4; r++)
            touch(c, RING(0, 0), at + 300 + 20 * r, READ, name, r + 4 * round, round, r);
    }
    case_end_writers(c, 4, 1, 90000);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 sum", 2, 0);
    judged_free(&j);
}

/* Two ranks signal one slot in turn, and the stamp of the first is the later one. A wait for it has its turn behind it all the same. */
static void test_signal_that_is_still_to_come_behind_a_later_one(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t go = cb_slot(c, cb_pad(c, "go", "", "", 1, 1, 0), 1, 0, 0), serving = cb_slot(c, cb_pad(c, "serving", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), name = cb_mark_name(c, "tile");
    touch(c, RING(0, 0), 2000, WRITE, name, 0, 1, 2);
    cb_signal(c, RING(0, 0), 2500, go, 1);
    cb_pass(c, RING(1, 0), 2400, go, 1, 1); /* its clock is behind */
    touch(c, RING(1, 0), 2410, WRITE, name, 1, 1, 2);
    cb_signal(c, RING(1, 0), 2430, serving, 1);
    cb_signal(c, RING(3, 0), 2440, serving, 2);
    cb_pass(c, RING(2, 0), 2420, serving, 1, 1);
    touch(c, RING(2, 0), 2425, READ, name, 1, 1, 1);
    case_end_writers(c, 4, 1, 90000);
    judged j = judge(c);
    expect_not(&j, XSA_PAYLOAD_RACE);
    expect_not(&j, XSA_PARTIAL_PUBLISH);
    judged_free(&j);
}

/* Three blocks of one rank add to another one's counter, one of them by a load and a store. */
static void test_who_sets_a_counter_back_is_named(void **state) {
    (void)state;
    cb *c = case_begin(2, 3, 3);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t at = 1000 * (round + 2);
        cb_gate(c, RING(1, 0), at, sum, 2 * round, 1);
        cb_gate(c, RING(1, 1), at + 20, sum, 2 * round, 1); /* it had read it before block 0 added */
        cb_gate(c, RING(1, 2), at + 40, sum, 2 * round + 1, 1);
    }
    case_end_writers(c, 2, 3, 90000);
    judged j = judge(c);
    expect_first(&j, XSA_VANISHED_SIGNAL, XSA_ERROR, "rank 0 sum", 1, 1);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* Four blocks add to a count and wait for it. In round 5 one waits without having added. */
static void test_who_waits_for_its_own_arrival_is_named(void **state) {
    (void)state;
    enum { BLOCKS = 4, LACKS = 2, LAST = 5 };
    cb *c = case_begin(1, BLOCKS, BLOCKS);
    uint32_t sum = cb_slot(c, cb_pad(c, "sum", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0), count = 0;
    for (uint32_t round = 1; round <= LAST; round++) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t b = 0; b < BLOCKS; b++) {
            cb_epoch(c, RING(0, b), at + b, round);
            if (round < LAST || b != LACKS)
                add_as(c, RING(0, b), at + 10 + 10 * b, sum, count++, 1, XS_ACQ_REL);
        }
        for (uint32_t b = 0; b < BLOCKS && round < LAST; b++)
            cb_pass(c, RING(0, b), at + 100 + 10 * b, sum, count, count);
        for (uint32_t b = 0; b < BLOCKS && round == LAST; b++)
            case_open_wait(c, RING(0, b), at + 100 + 10 * b, sum, count + 1, count);
    }
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 sum", 0, LACKS);
    expect_errors(&j, 1);
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_that_is_right),
        cmocka_unit_test(test_weak_side_of_a_lock_is_named),
        cmocka_unit_test(test_read_behind_the_release_is_its_readers_fault),
        cmocka_unit_test(test_write_behind_the_release_is_told_too_early),
        cmocka_unit_test(test_two_that_are_let_in_are_not_to_blame),
        cmocka_unit_test(test_credits_that_are_right),
        cmocka_unit_test(test_credit_before_the_read_is_its_readers_fault),
        cmocka_unit_test(test_weak_credit_is_its_readers_fault),
        cmocka_unit_test(test_batch_that_was_never_written),
        cmocka_unit_test(test_batch_that_was_looked_for_elsewhere),
        cmocka_unit_test(test_credits_left_out_are_no_circle),
        cmocka_unit_test(test_counts_tell_a_circle_from_credits_left_out_where_records_are_lost),
        cmocka_unit_test(test_who_waits_for_its_own_arrival_is_named),
        cmocka_unit_test(test_count_that_another_has_filled),
        cmocka_unit_test(test_signal_that_is_still_to_come_behind_a_later_one),
        cmocka_unit_test(test_who_sets_a_counter_back_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
