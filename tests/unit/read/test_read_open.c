/* Opening: names, folders of segments, foreign, newer, unreadable and cut captures. */
#include "read_help.h"

#include <xs/events_hash.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/frame.h>

static const char small[] = "process 0 1 1\nmark_name m\nwriter_begin 0 1000 0 0 0\nmark 0 1100 $m 1\nmark 0 1200 $m 2\n";

static void expect_error(const char *path, int error, const char *text) {
    xsr_reader *reader = NULL;
    const char *why = NULL;
    assert_int_equal(xsr_open(&path, 1, NULL, &reader, &why), error);
    if (!strstr(why, text))
        fail_msg("\"%s\" does not say \"%s\"", why, text);
    xsr_close(reader);
}

static size_t events_of(const char *path) {
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    size_t n = t.event_count;
    help_free(&t);
    return n;
}

static void names(void **state) {
    (void)state;
    const char *path = help_path("short.xs");
    help_script(path, small);
    assert_int_equal(events_of(path), 3);
    char *bare = strndup(path, strlen(path) - 3);
    assert_int_equal(events_of(bare), 3);
    free(bare);
    expect_error(help_path("nowhere"), XS_E_SYSTEM, "nowhere: cannot open: No such file");
}

static void foreign(void **state) {
    (void)state;
    const char *path = help_path("foreign.xs");
    help_write(path, "SQLite format 3, or so", 22);
    expect_error(path, XS_E_FORMAT, "not an xs capture");
    help_write(path, "", 0);
    expect_error(path, XS_E_FORMAT, "empty");
    expect_error("/dev/null", XS_E_FORMAT, "neither a file nor a folder");
    const char *folder = help_path("folder");
    assert_int_equal(mkdir(folder, 0755), 0);
    expect_error(folder, XS_E_FORMAT, "without segments");
}

static void arguments(void **state) {
    (void)state;
    xsr_reader *reader;
    const char *path = NULL, *why;
    assert_int_equal(xsr_open(NULL, 0, NULL, &reader, &why), XS_E_ARGUMENT);
    assert_non_null(why);
    assert_int_equal(xsr_open(&path, 1, NULL, &reader, &why), XS_E_ARGUMENT);
    xsr_close(reader);
    assert_int_equal(xsr_open(&path, 1, NULL, NULL, NULL), XS_E_ARGUMENT);
    assert_int_equal(xsr_run(NULL, NULL, 0), XS_E_ARGUMENT);
    assert_null(xsr_model_of(NULL));
    xsr_close(NULL);
}

static void unreadable(void **state) {
    (void)state;
    if (geteuid() == 0)
        skip(); /* root reads everything */
    const char *path = help_path("secret.xs");
    help_script(path, small);
    chmod(path, 0);
    expect_error(path, XS_E_SYSTEM, "Permission denied");
}

static void small_bytes(void **bytes, size_t *size, int closed) {
    cb *c = cb_begin(NULL);
    assert_int_equal(script_run(c, small), 0);
    assert_int_equal(cb_bytes(c, closed, bytes, size), 0);
}

static void newer_file(void **state) {
    (void)state;
    void *bytes;
    size_t size;
    small_bytes(&bytes, &size, 1);
    xs_frame *frame = bytes;
    xs_frame_file *file = (xs_frame_file *)(frame + 1);
    file->version = XS_CAPTURE_VERSION + 1;
    xs_frame_seal(frame, file, sizeof *file);
    const char *path = help_path("newer.xs");
    help_write(path, bytes, size);
    expect_error(path, XS_E_VERSION, "written by a newer version of xs (capture version 3");
    free(bytes);
}

static uint32_t notes_of(uint64_t events_hash) {
    void *bytes;
    size_t size;
    small_bytes(&bytes, &size, 1);
    xs_frame *frame = bytes;
    xs_frame_file *file = (xs_frame_file *)(frame + 1);
    file->events_hash = events_hash;
    xs_frame_seal(frame, file, sizeof *file);
    const char *path = help_path("events.xs");
    help_write(path, bytes, size);
    free(bytes);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->note_count; i++)
        count += strstr(m->notes[i], "another table of events") != NULL;
    help_free(&t);
    xsr_close(reader);
    return count;
}

