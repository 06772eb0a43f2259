/* Damage: random truncations and flipped bits, and frames that lie. No crash, nothing made up, what is whole is read. */
#include "read_help.h"

#include <stdlib.h>
#include <string.h>
#include <xs/frame.h>

static uint64_t seed = 88172645463325252ull;
static uint64_t random64(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Two processes, several rings, a frame every few records, so that damage hits all kinds of frames. */
static void make(void **bytes, size_t *size) {
    cb *c = cb_begin(NULL);
    for (uint32_t p = 0; p < 2; p++) {
        cb_process(c, p, 1, 2);
        uint32_t role = cb_role(c, "push"), pad = cb_pad(c, "done", "src", "chunk", 2, 4, 0);
        cb_plan_writer(c, pad, XS_PLAN_ROW);
        cb_launch_begin(c, 1, cb_kernel(c, "k"), 900, 4, 64, p, 1);
        for (uint32_t ring = 0; ring < 3; ring++) {
            cb_writer_begin(c, ring, 1000 + ring, role, ring, 1);
            for (uint64_t i = 1; i <= 40; i++) {
                uint64_t at = 2000 + i * 100 + ring * 10 + p;
                cb_signal(c, ring, at, cb_slot(c, pad, 1 - p, p, ring), i);
                cb_wait_start(c, ring, at + 1, cb_slot(c, pad, p, 1 - p, ring), i, i - 1);
                cb_wait_end(c, ring, at + 20, cb_slot(c, pad, p, 1 - p, ring), i, 0, 3);
                cb_look(c, ring, cb_next(c, ring) - 1, at + 20);
                if (i % 5 == 0)
                    cb_flush(c);
            }
        }
    }
    assert_int_equal(cb_bytes(c, 1, bytes, size), 0);
}

typedef struct key { uint64_t process, sequence; uint32_t ring, kind, value, word; int64_t time; } key;

static int by_key(const void *a, const void *b) { return memcmp(a, b, sizeof(key)); }

static key *keys_of(const xsr_model *m, const told *t) {
    key *keys = calloc(t->event_count + 1, sizeof *keys);
    assert_non_null(keys);
    for (size_t i = 0; i < t->event_count; i++) {
        const xsr_event *e = &t->events[i];
        keys[i] = (key){m->processes[m->rings[e->ring].process].process, e->sequence, m->rings[e->ring].ring, e->kind, (uint32_t)e->value,
                        (uint32_t)e->time, e->time_modulo ? 0 : e->time};
    }
    qsort(keys, t->event_count, sizeof *keys, by_key);
    return keys;
}

/* Time is compared where it is said to be exact, but for what a lost PROCESS frame alone tells (nothing here). */
static void check_subset(const key *all, size_t count, const key *some, size_t some_count) {
    for (size_t i = 0; i < some_count; i++) {
        key wanted = some[i];
        const key *found = bsearch(&wanted, all, count, sizeof wanted, by_key);
        if (!found)
            fail_msg("event made up: ring %u sequence %llu kind %u", wanted.ring, (unsigned long long)wanted.sequence, wanted.kind);
    }
}

static void check_balance(const xsr_model *m) {
    for (uint32_t i = 0; i < m->ring_count; i++) {
        assert_int_equal(m->rings[i].kept + m->rings[i].lost, m->rings[i].emitted);
        assert_true(m->rings[i].torn <= m->rings[i].kept);
    }
}

typedef struct whole { void *bytes; size_t size; key *keys; size_t count; } whole;

static whole read_whole(void) {
    whole w;
    make(&w.bytes, &w.size);
    const char *path = help_path("whole.xs");
    help_write(path, w.bytes, w.size);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.event_count, 2 * 3 * (1 + 3 * 40));
    w.keys = keys_of(xsr_model_of(reader), &t);
    w.count = t.event_count;
    help_free(&t);
    xsr_close(reader);
    return w;
}

/* Events of frames whose PROCESS frame is gone are told under a process without a name: the same identity. */
static void check_damaged(const whole *w, const void *bytes, size_t size, bool changed) {
    const char *path = help_path("damaged.xs");
    help_write(path, bytes, size);
    xsr_reader *reader = NULL;
    const char *why = NULL;
    int rc = xsr_open(&path, 1, NULL, &reader, &why);
    if (rc) {
        assert_true(rc == XS_E_FORMAT && strstr(why, "damaged.xs"));
        xsr_close(reader);
        return;
    }
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    key *keys = keys_of(m, &t);
    check_subset(w->keys, w->count, keys, t.event_count);
    check_balance(m);
    if (changed)
        assert_true(m->damaged_frames || m->cut || !m->closed);
    free(keys);
    help_free(&t);
    xsr_close(reader);
}

static void truncations(void **state) {
    (void)state;
    whole w = read_whole();
    for (int i = 0; i < 400; i++)
        check_damaged(&w, w.bytes, random64() % w.size, false);
    free(w.bytes);
    free(w.keys);
}

static void flipped_bits(void **state) {
    (void)state;
    whole w = read_whole();
    unsigned char *bytes = malloc(w.size);
    assert_non_null(bytes);
    for (int i = 0; i < 400; i++) {
        memcpy(bytes, w.bytes, w.size);
        int flips = 1 + (int)(random64() % 8);
        for (int k = 0; k < flips; k++)
            bytes[random64() % w.size] ^= (unsigned char)(1u << random64() % 8);
        check_damaged(&w, bytes, w.size, false);
    }
    free(bytes);
    free(w.bytes);
    free(w.keys);
}

