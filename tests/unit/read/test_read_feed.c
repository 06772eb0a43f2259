/* Sinks in threads of their own hear and see what sinks that the pass calls itself hear and see, at every moment. */
#include "read_help.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 3u
#define ROUNDS 8000u

/* Everything that it is told and everything that the model says of it then, in one number a call. */
typedef struct witness {
    xsr_sink sink;
    uint64_t *log;
    size_t count, room;
    uint64_t events, fails_at;
    uint32_t largest; /* waits released by one signal */
    int result, number;
    pthread_t thread;
    bool moved; /* between events */
} witness;

static uint64_t mixed(uint64_t h, const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++)
        h = (h ^ b[i]) * 0x100000001b3ull;
    return h;
}
#define MIX(h, value) (h = mixed(h, &(value), sizeof(value)))

static void note(witness *w, uint64_t hash) {
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : 1024;
        w->log = realloc(w->log, w->room * sizeof *w->log);
        if (!w->log)
            abort();
    }
    w->log[w->count++] = hash;
}

static uint64_t seen_slot(const xsr_model *m, uint32_t slot, uint64_t h) {
    MIX(h, m->slot_count);
    if (slot == XSR_NONE)
        return h;
    const xsr_slot *s = &m->slots[slot];
    MIX(h, s->supplier_rank);
    MIX(h, s->supplier_origin);
    MIX(h, s->supplier_role);
    MIX(h, s->owner);
    return mixed(h, s->label, strlen(s->label));
}

static uint64_t seen_writer(const xsr_model *m, uint32_t writer, uint64_t h) {
    MIX(h, m->writer_count);
    if (writer == XSR_NONE)
        return h;
    const xsr_writer *w = &m->writers[writer];
    MIX(h, w->begin);
    MIX(h, w->end);
    MIX(h, w->role);
    return mixed(h, w->name, strlen(w->name));
}

static int see_event(xsr_sink *sink, const xsr_event *e) {
    witness *w = (witness *)sink;
    const xsr_model *m = sink->model;
    uint64_t h = seen_writer(m, e->writer, seen_slot(m, e->slot, 1));
    MIX(h, e->id);
    MIX(h, e->value);
    MIX(h, e->time);
    MIX(h, m->ranks[e->rank].first_epoch);
    MIX(h, m->ranks[e->rank].last_epoch);
    note(w, h);
    w->moved |= w->events && !pthread_equal(w->thread, pthread_self());
    w->thread = pthread_self();
    if (++w->events != w->fails_at)
        return 0;
    errno = w->number;
    return w->result;
}

static int see_wait(xsr_sink *sink, const xsr_wait *wait) {
    const xsr_model *m = sink->model;
    uint64_t h = seen_writer(m, wait->writer, seen_slot(m, wait->slot, 2));
    MIX(h, wait->id);
    MIX(h, wait->released_by.event);
    MIX(h, wait->supplier_rank);
    if (wait->open)
        MIX(h, m->end);
    note((witness *)sink, h);
    return 0;
}

static int see_signal(xsr_sink *sink, const xsr_signal *signal) {
    witness *w = (witness *)sink;
    uint64_t h = seen_slot(sink->model, signal->event.slot, 3);
    MIX(h, signal->event.id);
    if (signal->released_count)
        h = mixed(h, signal->released, signal->released_count * sizeof *signal->released);
    w->largest = signal->released_count > w->largest ? signal->released_count : w->largest;
    note(w, h);
    return 0;
}

static int see_lost(xsr_sink *sink, const xsr_loss *loss) {
    uint64_t h = seen_writer(sink->model, loss->writer, 4);
    MIX(h, loss->first);
    MIX(h, loss->last);
    MIX(h, sink->model->rings[loss->ring].ring);
    note((witness *)sink, h);
    return 0;
}

static int see_activity(xsr_sink *sink, const xsr_activity *a) {
    uint64_t h = 5;
    MIX(h, a->begin);
    MIX(h, a->writers);
    note((witness *)sink, h);
    return 0;
}

static int see_finish(xsr_sink *sink) {
    const xsr_model *m = sink->model;
    uint64_t h = 6;
    MIX(h, m->plan_count);
    MIX(h, m->note_count);
    MIX(h, m->end);
    for (uint32_t i = 0; i < m->plan_count; i++)
        MIX(h, m->plan[i].entry.a);
    for (uint32_t i = 0; i < m->ring_count; i++) {
        MIX(h, m->rings[i].kept);
        MIX(h, m->rings[i].lost);
    }
    for (uint32_t i = 0; i < m->writer_count; i++)
        MIX(h, m->writers[i].last_sequence);
    note((witness *)sink, h);
    return 0;
}

static witness make_witness(void) {
    return (witness){.sink = {.name = "witness",
                              .event = see_event,
                              .wait = see_wait,
                              .signal = see_signal,
                              .lost = see_lost,
                              .activity = see_activity,
                              .finish = see_finish}};
}

/* Slots and writers come all the time, suppliers are declared, inferred and contradicted, records are lost, a wait
 * stays open, and one signal releases more waits than a batch holds. */
