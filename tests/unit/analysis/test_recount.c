/* The plan against what happened: who signals, how often an epoch, how many arrive; and what must not be taken for a difference. */
#include "judge.h"

#include "runs.h"

#include <stdlib.h>

#define EPOCHS 12u

static void plan(cb *c, uint32_t kind, uint32_t pad, uint32_t owner, uint32_t column, uint64_t a, uint64_t b) {
    xs_plan_entry e = {.kind = kind, .pad_first = cb_pad_first(c, pad), .owner = owner, .row = 0, .column = column, .epoch = UINT64_MAX, .a = a, .b = b};
    cb_plan(c, &e, 1);
}

/* Rank 1 signals `slots` slots of rank 0, `times(epoch, slot)` times in each epoch. */
typedef struct made {
    cb *c;
    uint32_t pad, last; /* last: epoch that is entered */
} made;

static made begin(uint32_t slots, uint64_t planned) {
    made m = {.c = case_begin(2, 1, 1), .last = EPOCHS};
    m.pad = cb_pad(m.c, "full", "", "", 1, slots, 0);
    plan(m.c, XS_PLAN_WRITER, m.pad, 0, XS_PLAN_ANY, 1, 0);
    plan(m.c, XS_PLAN_SIGNALS, m.pad, 0, XS_PLAN_ANY, planned, 0);
    return m;
}

static void signals(made *m, uint32_t epoch, uint32_t slot, uint32_t times) {
    for (uint32_t i = 0; i < times; i++)
        cb_signal(m->c, RING(1, 0), 2000 + epoch * 1000 + slot * 10 + i, cb_slot(m->c, m->pad, 0, 0, slot), epoch * 8 + i);
}

static void enter(made *m, uint32_t epoch) { cb_epoch(m->c, RING(1, 0), 1990 + epoch * 1000, epoch); }

static void rounds(made *m, uint32_t slots, uint32_t times) {
    for (uint32_t epoch = 1; epoch <= m->last; epoch++) {
        enter(m, epoch);
        for (uint32_t s = 0; s < slots; s++)
            signals(m, epoch, s, times);
    }
}

static judged end(made *m) {
    case_end_writers(m->c, 2, 1, 100000);
    return judge(m->c);
}

static void test_as_often_as_planned(void **state) {
    (void)state;
    for (uint32_t times = 0; times < 4; times++) {
        made m = begin(2, times);
        rounds(&m, 2, times);
        judged j = end(&m);
        expect_clean(&j);
        expect_not(&j, XSA_COUNT_MISMATCH);
        judged_free(&j);
    }
}

static void test_plan_with_a_wrong_number_of_signals(void **state) {
    (void)state;
    for (uint32_t planned = 0; planned < 4; planned++) {
        made m = begin(1, planned);
        rounds(&m, 1, 1);
        judged j = end(&m);
        if (planned == 1)
            expect_not(&j, XSA_COUNT_MISMATCH);
        else
            expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 full", 1, 0);
        expect_errors(&j, planned != 1);
        judged_free(&j);
    }
}

static void test_wrong_number_at_all_slots_is_one_finding(void **state) {
    (void)state;
    made m = begin(8, 2);
    rounds(&m, 8, 1);
    judged j = end(&m);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "", 1, 0);
    expect_errors(&j, 1);
    if (!strstr(j.result->findings[0].text, "all 8 slots"))
        fail_msg("%s", j.result->findings[0].text);
    judged_free(&j);
}

static void one_round_with(uint32_t times, uint32_t epoch, uint32_t severity) {
    made m = begin(3, 1);
    for (uint32_t e = 1; e <= EPOCHS; e++) {
        enter(&m, e);
        for (uint32_t s = 0; s < 3; s++)
            signals(&m, e, s, s == 1 && e == epoch ? times : 1);
    }
    judged j = end(&m);
    if (severity == XSA_ERROR)
        expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 full[col=1]", 1, 0);
    else
        expect_not(&j, XSA_COUNT_MISMATCH);
    expect_errors(&j, severity == XSA_ERROR);
    judged_free(&j);
}

