/* The critical path of runs small enough to walk back by hand. All writers begin at 1 000 ns. */
#include "judge.h"

#include <stdlib.h>

static const xsa_blame *blame_of(const judged *j) {
    assert_non_null(j->result->blame);
    return j->result->blame;
}

static void expect_parts(const judged *j, const int64_t want[XSA_PART_COUNT]) {
    const xsa_blame *b = blame_of(j);
    int64_t sum = 0, at = b->begin;
    for (uint32_t p = 0; p < XSA_PART_COUNT; p++) {
        if (b->ns[p] != want[p])
            fail_msg("%s: %lld ns, should be %lld", xsa_part_name(p), (long long)b->ns[p], (long long)want[p]);
        sum += b->ns[p];
    }
    assert_int_equal(sum, b->end - b->begin);
    for (uint32_t i = 0; i < b->span_count; i++) { /* end to end */
        assert_int_equal(b->spans[i].begin, at);
        at = b->spans[i].end;
    }
    assert_int_equal(at, b->end);
}

static const xsa_slot_blame *slot_of(const judged *j, const char *label) {
    const xsa_blame *b = blame_of(j);
    for (uint32_t i = 0; i < b->slot_count; i++)
        if (strcmp(j->model->slots[b->slots[i].slot].label, label) == 0)
            return &b->slots[i];
    fail_msg("%s is not listed", label);
    return NULL;
}

/* ns of a part that is blamed on a rank and owed to a slot ("" none). */
static int64_t owed_by(const judged *j, uint32_t part, uint32_t rank, const char *label) {
    const xsa_blame *b = blame_of(j);
    int64_t ns = 0;
    for (uint32_t i = 0; i < b->sum_count; i++) {
        const char *slot = b->sums[i].slot == XSR_NONE ? "" : j->model->slots[b->sums[i].slot].label;
        if (b->sums[i].part == part && b->sums[i].owes_rank == rank && strcmp(slot, label) == 0)
            ns += b->sums[i].ns;
    }
    return ns;
}

/* Rank 0 works until 5 000 and signals; rank 1 has waited since 2 000, looks last at 5 200, sees it at 5 500 and works on until 8 000. */
static void over_a_wait_to_the_signal(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    cb_signal(c, RING(0, 0), 5000, ready, 1);
    cb_writer_end(c, RING(0, 0), 6000);
    cb_wait_start(c, RING(1, 0), 2000, ready, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 5500, ready, 1, 0, 9, 0, 300, 7, 0);
    cb_writer_end(c, RING(1, 0), 8000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 6500, [XSA_PART_LINK] = 200, [XSA_PART_LAG] = 300});
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, "rank 1 ready"), 4000);
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 1, ""), 2500);
    const xsa_slot_blame *s = slot_of(&j, "rank 1 ready");
    assert_int_equal(s->ns, 4500);
    assert_int_equal(s->lag_ns, 500);
    assert_int_equal(s->slack_ns, 0);
    assert_int_equal(s->owes_rank, 0);
    assert_int_equal(s->awaited, 1);
    judged_free(&j);
}

/* The same of ranks that have a process each. */
static void over_a_wait_to_the_signal_of_another_process(void **state) {
    (void)state;
    cb *c = cb_begin(judged_path());
    assert_non_null(c);
    for (uint32_t rank = 0; rank < 2; rank++) {
        cb_process(c, rank, 1, 2);
        uint32_t role = cb_role(c, "work"), kernel = cb_kernel(c, "case"), ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
        cb_launch_begin(c, 1, kernel, 900, 1, 32, rank, 1);
        cb_writer_begin(c, RING(0, 0), 1000, role, 0, 1);
        if (rank == 0) {
            cb_signal(c, RING(0, 0), 5000, ready, 1);
        } else {
            cb_wait_start(c, RING(0, 0), 2000, ready, 1, 0);
            cb_wait_end_at(c, RING(0, 0), 5500, ready, 1, 0, 9, 0, 300, 7, 0);
        }
        cb_writer_end(c, RING(0, 0), rank ? 8000 : 6000);
    }
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 6500, [XSA_PART_LINK] = 200, [XSA_PART_LAG] = 300});
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, "rank 1 ready"), 4000);
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 1, ""), 2500);
    const xsa_slot_blame *s = slot_of(&j, "rank 1 ready");
    assert_true(s->ns == 4500 && s->lag_ns == 500 && s->owes_rank == 0);
    judged_free(&j);
}