/* Ranges of bytes overwritten, or moved, or repeated. */
static void shuffled(void **state) {
    (void)state;
    whole w = read_whole();
    unsigned char *bytes = malloc(w.size);
    assert_non_null(bytes);
    for (int i = 0; i < 200; i++) {
        memcpy(bytes, w.bytes, w.size);
        size_t length = 16 + random64() % (w.size / 4), from = random64() % (w.size - length), to = random64() % (w.size - length);
        if (i % 2)
            from &= ~(size_t)15, to &= ~(size_t)15;
        memmove(bytes + to, bytes + from, length);
        check_damaged(&w, bytes, w.size, false);
    }
    free(bytes);
    free(w.bytes);
    free(w.keys);
}

/* One flipped bit anywhere in the payload of RECORDS loses that frame alone. */
static void one_frame(void **state) {
    (void)state;
    whole w = read_whole();
    unsigned char *bytes = w.bytes;
    size_t at = 0, tried = 0;
    while (at < w.size) {
        const xs_frame *f = (const xs_frame *)(const void *)(bytes + at);
        size_t next = at + f->header_bytes + xs_frame_padded(f->payload_bytes);
        if (f->type == XS_FRAME_RECORDS && tried++ % 7 == 0) {
            size_t where = at + f->header_bytes + random64() % f->payload_bytes;
            bytes[where] ^= 1;
            const char *path = help_path("one.xs");
            help_write(path, bytes, w.size);
            xsr_reader *reader = help_open(path);
            told t;
            assert_int_equal(help_run(reader, &t), 0);
            const xsr_model *m = xsr_model_of(reader);
            uint64_t lost = 0, count = (f->payload_bytes - sizeof(xs_frame_records)) / sizeof(xs_record);
            for (uint32_t i = 0; i < m->ring_count; i++)
                lost += m->rings[i].lost;
            assert_int_equal(m->damaged_frames, 1);
            assert_int_equal(m->damaged_bytes, next - at);
            assert_int_equal(m->missing_frames, 0);
            assert_int_equal(lost, count);
            help_free(&t);
            xsr_close(reader);
            bytes[where] ^= 1;
        }
        at = next;
    }
    assert_true(tried > 20);
    free(w.bytes);
    free(w.keys);
}

/* Whole frames that lie: counts, offsets, lengths, numbers. All are refused or harmless. */
static void lies(void **state) {
    (void)state;
    for (uint32_t type = 1; type < 40; type++)
        for (int round = 0; round < 60; round++) {
            const char *path = help_path("lies.xs");
            cb *c = cb_begin(path);
            cb_process(c, 0, 1, 1);
            uint64_t payload[64];
            for (size_t i = 0; i < 64; i++) {
                static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT32_MAX, 1ull << 62, 1ull << 63, 0x00ffffff00ffffff};
                uint64_t pick = random64() % 10;
                payload[i] = pick < 7 ? odd[pick] : random64();
            }
            uint64_t bytes = round % 3 ? random64() % sizeof payload : sizeof payload / 16 * (random64() % 17);
            if (type == XS_FRAME_FILE)
                payload[0] = 0; /* else it may name a newer version, which is refused as a whole */
            cb_frame(c, (uint16_t)type, (uint32_t)payload[63], payload[62], payload, bytes);
            cb_mark(c, 0, 1000, 1, 1);
            assert_int_equal(cb_end(c), 0);
            xsr_reader *reader = NULL;
            const char *why;
            int rc = xsr_open(&path, 1, NULL, &reader, &why);
            told t = {0};
            if (rc == 0)
                rc = help_run(reader, &t);
            assert_true(rc == 0 || (type == XS_FRAME_PROCESS && rc == XS_E_VERSION));
            if (rc == 0)
                check_balance(xsr_model_of(reader));
            help_free(&t);
            xsr_close(reader);
        }
}

/* Records of random words with right sequences: events come out, or are torn; nothing breaks. */
static void random_records(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        const char *path = help_path("noise.xs");
        cb *c = cb_begin(path);
        cb_process(c, 0, 2, 2);
        cb_pad(c, "done", "", "", 2, 4, round % 2 ? XS_PAD_SHARED : 0);
        for (int i = 0; i < 400; i++) {
            uint32_t kind = (uint32_t)(random64() % 36), object = (uint32_t)(random64() % 20);
            uint64_t time = round % 3 ? 1000 + (uint64_t)i : random64() >> random64() % 40;
            if (i % 3 == 0)
                cb_record(c, random64() % 2 * 64, time, (uint32_t)random64(), (uint32_t)random64(), (uint32_t)time);
            else
                cb_full_event(c, random64() % 2 * 64, time, &(cb_full){.kind = kind, .object = object, .value = (uint32_t)random64() >> random64() % 32,
                    .order = random64() % 8, .scope = random64() % 4, .fence = random64() % 8, .cmp = random64() % 8, .result = random64() % 8,
                    .detail = (uint32_t)random64() >> random64() % 32, .further = random64() % 4, .a = {(uint32_t)random64(), (uint32_t)random64()},
                    .b = {(uint32_t)random64(), (uint32_t)random64()}, .c = {(uint32_t)random64(), (uint32_t)random64()}});
        }
        assert_int_equal(cb_end(c), 0);
        told t;
        assert_int_equal(help_read(path, &t, NULL), 0);
        help_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations), cmocka_unit_test(flipped_bits), cmocka_unit_test(shuffled), cmocka_unit_test(one_frame),
        cmocka_unit_test(lies), cmocka_unit_test(random_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
