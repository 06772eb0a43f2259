/* Shapes that programs come in: one fence for many stores, barriers in two steps, counts from routing, rings with credits, flags that several wait for. */
#include "judge.h"

#include <xs/xs.h>

enum { WRITE = XS_EV_WRITE_BEGIN, READ = XS_EV_READ_BEGIN, WHOLE = 0 };

static uint32_t slot_of(cb *c, const char *pad, uint32_t flags, uint32_t owner) { return cb_slot(c, cb_pad(c, pad, "", "", 1, 1, flags), owner, 0, 0); }
static void lose_at(cb *c, uint32_t ring, uint64_t record) {
    if (record)
        cb_lose(c, ring, record, record, XS_LOSS_OVERWRITTEN);
}
/* red.release.sys of one. */
static void add(cb *c, uint32_t ring, uint64_t at, uint32_t slot, uint32_t old) {
    cb_full event = {.kind = XS_EV_GATE_ARRIVE, .object = slot, .value = old, .order = XS_RELEASE, .scope = XS_SCOPE_SYS, .detail = 1};
    cb_full_event(c, ring, at, &event);
}
/* A wait that gives up in the end, all of them at once. */
static void hangs(cb *c, uint32_t ring, uint64_t at, uint32_t slot, uint64_t need, uint64_t has) {
    cb_wait_start(c, ring, at, slot, need, has);
    cb_wait_end(c, ring, 900000, slot, has, XS_RESULT_TIMEOUT, 1000);
}

/* Rank 0 puts a batch to ranks 1 to 3, fences once, and signals all by relaxed stores; they wait relaxed, and fence behind it. */
static judged one_fence(uint32_t rounds, uint32_t unfenced, bool fence_lost) {
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, 0), name = cb_mark_name(c, "batch");
    for (uint32_t round = 1; round <= rounds; round++) {
        uint64_t at = 2000 + 10000 * round, fence;
        for (uint32_t r = 1; r < 4; r++) {
            cb_payload(c, RING(0, 0), at + 10 * r, WRITE, name, round, round, r, 1, 64);
            cb_payload_end(c, RING(0, 0), at + 10 * r + 5, name, round);
        }
        fence = cb_next(c, RING(0, 0));
        if (round < unfenced)
            cb_one(c, RING(0, 0), at + 100, XS_CODE_FENCE_ACQREL_SYS, 0, 10);
        if (fence_lost)
            lose_at(c, RING(0, 0), fence);
        for (uint32_t r = 1; r < 4; r++)
            cb_one(c, RING(0, 0), at + 200 + 10 * r, XS_CODE_SIGNAL_RLX_SYS, cb_slot(c, pad, r, 0, 0), round);
        for (uint32_t r = 1; r < 4; r++) {
            cb_one(c, RING(r, 0), at + 300, XS_CODE_PASS_RLX_SYS, cb_slot(c, pad, r, 0, 0), round);
            cb_one(c, RING(r, 0), at + 310, XS_CODE_FENCE_ACQ_SYS, 0, 20);
            cb_payload(c, RING(r, 0), at + 320, READ, name, round, round, 0, 1, 64);
            cb_payload_end(c, RING(r, 0), at + 330, name, round);
        }
    }
    case_end_writers(c, 4, 1, 900000);
    return judge(c);
}
static void test_fence_that_is_lost_stood_before_all_stores_behind_it(void **state) {
    (void)state;
    judged j = one_fence(1, UINT32_MAX, false);
    expect_clean(&j);
    judged_free(&j);
    j = one_fence(1, UINT32_MAX, true); /* the last store is not the record behind it */
    expect_errors(&j, 0);
    judged_free(&j);
}
static void test_wait_with_a_fence_behind_it_is_not_to_blame(void **state) {
    (void)state;
    judged j = one_fence(6, 4, false);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "", 0, 0);
    judged_free(&j);
}