/* The same, but rank 1 comes at 7 000 only: nobody waited, and the signal could have come 2 000 ns later. */
static void a_signal_in_time_has_slack(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    cb_signal(c, RING(0, 0), 5000, ready, 1);
    cb_writer_end(c, RING(0, 0), 5100);
    cb_pass(c, RING(1, 0), 7000, ready, 1, 1);
    cb_writer_end(c, RING(1, 0), 8000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 7000});
    assert_int_equal(slot_of(&j, "rank 1 ready")->slack_ns, 2000);
    assert_int_equal(slot_of(&j, "rank 1 ready")->ns, 0);
    judged_free(&j);
}

/* Slack adds up along a chain: rank 0 -> rank 1 (waits 1 000 ns for something else) -> rank 2, which passes 500 ns later. */
static void slack_adds_up(void **state) {
    (void)state;
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "src", "", 4, 1, 0);
    uint32_t first = cb_slot(c, pad, 1, 0, 0), second = cb_slot(c, pad, 2, 1, 0), other = cb_slot(c, pad, 1, 3, 0);
    cb_signal(c, RING(0, 0), 2000, first, 1);
    cb_writer_end(c, RING(0, 0), 2010);
    cb_pass(c, RING(1, 0), 2000 + 100, first, 1, 1);  /* 100 later */
    cb_wait_start(c, RING(1, 0), 3000, other, 1, 0);  /* held up by rank 3 until 4 000 */
    cb_signal(c, RING(3, 0), 4000, other, 1);
    cb_writer_end(c, RING(3, 0), 4010);
    cb_wait_end(c, RING(1, 0), 4020, other, 1, 0, 3);
    cb_signal(c, RING(1, 0), 5000, second, 1);
    cb_writer_end(c, RING(1, 0), 5010);
    cb_pass(c, RING(2, 0), 5500, second, 1, 1);
    cb_writer_end(c, RING(2, 0), 9000);
    judged j = judge(c);
    assert_int_equal(slot_of(&j, "rank 2 ready[src=1]")->slack_ns, 500);
    assert_int_equal(slot_of(&j, "rank 1 ready[src=3]")->slack_ns, 500);
    assert_int_equal(slot_of(&j, "rank 1 ready[src=0]")->slack_ns, 100 + 1000 + 500);
    judged_free(&j);
}

/* Two pushers arrive; the second is elected, fences and signals: from the end of its payload on it publishes. */
static void the_elected_publishes(void **state) {
    (void)state;
    cb *c = case_begin(2, 2, 2);
    uint32_t done = cb_slot(c, cb_pad(c, "done", "", "", 1, 1, 0), 1, 0, 0), count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0);
    uint32_t write = cb_mark_name(c, "push");
    for (uint32_t p = 0; p < 2; p++) {
        uint64_t at = 2000 + p * 1000;
        cb_payload(c, RING(0, p), at, XS_EV_WRITE_BEGIN, write, 0, 1, 1, 8, 64);
        cb_payload_end(c, RING(0, p), at + 500, write, 0);
        cb_arrive_full(c, RING(0, p), at + 600, count, p, 1, 2, 2);
    }
    cb_signal(c, RING(0, 1), 3700, done, 1);
    cb_wait_start(c, RING(1, 0), 1500, done, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 4000, done, 1, 0, 9, 0, 100, 7, 0);
    cb_writer_end(c, RING(0, 0), 4500);
    cb_writer_end(c, RING(0, 1), 4500);
    cb_writer_end(c, RING(1, 1), 4500);
    cb_writer_end(c, RING(1, 0), 5000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 2500 + 1000, [XSA_PART_PUBLISH] = 200, [XSA_PART_LINK] = 200, [XSA_PART_LAG] = 100});
    assert_int_equal(slot_of(&j, "rank 1 done")->ns, 2500 + 200 + 300);
    judged_free(&j);
}

