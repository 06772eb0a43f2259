/* Loss: kept + lost = emitted, each gap where it belongs, by cause; torn events; nothing made up. */
#include "read_help.h"

#include <stdlib.h>
#include <string.h>

/* A ring with events of 1 to 4 records; returns the number of records. */
static uint64_t fill(cb *c, uint32_t slot) {
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    cb_wait_start(c, 0, 1100, slot, 1, 0);
    cb_wait_end(c, 0, 1200, slot, 1, 0, 5);
    cb_mark(c, 0, 1300, 1, 7);
    cb_pass(c, 0, 1400, slot, 3, 2);
    cb_epoch(c, 0, 1500, 9);
    cb_signal_wide(c, 0, 1600, slot, 1ull << 40);
    cb_mark(c, 0, 1700, 1, 8);
    cb_writer_end(c, 0, 1800);
    return cb_next(c, 0) - 1;
}

static int same_event(const xsr_event *a, const xsr_event *b) {
    return a->sequence == b->sequence && a->time == b->time && a->kind == b->kind && a->object == b->object &&
           a->detail == b->detail && memcmp(a->further, b->further, sizeof a->further) == 0 &&
           (uint32_t)a->value == (uint32_t)b->value; /* the high half may be unknown once the records that told it are lost */
}

static void read_with_loss(const char *path, uint64_t first, uint64_t last, uint32_t cause, told *t, xsr_ring *ring) {
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    fill(c, slot);
    if (first)
        cb_lose(c, 0, first, last, cause);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    assert_int_equal(help_run(reader, t), 0);
    *ring = xsr_model_of(reader)->rings[0];
    xsr_close(reader);
}

static void check_loss(const told *all, const told *t, const xsr_ring *ring, uint64_t total, uint64_t first, uint64_t last, uint32_t cause) {
    assert_int_equal(ring->kept + ring->lost, ring->emitted);
    if (cause || last < total) {
        assert_int_equal(ring->emitted, total);
        assert_int_equal(ring->lost, last - first + 1);
        assert_int_equal(t->loss_count, 1);
        assert_int_equal(t->losses[0].first, first);
        assert_int_equal(t->losses[0].last, last);
        assert_int_equal(t->losses[0].cause, cause);
    }
    uint64_t in_events = 0;
    for (size_t i = 0, k = 0; i < t->event_count; i++) {
        while (k < all->event_count && !same_event(&all->events[k], &t->events[i]))
            k++;
        assert_true(k < all->event_count); /* every event told was there, in this order */
        uint64_t next = k + 1 < all->event_count ? all->events[k + 1].sequence : total + 1;
        assert_true(next <= first || all->events[k].sequence > last); /* and none of its records was lost */
        in_events += next - all->events[k].sequence;
    }
    assert_int_equal(in_events + ring->torn, ring->kept);
}

/* One to five records lost at every position of events of 1, 2, 3 and 4 records. */
static void every_position(void **state) {
    (void)state;
    told all, t;
    xsr_ring ring;
    const char *path = help_path("loss.xs");
    read_with_loss(path, 0, 0, 0, &all, &ring);
    assert_int_equal(all.event_count, 9);
    assert_int_equal(ring.lost + ring.torn, 0);
    uint64_t total = ring.emitted;
    for (uint64_t length = 1; length <= 5; length++)
        for (uint64_t first = 1; first + length - 1 <= total; first++)
            for (uint32_t cause = 0; cause < XS_LOSS_COUNT; cause += 3) {
                read_with_loss(path, first, first + length - 1, cause, &t, &ring);
                check_loss(&all, &t, &ring, total, first, first + length - 1, cause);
                help_free(&t);
            }
    help_free(&all);
}

/* Every wait is told once, whatever is lost, and no wait that is over is told as open unless its end may lie at the end. */
static void waits_under_loss(void **state) {
    (void)state;
    const char *path = help_path("loss.xs");
    told t;
    xsr_ring ring;
    read_with_loss(path, 0, 0, 0, &t, &ring);
    uint64_t total = ring.emitted;
    help_free(&t);
    for (uint64_t first = 1; first <= total; first++)
        for (uint64_t last = first; last <= total; last++) {
            read_with_loss(path, first, last, 1, &t, &ring);
            size_t open = 0;
            for (size_t i = 0; i < t.wait_count; i++) {
                open += t.waits[i].open;
                if (t.waits[i].end_lost)
                    assert_true(first <= 9 && last >= 6 && t.waits[i].end >= 1200);
                if (t.waits[i].start_lost)
                    assert_int_equal(t.waits[i].end, 1200);
            }
            assert_true(!open || (first <= 9 && last >= total - 1)); /* nothing whole behind it */
            assert_true(t.wait_count <= 2);
            help_free(&t);
        }
}