/* Ranks 0 to 3 add to rank 0's counter, rank 0 lets all go on when it is full. Rank 2 leaves its arrival out in the last round; or rank 3 is not let
 * go, and cannot arrive in the next. */
typedef enum wrong { NOT_ARRIVED, NOT_RELEASED } wrong;
static cb *two_steps(wrong what, uint64_t lose_in) {
    cb *c = case_begin(4, 1, 1);
    uint32_t node = slot_of(c, "node", XS_PAD_SHARED, 0), pad = cb_pad(c, "go", "", "", 1, 1, 0);
    for (uint32_t round = 1; round <= 6; round++) {
        uint64_t at = 10000 * round, lost = 0;
        bool last = round == 6, left_out = last && what == NOT_ARRIVED;
        for (uint32_t r = 0, old = 4 * (round - 1); r < 4; r++) {
            if (last && what == NOT_RELEASED && r == 3)
                continue;
            cb_epoch(c, RING(r, 0), at + r, round);
            if (!(left_out && r == 2))
                add(c, RING(r, 0), at + 100 + r, node, old++);
        }
        if (last) {
            hangs(c, RING(0, 0), at + 200, node, 24, 23);
            for (uint32_t r = 1; r < 4; r++)
                hangs(c, RING(r, 0), what == NOT_RELEASED && r == 3 ? at - 9800 : at + 200 + r, cb_slot(c, pad, r, 0, 0), what == NOT_RELEASED && r == 3 ? 5 : 6,
                      what == NOT_RELEASED && r == 3 ? 4 : 5);
            break;
        }
        cb_pass(c, RING(0, 0), at + 200, node, 4 * round, 4 * round);
        for (uint32_t r = 0; r < 4; r++)
            if (!(what == NOT_RELEASED && round == 5 && r == 3))
                cb_signal(c, RING(0, 0), at + 300 + r, cb_slot(c, pad, r, 0, 0), round);
        for (uint32_t r = 0; r < 4; r++) {
            lost = cb_next(c, RING(r, 0));
            if (!(what == NOT_RELEASED && round == 5 && r == 3))
                cb_pass(c, RING(r, 0), at + 400 + r, cb_slot(c, pad, r, 0, 0), round, round);
            if (lose_in == round && r == 2)
                lose_at(c, RING(r, 0), lost);
        }
    }
    return c;
}
static void test_who_waits_without_having_arrived_has_left_it_out(void **state) {
    (void)state;
    for (uint32_t lost = WHOLE; lost <= 3; lost += 3) {
        cb *c = two_steps(NOT_ARRIVED, lost);
        case_end_writers(c, 4, 1, 910000);
        judged j = judge(c);
        expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 node", 2, 0);
        expect_errors(&j, 1);
        judged_free(&j);
    }
}
static void test_who_was_not_let_into_a_round_has_not_left_its_arrival_out(void **state) {
    (void)state;
    cb *c = two_steps(NOT_RELEASED, WHOLE);
    case_end_writers(c, 4, 1, 910000);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 3 go", 0, 0);
    judged_free(&j);
}

