/* Lost records: no error that they alone make, verdicts that say what is unknown, and culprits that are named all the same. */
#include "judge.h"

#include <stdlib.h>

#define RANKS 3u
#define PUSHERS 2u
#define CHUNKS 4u
#define ROUNDS 12u

typedef struct made { cb *c; uint32_t done, count, room, gate, bar, write, read; uint64_t time; } made;

static uint64_t seed;
static uint32_t dice(uint32_t sides) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % sides;
}

static void chunk(made *m, uint32_t r, uint32_t k, uint32_t round) {
    uint32_t d = (r + 1) % RANKS;
    uint64_t t = m->time += 4000;
    uint32_t slot = cb_slot(m->c, m->done, d, r, k), counter = cb_slot(m->c, m->count, r, 0, k), room = cb_slot(m->c, m->room, r, 0, k);
    cb_wait_start(m->c, RING(d, PUSHERS), t + 10, slot, round, round - 1);
    for (uint32_t p = 0; p < PUSHERS; p++) {
        uint64_t at = t + 100 + p * 300;
        if (round > 1)
            cb_pass(m->c, RING(r, p), at, room, round - 1, round - 1);
        cb_payload(m->c, RING(r, p), at + 10, XS_EV_WRITE_BEGIN, m->write, k, round, d, 16, 1024);
        cb_payload_end(m->c, RING(r, p), at + 200, m->write, k);
        cb_arrive(m->c, RING(r, p), at + 210, counter, p, 1, PUSHERS);
    }
    cb_one(m->c, RING(r, PUSHERS - 1), t + 1250, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
    cb_one(m->c, RING(r, PUSHERS - 1), t + 1300, XS_CODE_SIGNAL_RLX_SYS, slot, round);
    cb_wait_end(m->c, RING(d, PUSHERS), t + 1500, slot, round, 0, 5);
    cb_payload(m->c, RING(d, PUSHERS), t + 1600, XS_EV_READ_BEGIN, m->read, k, round, r, 64, 4096);
    cb_payload_end(m->c, RING(d, PUSHERS), t + 1900, m->read, k);
    cb_gate(m->c, RING(d, PUSHERS), t + 1950, cb_slot(m->c, m->gate, d, 0, 0), (round - 1) * CHUNKS + k, 1);
    cb_signal(m->c, RING(d, PUSHERS), t + 2000, room, round);
}

static void round_end(made *m, uint32_t round) {
    uint64_t t = m->time += 1000;
    for (uint32_t r = 0; r < RANKS; r++) {
        cb_pass(m->c, RING(r, PUSHERS), t + r, cb_slot(m->c, m->gate, r, 0, 0), round * CHUNKS, round * CHUNKS);
        cb_block_enter(m->c, RING(r, PUSHERS), t + 10 + r, 1, 64);
        cb_block_leave(m->c, RING(r, PUSHERS), t + 20 + r, 1, 64);
        cb_barrier_enter(m->c, RING(r, PUSHERS), t + 30 + r, cb_slot(m->c, m->bar, r, 0, r), round, RANKS);
        for (uint32_t to = 0; to < RANKS; to++)
            cb_signal(m->c, RING(r, PUSHERS), t + 40 + to + r, cb_slot(m->c, m->bar, to, 0, r), round);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t from = 0; from < RANKS; from++)
            cb_pass(m->c, RING(r, PUSHERS), t + 100 + from, cb_slot(m->c, m->bar, r, 0, from), round, round);
        cb_barrier_leave(m->c, RING(r, PUSHERS), t + 150 + r, cb_slot(m->c, m->bar, r, 0, r), round, RANKS, 0);
    }
}

/* Everything that detectors look at, and nothing wrong with it. */
static cb *healthy(void) {
    made m = {.c = case_begin(RANKS, PUSHERS + 1, PUSHERS + 1), .time = 2000};
    m.write = cb_mark_name(m.c, "push");
    m.read = cb_mark_name(m.c, "scatter");
    m.done = cb_pad(m.c, "done", "src", "chunk", RANKS, CHUNKS, 0);
    m.count = cb_pad(m.c, "cnt", "", "chunk", 1, CHUNKS, XS_PAD_SHARED);
    m.room = cb_pad(m.c, "room", "", "chunk", 1, CHUNKS, 0);
    m.gate = cb_pad(m.c, "gate", "", "", 1, 1, XS_PAD_SHARED);
    m.bar = cb_pad(m.c, "bar", "", "from", 1, RANKS, 0);
    cb_plan_writer(m.c, m.done, XS_PLAN_ROW);
    cb_plan_writer(m.c, m.bar, XS_PLAN_COLUMN);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t r = 0; r < RANKS; r++)
            for (uint32_t b = 0; b <= PUSHERS; b++)
                cb_epoch(m.c, RING(r, b), m.time + 500, round);
        for (uint32_t k = 0; k < CHUNKS; k++)
            for (uint32_t r = 0; r < RANKS; r++)
                chunk(&m, r, k, round);
        round_end(&m, round);
    }
    case_end_writers(m.c, RANKS, PUSHERS + 1, m.time + 2000);
    return m.c;
}

