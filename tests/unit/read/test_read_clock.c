/* Device time to the host's: planted clocks are recovered within the bound that the reader states. */
#include "read_help.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000ll
#define US 1000ll
#define H0 (500 * S)                  /* host time at which the runs begin */
#define D0 1795964922682060295ll      /* the device's at the same moment */
#define MOST 20000

typedef struct gpu { /* its clock, planted */
    double ppm;
    double wobble_ns; /* a slow wave of 40 s */
    int64_t offset;
    int64_t step, step_at, step_until; /* its stamps are off by so much between these host times */
} gpu;

/* A sine without libm, good enough to wobble: x in periods. */
static double wave(double x) {
    double t = x - (double)(int64_t)x, u = t < 0.5 ? t : t - 0.5, v = 16 * u * (0.5 - u);
    return t < 0.5 ? v : -v;
}

static int64_t exact_stamp(const gpu *g, int64_t host) {
    double x = (double)(host - H0);
    return D0 + g->offset + (host - H0) + (int64_t)(g->ppm * 1e-6 * x + g->wobble_ns * wave(x / (double)(40 * S)));
}

static int64_t stamp(const gpu *g, int64_t host) {
    int64_t d = exact_stamp(g, host) + (host >= g->step_at && host < g->step_until ? g->step : 0);
    return d - d % 32;
}

static int64_t random_below(int64_t n) { return rand() % n; }

/* A sample: the answer lies anywhere in the bracket where it is wide, near the middle where it is one of the best. */
static void sample(cb *c, uint32_t device, const gpu *g, int64_t host, int64_t wrong) {
    int64_t extra = random_below(4) ? random_below(100) : random_below(1500), bracket = 2050 + extra;
    int64_t at = host + bracket / 2 + random_below(155) - 77 + (extra > 100 ? random_below(extra) - extra / 2 : 0);
    cb_device_clock(c, device, (uint64_t)(host + bracket / 2 + wrong), (uint64_t)stamp(g, at), (uint64_t)bracket);
}

typedef struct run { /* what was planted and what came back */
    cb *c;
    const char *path;
    uint32_t pad;
    int64_t truth[MOST];
    uint32_t count;
    xsr_reader *reader;
    told told;
} run;

static void begin(run *r, const char *name, uint32_t ranks, int32_t device) {
    memset(r, 0, sizeof *r);
    srand(11);
    r->path = help_path(name);
    r->c = cb_begin(r->path);
    assert_non_null(r->c);
    xs_region_header region = cb_region(0, ranks, ranks);
    region.device = device;
    region.start_time = (uint64_t)(H0 - S / 10);
    region.start_realtime = D0;
    cb_process_as(r->c, &region);
    r->pad = cb_pad(r->c, "done", "", "from", 1, 2, 0);
}

static void mark(run *r, const gpu *g, int64_t host) {
    cb_mark(r->c, 0, (uint64_t)stamp(g, host), 1, r->count);
    r->truth[r->count++] = host;
}

static const xsr_clock *clock_of(const run *r, int32_t device) {
    const xsr_model *m = xsr_model_of(r->reader);
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device == device)
            return &m->clocks[i];
    fail_msg("no clock of device %d", device);
    return NULL;
}

static void read_back(run *r) {
    assert_int_equal(cb_end(r->c), 0);
    r->reader = help_open(r->path);
    assert_int_equal(help_run(r->reader, &r->told), 0);
}

static void end(run *r) {
    help_free(&r->told);
    xsr_close(r->reader);
}

static int by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Marks only: their word says which. Returns p99 of the error. */
static int64_t check_marks(const run *r, int64_t bound) {
    static int64_t errors[MOST];
    assert_true(bound > 0);
    assert_int_equal(r->told.event_count, r->count);
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < r->count; i++) {
        const xsr_event *e = &r->told.events[i];
        assert_int_equal(e->value, i);
        assert_false(e->time_modulo);
        assert_true(e->time >= before);
        before = e->time;
        errors[i] = llabs(e->time - r->truth[i]);
        if (errors[i] > bound)
            fail_msg("mark %u is off by %" PRId64 " ns, bound %" PRId64, i, errors[i], bound);
    }
    qsort(errors, r->count, sizeof *errors, by_value);
    return errors[r->count * 99 / 100];
}

