/* How long the questions of a report take over many waits: a database of 10 million waits and their events, asked
 * five times each; the median is shown. The bar: a wait-latency histogram within a second.
 *
 *     sqlite_histogram [WAITS] [FOLDER]     default 10000000 and /tmp; 2.3 GB there */
#include "timing.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <unistd.h>
#include <xs/export.h>

#define TIMES 5
#define BAR 1.0
#define RANKS 8u
#define WRITERS (RANKS * 16u)
#define PADS 4u
#define SLOTS (RANKS * RANKS * PADS)

static xsr_rank ranks[RANKS];
static xsr_pad pads[PADS];
static xsr_slot slots[SLOTS];
static xsr_writer writers[WRITERS];
static xsr_model model = {.ranks = ranks,
                          .rank_count = RANKS,
                          .pads = pads,
                          .pad_count = PADS,
                          .slots = slots,
                          .slot_count = SLOTS,
                          .writers = writers,
                          .writer_count = WRITERS,
                          .closed = true};

static uint64_t next_random(void) {
    static uint64_t s = 88172645463325252ull;
    s ^= s << 13;
    s ^= s >> 7;
    return s ^= s << 17;
}

static void make_model(void) {
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = (xsr_rank){.rank = i, .device = -1};
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (xsr_writer){
            .rank = i % RANKS, .ring = XSR_NONE, .launch = XSR_NONE, .role = XSR_NONE, .end = INT64_MIN, .name = "w"};
    }
    for (uint32_t i = 0; i < PADS; i++)
        pads[i] =
            (xsr_pad){.name = "pad", .row_label = "", .column_label = "", .rows = RANKS, .columns = 1, .owners = RANKS};
    for (uint32_t i = 0; i < SLOTS; i++)
        slots[i] = (xsr_slot){.pad = i % PADS,
                              .owner = i / PADS % RANKS,
                              .row = i / PADS / RANKS,
                              .supplier_rank = i / PADS / RANKS,
                              .supplier_role = XSR_NONE,
                              .name = "pad[src]",
                              .label = "rank pad[src]"};
}

/* A writer waits, works, waits again. Half of the waits had to wait. */
typedef struct waiter {
    int64_t time; /* of its next event */
    xsr_wait wait;
    int open;
} waiter;

static waiter waiters[WRITERS];
static uint64_t events;

static uint32_t next_waiter(void) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < WRITERS; i++)
        if (waiters[i].time < waiters[first].time)
            first = i;
    return first;
}

static void give_event(xsr_sink *sink, const xsr_wait *w, int64_t time, uint8_t kind) {
    xsr_event e = {.id = ++events, .time = time, .kind = kind, .writer = w->writer, .rank = w->rank, .slot = w->slot,
                   .ring = XSR_NONE, .role = XSR_NONE, .value = w->observed, .need = w->need};
    check(sink->event(sink, &e), "event");
}

static void begin_wait(xsr_sink *sink, uint32_t writer) {
    waiter *m = &waiters[writer];
    uint32_t owner = writer % RANKS, slot = (uint32_t)(next_random() % (SLOTS / RANKS));
    slot = slot / PADS * PADS * RANKS + owner * PADS + slot % PADS;
    xsr_edge edge = {.reason = XSR_REASON_FOUND, .event = events, .rank = slots[slot].supplier_rank, .value = events};
    m->wait = (xsr_wait){.id = events + 1,
                         .start_event = XSR_NO_ID,
                         .begin = m->time,
                         .end = m->time,
                         .writer = writer,
                         .rank = owner,
                         .slot = slot,
                         .role = XSR_NONE,
                         .need = events,
                         .observed = events,
                         .last_fail = INT64_MIN,
                         .passed = next_random() % 2,
                         .supplier_rank = slots[slot].supplier_rank,
                         .reads_from = edge,
                         .released_by = edge};
    m->open = !m->wait.passed;
    give_event(sink, &m->wait, m->time, m->open ? XS_EV_WAIT_START : XS_EV_PASS);
    if (m->open) {
        m->wait.start_event = events;
        m->time += 1 + (int64_t)(next_random() % (1ull << (6 + next_random() % 18)));
    }
}

static void end_wait(xsr_sink *sink, uint32_t writer) {
    waiter *m = &waiters[writer];
    m->wait.end = model.end = m->time;
    if (m->open) {
        give_event(sink, &m->wait, m->time, XS_EV_WAIT_END);
        m->wait.id = events;
    }
    check(sink->wait(sink, &m->wait), "wait");
    m->open = 0;
    m->time += 1 + (int64_t)(next_random() % 100000);
}

static double make_database(const char *path, uint64_t waits) {
    xsr_sink *sink = NULL;
    double begin = now();
    check(xsv_sqlite_open(path, NULL, &sink), "open");
    check(sink->begin(sink, &model), "begin");
    for (uint64_t done = 0; done < waits;) {
        uint32_t w = next_waiter();
        if (!waiters[w].open)
            begin_wait(sink, w);
        else
            end_wait(sink, w), done++;
        if (waiters[w].wait.passed && !waiters[w].open)
            end_wait(sink, w), done++;
    }
    check(sink->finish(sink), "finish");
    check(xsv_sqlite_close(sink), "close");
    return now() - begin;
}

static uint64_t ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s;
    uint64_t rows = 0;
    check(sqlite3_prepare_v2(db, sql, -1, &s, NULL), sql);
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int c = 0, n = (rows++, sqlite3_column_count(s)); c < n; c++)
            (void)sqlite3_column_int64(s, c);
    sqlite3_finalize(s);
    return rows;
}

static double ask_median(const char *path, const char *sql, uint64_t *rows) {
    double took[TIMES];
    for (int i = 0; i < TIMES; i++) {
        sqlite3 *db;
        check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), "open");
        double begin = now();
        *rows = ask(db, sql);
        took[i] = now() - begin;
        sqlite3_close(db);
    }
    return median(took, TIMES);
}

int main(int argc, char **argv) {
    static const char *const questions[] = {"SELECT * FROM wait_latency_histogram",
                                            "SELECT * FROM wait_latency",
                                            "SELECT * FROM rank_share",
                                            "SELECT * FROM wait_share",
                                            "SELECT * FROM slowest_waits LIMIT 10",
                                            "SELECT * FROM slowest_remote_waits LIMIT 10",
                                            "SELECT * FROM open_waits"};
    uint64_t waits = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000, rows;
    char path[256];
    snprintf(path, sizeof path, "%s/xs_sqlite_histogram_%d.db", argc > 2 ? argv[2] : "/tmp", (int)getpid());
    make_model();
    printf("%" PRIu64 " waits, %.1f s to a closed database\n\n%-40s %8s %10s\n", waits, make_database(path, waits),
           "question", "rows", "seconds");
    double histogram = 0;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        double seconds = ask_median(path, questions[i], &rows);
        printf("%-40s %8" PRIu64 " %10.4f%s\n", questions[i], rows, seconds, i ? "" : "  (bar 1.0)");
        histogram = i ? histogram : seconds;
    }
    unlink(path);
    return histogram <= BAR ? 0 : 1;
}