/* Loses about `percent` of all records, singly or in runs. */
static uint64_t lose(cb *c, uint32_t percent, uint32_t longest) {
    uint64_t lost = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t b = 0; b <= PUSHERS; b++)
            for (uint64_t at = 1, end = cb_next(c, RING(r, b)); at < end; at++) {
                uint32_t run = 1 + dice(longest);
                if (dice(100 * (1 + longest) / 2) >= percent)
                    continue;
                uint64_t last = at + run - 1 < end ? at + run - 1 : end - 1;
                cb_lose(c, RING(r, b), at, last, XS_LOSS_OVERWRITTEN);
                lost += last - at + 1;
                at = last + 1;
            }
    return lost;
}

static void test_healthy_and_whole(void **state) {
    (void)state;
    judged j = judge(healthy());
    expect_clean(&j);
    assert_int_equal(j.result->finding_count, 0);
    judged_free(&j);
}

static void test_loss_alone_makes_no_error(void **state) {
    (void)state;
    static const uint32_t percents[] = {1, 10, 50}, runs[] = {1, 20};
    uint32_t unknown = 0;
    for (uint32_t p = 0; p < 3; p++)
        for (uint32_t k = 0; k < 2; k++)
            for (uint64_t n = 1; n < 60; n++) {
                seed = n * 0x9e3779b97f4a7c15ull;
                cb *c = healthy();
                uint64_t lost = lose(c, percents[p], runs[k]);
                judged j = judge(c);
                if (j.result->errors) {
                    print_all(&j);
                    fail_msg("%u %% lost in runs of up to %u, seed %u", percents[p], runs[k], (unsigned)n);
                }
                const xsa_finding *health = finding_of(&j, XSA_TRACE_HEALTH);
                assert_true(lost == 0 || health != NULL);
                unknown += j.result->unknown;
                judged_free(&j);
            }
    assert_true(unknown > 0);
}

/* The supplier stopped; records of it are lost before. Who owes is known from the plan. */
static void test_culprit_is_named_though_records_are_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    for (uint32_t round = 1; round <= 5; round++)
        cb_signal(c, RING(1, 0), 2000 + round * 100, slot, round);
    cb_lose(c, RING(1, 0), 4, 5, XS_LOSS_OVERWRITTEN);
    cb_writer_end(c, RING(1, 0), 3000);
    case_open_wait(c, RING(0, 0), 2500, slot, 6, 5);
    judged j = judge(c);
    expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 full", 1, 0);
    assert_int_equal(j.result->findings[0].confidence, XSA_LOW);
    assert_true(j.result->findings[0].lost > 0);
    assert_int_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->status, XSA_FOUND); /* what is lost cannot change it */
    assert_int_equal(xsa_exit_code(j.result), 1);
    judged_free(&j);
}

/* A wait whose end may be among the lost records is no error; that is not known, and the code says so. */
static void test_wait_whose_end_may_be_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_writer_end(c, RING(1, 0), 2400);
    cb_wait_start(c, RING(0, 0), 2500, slot, 1, 0);
    uint64_t next = cb_next(c, RING(0, 0));
    cb_flush(c);
    cb_skip_records(c, RING(0, 0), 6, XS_LOSS_OVERWRITTEN);
    cb_look(c, RING(0, 0), next + 5, 4000);
    judged j = judge(c);
    assert_int_equal(j.result->errors, 0);
    assert_int_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->status, XSA_UNKNOWN);
    assert_true(verdict_of(&j, XSA_LOST_SUPPLIER)->lost > 0);
    assert_int_equal(xsa_exit_code(j.result), 2);
    judged_free(&j);
}