/* Marks over `seconds`, taken twice a second: the device's low words wrap many times. */
static void marks(run *r, const gpu *g, int64_t from, int64_t seconds) {
    int64_t at = from, flush = from + S / 2;
    for (; at <= from + seconds * S; at += S / 200 + random_below(1000)) {
        for (; flush < at; flush += S / 2)
            cb_flush_at(r->c, (uint64_t)flush);
        mark(r, g, at);
    }
    cb_flush_at(r->c, (uint64_t)flush);
}

static void a_minute(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6, .wobble_ns = 240};
    begin(&r, "minute.xs", 1, 0);
    for (int64_t t = 0; t <= 120; t++)
        sample(r.c, 0, &g, H0 + t * S / 2, 0);
    marks(&r, &g, H0, 60);
    read_back(&r);
    const xsr_clock *c = clock_of(&r, 0);
    assert_int_equal(c->step_ns, 32);
    assert_in_range(c->residual_ns, 1, 160); /* near-best samples were planted to agree within 155 */
    assert_in_range(c->bound_ns, 1, 1300);
    assert_in_range(check_marks(&r, c->bound_ns), 0, 100); /* one line through all would miss by 240 */
    assert_int_equal(clock_of(&r, -1)->bound_ns, 1);
    assert_int_equal(xsr_model_of(r.reader)->clock_count, 2);
    assert_int_equal(xsr_model_of(r.reader)->ranks[0].device, 0);
    assert_in_range(xsr_model_of(r.reader)->end - xsr_model_of(r.reader)->begin, 59 * S, 61 * S);
    end(&r);
}

/* Samples at both ends alone, as of one long kernel. */
static void only_ends(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = -10.6, .wobble_ns = 200};
    begin(&r, "ends.xs", 1, 0);
    sample(r.c, 0, &g, H0 - S / 100, 0);
    marks(&r, &g, H0, 60);
    sample(r.c, 0, &g, H0 + 60 * S + S / 100, 0);
    read_back(&r);
    const xsr_clock *c = clock_of(&r, 0);
    assert_in_range(c->bound_ns, 1000, 4500);
    check_marks(&r, c->bound_ns);
    end(&r);
}

/* Samples in the middle third: what lies beyond is said to be less sure, and is. */
static void beyond_samples(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6, .wobble_ns = 1000};
    begin(&r, "beyond.xs", 1, 0);
    for (int64_t t = 0; t < 40; t++)
        sample(r.c, 0, &g, H0 + 20 * S + t * S / 2, 0);
    marks(&r, &g, H0, 60);
    read_back(&r);
    const xsr_clock *c = clock_of(&r, 0);
    assert_in_range(c->bound_ns, 400 * US, 420 * US); /* 20 ppm of 20 s */
    check_marks(&r, c->bound_ns);
    assert_int_equal(xsr_model_of(r.reader)->note_count, 1);
    assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "beyond the samples"));
    end(&r);
}

static void one_sample(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6};
    begin(&r, "single.xs", 1, 0);
    sample(r.c, 0, &g, H0 - S, 0);
    marks(&r, &g, H0, 3);
    read_back(&r);
    const xsr_clock *c = clock_of(&r, 0);
    assert_in_range(c->bound_ns, 80 * US, 85 * US); /* 20 ppm of 4 s */
    check_marks(&r, c->bound_ns);
    end(&r);
}