/* The hash was written, and nobody looked at it: a reader guessed. */
static void another_table_of_events_is_told(void **state) {
    (void)state;
    assert_int_equal(notes_of(xs_events_hash_value()), 0);
    assert_int_equal(notes_of(xs_events_hash_value() + 1), 1);
}

static void newer_region(void **state) {
    (void)state;
    const char *path = help_path("newer-region.xs");
    cb *c = cb_begin(path);
    xs_region_header region = cb_region(0, 1, 1);
    region.version++;
    cb_process_as(c, &region);
    assert_int_equal(cb_end(c), 0);
    expect_error(path, XS_E_VERSION, "newer version of xs (region version 5");
}

static void read_model(const char *path, xsr_model *m) {
    told t;
    assert_int_equal(help_read(path, &t, m), 0);
    help_free(&t);
}

static void closed_and_cut(void **state) {
    (void)state;
    void *bytes;
    size_t size;
    xsr_model m;
    const char *path = help_path("cut.xs");
    small_bytes(&bytes, &size, 1);
    help_write(path, bytes, size);
    read_model(path, &m);
    assert_true(m.closed && !m.cut);
    help_write(path, bytes, size - 10); /* in the END frame */
    read_model(path, &m);
    assert_true(!m.closed && m.cut);
    assert_int_equal(m.damaged_frames, 0);
    char *longer = calloc(1, size + 4096);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    help_write(path, longer, size + 4096); /* room that was reserved and not used */
    read_model(path, &m);
    assert_true(m.closed && !m.cut);
    assert_int_equal(m.damaged_frames, 0);
    free(longer);
    free(bytes);
}

/* A folder of segments is one capture; a segment that is still empty does not matter. */
static void segments(void **state) {
    (void)state;
    const char *folder = help_path("seg.xs");
    char path[256];
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%06d.seg", folder, i);
        cb *c = cb_begin(path);
        cb_process(c, 0, 1, 1);
        uint32_t mark = cb_mark_name(c, "m");
        if (i)
            cb_skip_records(c, 0, (uint64_t)i * 2, 0);
        cb_mark(c, 0, 1000 + 10 * (uint64_t)i, mark, (uint32_t)i);
        cb_mark(c, 0, 1001 + 10 * (uint64_t)i, mark, (uint32_t)i);
        assert_int_equal(i == 2 ? cb_end(c) : cb_cut(c), 0);
    }
    snprintf(path, sizeof path, "%s/%06d.seg", folder, 3);
    help_write(path, "", 0);
    told t;
    xsr_model m;
    assert_int_equal(help_read(folder, &t, &m), 0);
    assert_int_equal(t.event_count, 6);
    assert_int_equal(t.loss_count, 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(t.events[i].sequence, i + 1);
    assert_int_equal(m.process_count, 1);
    assert_int_equal(m.name_count, 1);
    help_free(&t);
    char *bare = strndup(folder, strlen(folder) - 3);
    assert_int_equal(events_of(bare), 6);
    free(bare);
}

static int stop_at_two(xsr_sink *sink, const xsr_event *e) {
    (void)sink;
    return e->id == 2 ? 77 : 0;
}

static void sinks_stop(void **state) {
    (void)state;
    const char *path = help_path("stop.xs");
    help_script(path, small);
    xsr_reader *reader = help_open(path);
    xsr_sink sink = {.name = "stop", .event = stop_at_two}, *sinks[] = {&sink};
    assert_int_equal(xsr_run(reader, sinks, 1), 77);
    told t;
    assert_int_equal(help_run(reader, &t), 0); /* a pass may follow one that was stopped */
    assert_int_equal(t.event_count, 3);
    help_free(&t);
    xsr_close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names), cmocka_unit_test(foreign), cmocka_unit_test(arguments), cmocka_unit_test(unreadable),
        cmocka_unit_test(newer_file), cmocka_unit_test(another_table_of_events_is_told), cmocka_unit_test(newer_region), cmocka_unit_test(closed_and_cut), cmocka_unit_test(segments),
        cmocka_unit_test(sinks_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