/* Ranks 1 to 3 put a number of tokens to rank 0 that varies, and wait until it has had them all. In the last round it expects one more. */
static void test_who_has_nothing_to_add_holds_nobody_up(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t tokens = slot_of(c, "tokens", XS_PAD_SHARED, 0), done = cb_pad(c, "done", "", "", 1, 1, 0), count = 0;
    for (uint32_t round = 1; round <= 9; round++) {
        uint64_t at = 10000 * round;
        bool last = round == 9;
        uint32_t before = count;
        for (uint32_t r = 0; r < 4; r++)
            cb_epoch(c, RING(r, 0), at + r, round);
        for (uint32_t r = 1; r < 4; r++)
            for (uint32_t n = 0; n < (r + round) % 3; n++)
                add(c, RING(r, 0), at + 100 + 10 * r + n, tokens, count++);
        cb_expect(c, RING(0, 0), at + 150, tokens, count - before + last, round);
        if (last)
            hangs(c, RING(0, 0), at + 200, tokens, count + 1, count);
        else
            cb_pass(c, RING(0, 0), at + 200, tokens, count, count);
        for (uint32_t r = 1; r < 4; r++)
            if (last) {
                hangs(c, RING(r, 0), at + 210 + r, cb_slot(c, done, r, 0, 0), round, round - 1);
            } else {
                cb_signal(c, RING(0, 0), at + 300 + r, cb_slot(c, done, r, 0, 0), round);
                cb_pass(c, RING(r, 0), at + 400 + r, cb_slot(c, done, r, 0, 0), round, round);
            }
    }
    case_end_writers(c, 4, 1, 910000);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 tokens", 0, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* Three blocks elect with one arrival each; block 1 arrives with two, once, before the others. */
static void test_arrival_of_more_weight_than_ever_is_what_made_one_too_many(void **state) {
    (void)state;
    cb *c = case_begin(1, 3, 3);
    uint32_t votes = slot_of(c, "votes", XS_PAD_SHARED, 0);
    for (uint32_t round = 1, base = 0; round <= 6; round++, base += 3)
        for (uint32_t b = 0, old = base; b < 3; b++) {
            uint32_t block = (b + 1) % 3, weight = round == 6 && block == 1 ? 2 : 1;
            cb_epoch(c, RING(0, block), 10000 * round + 10 * b, round);
            cb_arrive_full(c, RING(0, block), 10000 * round + 10 * b + 5, votes, old, weight, 3, base + 3);
            old += weight;
        }
    case_end_writers(c, 1, 3, 900000);
    judged j = judge(c);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 votes", 0, 1);
    judged_free(&j);
}

/* A ring of three between two ranks. From round 7 on the reader gives no credit, and both stand still. lost: a wait of the reader in that round. */
static judged no_credit(uint32_t lost) {
    cb *c = case_begin(2, 1, 1);
    uint32_t full = slot_of(c, "full", 0, 1), room = slot_of(c, "room", 0, 0);
    for (uint32_t round = 1; round <= 10; round++) {
        uint64_t at = 10000 * round, record;
        cb_epoch(c, RING(0, 0), at, round);
        cb_epoch(c, RING(1, 0), at, round);
        if (round == 10) {
            hangs(c, RING(0, 0), at + 10, room, 7, 6);
            hangs(c, RING(1, 0), at + 10, full, 10, 9);
            break;
        }
        if (round > 3)
            cb_pass(c, RING(0, 0), at + 10, room, round - 3, round - 3);
        cb_signal(c, RING(0, 0), at + 100, full, round);
        record = cb_next(c, RING(1, 0));
        cb_pass(c, RING(1, 0), at + 200, full, round, round);
        if (round == lost)
            lose_at(c, RING(1, 0), record);
        if (round < 7)
            cb_signal(c, RING(1, 0), at + 300, room, round);
    }
    case_end_writers(c, 2, 1, 910000);
    return judge(c);
}
/* It was told as a circle of the two, which nothing lost could undo. */
static void test_signal_left_out_is_no_circle_where_records_are_lost(void **state) {
    (void)state;
    for (uint32_t lost = WHOLE; lost < 10; lost++) {
        judged j = no_credit(lost);
        assert_null(finding_of(&j, XSA_WAIT_CYCLE));
        if (lost == WHOLE || lost < 7)
            expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 room", 1, 0);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_that_is_lost_stood_before_all_stores_behind_it),
        cmocka_unit_test(test_wait_with_a_fence_behind_it_is_not_to_blame),
        cmocka_unit_test(test_who_waits_without_having_arrived_has_left_it_out),
        cmocka_unit_test(test_who_was_not_let_into_a_round_has_not_left_its_arrival_out),
        cmocka_unit_test(test_who_has_nothing_to_add_holds_nobody_up),
        cmocka_unit_test(test_arrival_of_more_weight_than_ever_is_what_made_one_too_many),
        cmocka_unit_test(test_signal_left_out_is_no_circle_where_records_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