static void no_sample(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6};
    begin(&r, "none.xs", 1, 0);
    cb_epoch(r.c, 0, (uint64_t)stamp(&g, H0), 1);
    cb_flush_at(r.c, (uint64_t)(H0 + S / 1000));
    cb_epoch(r.c, 0, (uint64_t)stamp(&g, H0 + S), 2);
    cb_mark(r.c, 0, (uint64_t)stamp(&g, H0 + S + 5 * US), 1, 0);
    cb_flush_at(r.c, (uint64_t)(H0 + S + 20 * US)); /* the closest look */
    for (int64_t t = 2; t < 9; t++)
        cb_flush_at(r.c, (uint64_t)(H0 + t * S));
    cb_mark(r.c, 0, (uint64_t)stamp(&g, H0 + 9 * S), 1, 1);
    cb_flush_at(r.c, (uint64_t)(H0 + 9 * S + S / 100));
    read_back(&r);
    const xsr_clock *c = clock_of(&r, 0);
    assert_int_equal(c->bound_ns, -1);
    assert_int_equal(c->residual_ns, -1);
    assert_int_equal(r.told.event_count, 4);
    assert_int_equal(r.told.events[2].time, H0 + S + 20 * US);
    assert_in_range(r.told.events[1].time, H0 + S + 14 * US, H0 + S + 16 * US);
    assert_in_range(r.told.events[3].time, H0 + 9 * S, H0 + 9 * S + S / 100);
    assert_false(r.told.events[3].time_modulo);
    assert_int_equal(xsr_model_of(r.reader)->note_count, 1);
    assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "no sample"));
    end(&r);
}

/* Ring 0 on one clock, ring 64 on another: each waits for the other's signal. */
static void ping_pong(run *r, const gpu *a, const gpu *b, int64_t from, int rounds) {
    for (int i = 1; i <= rounds; i++, from += S / 100) {
        int64_t there = 900 + random_below(600), back = 900 + random_below(600);
        uint64_t v = (uint64_t)i;
        uint32_t to_b = cb_slot(r->c, r->pad, 1, 0, 0), to_a = cb_slot(r->c, r->pad, 0, 0, 1);
        cb_signal(r->c, 0, (uint64_t)(a ? stamp(a, from) : from), to_b, v);
        cb_pass(r->c, 64, (uint64_t)(b ? stamp(b, from + there) : from + there), to_b, v, v);
        int64_t answer = from + there + 3 * US;
        cb_signal(r->c, 64, (uint64_t)(b ? stamp(b, answer) : answer), to_a, v);
        cb_pass(r->c, 0, (uint64_t)(a ? stamp(a, answer + back) : answer + back), to_a, v, v);
        r->truth[r->count++] = from;
        r->truth[r->count++] = from + there;
        r->truth[r->count++] = answer;
        r->truth[r->count++] = answer + back;
        cb_flush_at(r->c, (uint64_t)(answer + 10 * US));
    }
}

/* Largest error of the two rings' events. */
static void errors_of(const run *r, int64_t *of_0, int64_t *of_64) {
    uint32_t seen[2] = {0, 0};
    static const uint32_t places[2][2] = {{0, 3}, {1, 2}};
    *of_0 = *of_64 = 0;
    for (size_t i = 0; i < r->told.event_count; i++) {
        const xsr_event *e = &r->told.events[i];
        uint32_t side = xsr_model_of(r->reader)->rings[e->ring].ring == 64, n = seen[side]++;
        int64_t off = llabs(e->time - r->truth[4 * (n / 2) + places[side][n % 2]]), *most = side ? of_64 : of_0;
        *most = off > *most ? off : *most;
    }
    assert_int_equal(seen[0], r->count / 2);
    assert_int_equal(seen[1], r->count / 2);
}

static void two_gpus(run *r, const char *name, const gpu *a, const gpu *b, int64_t wrong) {
    begin(r, name, 2, 0);
    cb_ring_device(r->c, 64, 1);
    for (int64_t t = 0; t <= 10; t++) {
        sample(r->c, 0, a, H0 + t * S / 5, 0);
        sample(r->c, 1, b, H0 + t * S / 5, wrong);
    }
    ping_pong(r, a, b, H0 + S / 1000, 190);
    read_back(r);
}