static void test_signalled_twice_or_not_at_all_in_one_round(void **state) {
    (void)state;
    one_round_with(2, 6, XSA_ERROR);
    one_round_with(0, 6, XSA_ERROR);
    one_round_with(3, 1, XSA_ERROR);
    one_round_with(2, EPOCHS, XSA_ERROR);
}

/* A rank may leave off in its last epoch, where nobody waits for the rest. */
static void test_left_off_in_the_last_round(void **state) {
    (void)state;
    one_round_with(0, EPOCHS, XSA_NOTE);
}

/* The one it was meant for lacks what the other has too many. */
static void test_signal_to_the_wrong_slot_is_one_finding(void **state) {
    (void)state;
    made m = begin(3, 1);
    for (uint32_t e = 1; e <= EPOCHS; e++) {
        enter(&m, e);
        for (uint32_t s = 0; s < 3; s++)
            signals(&m, e, s, e != 5 ? 1 : s == 0 ? 2 : s == 1 ? 0 : 1);
    }
    judged j = end(&m);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 full[col=1]", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* What is done in epoch e for one that lies `lag` back: told, and no error. */
static void test_credits_that_lag_behind_are_no_error(void **state) {
    (void)state;
    for (uint32_t drained = 0; drained < 2; drained++) {
        made m = begin(1, 1);
        for (uint32_t e = 1; e <= EPOCHS; e++) {
            enter(&m, e);
            signals(&m, e, 0, e <= 2 ? 0 : drained && e == EPOCHS ? 3 : 1);
        }
        judged j = end(&m);
        expect_errors(&j, 0);
        assert_non_null(finding_of(&j, XSA_COUNT_MISMATCH));
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH)->severity, XSA_WARNING);
        judged_free(&j);
    }
}

static void test_killed_in_the_middle_of_a_round(void **state) {
    (void)state;
    made m = begin(2, 2);
    m.last = 5;
    rounds(&m, 2, 2);
    enter(&m, 6);
    signals(&m, 6, 0, 1);
    judged j = judge_killed(m.c);
    expect_errors(&j, 0);
    expect_not(&j, XSA_COUNT_MISMATCH);
    judged_free(&j);
}

/* Behind the first wait that gave up nothing need be as planned: here one rank goes on without its signals. */
static void test_rounds_behind_a_failure_are_not_judged(void **state) {
    (void)state;
    made m = begin(1, 1);
    uint32_t other = cb_pad(m.c, "other", "", "", 1, 1, 0);
    m.last = 4;
    rounds(&m, 1, 1);
    cb_epoch(m.c, RING(0, 0), 2900, 1);
    cb_wait_start(m.c, RING(0, 0), 3000, cb_slot(m.c, other, 0, 0, 0), 1, 0);
    cb_wait_end(m.c, RING(0, 0), 6500, cb_slot(m.c, other, 0, 0, 0), 0, XS_RESULT_TIMEOUT, 10);
    for (uint32_t e = 5; e <= EPOCHS; e++)
        enter(&m, e);
    judged j = end(&m);
    expect_not(&j, XSA_COUNT_MISMATCH);
    judged_free(&j);
}

/* The wait says who waits since when; that the plan has the signal is no second finding. */
static void test_wait_for_the_signal_that_is_missing(void **state) {
    (void)state;
    for (uint32_t left_out = 6; left_out <= EPOCHS; left_out += EPOCHS - 6) {
        made m = begin(1, 1);
        cb_epoch(m.c, RING(0, 0), 1900, 1);
        for (uint32_t e = 1; e <= EPOCHS; e++) {
            enter(&m, e);
            signals(&m, e, 0, e != left_out);
        }
        cb_writer_end(m.c, RING(1, 0), 20000);
        case_open_wait(m.c, RING(0, 0), 21000, cb_slot(m.c, m.pad, 0, 0, 0), EPOCHS * 8 + (left_out == EPOCHS ? 0 : 1), EPOCHS * 8);
        judged j = judge(m.c);
        expect_first(&j, XSA_LOST_SUPPLIER, XSA_ERROR, "rank 0 full", 1, 0);
        expect_errors(&j, 1);
        judged_free(&j);
    }
}

