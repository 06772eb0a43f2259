/* Waits: barriers polled in turn, hangs, status lines, ends and starts that are missing. */
#include "read_help.h"

#include <xs/backoff.h>

#include <string.h>

static const xsr_wait *wait_at(const told *t, uint64_t id) {
    for (size_t i = 0; i < t->wait_count; i++)
        if (t->waits[i].id == id)
            return &t->waits[i];
    return NULL;
}

/* barrier_all of n ranks, `away` of which stay away in the last generation. Ends come in any order. */
static void barrier(uint32_t n, uint32_t away, uint64_t generations) {
    const char *path = help_path("barrier.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, n, n);
    uint32_t pad = cb_pad(c, "barrier", "", "rank", 1, n, 0);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    for (uint32_t r = 0; r < n; r++)
        cb_writer_begin(c, 64 * r, 1000, 0, 0, 0);
    for (uint64_t g = 1; g <= generations; g++) {
        uint32_t present = g == generations ? n - away : n;
        for (uint32_t r = 0; r < present; r++) {
            uint64_t at = 10000 * g + 10 * r;
            cb_barrier_enter(c, 64 * r, at, cb_slot(c, pad, r, 0, r), (uint32_t)g, n);
            for (uint32_t to = 0; to < n; to++)
                cb_signal(c, 64 * r, at + 1, cb_slot(c, pad, to, 0, r), g);
            for (uint32_t from = 0; from < n; from++)
                cb_wait_start(c, 64 * r, at + 2, cb_slot(c, pad, r, 0, from), g, g - 1);
        }
        for (uint32_t r = 0; r < present; r++) {
            for (uint32_t k = 0; k < present; k++) {
                uint32_t from = (k * 5 + r) % present; /* any order */
                if (present % 5 == 0)
                    from = k;
                cb_wait_end(c, 64 * r, 10000 * g + 1000 + 10 * k, cb_slot(c, pad, r, 0, from), g, 0, 7);
            }
            if (present == n)
                cb_barrier_leave(c, 64 * r, 10000 * g + 2000, cb_slot(c, pad, r, 0, r), (uint32_t)g, n, 0);
        }
    }
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    uint32_t ended[16] = {0}, open[16] = {0};
    for (size_t i = 0; i < t.wait_count; i++) {
        const xsr_wait *w = &t.waits[i];
        assert_false(w->start_lost || w->end_lost);
        *(w->open ? &open[w->rank] : &ended[w->rank]) += 1;
        assert_int_equal(w->supplier_rank, m->slots[w->slot].column);
        if (!w->open)
            assert_int_equal(m->ranks[w->released_by.rank].rank, m->slots[w->slot].column);
    }
    for (uint32_t r = 0; r < n; r++) {
        bool present = r < n - away;
        assert_int_equal(ended[r], n * (generations - 1) + (present ? n - away : 0));
        assert_int_equal(open[r], present ? away : 0);
    }
    help_free(&t);
    xsr_close(reader);
}

static void barriers(void **state) {
    (void)state;
    barrier(8, 0, 3);
    barrier(8, 1, 3);
    barrier(8, 2, 1);
    barrier(2, 1, 1);
    barrier(16, 3, 2);
}

/* An open wait takes polls and observed from its newest status line; a line of another wait does not matter. */
static void status_lines(void **state) {
    (void)state;
    const char *path = help_path("hang.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 4, 0);
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    cb_wait_start(c, 0, 2000, cb_slot(c, pad, 0, 0, 1), 9, 5);
    xs_status_line line = cb_status_line(XS_LINE_WAITING, cb_slot(c, pad, 0, 0, 1), 9, 6, 100, 2541, 3000);
    cb_status(c, 0, 0, 3000, &line);
    line = cb_status_line(XS_LINE_SLOW | 4 << 8, cb_slot(c, pad, 0, 0, 1), 9, 7, 5000000000ull, 2541, 900000); /* written behind its record */
    line.p4.line_role = 321;
    line.p4.user = 77;
    cb_status(c, 0, 0, 900000, &line);
    line = cb_status_line(XS_LINE_SLOW, cb_slot(c, pad, 0, 0, 2), 1, 0, 77, 1500, 1600); /* over since: the ring went on */
    cb_status(c, 0, 1, 1600, &line);
    line = cb_status_line(XS_LINE_WAITING, cb_slot(c, pad, 0, 0, 3), 4, 3, 88, 2500, 2600);
    line.p5.generation = 2; /* half-new */
    cb_status(c, 0, 2, 2600, &line);
    assert_int_equal(cb_cut(c), 0);
    told t;
    xsr_model m;
    assert_int_equal(help_read(path, &t, &m), 0);
    assert_int_equal(t.wait_count, 1);
    const xsr_wait *w = &t.waits[0];
    assert_true(w->open && !w->start_lost);
    assert_int_equal(w->observed, 7);
    assert_int_equal(w->polls, 5000000000ull);
    assert_int_equal(w->stage, 4);
    assert_int_equal(w->source.line, 321);
    assert_int_equal(w->word, 77);
    assert_int_equal(w->id, w->start_event);
    assert_int_equal(m.end, 900000);
    help_free(&t);
}

/* A wait tells its source file at its end, at its begin, or in its status line; what nobody named is not known. */
static void source_files(void **state) {
    (void)state;
    const char *path = help_path("files.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 4, 0);
    cb_name(c, XS_NAME_FILE, 0x1234, "one.h");
    cb_name(c, XS_NAME_FILE, 0x5678, "two.h");
    cb_name(c, XS_NAME_FILE, 0x5678, "two.h or three.h"); /* the latest counts */
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        static const uint64_t files[] = {0x1234, 0x5678, 0x9abc};
        cb_wait_start(c, 0, 2000 + 100 * i, cb_slot(c, pad, 0, 0, i), 9, 5);
        cb_wait_end_at(c, 0, 2050 + 100 * i, cb_slot(c, pad, 0, 0, i), 9, XS_RESULT_OK, 20, files[i], 1, 30 + i, 1 | XS_END_NAMED >> 16);
    }
    cb_full start = {.kind = XS_EV_WAIT_START, .object = cb_slot(c, pad, 0, 0, 0), .value = 10, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS,
                     .detail = 9, .further = 1, .a = {0x1234}};
    cb_full_event(c, 0, 2400, &start);
    cb_wait_end_at(c, 0, 2450, cb_slot(c, pad, 0, 0, 0), 10, XS_RESULT_OK, 3, 777, 1, 40, 0);
    cb_full fence = {.kind = XS_EV_FENCE, .object = 0x1234, .value = 50, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS};
    cb_full_event(c, 0, 2460, &fence);
    cb_wait_start(c, 0, 2500, cb_slot(c, pad, 0, 0, 1), 11, 5);
    xs_status_line line = cb_status_line(XS_LINE_SLOW, cb_slot(c, pad, 0, 0, 1), 11, 5, 100, 2541, 3000);
    line.p4.line_role = 60;
    line.p5.file = 0x5678;
    cb_status(c, 0, 0, 3000, &line);
    assert_int_equal(cb_cut(c), 0);
    told t;
    const char *why;
    xsr_reader *reader = NULL; /* the names go with it */
    assert_int_equal(xsr_open(&path, 1, NULL, &reader, &why), 0);
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    static const char *const files[] = {"one.h", "two.h or three.h", NULL, "one.h", "two.h or three.h"};
    static const uint32_t lines[] = {30, 31, 32, 40, 60};
    assert_int_equal(t.wait_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(t.waits[i].source.line, lines[i]);
        assert_int_equal(t.waits[i].source.file == XSR_NONE, files[i] == NULL);
        assert_string_equal(files[i] ? m->names[t.waits[i].source.file].text : "", files[i] ? files[i] : "");
    }
    assert_int_equal(t.waits[0].slept_ns, 0); /* the file has its place, and a host's back-off does not sleep */
    assert_int_equal(t.waits[0].stage, 1);
    assert_int_equal(t.waits[3].slept_ns, 50); /* it asked for 777 */
    help_free(&t);
    xsr_close(reader);
}

/* A line of a wait for the same slot that needs something else, or is older, is not this wait's. */
static void line_of_another_wait(void **state) {
    (void)state;
    const char *path = help_path("another.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 4, 0);
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    cb_wait_start(c, 0, 2000, cb_slot(c, pad, 0, 0, 1), 9, 5);
    cb_wait_start(c, 0, 2100, cb_slot(c, pad, 0, 0, 2), 9, 5);
    xs_status_line line = cb_status_line(XS_LINE_WAITING, cb_slot(c, pad, 0, 0, 1), 8, 6, 100, 2500, 3000);
    cb_status(c, 0, 0, 3000, &line);
    line = cb_status_line(XS_LINE_WAITING, cb_slot(c, pad, 0, 0, 2), 9, 6, 100, 2099, 3000);
    cb_status(c, 0, 1, 3000, &line);
    assert_int_equal(cb_cut(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.wait_count, 2);
    assert_true(t.waits[0].polls == 0 && t.waits[1].polls == 0);
    help_free(&t);
}

/* Tracing was never started: lines alone tell of waits, OWNERS of the writers. A line that was not told of again when the
 * process ended was of a wait that was over. */
static void lines_alone(void **state) {
    (void)state;
    for (int told_again = 0; told_again < 2; told_again++) {
        const char *path = help_path("alone.xs");
        cb *c = cb_begin(path);
        cb_process(c, 0, 2, 2);
        uint32_t pad = cb_pad(c, "done", "", "", 1, 4, 0);
        xs_ring_owner owner = {.first = 1, .time = 1000, .launch = 1, .block = 7};
        cb_owner(c, 0, 0, &owner);
        xs_status_line line = cb_status_line(XS_LINE_SLOW, cb_slot(c, pad, 0, 0, 1), 9, 6, 100, 2000, 3000);
        cb_status(c, 0, 0, 3000, &line);
        if (told_again)
            cb_status(c, 0, 0, 9000, &line);
        xs_frame_end end = {0, 137, 0, 1};
        cb_frame(c, XS_FRAME_PROCESS_END, UINT32_MAX, 9000, &end, sizeof end);
        assert_int_equal(cb_cut(c), 0);
        told t;
        assert_int_equal(help_read(path, &t, NULL), 0);
        assert_int_equal(t.wait_count, told_again);
        if (told_again)
            assert_true(t.waits[0].open && t.waits[0].writer == 0 && t.waits[0].need == 9);
        help_free(&t);
        xsr_reader *reader;
        const char *why;
        assert_int_equal(xsr_open(&path, 1, NULL, &reader, &why), 0);
        assert_int_equal(xsr_model_of(reader)->processes[0].end_time, 9000);
        xsr_close(reader);
    }
}

/* Tracing was stopped in mid-wait and started again: the end was never recorded, the writer went on. */
static void switched_off(void **state) {
    (void)state;
    const char *path = help_path("off.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 2, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_journal(c, XS_JOURNAL_TRACE_STATE, 0, 0, 2500, 0, 0, 0);
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    cb_wait_start(c, 0, 2000, slot, 1, 0);       /* event 2 */
    cb_mark(c, 0, 5000, 1, 1);                   /* event 3 */
    cb_wait_start(c, 0, 6000, slot, 2, 1);       /* event 4 */
    cb_wait_end(c, 0, 7000, slot, 2, 0, 3);      /* event 5 */
    cb_wait_start(c, 0, 8000, slot, 3, 2);       /* event 6 */
    cb_mark(c, 0, 8100, 1, 1);                   /* event 7: in a loop that polls */
    cb_wait_end(c, 0, 9000, slot, 3, 0, 3);      /* event 8 */
    cb_wait_start(c, 0, 9100, slot, 4, 3);       /* event 9 */
    cb_mark(c, 0, 9200, 1, 1);                   /* event 10 */
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.wait_count, 4);
    assert_true(wait_at(&t, 2) && wait_at(&t, 2)->end_lost && wait_at(&t, 2)->end == 6000);
    assert_true(wait_at(&t, 5) && wait_at(&t, 5)->start_event == 4);
    assert_true(wait_at(&t, 8) && wait_at(&t, 8)->start_event == 6);
    assert_true(wait_at(&t, 9) && wait_at(&t, 9)->end_lost && wait_at(&t, 9)->end == 9200);
    assert_int_equal(wait_at(&t, 5)->reads_from.reason, XSR_REASON_LOST); /* its signal may have gone unrecorded */
    help_free(&t);
}

/* A ring that is handed over: the next writer does not inherit open waits. */
static void next_owner(void **state) {
    (void)state;
    const char *path = help_path("owner.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 2, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_writer_begin(c, 0, 1000, 0, 0, 1);
    cb_wait_start(c, 0, 2000, slot, 1, 0);
    cb_writer_begin(c, 0, 3000, 0, 1, 2);
    cb_wait_end(c, 0, 4000, slot, 1, 0, 3);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.wait_count, 2);
    assert_true(t.waits[0].end_lost && t.waits[0].end == 3000 && t.waits[0].writer == 0);
    assert_true(t.waits[1].start_lost && t.waits[1].writer == 1);
    help_free(&t);
}

/* Comparisons other than >=: released by what was read. */
static void comparisons(void **state) {
    (void)state;
    const char *path = help_path("cmp.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "flag", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    static const uint64_t flags[] = {1, 0, 1, 0, 1};
    for (uint64_t i = 0; i < 5; i++)
        cb_signal(c, 64, 1000 + 100 * i, slot, flags[i]);
    cb_full eq = {.kind = XS_EV_PASS, .object = slot, .value = 0, .cmp = XS_CMP_EQ, .detail = 0};
    cb_full_event(c, 0, 1350, &eq);
    eq.value = eq.detail = 1;
    cb_full_event(c, 0, 1450, &eq);
    cb_full gt = {.kind = XS_EV_PASS, .object = slot, .value = 1, .cmp = XS_CMP_GT, .detail = 0};
    cb_full_event(c, 0, 1460, &gt);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.wait_count, 3);
    assert_int_equal(t.waits[0].reads_from.time, 1300);
    assert_int_equal(t.waits[0].released_by.time, 1300);
    assert_int_equal(t.waits[1].released_by.time, 1400);
    assert_int_equal(t.waits[2].released_by.time, 1000); /* the first that was greater */
    help_free(&t);
}

/* Region version 3 knew two forms of a wait's end, and did not say which: a stage of 8 bits, or of 7 and whether a file is named. */
static void read_old_end(int names_a_file, told *t, uint32_t *version) {
    const char *path = help_path("old-end.xs");
    cb *c = cb_begin(path);
    xs_region_header region = cb_region(0, 1, 1);
    *version = region.version;
    region.version = XS_REGION_NAMED - 1;
    cb_process_as(c, &region);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    if (names_a_file)
        cb_name(c, XS_NAME_FILE, 0x1234, "one.h");
    cb_wait_start(c, 0, 2000, slot, 9, 5);
    cb_wait_end_at(c, 0, 9000, slot, 9, XS_RESULT_OK, 20, 0x1234, 1, 30, 5 | XS_END_NAMED >> 16);
    assert_int_equal(cb_end(c), 0);
    assert_int_equal(help_read(path, t, NULL), 0);
    assert_int_equal(t->wait_count, 1);
}

static void an_older_stage_is_not_taken_for_a_file(void **state) {
    (void)state;
    told t;
    uint32_t version;
    read_old_end(0, &t, &version);
    assert_int_equal(t.waits[0].stage, 0x85);
    assert_int_equal(t.waits[0].slept_ns, 0x1234);
    assert_int_equal(t.waits[0].source.file, XSR_NONE);
    help_free(&t);
    read_old_end(1, &t, &version);
    assert_int_equal(t.waits[0].stage, 5);
    assert_int_equal(t.waits[0].slept_ns, 0);
    assert_int_not_equal(t.waits[0].source.file, XSR_NONE);
    help_free(&t);
    assert_true(version >= XS_REGION_NAMED && XS_CAPTURE_VERSION >= 2); /* readers of 3, and of captures of 1, would misread what is written today */
}

/* A wait of 100 000 polls: back-off asks for 2 s. */
static uint64_t slept_of(bool device, uint32_t virtual_time, uint64_t latency, uint64_t slept) {
    const char *path = help_path("slept.xs");
    cb *c = cb_begin(path);
    xs_region_header region = cb_region(0, 1, 1);
    region.virtual_time = virtual_time;
    cb_process_as(c, &region);
    if (device) {
        cb_ring_device(c, 0, 0);
        for (uint64_t t = 1; t < 20; t++)
            cb_device_clock(c, 0, t * 1000000000, t * 1000000000, 100);
    }
    uint64_t begin = 1500000000;
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_wait_start(c, 0, begin, slot, 9, 5);
    cb_wait_end_at(c, 0, begin + latency, slot, 9, XS_RESULT_OK, 100000, slept, 1, 30, 0);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.wait_count, 1);
    uint64_t told_ns = t.waits[0].slept_ns;
    help_free(&t);
    return told_ns;
}

static void a_wait_does_not_sleep_for_longer_than_it_lasts(void **state) {
    (void)state;
    uint64_t asked = xs_backoff_slept(100000), polls = UINT64_MAX;
    assert_true(asked > 1900000000 && asked < 2000000000);
    assert_int_equal(slept_of(true, 0, 3000000000, polls), asked);
    assert_int_equal(slept_of(true, 0, 1000000000, polls), 1000000000);
    assert_int_equal(slept_of(false, 1, 3000000000, polls), asked);
    assert_int_equal(slept_of(false, 0, 3000000000, polls), 0); /* threads of a host only let others run */
    assert_int_equal(slept_of(false, 0, 3000000000, 60000), 60000); /* a loop that says what it slept */
    assert_int_equal(slept_of(false, 0, 50000, 60000), 50000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers), cmocka_unit_test(status_lines),
        cmocka_unit_test(source_files), cmocka_unit_test(an_older_stage_is_not_taken_for_a_file), cmocka_unit_test(line_of_another_wait),
        cmocka_unit_test(lines_alone), cmocka_unit_test(switched_off), cmocka_unit_test(next_owner),
        cmocka_unit_test(comparisons), cmocka_unit_test(a_wait_does_not_sleep_for_longer_than_it_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