/* A gate is released by the arrival that fills it. */
static void over_a_gate_to_the_last_arrival(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t gate = cb_slot(c, cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), 2, 0, 0);
    cb_gate(c, RING(0, 0), 2000, gate, 0, 1);
    cb_wait_start(c, RING(2, 0), 1500, gate, 2, 0);
    cb_gate(c, RING(1, 0), 4000, gate, 1, 1);
    cb_wait_end_at(c, RING(2, 0), 4400, gate, 2, 0, 9, 0, 100, 7, 0);
    cb_writer_end(c, RING(0, 0), 4500);
    cb_writer_end(c, RING(1, 0), 4500);
    cb_writer_end(c, RING(2, 0), 5000);
    judged j = judge(c);
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 1, "rank 2 gate"), 3000);
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, "rank 2 gate"), 0);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 3600, [XSA_PART_LINK] = 300, [XSA_PART_LAG] = 100});
    judged_free(&j);
}

/* Nothing behind a slow consumer waits on the path, yet its producer waits for the slot of its credit: that is what it owes. */
static void work_is_owed_to_who_waits_for_it(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    for (uint64_t i = 1; i <= 10; i++) {
        uint64_t t = 1000 + i * 1000;
        if (i > 2) {
            cb_wait_start(c, RING(0, 0), t - 1900, credit, i - 2, i - 3);
            cb_wait_end(c, RING(0, 0), t - 950, credit, i - 2, 0, 5);
            cb_signal(c, RING(0, 0), t - 940, ready, i);
        } else {
            cb_signal(c, RING(0, 0), 1010 + i * 10, ready, i);
        }
        cb_pass(c, RING(1, 0), t + 10, ready, i, i);
        cb_signal(c, RING(1, 0), t + 1000, credit, i);
    }
    cb_writer_end(c, RING(0, 0), 12100);
    cb_writer_end(c, RING(1, 0), 12500);
    judged j = judge(c);
    const xsa_blame *b = blame_of(&j);
    assert_string_equal(j.model->slots[b->slots[0].slot].label, "rank 0 credit");
    assert_int_equal(b->slots[0].owes_rank, 1);
    assert_true(b->slots[0].ns > 8000);
    judged_free(&j);
}

/* Rank 1 takes 0, then 1 and 2, which were there long before: their work would have fitted into its wait, but for what it was short. */
static void head_of_line_is_work_that_was_ready(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "chunk", 1, 3, 0), slot[3];
    for (uint32_t k = 0; k < 3; k++)
        slot[k] = cb_slot(c, pad, 1, 0, k);
    cb_signal(c, RING(0, 0), 2000, slot[2], 1);
    cb_signal(c, RING(0, 0), 2500, slot[1], 1);
    cb_signal(c, RING(0, 0), 5000, slot[0], 1);
    cb_writer_end(c, RING(0, 0), 5100);
    cb_wait_start(c, RING(1, 0), 3500, slot[0], 1, 0);
    cb_wait_end_at(c, RING(1, 0), 5200, slot[0], 1, 0, 9, 0, 100, 7, 0);
    cb_pass(c, RING(1, 0), 6000, slot[1], 1, 1); /* works on it until 7 000: all of it fits into the 1 700 ns */
    cb_pass(c, RING(1, 0), 7000, slot[2], 1, 1); /* until 8 500: 700 ns of it do */
    cb_writer_end(c, RING(1, 0), 8500);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 4000 + 800 + 800, [XSA_PART_LINK] = 100, [XSA_PART_LAG] = 100,
                                                     [XSA_PART_LINE] = 1000 + 700});
    judged_free(&j);
}

/* Warps 0 and 1 of a block of rank 1; rank 0 signals at 5 000, warp 0 waits for it from 2 000 to 5 500. */
static uint32_t two_warps(cb *c, const char *beside) {
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0);
    cb_writer_begin(c, RING(0, 0), 1000, cb_role(c, "work"), 0, 1);
    cb_signal(c, RING(0, 0), 5000, ready, 1);
    cb_writer_end(c, RING(0, 0), 6000);
    cb_writer_begin_at(c, RING(1, 0), 1000, cb_role(c, "work"), 0, 1, 1, 0, 0, 0);
    cb_writer_begin_at(c, RING(1, 1), 1000, cb_role(c, beside), 0, 1, 1, 1, 0, 0);
    cb_wait_start(c, RING(1, 0), 2000, ready, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 5500, ready, 1, 0, 9, 0, 300, 7, 0);
    return ready;
}