static void test_lost_records_make_it_unknown(void **state) {
    (void)state;
    made m = begin(1, 1);
    for (uint32_t e = 1; e <= EPOCHS; e++) {
        enter(&m, e);
        if (e == 6)
            cb_skip_records(m.c, RING(1, 0), 1, XS_LOSS_OVERWRITTEN);
        else
            signals(&m, e, 0, 1);
    }
    judged j = end(&m);
    expect_errors(&j, 0);
    expect_not(&j, XSA_COUNT_MISMATCH);
    assert_int_equal(verdict_of(&j, XSA_COUNT_MISMATCH)->status, XSA_UNKNOWN);
    judged_free(&j);
}

/* More is missing than was lost. */
static void test_more_than_lost_records_could_have_been(void **state) {
    (void)state;
    made m = begin(1, 3);
    for (uint32_t e = 1; e <= EPOCHS; e++) {
        enter(&m, e);
        if (e == 6)
            cb_skip_records(m.c, RING(1, 0), 1, XS_LOSS_OVERWRITTEN);
        signals(&m, e, 0, e == 6 ? 0 : 1);
    }
    judged j = end(&m);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 full", 1, 0);
    assert_int_equal(j.result->findings[0].confidence, XSA_LOW);
    judged_free(&j);
}

/* A filter left out the block that signals; the other one shows that there were epochs. */
static void test_filtered_blocks_make_it_unknown(void **state) {
    (void)state;
    for (uint32_t filtered = 0; filtered < 2; filtered++) {
        cb *c = cb_begin(judged_path());
        cb_process(c, 0, 2, 2);
        uint32_t role = cb_role(c, "work"), pad = cb_pad(c, "full", "", "", 1, 1, 0);
        cb_journal(c, XS_JOURNAL_TRACE_STATE, XS_STARTED | (filtered ? XS_STARTED_FILTERED : 0), 0, 800, 0, 0, 0);
        plan(c, XS_PLAN_WRITER, pad, 0, 0, 1, 0);
        plan(c, XS_PLAN_SIGNALS, pad, 0, 0, 1, 0);
        cb_launch_begin(c, 1, cb_kernel(c, "case"), 900, 2, 32, 0, 2);
        cb_writer_begin(c, RING(0, 0), 1000, role, 0, 1);
        cb_writer_begin(c, RING(1, 0), 1000, role, 0, 1);
        cb_pass(c, RING(0, 0), 1100, cb_slot(c, pad, 0, 0, 0), 1, 1);
        for (uint32_t e = 1; e <= EPOCHS; e++)
            cb_epoch(c, RING(1, 0), 1990 + e * 1000, e);
        case_end_writers(c, 2, 1, 100000);
        judged j = judge(c);
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH) == NULL, filtered);
        assert_int_equal(verdict_of(&j, XSA_COUNT_MISMATCH)->status, filtered ? XSA_UNKNOWN : XSA_FOUND);
        judged_free(&j);
    }
}

/* A second launch that counts its epochs from 1 again. */
static void test_two_launches_with_the_same_epochs(void **state) {
    (void)state;
    made m = begin(1, 1);
    rounds(&m, 1, 1);
    case_end_writers(m.c, 2, 1, 20000);
    cb_launch_begin(m.c, 2, 1, 20100, 1, 32, 0, 2);
    for (uint32_t r = 0; r < 2; r++)
        cb_writer_begin(m.c, RING(r, 0), 21000, 1, 0, 2);
    for (uint32_t e = 1; e <= EPOCHS; e++) {
        cb_epoch(m.c, RING(1, 0), 21990 + e * 1000, e);
        cb_signal(m.c, RING(1, 0), 22000 + e * 1000, cb_slot(m.c, m.pad, 0, 0, 0), 100 + e);
    }
    judged j = end(&m);
    expect_errors(&j, 0);
    expect_not(&j, XSA_COUNT_MISMATCH);
    judged_free(&j);
}

/* ---- who ---- */

static judged signalled_by(uint32_t kind, uint64_t named, uint32_t slots, bool but_one, uint64_t role) {
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 4, 0);
    plan(c, kind, pad, 0, XS_PLAN_ANY, named, role);
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t s = 0; s < slots; s++)
            cb_signal(c, RING(but_one && s == 2 ? 2 : 1, 0), 2000 + i * 100 + s, cb_slot(c, pad, 0, 0, s), i + 1);
    case_end_writers(c, 3, 1, 100000);
    return judge(c);
}