static const char *make_capture(void) {
    const char *path = help_path("feed.xs");
    cb *c = cb_begin(path);
    assert_non_null(c);
    cb_process(c, 0, RANKS, RANKS);
    uint32_t push = cb_role(c, "push"), pull = cb_role(c, "pull"),
             pad = cb_pad(c, "done", "src", "n", RANKS, ROUNDS, 0);
    uint32_t owed = cb_pad(c, "owed", "src", "n", RANKS, ROUNDS, 0);
    cb_plan_writer(c, owed, XS_PLAN_ROW);
    uint64_t t = 1000;
    for (uint32_t n = 0; n < ROUNDS; n++, t += 1000) {
        uint32_t from = n % RANKS, slot = cb_slot(c, pad, (from + 1) % RANKS, from, n - n % 3), ring = from * 64;
        if (n % 100 < RANKS)
            cb_writer_begin_at(c, ring, t, n % 2 ? push : pull, n, 1, from, 0, 0, n / 100 + 1);
        if (n % 50 == 7)
            cb_skip_records(c, ring, 3, 0);
        if (n % 5 == 0)
            cb_pass(c, ring, t + 5, cb_slot(c, owed, from, from, n), 0, 0);
        cb_signal(c, ring, t + 10, slot, n + 1);
        cb_pass(c, ring, t + 20, slot, n + 1, n + 1);
        if (n % 100 >= 97)
            cb_writer_end(c, ring, t + 30);
    }
    uint32_t many = cb_slot(c, pad, 0, 0, ROUNDS - 1);
    cb_writer_begin_at(c, 0, t, push, 0, 1, 0, 0, 0, 90);
    cb_signal(c, 0, t += 10, many, 9);
    for (uint32_t n = 0; n < 5000; n++)
        cb_pass(c, 0, t += 10, many, 9, 9);
    cb_wait_start(c, 0, t += 10, many, 99, 9);
    cb_flush_at(c, t - 5000); /* by the clock of who wrote the frame, records are of a moment to come */
    assert_int_equal(cb_end(c), 0);
    return path;
}

static void run_once(const char *path, uint32_t threads, witness *all, uint32_t count, int expected) {
    xsr_reader *reader = help_open_with(path, threads);
    xsr_sink *sinks[4];
    for (uint32_t i = 0; i < count; i++)
        sinks[i] = &all[i].sink;
    assert_int_equal(xsr_run(reader, sinks, count), expected);
    xsr_close(reader);
}

static void same_in_threads(void **state) {
    (void)state;
    const char *path = make_capture();
    witness alone = make_witness(), beside[3] = {make_witness(), make_witness(), make_witness()};
    run_once(path, XSR_THREADS_NEVER, &alone, 1, 0);
    run_once(path, XSR_THREADS_ALWAYS, beside, 3, 0);
    assert_true(alone.events > 10000 && alone.largest >= 5000);
    assert_true(pthread_equal(alone.thread, pthread_self()));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(beside[i].count, alone.count);
        for (size_t k = 0; k < alone.count; k++)
            if (beside[i].log[k] != alone.log[k])
                fail_msg("call %zu of sink %u differs", k, i);
        assert_false(beside[i].moved || pthread_equal(beside[i].thread, pthread_self()));
        free(beside[i].log);
    }
    assert_false(pthread_equal(beside[0].thread, beside[1].thread));
    free(alone.log);
}

/* Threads are for several sinks and many records. */
static void threads_where_worth_it(void **state) {
    (void)state;
    const char *large = make_capture();
    witness few[2] = {make_witness(), make_witness()}, many[2] = {make_witness(), make_witness()}, one = make_witness();
    run_once(large, XSR_THREADS_AUTO, &one, 1, 0);
    assert_true(pthread_equal(one.thread, pthread_self()));
    run_once(large, XSR_THREADS_AUTO, many, 2, 0);
    assert_false(pthread_equal(many[0].thread, pthread_self()) || pthread_equal(many[1].thread, pthread_self()));
    const char *small = help_path("small.xs");
    help_script(small, "process 0 1 1\npad done - - 1 1 0\nwriter_begin 0 1000 0 0 0\nsignal 0 1100 done:0:0:0 1\n");
    run_once(small, XSR_THREADS_AUTO, few, 2, 0);
    assert_true(pthread_equal(few[1].thread, pthread_self()));
    free(one.log);
    free(few[0].log);
    free(few[1].log);
    free(many[0].log);
    free(many[1].log);
}

static void refused_in_a_thread(void **state) {
    (void)state;
    const char *path = make_capture();
    for (int round = 0; round < 10; round++) {
        witness all[3] = {make_witness(), make_witness(), make_witness()};
        all[0].fails_at = 9000, all[0].result = 77, all[0].number = EIO;
        all[1].fails_at = 2000, all[1].result = 78, all[1].number = ENOSPC; /* the earliest */
        errno = 0;
        run_once(path, XSR_THREADS_ALWAYS, all, 3, 78);
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(all[1].events, 2000);
        for (uint32_t i = 0; i < 3; i++)
            free(all[i].log);
    }
}

static int refuse(xsr_sink *sink, const xsr_model *model) {
    (void)sink, (void)model;
    return 79;
}

static void refused_at_begin(void **state) {
    (void)state;
    witness all[2] = {make_witness(), make_witness()};
    all[1].sink.begin = refuse;
    run_once(make_capture(), XSR_THREADS_ALWAYS, all, 2, 79);
    assert_int_equal(all[0].events, 0);
    free(all[0].log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_in_threads),
        cmocka_unit_test(threads_where_worth_it),
        cmocka_unit_test(refused_in_a_thread),
        cmocka_unit_test(refused_at_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
