/* Bounded captures: what is kept under a bound, by size and by age, and what each segment repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/mount.h>
#include <xs/errors.h>
#include <xs/frame.h>

#include "capture_folder.h"

static void check_tail_is_whole(const frames *f, uint64_t emitted) {
    if (f->wrong)
        fail_msg("%s", f->what);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const ring_account *ring = &f->rings[i];
        assert_true(ring->removed_to > 0 && ring->removed_by > 0);
        assert_int_equal(ring->first, ring->removed_to + 1);
        assert_int_equal(ring->lost, 0);
        sum += ring->next - 1;
    }
    assert_int_equal(sum, emitted);
}

static void bounded_stays_under_the_bound(void **unused) {
    (void)unused;
    static const uint64_t bounds[] = {256u << 10, 1u << 20, 3u << 20};
    for (int i = 0; i < 3; i++) {
        bed b;
        frames f;
        xs_capture_options file = {.name = in_folder("bounded"), .bound_bytes = bounds[i]};
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        uint64_t emitted = emit_and_pass(&b, 6000, MS, bounds[i]); /* about 10 MB */
        assert_int_equal(bed_close(&b), 0);
        assert_true(folder_bytes(b.path) <= bounds[i]);
        assert_int_equal(bed_read(&b, &f), 0);
        check_tail_is_whole(&f, emitted);
        assert_int_equal(f.rings[0].removed_by, XS_LOSS_BOUNDED);
        assert_true(f.dropped_segments > 0 && f.first_segment == f.dropped_segments);
        assert_true(f.bytes > bounds[i] / 2); /* and uses what it may */
        assert_int_equal(f.counts[XS_FRAME_END], 1);
        assert_true(f.counts[XS_FRAME_FILE] > 1);
    }
}

/* One frame that fills so many bytes of the catalog. */
static void describe(char *region, uint64_t bytes) {
    xs_region_header *h = (xs_region_header *)(void *)region;
    xs_frame *frame = (xs_frame *)(void *)(region + h->catalog_offset);
    memset(frame + 1, 'x', bytes - sizeof *frame);
    ((char *)frame)[bytes - 1] = 0;
    xs_frame_fill(frame, XS_FRAME_NOTE, h, -1, UINT32_MAX, 0);
    xs_frame_seal(frame, frame + 1, bytes - sizeof *frame);
    __atomic_store_n(&h->catalog_used, bytes, __ATOMIC_RELEASE);
}

/* Each segment repeats the catalog. One that took more than a quarter of the bound left no room for records: every frame began a new segment. */
static void a_large_catalog_leaves_room_for_records(void **unused) {
    (void)unused;
    for (uint64_t percent = 20; percent <= 80; percent += 20) {
        bed b;
        frames f;
        xs_capture_options file = {.name = in_folder("described"), .bound_bytes = 4u << 20};
        synthetic_catalog = 4u << 20;
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        synthetic_catalog = 65536;
        describe(b.region, ((4u << 20) * percent / 100) & ~(uint64_t)15);
        emit_and_pass(&b, 2000, MS, file.bound_bytes);
        assert_int_equal(bed_close(&b), 0);
        assert_true(folder_bytes(b.path) <= file.bound_bytes);
        assert_int_equal(bed_read(&b, &f), 0);
        assert_true(f.counts[XS_FRAME_NOTE] > 0);
        assert_true(f.dropped_segments < 100); /* of 2 000 passes */
        assert_true(f.rings[0].kept > 0 && f.rings[2].kept > 0);
        assert_int_equal(f.counts[XS_FRAME_END], 1);
    }
}

static void bounded_by_age(void **unused) {
    (void)unused;
    bed b;
    frames f;
    xs_capture_options file = {.name = in_folder("aged"), .bound_ns = 2000ull * MS};
    assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
    uint64_t emitted = emit_and_pass(&b, 3000, 10 * MS, 0); /* 30 s */
    assert_int_equal(bed_close(&b), 0);
    assert_int_equal(bed_read(&b, &f), 0);
    check_tail_is_whole(&f, emitted);
    uint64_t kept = f.rings[0].kept + f.rings[1].kept + f.rings[2].kept;
    assert_in_range(kept, 200 * 100, 300 * 100); /* 2 s and at most some segments more */
}