/* Warp 1 ends last, and notes nothing: what it did before 5 500 the path does not go through. */
static void a_warp_joined_to_the_one_that_waits_is_not_blamed_for_the_wait(void **state) {
    (void)state;
    for (uint32_t other = 0; other < 2; other++) {
        cb *c = case_begin(2, 1, 0);
        two_warps(c, other ? "compute" : "work");
        cb_writer_end(c, RING(1, 0), 7990);
        cb_writer_end(c, RING(1, 1), 8000);
        judged j = judge(c);
        expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 6500, [XSA_PART_LINK] = 200, [XSA_PART_LAG] = 300});
        assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, "rank 1 ready"), 4000);
        assert_int_equal(slot_of(&j, "rank 1 ready")->slack_ns, 0); /* and not the 10 that warp 0 ended before it */
        judged_free(&j);
    }
}

/* Nor is one that signals what the block has worked on. One of another role goes its own way. */
static void a_warp_that_signals_behind_the_wait_of_its_block(void **state) {
    (void)state;
    for (uint32_t other = 0; other < 2; other++) {
        cb *c = case_begin(2, 1, 0);
        two_warps(c, other ? "compute" : "work");
        uint32_t back = cb_slot(c, cb_pad(c, "back", "", "", 1, 1, 0), 0, 0, 0);
        cb_writer_begin(c, RING(0, 1), 1000, cb_role(c, "work"), 1, 1);
        cb_wait_start(c, RING(0, 1), 1500, back, 1, 0);
        cb_signal(c, RING(1, 1), 7000, back, 1);
        cb_wait_end_at(c, RING(0, 1), 7500, back, 1, 0, 9, 0, 300, 7, 0);
        cb_writer_end(c, RING(1, 1), 7600);
        cb_writer_end(c, RING(1, 0), 7600);
        cb_writer_end(c, RING(0, 1), 9000);
        judged j = judge(c);
        assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, "rank 1 ready"), other ? 0 : 4000);
        assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 1, "rank 0 back"), other ? 6000 : 1500);
        assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, ""), 1500);
        assert_int_equal(slot_of(&j, "rank 0 back")->slack_ns, 0);
        assert_int_equal(slot_of(&j, "rank 1 ready")->slack_ns, other ? 1400 : 0);
        judged_free(&j);
    }
}

/* A block without any wait: whoever ends last worked. */
static void a_block_that_waits_for_nobody_works(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 0);
    for (uint32_t warp = 0; warp < 2; warp++)
        cb_writer_begin_at(c, RING(0, warp), 1000, cb_role(c, "work"), 0, 1, 0, warp, 0, 0);
    cb_writer_end(c, RING(0, 0), 3000);
    cb_writer_end(c, RING(0, 1), 4000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 3000});
    judged_free(&j);
}

/* Rank 1 begins at 4 000: the path goes back to its begin, and before that it was late. */
static void a_rank_that_begins_late(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    cb_process(c, 1, 1, 2);
    uint32_t role = cb_role(c, "work"), kernel = cb_kernel(c, "case");
    cb_launch_begin(c, 1, kernel, 900, 1, 32, 1, 1);
    cb_select(c, 0);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 0, 0, 0);
    cb_select(c, 1);
    uint32_t same = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 0, 0, 0);
    cb_writer_begin(c, 0, 4000, role, 0, 1);
    cb_signal(c, 0, 5000, same, 1);
    cb_writer_end(c, 0, 5100);
    cb_select(c, 0);
    cb_wait_start(c, RING(0, 0), 1500, ready, 1, 0);
    cb_wait_end_at(c, RING(0, 0), 5200, ready, 1, 0, 9, 0, 100, 7, 0);
    cb_writer_end(c, RING(0, 0), 6000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 1000 + 800, [XSA_PART_LINK] = 100, [XSA_PART_LAG] = 100, [XSA_PART_LATE] = 3000});
    assert_int_equal(owed_by(&j, XSA_PART_LATE, 1, "rank 0 ready"), 3000);
    judged_free(&j);
}

