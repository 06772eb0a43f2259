/* Merging: rings by time, captures by identity, processes by rank. */
#include "read_help.h"

#include <stdlib.h>
#include <string.h>

static void in_order(void **state) {
    (void)state;
    const char *path = help_path("order.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 8, 8);
    uint64_t at[512];
    srand(3);
    for (uint32_t i = 0; i < 512; i++)
        at[i] = 1000;
    for (int i = 0; i < 20000; i++) {
        uint32_t ring = (uint32_t)rand() % 512;
        at[ring] += (uint64_t)(rand() % 50);
        cb_mark(c, ring, at[ring], 1, (uint32_t)i);
        if (i % 1000 == 999)
            cb_flush(c);
    }
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.event_count, 20000);
    const xsr_model *m = xsr_model_of(reader);
    for (size_t i = 0; i < 20000; i++) {
        assert_int_equal(t.events[i].id, i + 1);
        if (i) {
            const xsr_event *a = &t.events[i - 1], *b = &t.events[i];
            assert_true(a->time < b->time || (a->time == b->time && (a->ring < b->ring || (a->ring == b->ring && a->sequence < b->sequence))));
        }
        assert_int_equal(m->ranks[t.events[i].rank].rank, m->rings[t.events[i].ring].ring / 64);
    }
    help_free(&t);
    xsr_close(reader);
}

/* What a run tells without ids and indices, so that one capture and several can be compared. */
static char *edges_of(xsr_reader *reader) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    for (size_t i = 0; i < t.wait_count; i++) {
        const xsr_wait *w = &t.waits[i];
        fprintf(out, "rank %u %s need %llu <- ", m->ranks[w->rank].rank, m->slots[w->slot].label, (unsigned long long)w->need);
        if (w->released_by.event != XSR_NO_ID)
            fprintf(out, "rank %u %llu\n", m->ranks[w->released_by.rank].rank, (unsigned long long)w->released_by.value);
        else
            fprintf(out, "%s\n", xsr_reason_name(w->released_by.reason));
    }
    fclose(out);
    help_free(&t);
    return text;
}

/* Rank r signals all others each round; in one process the pad's objects start elsewhere. */
static void rank_part(cb *c, uint32_t rank, uint32_t ring, uint32_t pad) {
    cb_writer_begin_at(c, ring, 1000 + rank, 0, 0, 0, rank, 0, 0, 0);
    for (uint64_t round = 1; round <= 20; round++) {
        for (uint32_t to = 0; to < 4; to++)
            cb_signal(c, ring, 1000 * round + 100 + 10 * rank + to, cb_slot(c, pad, to, 0, rank), round);
        for (uint32_t from = 0; from < 4; from++)
            cb_pass(c, ring, 1000 * round + 500 + 10 * rank + from, cb_slot(c, pad, rank, 0, from), round, round);
        cb_flush(c);
    }
}

static void four_as_one(void **state) {
    (void)state;
    const char *one = help_path("one.xs"), *parts[4] = {help_path("p0.xs"), help_path("p1.xs"), help_path("p2.xs"), help_path("p3.xs")};
    cb *c = cb_begin(one);
    cb_process(c, 0, 4, 4);
    uint32_t pad = cb_pad(c, "done", "", "from", 1, 4, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        rank_part(c, rank, 64 * rank, pad);
    assert_int_equal(cb_end(c), 0);
    for (uint32_t rank = 0; rank < 4; rank++) {
        c = cb_begin(parts[rank]);
        cb_process(c, rank, 1, 4);
        for (uint32_t i = 0; i < rank; i++)
            cb_pad(c, i ? "other" : "first", "", "", 3, 1, 0); /* the same pad has other objects here */
        rank_part(c, rank, 0, cb_pad(c, "done", "", "from", 1, 4, 0));
        assert_int_equal(cb_end(c), 0);
    }
    xsr_reader *reader = help_open(one), *merged;
    const char *why;
    assert_int_equal(xsr_open(parts, 4, NULL, &merged, &why), 0);
    char *a = edges_of(reader), *b = edges_of(merged);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "rank 2 rank 2 done[from=3] need 20 <- rank 3 20"));
    assert_int_equal(xsr_model_of(merged)->process_count, 4);
    assert_int_equal(xsr_model_of(merged)->rank_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(xsr_model_of(merged)->ranks[i].rank, i);
    free(a);
    free(b);
    xsr_close(reader);
    xsr_close(merged);
}