static void journal(bed *b, uint32_t kind, uint32_t a) {
    const xs_region_header *h = synthetic_of(b->region);
    xs_journal_entry *entries = (xs_journal_entry *)(void *)(b->region + h->journal_offset);
    uint64_t sequence = 1;
    for (uint32_t i = 0; i < h->journal_entries; i++)
        sequence = entries[i].sequence >= sequence ? entries[i].sequence + 1 : sequence;
    xs_journal_entry *entry = &entries[(sequence - 1) % h->journal_entries];
    entry->kind = kind;
    entry->a = a;
    __atomic_store_n(&entry->sequence, sequence, __ATOMIC_RELEASE);
}

/* As a process does once a second, whatever it does besides. */
static void note_the_clock(bed *b) { journal(b, XS_JOURNAL_CLOCK, 0); }

/* A program stood for longer than the bound, and all that it had done before was removed: nothing was kept of a hang. Nor may what ends the
 * silence, waits that give up, be all that is kept. */
static void a_hang_aged_away_what_was_done_before_it(void **unused) {
    (void)unused;
    for (uint32_t more = 0; more < 3; more++) {
        bed b;
        frames f;
        xs_capture_options file = {.name = in_folder("hung"), .bound_ns = 2000ull * MS};
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        uint64_t emitted = emit_and_pass(&b, 600, 10 * MS, 0); /* 6 s */
        for (int i = 0; i < 1200; i++) { /* 12 s */
            if (i % 100 == 0)
                note_the_clock(&b);
            bed_pass(&b, 10 * MS);
        }
        emitted += emit_and_pass(&b, 3 * more, MS, 0);
        b.now += 12000ull * MS;
        assert_int_equal(bed_close(&b), 0);
        assert_int_equal(bed_read(&b, &f), 0);
        check_tail_is_whole(&f, emitted);
        uint64_t kept = f.rings[0].kept + f.rings[1].kept + f.rings[2].kept;
        assert_true(f.counts[XS_FRAME_JOURNAL] >= 12);
        assert_in_range(kept, 170 * 100, 300 * 100); /* 2 s of work, of which the silence took an eighth */
    }
}

typedef struct standing {
    uint64_t of[4], states, newest_state, files; /* of: launches */
} standing;

static void take_standing(void *user, const xs_frame *frame, const void *payload) {
    standing *t = user;
    if (frame->type == XS_FRAME_FILE)
        *t = (standing){.files = t->files + 1};
    for (uint64_t at = 0; frame->type == XS_FRAME_JOURNAL && at < frame->payload_bytes; at += sizeof(xs_journal_entry)) {
        xs_journal_entry e;
        memcpy(&e, (const char *)payload + at, sizeof e);
        t->of[e.a % 4] += e.kind == XS_JOURNAL_LAUNCH_BEGIN;
        t->states += e.kind == XS_JOURNAL_TRACE_STATE;
        t->newest_state = e.kind == XS_JOURNAL_TRACE_STATE ? e.a : t->newest_state;
    }
}

/* Clocks make an entry a second, and a segment repeats the newest 128: of a kernel that ran for longer no name was known, nor that tracing was narrowed. */
static void a_kernel_that_ran_for_long_was_forgotten(void **unused) {
    (void)unused;
    for (int killed = 0; killed < 2; killed++) {
        bed b;
        xs_capture_options file = {.name = in_folder("long"), .bound_bytes = 256u << 10};
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        journal(&b, XS_JOURNAL_TRACE_STATE, XS_STARTED);
        journal(&b, XS_JOURNAL_TRACE_STATE, XS_STARTED | XS_STARTED_FILTERED);
        for (uint32_t launch = 0; launch < 200; launch++) { /* the last one of these stays */
            journal(&b, XS_JOURNAL_LAUNCH_BEGIN, launch);
            if (launch < 199)
                journal(&b, XS_JOURNAL_LAUNCH_END, launch);
            bed_pass(&b, MS);
        }
        for (int i = 0; i < 1000; i++) {
            note_the_clock(&b);
            if (i == 700 && killed) {
                xs_frame_end end = {.clean = 0, .exit_status = 137};
                synthetic_writer w = synthetic_begin(b.region, 0, XS_OVERWRITE);
                bed_emit(&b, &w, XS_OVERWRITE, 10);
                xs_collector_end(b.collector, b.collected, &end);
                char *other = synthetic_region(1, 64, 4096);
                ((xs_region_header *)(void *)other)->process = 23;
                free(b.region);
                b.region = other;
                assert_int_equal(xs_collector_add(b.collector, other, synthetic_of(other)->total_bytes, 0, &b.collected), 0);
            }
            emit_and_pass(&b, 4, MS, 0);
        }
        assert_int_equal(bed_close(&b), 0);
        standing told = {.files = 0};
        frames f = {.each = take_standing, .user = &told}; /* at the end: what the newest segment tells */
        assert_int_equal(frames_read(&f, b.path), 0);
        assert_true(f.dropped_segments > 8);
        assert_true(told.files > 1);
        assert_int_equal(told.of[199 % 4], 1);
        assert_int_equal(told.of[0] + told.of[1] + told.of[2], 0);
        assert_int_equal(told.states, 1);
        assert_int_equal(told.newest_state, XS_STARTED | XS_STARTED_FILTERED);
    }
}