static void test_fence_that_may_be_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    uint64_t fence = cb_next(c, RING(1, 0));
    cb_one(c, RING(1, 0), 1900, XS_CODE_FENCE_ACQREL_SYS, 0, 10);
    cb_lose(c, RING(1, 0), fence, fence, XS_LOSS_OVERWRITTEN);
    cb_one(c, RING(1, 0), 2000, XS_CODE_SIGNAL_RLX_SYS, slot, 1);
    cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
    case_end_writers(c, 2, 1, 3000);
    judged j = judge(c);
    expect_not(&j, XSA_ORDER_SCOPE);
    assert_int_equal(verdict_of(&j, XSA_ORDER_SCOPE)->status, XSA_UNKNOWN);
    assert_int_equal(xsa_exit_code(j.result), 2);
    judged_free(&j);
}

/* Rank 1 waits at a counter that rank 0 sets back once it has heard that the wait is over. The end of the first wait is lost: those of
 * later rounds are not taken for it. */
static void test_end_of_an_older_wait_is_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t count = cb_slot(c, cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), 0, 0, 0),
             over = cb_slot(c, cb_pad(c, "over", "", "", 1, 1, 0), 0, 0, 0), next = cb_slot(c, cb_pad(c, "next", "", "", 1, 1, 0), 1, 0, 0);
    for (uint32_t round = 1; round <= 4; round++) {
        uint64_t t = 2000 + 1000 * round;
        cb_wait_start(c, RING(1, 0), t, count, 1, 0);
        cb_signal(c, RING(0, 0), t + 100, count, 1);
        uint64_t end = cb_next(c, RING(1, 0));
        cb_wait_end(c, RING(1, 0), t + 200, count, 1, XS_RESULT_OK, 9);
        if (round == 1)
            cb_lose(c, RING(1, 0), end, cb_next(c, RING(1, 0)) - 1, XS_LOSS_OVERWRITTEN);
        cb_signal(c, RING(1, 0), t + 300, over, round);
        cb_pass(c, RING(0, 0), t + 400, over, round, round);
        cb_reset(c, RING(0, 0), t + 500, count, 0, 1);
        cb_signal(c, RING(0, 0), t + 600, next, round);
        cb_pass(c, RING(1, 0), t + 700, next, round, round);
    }
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_errors(&j, 0);
    judged_free(&j);
}

/* A ring two deep: the reader gives each buffer back. Its wait for the first is lost: that the third comes too early is not known. */
static void test_wait_that_frees_a_buffer_is_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "ready", "", "", 1, 1, 0), ready = cb_slot(c, pad, 1, 0, 0), credit = cb_slot(c, cb_pad(c, "credit", "", "", 1, 1, 0), 0, 0, 0);
    case_depth(c, pad, 2);
    cb_signal(c, RING(0, 0), 2000, ready, 1);
    cb_signal(c, RING(0, 0), 2100, ready, 2);
    uint64_t pass = cb_next(c, RING(1, 0));
    cb_pass(c, RING(1, 0), 2200, ready, 1, 1);
    cb_lose(c, RING(1, 0), pass, pass, XS_LOSS_OVERWRITTEN);
    cb_signal(c, RING(1, 0), 2300, credit, 1);
    cb_pass(c, RING(1, 0), 2400, ready, 2, 2); /* of this one the producer has not heard yet, and need not have */
    cb_pass(c, RING(0, 0), 2500, credit, 1, 1);
    cb_signal(c, RING(0, 0), 2600, ready, 3);
    case_end_writers(c, 2, 1, 9000);
    judged j = judge(c);
    expect_errors(&j, 0);
    judged_free(&j);
}

/* Who waits is not known, for its begin is lost; who signalled the slot before has ended. */
static void test_begin_of_who_waits_is_lost(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
    cb_lose(c, RING(0, 0), 1, cb_next(c, RING(0, 0)) - 1, XS_LOSS_OVERWRITTEN);
    cb_signal(c, RING(1, 0), 2000, slot, 1);
    cb_writer_end(c, RING(1, 0), 2500);
    case_open_wait(c, RING(0, 0), 3000, slot, 2, 1);
    judged j = judge(c);
    assert_int_equal(verdict_of(&j, XSA_TRACE_HEALTH)->status, XSA_FOUND);
    for (uint32_t i = 0; i < j.result->finding_count; i++)
        assert_true(j.result->findings[i].rank == XSR_NONE || j.result->findings[i].rank == 0);
    judged_free(&j);
}