static void clocks_agree(void **state) {
    (void)state;
    static run r;
    const gpu a = {.ppm = 10.6}, b = {.ppm = -3, .offset = 77 * S};
    int64_t of_a, of_b;
    two_gpus(&r, "agree.xs", &a, &b, 0);
    errors_of(&r, &of_a, &of_b);
    assert_true(of_a <= clock_of(&r, 0)->bound_ns && of_b <= clock_of(&r, 1)->bound_ns);
    assert_in_range(clock_of(&r, 1)->bound_ns, 1000, 1500);
    assert_int_equal(xsr_model_of(r.reader)->note_count, 0);
    assert_int_equal(xsr_model_of(r.reader)->ranks[1].device, 1);
    assert_int_equal(r.told.wait_count, 380);
    for (size_t i = 0; i < r.told.wait_count; i++)
        assert_int_equal(r.told.waits[i].reads_from.reason, XSR_REASON_FOUND);
    end(&r);
}

static void assert_fault(const run *r) {
    int64_t of_a, of_b;
    const xsr_model *m = xsr_model_of(r->reader);
    assert_int_equal(m->note_count, 1);
    assert_non_null(strstr(m->notes[0], "clock fault between GPU 0"));
    errors_of(r, &of_a, &of_b);
    assert_true(of_b > 4 * US);
    assert_true(of_a <= clock_of(r, 0)->bound_ns);
    assert_in_range(clock_of(r, 1)->bound_ns, of_b, 10 * US);
}

static void planted_offset(void **state) {
    (void)state;
    static run r;
    const gpu a = {.ppm = 10.6}, b = {.ppm = -3};
    for (int side = 0; side < 2; side++) {
        two_gpus(&r, "offset.xs", &a, &b, side ? 5 * US : -5 * US);
        assert_fault(&r);
        told again; /* a second pass begins from what the samples say */
        assert_int_equal(help_run(r.reader, &again), 0);
        assert_fault(&r);
        help_free(&again);
        end(&r);
    }
}

/* Between two samples, so that only the signals can tell. */
static void planted_step(void **state) {
    (void)state;
    static run r;
    const gpu a = {.ppm = 10.6}, b = {.ppm = -3, .step = 5 * US, .step_at = H0 + S + S / 50, .step_until = H0 + S + S / 6};
    two_gpus(&r, "step.xs", &a, &b, 0);
    assert_fault(&r);
    end(&r);
}

/* A CPU rank beside a GPU without samples: signals both ways say how far its clock may be off. */
static void signals_bound_it(void **state) {
    (void)state;
    static run r;
    const gpu a = {.ppm = 0};
    int64_t of_a, of_host;
    begin(&r, "bounded.xs", 2, 0);
    cb_ring_device(r.c, 64, -1);
    cb_epoch(r.c, 0, (uint64_t)stamp(&a, H0), 1);
    cb_flush_at(r.c, (uint64_t)(H0 + 40 * US)); /* 40 us late: as far as the estimate is off */
    ping_pong(&r, &a, NULL, H0 + S / 1000, 50);
    read_back(&r);
    assert_int_equal(r.told.events[0].kind, XS_EV_EPOCH);
    r.told.events++, r.told.event_count--;
    errors_of(&r, &of_a, &of_host);
    r.told.events--, r.told.event_count++;
    assert_int_equal(of_host, 0);
    assert_in_range(of_a, 30 * US, clock_of(&r, 0)->bound_ns);
    assert_in_range(clock_of(&r, 0)->bound_ns, 30 * US, 50 * US);
    assert_int_equal(xsr_model_of(r.reader)->ranks[0].device, 0);
    assert_int_equal(xsr_model_of(r.reader)->ranks[1].device, -1);
    end(&r);
}