/* A process that has one frame, which says that it is one. */
static void introduce(char *region) {
    xs_region_header *h = (xs_region_header *)(void *)region;
    xs_frame *frame = (xs_frame *)(void *)(region + h->catalog_offset);
    xs_frame_process process = {.region = *h};
    memcpy(frame + 1, &process, sizeof process);
    xs_frame_fill(frame, XS_FRAME_PROCESS, h, -1, UINT32_MAX, 0);
    frame->payload_bytes = sizeof process;
    xs_frame_seal(frame, frame + 1, sizeof process);
    __atomic_store_n(&h->catalog_used, sizeof *frame + xs_frame_padded(sizeof process), __ATOMIC_RELEASE);
}

typedef struct told_of {
    uint64_t process, introduced, ended, files;
    uint64_t end_time, other_times; /* of PROCESS_END; how many say another */
} told_of;

static void tell_of(void *user, const xs_frame *frame, const void *payload) {
    (void)payload;
    told_of *t = user;
    t->files += frame->type == XS_FRAME_FILE;
    t->introduced += frame->process == t->process && frame->type == XS_FRAME_PROCESS;
    if (frame->process != t->process || frame->type != XS_FRAME_PROCESS_END)
        return;
    t->ended++;
    t->other_times += frame->time != t->end_time;
}

/* Of a process that ended early the last record went under the bound, and with it that there had been such a rank. */
static void a_rank_that_ended_early_was_forgotten(void **unused) {
    (void)unused;
    bed b;
    xs_capture_options file = {.name = in_folder("early"), .bound_bytes = 256u << 10};
    assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
    char *early = synthetic_region(1, 64, 4096);
    ((xs_region_header *)(void *)early)->process = 23;
    introduce(early);
    xs_collected *gone;
    assert_int_equal(xs_collector_add(b.collector, early, synthetic_of(early)->total_bytes, 0, &gone), 0);
    synthetic_writer w = synthetic_begin(early, 2, XS_OVERWRITE);
    bed_emit(&b, &w, XS_OVERWRITE, 2000);
    synthetic_end(&w);
    bed_pass(&b, MS);
    xs_frame_end end = {.clean = 0, .exit_status = 137};
    xs_collector_gone(b.collector, gone);
    uint64_t seen = b.now;
    bed_pass(&b, 90 * MS); /* its status comes later */
    xs_collector_end(b.collector, gone, &end);
    free(early);
    emit_and_pass(&b, 3000, MS, file.bound_bytes);
    assert_int_equal(bed_close(&b), 0);
    told_of told = {.process = 23, .end_time = seen};
    frames f = {.each = tell_of, .user = &told};
    assert_int_equal(frames_read(&f, b.path), 0);
    if (f.wrong)
        fail_msg("%s", f.what);
    assert_true(f.dropped_segments > 8); /* those with its records are gone */
    assert_true(told.files > 1);
    assert_int_equal(told.introduced, told.files);
    assert_int_equal(told.ended, told.files);
    assert_int_equal(told.other_times, 0); /* each segment said that it had ended just then */
    uint32_t at = f.processes[0] == 23 ? 0 : 1;
    assert_int_equal(f.processes[at], 23);
    assert_int_equal(f.rings[at * FRAMES_RINGS_OF_PROCESS + 2].removed_to, 2000);
    assert_int_equal(f.rings[at * FRAMES_RINGS_OF_PROCESS + 2].kept, 0);
}