/* The cure is one against what most records were lost by: a full disk is not cured by larger rings. */
static void test_cure_of_loss_goes_by_its_cause(void **state) {
    (void)state;
    static const struct { uint32_t cause; const char *cure; } cases[] = {
        {XS_LOSS_OVERWRITTEN, "XS_RING_RECORDS"}, {XS_LOSS_NEVER_ARRIVED, "XS_RING_RECORDS"}, {XS_LOSS_NO_SPACE, "free space"},
        {XS_LOSS_BOUNDED, "--max-bytes"}, {XS_LOSS_RECORDER, "recorder"}, {XS_LOSS_DEVICE, "XS_PLACEMENT=mapped"}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
        for (uint32_t n = 1; n <= 6; n++)
            cb_signal(c, RING(1, 0), 2000 + n, slot, n);
        uint64_t last = cb_next(c, RING(1, 0)) - 1;
        cb_lose(c, RING(1, 0), last - 4, last - 4, XS_LOSS_OVERWRITTEN);
        cb_lose(c, RING(1, 0), last - 2, last - 1, cases[i].cause);
        case_end_writers(c, 2, 1, 3000);
        judged j = judge(c);
        assert_non_null(strstr(finding_of(&j, XSA_TRACE_HEALTH)->cure, cases[i].cure));
        judged_free(&j);
    }
}

/* A round of two ranks; the waiter gives up in the second. lost: a record that is missing. */
static judged give_up(int lose_epoch) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_epoch(c, RING(0, 0), 1100, 1);
    cb_epoch(c, RING(1, 0), 1100, 1);
    cb_signal(c, RING(1, 0), 2000, slot, 1);
    cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
    uint64_t entered = cb_next(c, RING(0, 0));
    cb_epoch(c, RING(0, 0), 2200, 2);
    cb_epoch(c, RING(1, 0), 2200, 2);
    cb_wait_start(c, RING(0, 0), 2300, slot, 2, 1);
    if (lose_epoch)
        cb_lose(c, RING(0, 0), entered, entered, XS_LOSS_OVERWRITTEN);
    cb_wait_end(c, RING(0, 0), 9000000, slot, 1, XS_RESULT_TIMEOUT, 50);
    cb_epoch(c, RING(1, 0), 9100000, 2);
    return judge(c);
}

/* The waiter's round seems to be the one before: who owes the signal has not gone on for that. */
static void test_lost_epoch_of_a_waiter_is_no_round_left_out(void **state) {
    (void)state;
    judged j = give_up(1);
    const xsa_finding *f = finding_of(&j, XSA_LOST_SUPPLIER);
    assert_true(f == NULL);
    judged_free(&j);
}

/* The end of one wait and the start of the next are lost: what gave up is not the first, whose need is met by what it saw. */
static void test_what_gave_up_is_not_an_earlier_wait(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_wait_start(c, RING(0, 0), 1900, slot, 1, 0);
    cb_signal(c, RING(1, 0), 2000, slot, 1);
    uint64_t from = cb_next(c, RING(0, 0));
    cb_wait_end(c, RING(0, 0), 2100, slot, 1, 0, 5);
    cb_wait_start(c, RING(0, 0), 2300, slot, 2, 1);
    cb_lose(c, RING(0, 0), from, cb_next(c, RING(0, 0)) - 1, XS_LOSS_OVERWRITTEN);
    cb_writer_end(c, RING(1, 0), 2400);
    cb_wait_end(c, RING(0, 0), 9000000, slot, 1, XS_RESULT_TIMEOUT, 50);
    judged j = judge(c);
    expect_not(&j, XSA_VANISHED_SIGNAL);
    judged_free(&j);
}

/* One lost record beside a supplier that ended cannot hide a wait as long as the one that stands still; a long silence can. */
static void test_short_gap_does_not_hide_that_a_supplier_waited(void **state) {
    (void)state;
    for (int hides = 0; hides < 2; hides++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        cb_plan_writer(c, pad, 1);
        cb_signal(c, RING(1, 0), 2000, slot, 1);
        cb_pass(c, RING(0, 0), 2100, slot, 1, 1);
        cb_wait_start(c, RING(0, 0), 2300, slot, 2, 1);
        uint64_t lost = cb_next(c, RING(1, 0));
        cb_one(c, RING(1, 0), 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        cb_lose(c, RING(1, 0), lost, lost, XS_LOSS_OVERWRITTEN);
        cb_writer_end(c, RING(1, 0), hides ? 8900000 : 2500);
        cb_wait_end(c, RING(0, 0), 9000000, slot, 1, XS_RESULT_TIMEOUT, 50);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_LOST_SUPPLIER) != NULL, !hides);
        assert_int_equal(verdict_of(&j, XSA_LOST_SUPPLIER)->status, hides ? XSA_UNKNOWN : XSA_FOUND);
        judged_free(&j);
    }
}