/* A ring in which stamps repeat and advance by single steps keeps its order across every piece. */
static void order_in_a_ring(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6, .wobble_ns = 5000};
    begin(&r, "order.xs", 1, 0);
    for (int64_t t = 0; t <= 120; t++)
        sample(r.c, 0, &g, H0 + t * S / 2, 0);
    cb_epoch(r.c, 0, (uint64_t)stamp(&g, H0), 1);
    for (int64_t t = 0; t < 60; t++) {
        int64_t at = H0 + t * S + S / 2;
        for (int i = 0; i < 100; i++, at += random_below(3) * 16)
            cb_mark(r.c, 0, (uint64_t)stamp(&g, at), 1, 0);
        cb_flush_at(r.c, (uint64_t)at);
    }
    read_back(&r);
    assert_int_equal(r.told.event_count, 6001);
    for (size_t i = 1; i < r.told.event_count; i++) {
        assert_int_equal(r.told.events[i].sequence, r.told.events[i - 1].sequence + (i == 1 ? 2 : 1));
        assert_true(r.told.events[i].time >= r.told.events[i - 1].time);
    }
    end(&r);
}

/* Owners, open waits and losses are on the same clock as events. */
static void all_of_it_moves(void **state) {
    (void)state;
    static run r;
    const gpu g = {.ppm = 10.6};
    begin(&r, "all.xs", 1, 0);
    sample(r.c, 0, &g, H0, 0);
    sample(r.c, 0, &g, H0 + 10 * S, 0);
    uint32_t slot = cb_slot(r.c, r.pad, 0, 0, 0);
    xs_ring_owner owner = {.first = 4, .time = (uint64_t)stamp(&g, H0 + 2 * S), .block = 7};
    xs_frame_owner told_owner = {0, 0, owner};
    cb_frame(r.c, XS_FRAME_OWNERS, UINT32_MAX, (uint64_t)(H0 + 2 * S), &told_owner, sizeof told_owner);
    cb_mark(r.c, 0, (uint64_t)stamp(&g, H0 + S), 1, 0);
    cb_flush_at(r.c, (uint64_t)(H0 + S));
    cb_skip_records(r.c, 0, 9, XS_LOSS_OVERWRITTEN);
    cb_wait_start(r.c, 0, (uint64_t)stamp(&g, H0 + 5 * S), slot, 1, 0);
    cb_flush_at(r.c, (uint64_t)(H0 + 6 * S));
    xs_status_line line = cb_status_line(XS_LINE_SLOW, slot, 1, 0, 99, (uint64_t)stamp(&g, H0 + 5 * S), (uint64_t)stamp(&g, H0 + 9 * S));
    cb_status(r.c, 0, 0, (uint64_t)(H0 + 9 * S), &line);
    read_back(&r);
    int64_t bound = clock_of(&r, 0)->bound_ns;
    assert_int_equal(r.told.loss_count, 1);
    assert_true(llabs(r.told.losses[0].before - (H0 + S)) <= bound && llabs(r.told.losses[0].after - (H0 + 5 * S)) <= bound);
    const xsr_writer *w = &xsr_model_of(r.reader)->writers[r.told.events[1].writer];
    assert_int_equal(w->block, 7);
    assert_true(llabs(w->begin - (H0 + 2 * S)) <= bound);
    assert_int_equal(r.told.wait_count, 1); /* the line is that wait's, not another */
    assert_int_equal(r.told.waits[0].polls, 99);
    assert_true(llabs(r.told.waits[0].begin - (H0 + 5 * S)) <= bound);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute),
        cmocka_unit_test(only_ends),
        cmocka_unit_test(beyond_samples),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(no_sample),
        cmocka_unit_test(clocks_agree),
        cmocka_unit_test(planted_offset),
        cmocka_unit_test(planted_step),
        cmocka_unit_test(signals_bound_it),
        cmocka_unit_test(order_in_a_ring),
        cmocka_unit_test(all_of_it_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