/* The second launch of a rank begins 500 ns after the first has ended. */
static void between_two_launches(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    cb_writer_end(c, RING(0, 0), 3000);
    cb_writer_begin(c, RING(0, 1), 3500, 1, 0, 2);
    cb_writer_end(c, RING(0, 1), 5000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 2000 + 1500, [XSA_PART_START] = 500});
    judged_free(&j);
}

/* A wait that gave up is owed by who did not signal. */
static void a_wait_that_gave_up(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0);
    cb_plan_writer(c, pad, 0);
    cb_writer_end(c, RING(0, 0), 1500);
    cb_wait_start(c, RING(1, 0), 2000, ready, 1, 0);
    cb_wait_end(c, RING(1, 0), 9000, ready, 0, XS_RESULT_TIMEOUT, 50);
    cb_writer_end(c, RING(1, 0), 9100);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 1100, [XSA_PART_OWED] = 7000});
    assert_int_equal(owed_by(&j, XSA_PART_OWED, 0, "rank 1 ready"), 7000);
    judged_free(&j);
}

/* Rank 2 waits for rank 1, which waits for rank 0, which ended without signalling: the path ends at rank 1's wait. */
static void a_hang_ends_at_the_root(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "src", "", 3, 1, 0);
    uint32_t one = cb_slot(c, pad, 1, 0, 0), two = cb_slot(c, pad, 2, 1, 0);
    cb_plan_writer(c, pad, XS_PLAN_ROW);
    case_open_wait(c, RING(2, 0), 1200, two, 1, 0);
    case_open_wait(c, RING(1, 0), 2000, one, 1, 0);
    cb_writer_end(c, RING(0, 0), 3000);
    cb_flush_at(c, 400009000); /* nothing has moved since */
    judged j = judge_killed(c);
    const xsa_blame *b = blame_of(&j);
    assert_true(b->hang);
    const xsa_span *last = &b->spans[b->span_count - 1];
    assert_int_equal(last->part, XSA_PART_OWED);
    assert_int_equal(last->begin, 3000);
    assert_int_equal(last->end, b->end);
    assert_int_equal(last->owes_rank, 0);
    assert_int_equal(last->rank, 1);
    assert_string_equal(j.model->slots[last->slot].label, "rank 1 ready[src=0]");
    assert_int_equal(owed_by(&j, XSA_PART_COMPUTE, 0, ""), 2000);
    assert_int_equal(slot_of(&j, "rank 1 ready[src=0]")->slack_ns, -1);
    judged_free(&j);
}

/* Records of rank 0 are lost before its signal: that stretch is not known, and no slack is. */
static void lost_records_are_not_known(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t ready = cb_slot(c, cb_pad(c, "ready", "", "", 1, 1, 0), 1, 0, 0), name = cb_mark_name(c, "m");
    cb_mark(c, RING(0, 0), 2000, name, 1);
    cb_skip_records(c, RING(0, 0), 2, XS_LOSS_OVERWRITTEN);
    cb_mark(c, RING(0, 0), 3000, name, 4);
    cb_signal(c, RING(0, 0), 5000, ready, 1);
    cb_writer_end(c, RING(0, 0), 6000);
    cb_wait_start(c, RING(1, 0), 1500, ready, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 5500, ready, 1, 0, 9, 0, 300, 7, 0);
    cb_writer_end(c, RING(1, 0), 8000);
    judged j = judge(c);
    const xsa_blame *b = blame_of(&j);
    assert_int_equal(b->ns[XSA_PART_UNKNOWN], 1000);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 1000 + 2000 + 2500, [XSA_PART_LINK] = 200, [XSA_PART_LAG] = 300, [XSA_PART_UNKNOWN] = 1000});
    assert_int_equal(slot_of(&j, "rank 1 ready")->slack_ns, -1);
    judged_free(&j);
}