static void test_plan_that_names_a_wrong_rank_is_one_finding(void **state) {
    (void)state;
    judged j = signalled_by(XS_PLAN_WRITER, 2, 4, false, 0);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 full[col=0]", 1, 0);
    expect_errors(&j, 1);
    assert_non_null(strstr(j.result->findings[0].text, "the plan names rank 2"));
    assert_non_null(strstr(j.result->findings[0].text, "all 4 slots"));
    judged_free(&j);
}

static void test_one_slot_that_another_rank_signals(void **state) {
    (void)state;
    judged j = signalled_by(XS_PLAN_WRITER, 1, 4, true, 0);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 full[col=2]", 2, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

static void test_plan_that_names_the_host(void **state) {
    (void)state;
    judged j = signalled_by(XS_PLAN_HOST_SUPPLIER, 0, 1, false, 0);
    expect_first(&j, XSA_MULTI_WRITER, XSA_ERROR, "rank 0 full[col=0]", 1, 0);
    judged_free(&j);
}

static void test_plan_that_names_another_role(void **state) {
    (void)state;
    for (uint64_t role = 1; role <= 2; role++) { /* 1: the only one that is known, "work" */
        cb *c = case_begin(2, 1, 1);
        uint32_t other = cb_role(c, "other"), pad = cb_pad(c, "full", "", "", 1, 1, 0);
        assert_int_equal(other, 2);
        plan(c, XS_PLAN_WRITER, pad, 0, 0, 1, role);
        cb_signal(c, RING(1, 0), 2000, cb_slot(c, pad, 0, 0, 0), 1);
        case_end_writers(c, 2, 1, 100000);
        judged j = judge(c);
        expect_errors(&j, 0);
        assert_int_equal(finding_of(&j, XSA_MULTI_WRITER) != NULL, role == 2);
        judged_free(&j);
    }
}

static void test_block_that_plays_a_role_of_others(void **state) {
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        cb *c = case_begin(1, 3, 3);
        xs_plan_entry e = {.kind = XS_PLAN_ROLE_BLOCKS, .pad_first = XS_PLAN_ANY, .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY, .column = XS_PLAN_ANY,
                           .epoch = UINT64_MAX, .a = 1, .b = first | 3ull << 32};
        cb_plan(c, &e, 1);
        case_end_writers(c, 1, 3, 100000);
        judged j = judge(c);
        expect_errors(&j, 0);
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH) != NULL, first == 1);
        judged_free(&j);
    }
}

/* ---- arrivals ---- */

/* Two blocks arrive at a gate in each epoch; `missing`: the second one stays away in that epoch. */
static judged gate(uint64_t planned, uint32_t reported, uint32_t missing) {
    cb *c = case_begin(1, 2, 2);
    uint32_t pad = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0), count = 0;
    if (planned)
        plan(c, XS_PLAN_ARRIVALS, pad, 0, 0, planned, 0);
    for (uint32_t e = 1; e <= EPOCHS; e++)
        for (uint32_t b = 0; b < 2; b++) {
            cb_epoch(c, RING(0, b), 1900 + e * 1000 + b * 10, e);
            if (reported && b == 0)
                cb_expect(c, RING(0, b), 1950 + e * 1000, slot, reported, e);
            if (b == 0 || e != missing)
                cb_gate(c, RING(0, b), 2000 + e * 1000 + b * 10, slot, count++, 1);
        }
    case_end_writers(c, 1, 2, 100000);
    return judge(c);
}

static void test_arrivals_as_planned(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        judged j = gate(i == 0 ? 2 : 0, i == 1 ? 2 : 0, i == 2 ? 3 : 0);
        expect_clean(&j);
        expect_not(&j, XSA_COUNT_MISMATCH);
        judged_free(&j);
    }
}