/* One process in two captures, the second of which repeats part of the first. */
static void joined(void **state) {
    (void)state;
    const char *paths[2] = {help_path("a.xs"), help_path("b.xs")};
    for (uint32_t file = 0; file < 2; file++) {
        cb *c = cb_begin(paths[file]);
        cb_process(c, 0, 1, 1);
        cb_role(c, "push");
        if (file)
            cb_skip_records(c, 0, 5, 0);
        for (uint32_t i = file ? 6 : 1; i <= (file ? 20u : 10u); i++)
            cb_mark(c, 0, 1000 + i, 1, i);
        assert_int_equal(cb_end(c), 0);
    }
    xsr_reader *reader;
    const char *why;
    assert_int_equal(xsr_open(paths, 2, NULL, &reader, &why), 0);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.event_count, 20);
    assert_int_equal(t.loss_count, 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(t.events[i].value, i + 1);
    assert_int_equal(xsr_model_of(reader)->process_count, 1);
    assert_int_equal(xsr_model_of(reader)->name_count, 1);
    help_free(&t);
    xsr_close(reader);
}

/* Another host's clock is moved by REALTIME. */
static void two_hosts(void **state) {
    (void)state;
    const char *paths[2] = {help_path("h0.xs"), help_path("h1.xs")};
    for (uint32_t host = 0; host < 2; host++) {
        cb *c = cb_begin(paths[host]);
        xs_region_header region = cb_region(host, 1, 2);
        region.host = 7 + host;
        region.start_time = host ? 5000000000ull : 1000;
        region.start_realtime = 1700000000000000000ll + (host ? 500 : 0);
        cb_process_as(c, &region);
        uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0);
        if (host == 0)
            cb_signal(c, 0, 2000, cb_slot(c, pad, 1, 0, 0), 1); /* REALTIME .. 1000 */
        else
            cb_pass(c, 0, 5000000000ull + 1500, cb_slot(c, pad, 1, 0, 0), 1, 1); /* REALTIME .. 2000 */
        assert_int_equal(cb_end(c), 0);
    }
    xsr_reader *reader;
    const char *why;
    assert_int_equal(xsr_open(paths, 2, NULL, &reader, &why), 0);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.wait_count, 1);
    assert_int_equal(t.waits[0].end, 3000);
    assert_int_equal(t.waits[0].lag_ns, 1000);
    assert_int_equal(xsr_model_of(reader)->clock_count, 2);
    assert_int_equal(xsr_model_of(reader)->note_count, 1);
    assert_int_equal(xsr_model_of(reader)->processes[1].start_time, 1500);
    help_free(&t);
    xsr_close(reader);
}

/* Two runs given as one were merged, and judged: 126 errors of two clean ones. */
static void two_runs_are_refused(void **state) {
    (void)state;
    const char *paths[2] = {help_path("r0.xs"), help_path("r1.xs")};
    for (uint32_t second = 1; second < 3; second++) { /* ranks 0-1 and 1-2, then 0-1 and 2-3 */
        for (uint32_t file = 0; file < 2; file++) {
            cb *c = cb_begin(paths[file]);
            cb_process(c, file ? second : 0, 2, 4);
            cb_mark(c, 0, 1000, 1, 1);
            assert_int_equal(cb_end(c), 0);
        }
        xsr_reader *reader = NULL;
        const char *why = "";
        assert_int_equal(xsr_open(paths, 2, NULL, &reader, &why), second == 1 ? XS_E_FORMAT : 0);
        if (second == 1)
            assert_true(strstr(why, "r0.xs and ") && strstr(why, "r1.xs are two runs") && strstr(why, "rank 1"));
        xsr_close(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order), cmocka_unit_test(four_as_one), cmocka_unit_test(joined), cmocka_unit_test(two_hosts),
        cmocka_unit_test(two_runs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
