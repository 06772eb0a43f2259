/* For whom a rank waited, against a naive look at every wait at many moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/export.h>

enum { RANKS = 3, ROLES = 3, WRITERS = RANKS * ROLES * 2, ROUNDS = 300, MOST = WRITERS * ROUNDS };
enum { PUSH, CONSUME, GEMM };
enum { ARRIVED = 500000 }; /* until then nobody knows who supplies a gate */
enum { DONE, GATE, GO, BAR, KINDS }; /* a slot a kind and rank: for the next rank, consume's, gemm's, no plan */

static char path[] = "/tmp/xs_rank_waits_XXXXXX.db";
static xsr_rank ranks[RANKS];
static xsr_pad pads[KINDS] = {
    {.name = "done", .row_label = "", .column_label = "", .rows = 1, .columns = 1, .owners = RANKS},
    {.name = "gate", .row_label = "", .column_label = "", .flags = XS_PAD_SHARED},
    {.name = "go", .row_label = "", .column_label = ""},
    {.name = "bar", .row_label = "", .column_label = ""}};
static xsr_slot slots[KINDS * RANKS];
static xsr_writer writers[WRITERS];
static xsr_model model = {.ranks = ranks, .rank_count = RANKS, .pads = pads, .pad_count = KINDS, .slots = slots,
                          .slot_count = KINDS * RANKS, .writers = writers, .writer_count = WRITERS, .closed = true};
static xsr_wait waits[MOST];
static xsr_event events[2 * MOST + RANKS];
static uint32_t wait_count, event_count;

static uint32_t role_of(uint32_t writer) { return writer / 2 % ROLES; }

static uint32_t owes(uint32_t kind, uint32_t rank) {
    return kind == GATE || kind == GO ? rank : (rank + 1 + kind / 2) % RANKS;
}

static void make_model(void) {
    for (uint32_t r = 0; r < RANKS; r++) {
        ranks[r] = (xsr_rank){.rank = r, .device = -1};
        for (uint32_t k = 0; k < KINDS; k++)
            slots[r * KINDS + k] = (xsr_slot){.pad = k, .owner = r, .name = pads[k].name, .label = "",
                                              .supplier_rank = k == BAR || k == GATE ? XSR_NONE : owes(k, r),
                                              .supplier_role = k == GO ? GEMM : XSR_NONE};
    }
    for (uint32_t w = 0; w < WRITERS; w++)
        writers[w] = (xsr_writer){.rank = w / (2 * ROLES), .ring = XSR_NONE, .launch = XSR_NONE, .role = role_of(w),
                                  .begin = 1000, .end = INT64_MIN, .name = "w"};
}

static void add_event(uint32_t kind, int64_t time, uint32_t writer, uint32_t slot, uint32_t wait) {
    events[event_count++] = (xsr_event){.kind = (uint8_t)kind,
                                        .time = time,
                                        .writer = writer,
                                        .slot = slot,
                                        .ring = XSR_NONE,
                                        .rank = writers[writer].rank,
                                        .role = role_of(writer),
                                        .object = wait};
}