/* The signal itself is lost: the wait is not known, and the path stays with who waited. */
static void a_lost_signal_is_not_known(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0);
    cb_plan_writer(c, pad, 0);
    cb_signal(c, RING(0, 0), 5000, ready, 1);
    uint64_t signal = cb_next(c, RING(0, 0)) - 1;
    cb_lose(c, RING(0, 0), signal, signal, XS_LOSS_OVERWRITTEN);
    cb_writer_end(c, RING(0, 0), 6000);
    cb_wait_start(c, RING(1, 0), 1500, ready, 1, 0);
    cb_wait_end(c, RING(1, 0), 5500, ready, 1, 0, 9);
    cb_writer_end(c, RING(1, 0), 8000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 500 + 2500, [XSA_PART_UNKNOWN] = 4000});
    assert_int_equal(owed_by(&j, XSA_PART_UNKNOWN, 0, "rank 1 ready"), 4000);
    judged_free(&j);
}

/* By their stamps two ranks released each other: the walk ends all the same. */
static void a_circle_of_stamps_ends(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0);
    for (uint32_t r = 0; r < 2; r++)
        cb_wait_start(c, RING(r, 0), 2000, cb_slot(c, pad, r, 0, 0), 1, 0);
    for (uint32_t r = 0; r < 2; r++) {
        cb_wait_end(c, RING(r, 0), 5000, cb_slot(c, pad, r, 0, 0), 1, 0, 5);
        cb_signal(c, RING(r, 0), 5000, cb_slot(c, pad, !r, 0, 0), 1);
    }
    case_end_writers(c, 2, 1, 6000);
    judged j = judge(c);
    const xsa_blame *b = blame_of(&j);
    int64_t sum = 0;
    for (uint32_t p = 0; p < XSA_PART_COUNT; p++)
        sum += b->ns[p];
    assert_int_equal(sum, 5000);
    judged_free(&j);
}

static void nothing_at_all(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 0);
    judged j = judge(c);
    assert_int_equal(blame_of(&j)->span_count, 0);
    assert_int_equal(blame_of(&j)->end - blame_of(&j)->begin, 0);
    judged_free(&j);
}

static void all_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    cb_writer_end(c, RING(0, 0), 5000);
    cb_writer_end(c, RING(1, 0), 5000);
    for (uint32_t r = 0; r < 2; r++)
        cb_lose(c, RING(r, 0), 1, cb_next(c, RING(r, 0)) - 1, XS_LOSS_OVERWRITTEN);
    judged j = judge(c);
    assert_int_equal(blame_of(&j)->span_count, 0);
    judged_free(&j);
}

static void one_rank_alone(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    cb_writer_end(c, RING(0, 0), 4000);
    judged j = judge(c);
    expect_parts(&j, (const int64_t[XSA_PART_COUNT]){[XSA_PART_COMPUTE] = 3000});
    judged_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_a_wait_to_the_signal),
                                       cmocka_unit_test(over_a_wait_to_the_signal_of_another_process), cmocka_unit_test(a_signal_in_time_has_slack), cmocka_unit_test(slack_adds_up),
        cmocka_unit_test(the_elected_publishes), cmocka_unit_test(over_a_gate_to_the_last_arrival), cmocka_unit_test(work_is_owed_to_who_waits_for_it),
        cmocka_unit_test(head_of_line_is_work_that_was_ready), cmocka_unit_test(a_warp_joined_to_the_one_that_waits_is_not_blamed_for_the_wait), cmocka_unit_test(a_warp_that_signals_behind_the_wait_of_its_block),
        cmocka_unit_test(a_block_that_waits_for_nobody_works),
        cmocka_unit_test(a_rank_that_begins_late), cmocka_unit_test(between_two_launches),
        cmocka_unit_test(a_wait_that_gave_up), cmocka_unit_test(a_hang_ends_at_the_root), cmocka_unit_test(lost_records_are_not_known),
        cmocka_unit_test(a_lost_signal_is_not_known), cmocka_unit_test(a_circle_of_stamps_ends), cmocka_unit_test(nothing_at_all), cmocka_unit_test(all_lost), cmocka_unit_test(one_rank_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