static void test_arrivals_that_differ_from_the_plan(void **state) {
    (void)state;
    static const struct { uint32_t planned, reported, missing, confidence; } cases[] = {
        {3, 0, 0, XSA_HIGH}, {0, 3, 0, XSA_MEDIUM}, {2, 0, 4, XSA_HIGH}, {0, 2, 4, XSA_MEDIUM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judged j = gate(cases[i].planned, cases[i].reported, cases[i].missing);
        expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", 0, -1);
        expect_errors(&j, 1);
        assert_int_equal(j.result->findings[0].confidence, cases[i].confidence);
        judged_free(&j);
    }
}

static void test_report_that_differs_from_the_declared_entry(void **state) {
    (void)state;
    judged j = gate(2, 3, 0);
    expect_first(&j, XSA_COUNT_MISMATCH, XSA_ERROR, "rank 0 gate", 0, 0);
    expect_errors(&j, 1);
    assert_non_null(strstr(j.result->findings[0].text, "reports 3 arrivals"));
    judged_free(&j);
}

/* In one launch two blocks must agree; another launch may build another plan. */
static void test_two_reports_that_differ(void **state) {
    (void)state;
    for (uint32_t launch = 1; launch <= 2; launch++) {
        cb *c = case_begin(1, 1, 1);
        uint32_t pad = cb_pad(c, "gate", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
        cb_expect(c, RING(0, 0), 2000, slot, 3, 1);
        cb_launch_begin(c, 2, 1, 2050, 1, 32, 0, 1);
        cb_writer_begin(c, RING(0, 1), 2100, 1, 1, launch);
        cb_expect(c, RING(0, 1), 2200, slot, 4, 1);
        case_end_writers(c, 1, 2, 100000);
        judged j = judge(c);
        expect_errors(&j, launch == 1);
        judged_free(&j);
    }
}

/* ---- runs ---- */

static void test_runs_agree_with_a_plain_array(void **state) {
    (void)state;
    srand(7);
    for (uint32_t go = 0; go < 200; go++) {
        an_runs r = {0};
        uint64_t plain[64] = {0};
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t epoch = (uint32_t)(rand() % (go % 2 ? 40 : 4) + i / 8) % 64, n = (uint32_t)rand() % 2;
            if (epoch < r.from)
                continue;
            plain[epoch] += n;
            assert_int_equal(an_runs_add(&r, epoch, n), 0);
            for (uint64_t e = r.from; e < 64; e++)
                assert_int_equal(an_runs_count(&r, e), plain[e]);
            for (uint32_t k = 1; k < r.count; k++)
                assert_true(r.list[k - 1].last < r.list[k].first);
            assert_true(r.count <= RUNS_MOST);
        }
        for (uint64_t e = r.from; e < 64;) {
            an_run run = an_runs_at(&r, e, 63);
            for (; e <= run.last; e++)
                assert_int_equal(plain[e], run.count);
        }
        free(r.list);
    }
}

/* Two slots in use, as planned; a third one is declared as well, and nobody touches it. */
static void test_slot_that_nobody_ever_touched(void **state) {
    (void)state;
    for (uint32_t planned = 0; planned < 2; planned++) {
        made m = {.c = case_begin(2, 1, 1), .last = EPOCHS};
        m.pad = cb_pad(m.c, "full", "", "", 1, 3, 0);
        plan(m.c, XS_PLAN_WRITER, m.pad, 0, XS_PLAN_ANY, 1, 0);
        for (uint32_t s = 0; s < 3; s++)
            plan(m.c, XS_PLAN_SIGNALS, m.pad, 0, s, s < 2 ? 1 : planned, 0);
        rounds(&m, 2, 1);
        judged j = end(&m);
        const xsa_finding *f = finding_of(&j, XSA_COUNT_MISMATCH);
        assert_int_equal(f != NULL, planned);
        if (f) {
            assert_int_equal(f->severity, XSA_WARNING);
            assert_int_equal(f->owes_rank, 1);
            assert_non_null(strstr(f->text, "column 2 of full"));
        }
        expect_errors(&j, 0);
        judged_free(&j);
    }
}

/* One entry for all slots: its author need not have meant a rank's own, nor those of ranks that are not neighbours. One of many is told, and so is
 * an entry of which nothing is ever used. */
static void test_slots_that_an_entry_for_all_covers(void **state) {
    (void)state;
    static const struct { uint32_t slots, used; bool told; } cases[] = {{8, 8, false}, {8, 7, true}, {8, 4, false}, {8, 1, false}, {8, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m = begin(cases[i].slots, 1);
        rounds(&m, cases[i].used, 1);
        judged j = end(&m);
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH) != NULL, cases[i].told);
        expect_errors(&j, 0);
        judged_free(&j);
    }
}