static int by_time(const void *a, const void *b) {
    const xsr_event *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* Every time is another: a moment has one answer. */
static void make_waits(unsigned seed) {
    srand(seed);
    wait_count = event_count = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        add_event(XS_EV_GATE_ARRIVE, ARRIVED + r, (r * ROLES + CONSUME) * 2, r * KINDS + GATE, XSR_NONE);
    for (uint32_t w = 0; w < WRITERS; w++) {
        int64_t t = 2000;
        for (uint32_t i = 0; i < ROUNDS; i++) {
            uint32_t rank = writers[w].rank, kind = (uint32_t)rand() % KINDS;
            xsr_wait *wait = &waits[wait_count];
            *wait = (xsr_wait){.writer = w, .rank = rank, .role = role_of(w), .slot = rank * KINDS + kind,
                               .supplier_rank = owes(kind, rank), .last_fail = INT64_MIN, .open = i + 1 == ROUNDS,
                               .begin = (t += 1 + rand() % 400) * WRITERS + w, .end = INT64_MIN};
            add_event(XS_EV_WAIT_START, wait->begin, w, wait->slot, wait_count);
            if (!wait->open) {
                wait->end = (t += 1 + rand() % (rand() % 8 ? 200 : 6000)) * WRITERS + w;
                add_event(XS_EV_WAIT_END, wait->end, w, wait->slot, wait_count);
            }
            wait_count++;
        }
    }
    qsort(events, event_count, sizeof *events, by_time);
    model.begin = 1000;
    model.end = events[event_count - 1].time + 5000;
    for (uint32_t i = 0; i < event_count; i++) {
        xsr_event *e = &events[i];
        e->id = i + 1;
        if (e->kind == XS_EV_WAIT_START)
            waits[e->object].start_event = waits[e->object].id = e->id;
        if (e->kind == XS_EV_WAIT_END)
            waits[e->object].id = e->id;
    }
}

/* Each wait is settled a while after its end, the open ones when all is over. */
static void feed(xsr_sink *sink) {
    assert_int_equal(sink->begin(sink, &model), 0);
    for (uint32_t i = 0; i < event_count + 20; i++) {
        if (i < event_count)
            assert_int_equal(sink->event(sink, &events[i]), 0);
        if (i >= 20 && events[i - 20].kind == XS_EV_WAIT_END)
            assert_int_equal(sink->wait(sink, &waits[events[i - 20].object]), 0);
    }
    for (uint32_t i = 0; i < wait_count; i++)
        if (waits[i].open)
            assert_int_equal(sink->wait(sink, &waits[i]), 0);
    assert_int_equal(sink->finish(sink), 0);
    assert_int_equal(xsv_sqlite_close(sink), 0);
}

static sqlite3 *make_database(void) {
    xsr_sink *sink = NULL;
    sqlite3 *db = NULL;
    assert_int_equal(xsv_sqlite_open(path, NULL, &sink), 0);
    feed(sink);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

static int64_t number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

/* ---- the naive look ---- */

static int is_open(const xsr_wait *w, int64_t t) { return w->begin <= t && t < (w->open ? model.end : w->end); }

static int is_remote(const xsr_wait *w) { return w->supplier_rank != w->rank; }

/* The oldest wait of the rank at t: remote ones, or those of a role. */
static const xsr_wait *oldest(uint32_t rank, int64_t t, int role) {
    const xsr_wait *best = NULL;
    for (uint32_t i = 0; i < wait_count; i++) {
        const xsr_wait *w = &waits[i];
        if (w->rank == rank && is_open(w, t) && (role < 0 ? is_remote(w) : (int)w->role == role) &&
            (!best || w->begin < best->begin))
            best = w;
    }
    return best;
}

static const xsr_wait *resolve(const xsr_wait *w, int64_t t) {
    for (int i = 0; w && !is_remote(w); i++)
        w = i == 8 || (w->slot % KINDS == GATE && t < ARRIVED + w->rank)
                ? NULL
                : oldest(w->rank, t, w->slot % KINDS == GATE ? CONSUME : GEMM);
    return w;
}

static const xsr_wait *counting(uint32_t rank, int64_t t) {
    const xsr_wait *first = oldest(rank, t, -1), *best = NULL, *found = first;
    for (uint32_t i = 0; i < wait_count && first; i++) {
        const xsr_wait *w = &waits[i], *through = NULL;
        if (w->rank != rank || is_remote(w) || !is_open(w, t) || w->begin >= first->begin)
            continue;
        if ((!best || w->begin < best->begin) && (through = resolve(w, t))) {
            best = w;
            found = through;
        }
    }
    return found;
}

static void test_moments(void **state) {
    (void)state;
    int through_gates = 0, nobody = 0;
    for (unsigned seed = 1; seed <= 3; seed++) {
        make_waits(seed);
        sqlite3 *db = make_database();
        for (uint32_t k = 0; k < 600; k++) {
            uint32_t rank = k % RANKS;
            int64_t t = model.begin + (model.end - model.begin) / 600 * k + 7;
            const xsr_wait *naive = counting(rank, t);
            char sql[200];
            snprintf(sql, sizeof sql,
                     "SELECT coalesce(max(wait), 0) + 1000000 * count(*) FROM rank_waits WHERE rank = %u AND "
                     "begin_ns <= %lld AND end_ns > %lld",
                     rank, (long long)t, (long long)t);
            assert_int_equal(number(db, sql), naive ? 1000000 + (int64_t)naive->id : 0);
            through_gates += naive && naive != oldest(rank, t, -1);
            nobody += !naive;
        }
        sqlite3_close(db);
    }
    assert_in_range(through_gates, 50, 1500);
    assert_in_range(nobody, 5, 1500);
}

/* The share is the pieces, summed. */
static void test_share(void **state) {
    (void)state;
    make_waits(9);
    sqlite3 *db = make_database();
    assert_int_equal(
        number(db, "SELECT count(*) FROM (SELECT rank, peer, count(*), sum(end_ns - begin_ns) FROM rank_waits GROUP "
                   "BY 1, 2 EXCEPT SELECT rank, peer, waits, waited_ns FROM rank_share)"),
        0);
    assert_int_equal(number(db, "SELECT count(*) FROM rank_share"), RANKS * 2);
    assert_int_equal(number(db, "SELECT count(*) FROM rank_share WHERE rank = peer OR share <= 0 OR share > 1"), 0);
    assert_int_equal(number(db,
                            "SELECT count(*) FROM rank_waits JOIN wait ON wait.id = wait WHERE rank_waits.begin_ns < "
                            "wait.begin_ns OR rank_waits.end_ns > coalesce(wait.end_ns, rank_waits.end_ns)"),
                     0);
    sqlite3_close(db);
}

/* An end that is lost: the wait is over where its writer ends, and not beyond the bound that the reader found. */
static void test_lost_end(void **state) {
    (void)state;
    wait_count = event_count = 0;
    add_event(XS_EV_WAIT_START, 2000, 0, DONE, 0);
    add_event(XS_EV_WAIT_START, 2500, 1, BAR, 1);
    add_event(XS_EV_WRITER_END, 4000, 0, XSR_NONE, XSR_NONE);
    for (uint32_t i = 0; i < event_count; i++)
        events[i].id = i + 1;
    for (uint32_t i = 0; i < 2; i++)
        waits[i] = (xsr_wait){.writer = i,
                              .slot = i ? BAR : DONE,
                              .supplier_rank = 1 + i,
                              .begin = 2000 + 500 * i,
                              .start_event = i + 1,
                              .id = i + 1,
                              .last_fail = INT64_MIN,
                              .end = i ? INT64_MIN : 3900,
                              .end_lost = !i,
                              .open = i};
    model.begin = 1000, model.end = 9000;
    xsr_sink *sink = NULL;
    assert_int_equal(xsv_sqlite_open(path, NULL, &sink), 0);
    assert_int_equal(sink->begin(sink, &model), 0);
    for (uint32_t i = 0; i < event_count; i++)
        assert_int_equal(sink->event(sink, &events[i]), 0);
    for (wait_count = 0; wait_count < 2; wait_count++)
        assert_int_equal(sink->wait(sink, &waits[wait_count]), 0);
    assert_int_equal(sink->finish(sink), 0);
    assert_int_equal(xsv_sqlite_close(sink), 0);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(number(db, "SELECT waited_ns FROM rank_share WHERE peer = 1"), 1900);
    assert_int_equal(number(db, "SELECT waited_ns FROM rank_share WHERE peer = 2"), 5000);
    sqlite3_close(db);
}

static int setup(void **state) {
    (void)state;
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    close(fd);
    make_model();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments), cmocka_unit_test(test_share),
                                       cmocka_unit_test(test_lost_end)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