/* Others went on for longer than the bound, and the last that a writer had done before it hung, or was killed, was gone. */
static void the_last_of_a_writer_that_hung_was_gone(void **unused) {
    (void)unused;
    for (uint32_t how = 0; how < 4; how++) {
        int by_age = how & 1, killed = how >> 1;
        bed b;
        frames f;
        xs_capture_options file = {.name = in_folder("silent"), .bound_bytes = by_age ? 0 : 256u << 10, .bound_ns = by_age ? 500ull * MS : 0};
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        char *other = synthetic_region(1, 64, 4096);
        ((xs_region_header *)(void *)other)->process = 23;
        xs_collected *with;
        assert_int_equal(xs_collector_add(b.collector, other, synthetic_of(other)->total_bytes, 0, &with), 0);
        emit_and_pass(&b, 100, MS, file.bound_bytes);
        synthetic_writer w = synthetic_begin(other, 5, XS_OVERWRITE);
        for (int i = 0; i < 4; i++) {
            bed_emit(&b, &w, XS_OVERWRITE, 25);
            bed_pass(&b, MS);
        }
        xs_frame_end end = {.clean = 0, .exit_status = 137};
        if (killed)
            xs_collector_end(b.collector, with, &end);
        emit_and_pass(&b, 4000, MS, file.bound_bytes);
        if (!killed) { /* it wakes up */
            bed_emit(&b, &w, XS_OVERWRITE, 25);
            xs_collector_end(b.collector, with, &end);
        }
        assert_int_equal(bed_close(&b), 0);
        free(other);
        assert_int_equal(bed_read(&b, &f), 0);
        if (f.wrong)
            fail_msg("%s", f.what);
        uint32_t at = f.processes[0] == 23 ? 0 : 1;
        const ring_account *ring = &f.rings[at * FRAMES_RINGS_OF_PROCESS + 5];
        assert_int_equal(f.processes[at], 23);
        assert_true(f.dropped_segments > 8);
        assert_int_equal(ring->kept, killed ? 100 : 125);
        assert_int_equal(ring->next, ring->kept + 1);
        assert_int_equal(ring->lost + ring->removed_to, 0);
        ring = &f.rings[(1 - at) * FRAMES_RINGS_OF_PROCESS];
        assert_true(ring->kept > 0 && ring->removed_to > 0);
    }
}

/* Where many hang, the share of each was less than its last frame, which then was left behind whole. */
static void many_that_hung_lost_all_since_their_frames_were_large(void **unused) {
    (void)unused;
    bed b;
    frames f;
    synthetic_writer hung[20];
    xs_capture_options file = {.name = in_folder("shares"), .bound_bytes = 256u << 10};
    assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
    for (uint32_t i = 0; i < 20; i++) {
        hung[i] = synthetic_begin(b.region, 10 + i, XS_OVERWRITE);
        bed_emit(&b, &hung[i], XS_OVERWRITE, 100 + i);
    }
    emit_and_pass(&b, 4000, MS, file.bound_bytes);
    for (uint32_t i = 0; i < 20; i += 2) /* half of them wake up */
        bed_emit(&b, &hung[i], XS_OVERWRITE, 5);
    assert_int_equal(bed_close(&b), 0);
    assert_int_equal(bed_read(&b, &f), 0);
    if (f.wrong)
        fail_msg("%s", f.what);
    assert_true(f.dropped_segments > 8);
    for (uint32_t i = 0; i < 20; i++) {
        const ring_account *ring = &f.rings[10 + i];
        uint64_t last = 100 + i + (i % 2 ? 0 : 5);
        assert_int_equal(ring->next, last + 1);
        assert_int_equal(ring->kept, last - ring->removed_to);
        assert_in_range(ring->kept, 10, 99);
        assert_int_equal(ring->lost, 0);
    }
}

/* A bounded capture on a disk smaller than its bound makes its own space: its records "went under the bound", and a larger one was the cure. */
static void bounded_on_a_small_disk(void **unused) {
    (void)unused;
    bed b;
    frames f;
    char disk[128], name[160];
    folder_mount("small", "size=3m", disk);
    snprintf(name, sizeof name, "%s/run", disk);
    xs_capture_options file = {.name = name, .bound_bytes = 8u << 20};
    assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
    uint64_t emitted = emit_and_pass(&b, 6000, MS, 0);
    assert_int_equal(bed_close(&b), XS_E_NO_SPACE);
    assert_int_equal(bed_read(&b, &f), 0);
    check_tail_is_whole(&f, emitted);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(f.rings[i].removed_by, XS_LOSS_NO_SPACE);
    umount2(disk, MNT_DETACH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_stays_under_the_bound),
        cmocka_unit_test(bounded_by_age),
        cmocka_unit_test(a_hang_aged_away_what_was_done_before_it),
        cmocka_unit_test(a_large_catalog_leaves_room_for_records),
        cmocka_unit_test(a_kernel_that_ran_for_long_was_forgotten),
        cmocka_unit_test(a_rank_that_ended_early_was_forgotten),
        cmocka_unit_test(the_last_of_a_writer_that_hung_was_gone),
        cmocka_unit_test(many_that_hung_lost_all_since_their_frames_were_large),
        cmocka_unit_test(bounded_on_a_small_disk),
    };
    return RUN_IN_FOLDER(tests);
}