/* As many entries as a program may make in a loop, one an epoch, each for all slots of a large pad: 65 million looks, were they not counted. */
static void test_thousand_entries_for_the_same_slots(void **state) {
    (void)state;
    enum { SLOTS = 65536, USED = 60000 };
    cb *c = case_begin(2, 1, 1);
    made m = {.c = c, .last = 1, .pad = cb_pad(c, "full", "", "", 1, SLOTS, 0)};
    plan(c, XS_PLAN_WRITER, m.pad, 0, XS_PLAN_ANY, 1, 0);
    for (uint32_t epoch = 1; epoch <= 1000; epoch++) {
        xs_plan_entry e = {.kind = XS_PLAN_SIGNALS, .pad_first = cb_pad_first(c, m.pad), .owner = 0, .column = XS_PLAN_ANY, .epoch = epoch, .a = 1};
        cb_plan(c, &e, 1);
    }
    rounds(&m, USED, 1);
    judged j = end(&m);
    assert_non_null(finding_of(&j, XSA_COUNT_MISMATCH));
    expect_errors(&j, 0);
    judged_free(&j);
}

/* Signals of it may be lost: as many as are planned, and no fewer. */
static void test_untouched_slot_under_loss(void **state) {
    (void)state;
    for (uint32_t lost = EPOCHS - 1; lost <= EPOCHS; lost++) {
        made m = begin(1, 1);
        for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
            enter(&m, epoch);
            uint64_t at = cb_next(m.c, RING(1, 0));
            cb_one(m.c, RING(1, 0), 2000 + epoch * 1000, XS_CODE_FENCE_ACQREL_SYS, 0, 33);
            if (epoch <= lost)
                cb_lose(m.c, RING(1, 0), at, at, XS_LOSS_OVERWRITTEN);
        }
        judged j = end(&m);
        assert_int_equal(finding_of(&j, XSA_COUNT_MISMATCH) != NULL, lost < EPOCHS);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_that_nobody_ever_touched), cmocka_unit_test(test_slots_that_an_entry_for_all_covers),
        cmocka_unit_test(test_untouched_slot_under_loss), cmocka_unit_test(test_thousand_entries_for_the_same_slots), cmocka_unit_test(test_as_often_as_planned),
        cmocka_unit_test(test_plan_with_a_wrong_number_of_signals),
        cmocka_unit_test(test_wrong_number_at_all_slots_is_one_finding),
        cmocka_unit_test(test_signalled_twice_or_not_at_all_in_one_round),
        cmocka_unit_test(test_left_off_in_the_last_round),
        cmocka_unit_test(test_signal_to_the_wrong_slot_is_one_finding),
        cmocka_unit_test(test_credits_that_lag_behind_are_no_error),
        cmocka_unit_test(test_killed_in_the_middle_of_a_round),
        cmocka_unit_test(test_rounds_behind_a_failure_are_not_judged),
        cmocka_unit_test(test_wait_for_the_signal_that_is_missing),
        cmocka_unit_test(test_lost_records_make_it_unknown),
        cmocka_unit_test(test_more_than_lost_records_could_have_been),
        cmocka_unit_test(test_filtered_blocks_make_it_unknown),
        cmocka_unit_test(test_two_launches_with_the_same_epochs),
        cmocka_unit_test(test_plan_that_names_a_wrong_rank_is_one_finding),
        cmocka_unit_test(test_one_slot_that_another_rank_signals),
        cmocka_unit_test(test_plan_that_names_the_host),
        cmocka_unit_test(test_plan_that_names_another_role),
        cmocka_unit_test(test_block_that_plays_a_role_of_others),
        cmocka_unit_test(test_arrivals_as_planned),
        cmocka_unit_test(test_arrivals_that_differ_from_the_plan),
        cmocka_unit_test(test_report_that_differs_from_the_declared_entry),
        cmocka_unit_test(test_two_reports_that_differ),
        cmocka_unit_test(test_runs_agree_with_a_plain_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