static void at_least(void **state) {
    (void)state;
    const char *path = help_path("stall.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    cb_mark(c, 0, 1000, 1, 1);
    cb_flush(c);
    xs_frame_loss loss = {.ring = 0, .cause = XS_LOSS_OVERWRITTEN, .first = 2, .last = 300, .at_least = 1};
    cb_frame(c, XS_FRAME_LOSS, 0, 1000, &loss, sizeof loss);
    cb_skip_records(c, 0, 299, 0);
    cb_mark(c, 0, 2000, 1, 2);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_true(t.losses[0].at_least);
    assert_true(xsr_model_of(reader)->rings[0].at_least);
    assert_int_equal(t.losses[0].before, 1000);
    assert_int_equal(t.losses[0].after, 2000);
    help_free(&t);
    xsr_close(reader);
}

/* One hole, two causes and a part that nobody explains. */
static void split_by_cause(void **state) {
    (void)state;
    const char *path = help_path("split.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    cb_mark(c, 0, 1000, 1, 1);
    cb_skip_records(c, 0, 100, 0);
    cb_loss(c, 0, 2, 40, XS_LOSS_OVERWRITTEN);
    cb_loss(c, 0, 61, 101, XS_LOSS_NO_SPACE);
    cb_mark(c, 0, 2000, 1, 2);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    static const uint64_t want[3][3] = {{2, 40, XS_LOSS_OVERWRITTEN}, {41, 60, 0}, {61, 101, XS_LOSS_NO_SPACE}};
    assert_int_equal(t.loss_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(t.losses[i].first, want[i][0]);
        assert_int_equal(t.losses[i].last, want[i][1]);
        assert_int_equal(t.losses[i].cause, want[i][2]);
    }
    help_free(&t);
}

/* Frames that repeat records are read once; records that a LOSS frame gives up but another frame holds are kept. */
static void repeats(void **state) {
    (void)state;
    const char *path = help_path("repeat.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    struct { xs_frame_records head; xs_record r[6]; } p = {.head = {.first = 1, .count = 4, .time = 2000}};
    for (uint32_t i = 0; i < 6; i++)
        p.r[i] = (xs_record){i + 1, XS_HEAD(XS_CODE_MARK, 1), i, 1000 + i};
    cb_frame(c, XS_FRAME_RECORDS, 0, 2000, &p, sizeof p.head + 4 * sizeof(xs_record));
    cb_frame(c, XS_FRAME_RECORDS, 0, 2000, &p, sizeof p.head + 4 * sizeof(xs_record));
    p.head.count = 6;
    cb_frame(c, XS_FRAME_RECORDS, 0, 2000, &p, sizeof p.head + 6 * sizeof(xs_record));
    cb_loss(c, 0, 2, 3, XS_LOSS_NEVER_ARRIVED);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.event_count, 6);
    assert_int_equal(t.loss_count, 0);
    help_free(&t);
}

/* A record whose sequence word does not fit its place is no record. */
static void misplaced(void **state) {
    (void)state;
    const char *path = help_path("misplaced.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    struct { xs_frame_records head; xs_record r[3]; } p = {.head = {.first = 1, .count = 3, .time = 2000}};
    for (uint32_t i = 0; i < 3; i++)
        p.r[i] = (xs_record){i == 1 ? 77 : i + 1, XS_HEAD(XS_CODE_MARK, 1), i, 1000 + i};
    cb_frame(c, XS_FRAME_RECORDS, 0, 2000, &p, sizeof p);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.event_count, 2);
    assert_int_equal(t.losses[0].first, 2);
    assert_int_equal(xsr_model_of(reader)->rings[0].kept, 2);
    assert_int_equal(xsr_model_of(reader)->rings[0].emitted, 3);
    help_free(&t);
    xsr_close(reader);
}

static void died(void **state) {
    (void)state;
    const char *path = help_path("died.xs");
    for (int closed = 0; closed < 2; closed++) {
        cb *c = cb_begin(path);
        cb_process(c, 0, 1, 1);
        cb_writer_begin(c, 0, 1000, 0, 0, 0);
        cb_writer_begin(c, 1, 1000, 0, 1, 0);
        cb_writer_end(c, 1, 1100);
        if (closed)
            cb_process_end(c, 0, 137, 0, 1);
        assert_int_equal(closed ? cb_end(c) : cb_cut(c), 0);
        xsr_reader *reader = help_open(path);
        told t;
        assert_int_equal(help_run(reader, &t), 0);
        const xsr_model *m = xsr_model_of(reader);
        assert_true(m->processes[0].tail_unknown);
        assert_int_equal(m->processes[0].ended, closed);
        assert_true(m->rings[0].tail_unknown);
        assert_false(m->rings[1].tail_unknown); /* its writer had given it back */
        help_free(&t);
        xsr_close(reader);
    }
}

/* BOUNDED rows are cumulative: three of them, and what was overwritten among what is gone, are one gap. What was lost behind
 * it keeps its cause, from where it is not part of the gap. The same for a second ring, which has but one of them. */
static void bounded_is_one_gap(void **state) {
    (void)state;
    const char *path = help_path("bounded-loss.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    for (uint32_t ring = 0; ring < 2; ring++) {
        cb_writer_begin(c, ring, 1000, 0, ring, 0);
        for (uint64_t i = 0; i < 60; i++)
            cb_mark(c, ring, 1100 + 10 * i, 1, (uint32_t)i);
        cb_lose(c, ring, 1, 45, ring ? XS_LOSS_BOUNDED : XS_LOSS_OVERWRITTEN);
    }
    cb_loss(c, 0, 1, 5, XS_LOSS_BOUNDED);
    cb_loss(c, 0, 1, 20, XS_LOSS_BOUNDED);
    cb_loss(c, 0, 1, 40, XS_LOSS_BOUNDED);
    cb_loss(c, 0, 10, 12, XS_LOSS_DISCARDED);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    static const struct {
        uint32_t ring, cause;
        uint64_t first, last;
    } wanted[] = {{0, XS_LOSS_BOUNDED, 1, 40}, {0, XS_LOSS_OVERWRITTEN, 41, 45}, {1, XS_LOSS_BOUNDED, 1, 45}};
    assert_int_equal(t.loss_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const xsr_loss *l = &t.losses[i];
        for (size_t k = 0; k < 3; k++)
            if (wanted[k].ring == l->ring && wanted[k].first == l->first) {
                assert_int_equal(l->cause, wanted[k].cause);
                assert_int_equal(l->last, wanted[k].last);
            }
        assert_true(l->first == 1 || l->first == 41);
    }
    for (uint32_t ring = 0; ring < 2; ring++)
        assert_int_equal(xsr_model_of(reader)->rings[ring].lost, 45);
    help_free(&t);
    xsr_close(reader);
}

/* What a bounded capture removed on a full disk is as cumulative, and its cause is not the bound. */
static void removed_on_a_full_disk_was_said_to_be_bounded(void **state) {
    (void)state;
    const char *path = help_path("crowded-loss.xs");
    cb *c = cb_begin(path);
    xs_frame_file file = {.magic = XS_CAPTURE_MAGIC, .version = XS_CAPTURE_VERSION, .segment = 9, .dropped_segments = 9};
    cb_frame(c, XS_FRAME_FILE, UINT32_MAX, 0, &file, sizeof file);
    cb_process(c, 0, 1, 1);
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    for (uint64_t i = 0; i < 60; i++)
        cb_mark(c, 0, 1100 + 10 * i, 1, (uint32_t)i);
    cb_lose(c, 0, 1, 45, XS_LOSS_NO_SPACE);
    cb_loss(c, 0, 1, 20, XS_LOSS_BOUNDED);
    cb_loss(c, 0, 1, 30, XS_LOSS_NO_SPACE);
    cb_loss(c, 0, 10, 12, XS_LOSS_DISCARDED);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.loss_count, 1);
    assert_int_equal(t.losses[0].cause, XS_LOSS_NO_SPACE);
    assert_int_equal(t.losses[0].first, 1);
    assert_int_equal(t.losses[0].last, 45);
    help_free(&t);
    xsr_close(reader);
}

/* A segment repeats the journal: tracing that was on from the start seemed to have been switched on behind the launch, and nothing that was found in a
 * bounded capture was certain. */
static void segments_of_a_capture_were_windows_of_tracing(void **state) {
    (void)state;
    for (int switched = 0; switched < 2; switched++) {
        const char *path = help_path("repeated.xs");
        cb *c = cb_begin(path);
        cb_process(c, 0, 1, 1);
        cb_writer_begin(c, 0, 1000, 0, 0, 0);
        for (int segment = 0; segment < 3; segment++) {
            xs_journal_entry entries[] = {{.sequence = 1, .kind = XS_JOURNAL_TRACE_STATE, .a = XS_STARTED, .c = 900},
                                          {.sequence = 2, .kind = XS_JOURNAL_LAUNCH_BEGIN, .a = 1, .c = 950, .d = 1, .e = 32, .f = 1ull << 32},
                                          {.sequence = 3, .kind = XS_JOURNAL_TRACE_STATE, .a = XS_STARTED, .c = 960}};
            cb_frame(c, XS_FRAME_JOURNAL, UINT32_MAX, 1000, entries, (switched ? 3 : 2) * sizeof *entries);
        }
        assert_int_equal(cb_end(c), 0);
        xsr_reader *reader = help_open(path);
        told t;
        assert_int_equal(help_run(reader, &t), 0);
        assert_int_equal(xsr_model_of(reader)->windowed, switched);
        assert_int_equal(xsr_model_of(reader)->launch_count, 1);
        help_free(&t);
        xsr_close(reader);
    }
}

/* Entries of a journal that come behind a later one are taken, each once. */
static void launches_behind_a_later_entry_were_dropped(void **state) {
    (void)state;
    const char *path = help_path("journal-order.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    cb_writer_begin(c, 0, 1000, 0, 0, 0);
    for (uint32_t sequence = 4; sequence-- > 1;) {
        xs_journal_entry launch = {.sequence = sequence, .kind = XS_JOURNAL_LAUNCH_BEGIN, .a = sequence, .c = 950, .d = 1,
                                   .e = 32, .f = 1ull << 32};
        for (int again = 0; again < 2; again++)
            cb_frame(c, XS_FRAME_JOURNAL, UINT32_MAX, 1000, &launch, sizeof launch);
    }
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(xsr_model_of(reader)->launch_count, 3);
    help_free(&t);
    xsr_close(reader);
}

/* Of an event whose first record is lost, the second one says what it was. Not where the record before may be the first of it, nor where more
 * is lost, nor of events of one record. */
static void second_record_tells_the_kind(void **state) {
    (void)state;
    for (uint32_t which = 0; which < 5; which++) {
        const char *path = help_path("loss-kind.xs");
        cb *c = cb_begin(path);
        cb_process(c, 0, 1, 1);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
        cb_writer_begin(c, 0, 1000, 0, 0, 0);
        uint64_t at = cb_next(c, 0);
        cb_epoch(c, 0, 1050, 1);               /* two records */
        cb_wait_start(c, 0, 1100, slot, 1, 0); /* at + 2, two */
        cb_mark(c, 0, 1200, 1, 1);             /* at + 4, one */
        cb_mark(c, 0, 1300, 1, 1);
        static const struct { uint32_t from, count, kind; } lost[] = {{0, 1, XS_EV_EPOCH}, {2, 1, XS_EV_WAIT_START}, {3, 1, 0}, {1, 2, 0}, {4, 1, 0}};
        cb_lose(c, 0, at + lost[which].from, at + lost[which].from + lost[which].count - 1, XS_LOSS_OVERWRITTEN);
        assert_int_equal(cb_end(c), 0);
        xsr_reader *reader = help_open(path);
        told t;
        assert_int_equal(help_run(reader, &t), 0);
        assert_int_equal(t.loss_count, 1);
        assert_int_equal(t.losses[0].kind, lost[which].kind);
        help_free(&t);
        xsr_close(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_position), cmocka_unit_test(waits_under_loss), cmocka_unit_test(at_least), cmocka_unit_test(split_by_cause),
        cmocka_unit_test(repeats), cmocka_unit_test(misplaced), cmocka_unit_test(died), cmocka_unit_test(removed_on_a_full_disk_was_said_to_be_bounded), cmocka_unit_test(segments_of_a_capture_were_windows_of_tracing),
        cmocka_unit_test(launches_behind_a_later_entry_were_dropped),
        cmocka_unit_test(bounded_is_one_gap),
        cmocka_unit_test(second_record_tells_the_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