/* Rank 0 signals before it writes, and rank 1 reads. What a third one has lost meanwhile, of which neither hears, cannot have ordered the two;
 * a record of who writes can. */
static void test_gap_of_which_nobody_hears_hides_no_race(void **state) {
    (void)state;
    for (int hides = 0; hides < 2; hides++) {
        cb *c = case_begin(3, 1, 1);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 1, 0, 0), name = cb_mark_name(c, "push");
        cb_signal(c, RING(0, 0), 2000, slot, 1);
        cb_pass(c, RING(1, 0), 2100, slot, 1, 1);
        cb_payload(c, RING(1, 0), 2200, XS_EV_READ_BEGIN, name, 0, 1, 0, 16, 1024);
        cb_payload_end(c, RING(1, 0), 2300, name, 0);
        uint32_t loser = hides ? RING(0, 0) : RING(2, 0);
        uint64_t lost = cb_next(c, loser);
        cb_one(c, loser, 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        cb_lose(c, loser, lost, lost, XS_LOSS_OVERWRITTEN);
        cb_one(c, loser, 2500, XS_CODE_FENCE_ACQREL_SYS, 0, 34);
        cb_payload(c, RING(0, 0), 2600, XS_EV_WRITE_BEGIN, name, 0, 1, 1, 16, 1024);
        cb_payload_end(c, RING(0, 0), 2700, name, 0);
        case_end_writers(c, 3, 1, 9000);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_PARTIAL_PUBLISH) != NULL, !hides);
        assert_int_equal(verdict_of(&j, XSA_PARTIAL_PUBLISH)->status, hides ? XSA_UNKNOWN : XSA_FOUND);
        judged_free(&j);
    }
}

/* A slot that was never signalled, and still shows nothing when its waiter gives up: what was lost before cannot be its signal, what was
 * lost afterwards can. */
static void test_what_a_waiter_saw_last_shows_that_no_signal_was_lost(void **state) {
    (void)state;
    for (int hides = 0; hides < 2; hides++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
        cb_wait_start(c, RING(0, 0), 2300, slot, 1, 0);
        cb_one(c, RING(1, 0), hides ? 9000100 : 2400, XS_CODE_FENCE_ACQREL_SYS, 0, 32);
        uint64_t lost = cb_next(c, RING(1, 0));
        cb_one(c, RING(1, 0), hides ? 9000200 : 2500, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
        cb_lose(c, RING(1, 0), lost, lost, XS_LOSS_OVERWRITTEN);
        cb_one(c, RING(1, 0), hides ? 9000300 : 2600, XS_CODE_FENCE_ACQREL_SYS, 0, 34);
        cb_wait_end(c, RING(0, 0), 9000000, slot, 0, XS_RESULT_TIMEOUT, 50);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_LOST_SUPPLIER) != NULL, !hides);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_healthy_and_whole), cmocka_unit_test(test_loss_alone_makes_no_error),
                                       cmocka_unit_test(test_culprit_is_named_though_records_are_lost), cmocka_unit_test(test_wait_whose_end_may_be_lost),
                                       cmocka_unit_test(test_fence_that_may_be_lost), cmocka_unit_test(test_end_of_an_older_wait_is_lost),
                                       cmocka_unit_test(test_wait_that_frees_a_buffer_is_lost), cmocka_unit_test(test_cure_of_loss_goes_by_its_cause), cmocka_unit_test(test_begin_of_who_waits_is_lost),
                                       cmocka_unit_test(test_lost_epoch_of_a_waiter_is_no_round_left_out),
                                       cmocka_unit_test(test_what_gave_up_is_not_an_earlier_wait),
                                       cmocka_unit_test(test_short_gap_does_not_hide_that_a_supplier_waited),
                                       cmocka_unit_test(test_gap_of_which_nobody_hears_hides_no_race),
                                       cmocka_unit_test(test_what_a_waiter_saw_last_shows_that_no_signal_was_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
