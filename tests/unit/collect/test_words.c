/* Records of two stamped words (record.h): what a reader makes of every state that a slot can be seen in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <xs/ring_access.h>

#include "attach_read.h"
#include "ring_bulk.h"
#include "ring_reader.h"
#include "world.h"

static uint64_t seed = 1;
static uint32_t any(void) { return (uint32_t)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 32); }

/* Zeros, ones, single bits, then anything. */
static uint32_t pattern(uint32_t i) {
    if (i < 2) return 0 - i;
    return i < 34 ? 1u << (i - 2) : any();
}

static int same(const xs_record *a, const xs_record *b) { return !memcmp(a, b, sizeof *a); }

/* The first word of one, the second of the other. */
static xs_record mixed(const xs_record *first, const xs_record *second) {
    xs_record raw = *first;
    raw.value = second->value, raw.time = second->time;
    return raw;
}

static xs_record stored(uint32_t shift, const xs_record *record) {
    xs_record slot = {0};
    xs_slot_put(2, &slot, shift, record->sequence, record->code_object, record->value, record->time);
    return slot;
}

static void every_bit_comes_back(void **unused) {
    (void)unused;
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t k = 0; k < 40; k++)
            for (uint32_t shift = 2; shift <= 16; shift += 7) {
                xs_record record = {pattern(any() % 40), pattern(i) | 1u << 24, pattern(k), pattern(any() % 40)}, slot = stored(shift, &record), found = {0};
                assert_int_equal(xs_slot_load(2, &slot, shift, record.sequence, &found), 1);
                assert_true(same(&found, &record));
            }
}

/* A reader's position is off by up to half of what is known, over all wraps. */
static void the_nearest_sequence_is_found(void **unused) {
    (void)unused;
    for (uint32_t shift = 2; shift <= 16; shift++)
        for (uint32_t i = 0; i < 2000; i++) {
            uint32_t laps = 1u << 16, lap = i % 3 == 0 ? laps - 2 + i % 4 : any(), at = any() & ((1u << shift) - 1);
            xs_record record = {lap << shift | at, 1u << 24, 0, 0}, slot = stored(shift, &record), found = {0};
            int32_t off = i % 2 ? (int32_t)(any() % laps) - (int32_t)(laps / 2) : (i % 4 ? (int32_t)(laps / 2) - 1 : -(int32_t)(laps / 2));
            uint32_t near = record.sequence - ((uint32_t)off << shift);
            assert_int_equal(xs_slot_load(2, &slot, shift, near, &found), 1);
            assert_true(found.sequence == record.sequence || shift == 16);
            assert_int_equal(((found.sequence - record.sequence) & xs_sequence_known(2, shift)), 0);
        }
}

/* Half of a record beside half of another one, or beside zeroed memory, in both orders: for every distance of laps but whole ranges. */
static void half_a_record_is_none(void **unused) {
    (void)unused;
    const xs_record empty = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t shift = 2 + any() % 15, at = any() & ((1u << shift) - 1), lap = i < 100 ? i : i < 200 ? i + 0xff80 : any();
        uint32_t later = lap + (i % 2 ? 1 : 1 + any() % 0xffff);
        xs_record a = {lap << shift | at, any() | 1u << 24, any(), any()}, b = {later << shift | at, any() | 1u << 24, any(), any()}, found;
        xs_record old = stored(shift, &a), new = stored(shift, &b), first = mixed(&new, &old), second = mixed(&old, &new);
        assert_int_equal(xs_slot_load(2, &first, shift, b.sequence, &found), 0);
        assert_int_equal(xs_slot_load(2, &second, shift, b.sequence, &found), 0);
        if ((lap & 0xffff) == 0xffff) /* its stamp is 0; no slot is empty in that lap */
            continue;
        first = mixed(&old, &empty), second = mixed(&empty, &old);
        assert_int_equal(xs_slot_load(2, &first, shift, a.sequence, &found), 0);
        assert_int_equal(xs_slot_load(2, &second, shift, a.sequence, &found), 0);
    }
    xs_record found;
    assert_int_equal(xs_slot_load(2, &empty, 6, 5, &found), 1);
    assert_int_equal(found.code_object, 0);
}

/* Its index says nothing, and the next drop is of the same lap. */
static void a_drop_holds_its_whole_sequence(void **unused) {
    (void)unused;
    const xs_record empty = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t sequence = i < 100 ? 0xffffffceu + i : i < 200 ? 0xffceu + i - 100 : any();
        xs_record a = {0}, b = {0}, found;
        xs_overflow_put(2, &a, sequence, any());
        xs_overflow_put(2, &b, sequence + 1 + any() % 0xfffe, any());
        assert_int_equal(xs_overflow_load(2, &a, &found), 1);
        assert_int_equal(found.sequence, sequence);
        assert_int_equal(found.code_object, XS_HEAD(XS_CODE_DROP, 0));
        xs_record halves[] = {mixed(&a, &b), mixed(&b, &a), mixed(&a, &empty), mixed(&empty, &a)};
        for (int k = 0; k < 4; k++) {
            int taken = xs_overflow_load(2, &halves[k], &found) && found.code_object;
            if (taken) fail_msg("drop %u, half %d: taken as %u", sequence, k, found.sequence);
        }
    }
    xs_record found;
    assert_int_equal(xs_overflow_load(2, &empty, &found), 1);
    assert_int_equal(found.code_object, 0);
}

static void an_owner_is_taken_whole(void **unused) {
    (void)unused;
    for (uint32_t i = 0; i < 4000; i++) {
        xs_ring_header old, new, ring;
        uint32_t ordinal = i < 40 ? i : any();
        memset(&old, 0, sizeof old);
        xs_ring_owner before = {any(), any(), any(), any(), any(), any() & 0xffff}, found;
        xs_ring_owner after = {pattern(any() % 40) | (uint64_t)(any() & 0xffff) << 32, pattern(any() % 40) | (uint64_t)pattern(any() % 40) << 32,
                               pattern(any() % 40), pattern(any() % 40), pattern(any() % 40), pattern(any() % 40) & 0xffff};
        if (ordinal >= XS_RING_OWNERS) xs_ring_owner_store(2, &old, ordinal - XS_RING_OWNERS, &before);
        old.next = after.first, old.owners = ordinal;
        new = old;
        new.owners = ordinal + 1;
        xs_ring_owner_store(2, &new, ordinal, &after);
        for (uint32_t words = 0; words < 16; words++) { /* which of the four have arrived */
            ring = new;
            for (int k = 0; k < 4; k++)
                if (!(words >> k & 1)) ((uint64_t *)(void *)&ring.owner[ordinal % 8])[k] = ((uint64_t *)(void *)&old.owner[ordinal % 8])[k];
            assert_int_equal(xs_ring_owner_load(2, &ring, ordinal, &found), words == 15);
        }
        assert_memory_equal(&found, &after, sizeof found);
        ring.owners = ordinal + 128 * XS_RING_OWNERS + 1; /* the stamp comes again */
        assert_int_equal(xs_ring_owner_load(2, &ring, ordinal, &found), 0);
    }
}

static void put_line(xs_status_line *line, uint32_t generation, uint32_t words) {
    for (uint32_t half = 0; half < 16; half++)
        if (words >> half & 1) {
            xs_record part;
            xs_stamped_put(&part, XS_LINE_STAMP(generation), generation + half / 2, half, generation + half / 2);
            memcpy((char *)line + 8 * half, (char *)&part + 8 * (half % 2), 8);
        }
}

static void half_a_line_is_none(void **unused) {
    (void)unused;
    static xs_status_line line __attribute__((aligned(128))), copy;
    xs_region_view view = {.base = (char *)&line, .head = {.lines_per_ring = 1, .status_stride = sizeof line, .record_words = 2}};
    assert_int_equal(xs_view_copy_line(&view, 0, 0, &copy), 0);
    for (uint32_t time = 1000; time < 9000000; time += 123457) /* less than 8.4 ms: then stamps come again */
        for (uint32_t words = 0; words <= 0xffff; words += words < 40 ? 1 : 1023) {
            put_line(&line, time << 3 | XS_LINE_WAITING, 0xffff);
            put_line(&line, (time + 1024) << 3 | XS_LINE_WAITING, words);
            assert_int_equal(xs_view_copy_line(&view, 0, 0, &copy), words == 0 || words == 0xffff ? 1 : -1);
        }
    assert_int_equal(copy.p7.launch, copy.p0.state_stage + 7);
    for (uint32_t state = XS_LINE_WAITING; state <= XS_LINE_OVER; state++)
        for (uint32_t i = 0; i < 1000; i++)
            assert_int_equal(XS_LINE_STAMP(any() << 3 | state) & 7, state);
}

/* Four at a time give what one at a time gives, and stop at what is not there. */
static void bulk_is_the_same(void **unused) {
    (void)unused;
    enum { SHIFT = 6, SIZE = 1 << SHIFT };
    static xs_record ring[SIZE] __attribute__((aligned(64))), out[SIZE];
    if (!XS_WHOLE_ACCESS) skip();
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t lap = round < 10 ? 0xfffbu + round : any(), from = any() % SIZE, count = any() % (SIZE - from) + 1, hole = any() % SIZE;
        for (uint32_t i = 0; i < SIZE; i++) xs_slot_put(2, &ring[i], SHIFT, lap << SHIFT | i, any() | 1u << 24, any(), any());
        if (round % 2) ring[hole].time += round % 4 == 1 ? 0x10000u : 0xffff0000u;
        uint32_t taken = xs_ring_bulk(2, ring + from, out, count, (uint64_t)lap << SHIFT | from, SHIFT), most = count;
        if (round % 2 && hole >= from && hole - from < count) most = hole - from;
        assert_int_equal(taken, most / 4 * 4);
        for (uint32_t i = 0; i < taken; i++) {
            xs_record one;
            assert_int_equal(xs_slot_load(2, &ring[from + i], SHIFT, lap << SHIFT | (from + i), &one), 1);
            assert_true(same(&one, &out[i]));
        }
    }
}

/* A reader that comes too late for the stamps says "at least", and the ring's own count puts it right at the end. */
static void laps_beyond_the_stamps_are_at_least(void **unused) {
    (void)unused;
    enum { SIZE = 4 };
    static xs_record ring[SIZE];
    xs_record out[SIZE];
    xs_ring_header header = {.mode = XS_OVERWRITE};
    xs_ring_reader reader;
    xs_ring_gap gap;
    uint32_t taken, sequence = 1;
    const uint64_t range = 1u << 18;
    memset(ring, 0, sizeof ring);
    xs_ring_reader_init(&reader, ring, &header, SIZE, 2, 1);
    assert_int_equal(reader.stall_ns, range); /* half of it at 2 ns a record */
    for (; sequence <= 3; sequence++) xs_slot_put(2, &ring[sequence % SIZE], 2, sequence, 1u << 24, sequence, 0);
    xs_ring_quiet live = {0, 0}, quiet = {1, range + 5};
    assert_int_equal(xs_ring_drain(&reader, out, SIZE, &taken, &gap, live, 1), XS_DRAIN_EMPTY);
    assert_int_equal(taken, 3);
    for (sequence = (uint32_t)range + 1; sequence <= range + 4; sequence++)
        xs_slot_put(2, &ring[sequence % SIZE], 2, sequence, 1u << 24, sequence, 0);
    xs_ring_reader again = reader;
    assert_int_equal(xs_ring_drain(&reader, out, SIZE, &taken, &gap, live, 2 + 2 * range), XS_DRAIN_GAP);
    assert_int_equal(gap.at_least, 1);
    assert_int_equal(xs_ring_drain(&again, out, SIZE, &taken, &gap, quiet, 2 + 2 * range), XS_DRAIN_GAP);
    assert_int_equal(again.next, range + 1);
    assert_int_equal(xs_ring_drain(&again, out, SIZE, &taken, &gap, quiet, 2 + 2 * range), XS_DRAIN_EMPTY);
    assert_int_equal(taken, 4);
}

/* A writer in discard mode that drops for some milliseconds leaves the records before that standing: a quarter of the laps that stamps tell
 * behind, they looked like newer ones, and the reader jumped there. */
static void what_stands_through_a_run_of_drops_is_old(void **unused) {
    (void)unused;
    enum { SIZE = 4, LAST = 200004 };
    static xs_record ring[SIZE];
    xs_record out[SIZE];
    xs_ring_header header = {.mode = XS_DISCARD};
    xs_ring_reader reader;
    xs_ring_gap gap;
    uint32_t taken, sum = 0;
    uint64_t now = 1, lost = 0;
    const xs_ring_quiet live = {0, 0};
    memset(ring, 0, sizeof ring);
    xs_ring_reader_init(&reader, ring, &header, SIZE, 2, 1);
    for (uint32_t sequence = 1; sequence <= SIZE; sequence++) xs_slot_put(2, &ring[sequence % SIZE], 2, sequence, 1u << 24, sequence, 0);
    xs_overflow_put(2, &header.overflow, LAST, 0);
    for (int i = 0; i < 8; i++, now += 100000000) {
        int result = xs_ring_drain(&reader, out, SIZE, &taken, &gap, live, now);
        sum += taken;
        lost += result == XS_DRAIN_GAP ? gap.last - gap.first + 1 : 0;
        assert_false(result == XS_DRAIN_GAP && gap.at_least);
    }
    assert_int_equal(sum, SIZE);
    assert_int_equal(lost, LAST - SIZE);
    assert_int_equal(reader.next, LAST + 1);
    xs_ring_give_space(&reader);
    assert_int_equal(header.consumed, LAST);
    for (uint32_t sequence = LAST + 1; sequence <= LAST + SIZE; sequence++) xs_slot_put(2, &ring[sequence % SIZE], 2, sequence, 1u << 24, sequence, 0);
    assert_int_equal(xs_ring_drain(&reader, out, SIZE, &taken, &gap, live, now), XS_DRAIN_FULL);
    assert_int_equal(taken, SIZE);
    assert_int_equal(reader.next, LAST + SIZE + 1);
}

static char *a_region(xs_region_view *view, uint32_t words, uint32_t records) {
    xs_region_header h = {.ranks = 1, .world_ranks = 1, .rings_per_rank = 64, .ring_records = records, .lines_per_ring = 4, .record_words = (uint16_t)words};
    xs_region_layout(&h);
    char *region = aligned_alloc(4096, h.total_bytes);
    assert_non_null(region);
    memset(region, 0, h.total_bytes);
    xs_region_init(region, &h);
    assert_int_equal(xs_region_view_open(view, region, h.total_bytes), 0);
    return region;
}

/* What looks at rings from outside: the newest record, dropped ones included, and what a slot was signalled with. */
static void rings_are_looked_at_from_outside(void **unused) {
    (void)unused;
    for (uint32_t words = XS_WHOLE_ACCESS ? 0 : 2; words <= 2; words += 2)
        for (uint32_t last = 1; last < 70; last += 3) {
            xs_region_view view;
            xs_record record;
            uint32_t value = 0, base = 0x30000000;
            char *region = a_region(&view, words, 16), *records = region + view.head.records_offset;
            for (uint32_t s = base + last - 15; s != base + last + 1; s++)
                xs_slot_put(words, (xs_record *)(void *)records + s % 16, 4, s, XS_HEAD(XS_CODE_SIGNAL_REL_SYS, 9), s, 0);
            uint32_t known = xs_sequence_known(words, 4);
            assert_int_equal(xs_attach_newest(&view, 0), (base + last) & known);
            assert_int_equal(xs_attach_record(&view, 0, base + last, &record), 1);
            assert_int_equal(record.value, base + last);
            assert_int_equal(xs_attach_record(&view, 0, base + last + 1, &record), 0);
            assert_int_equal(xs_attach_code(&view, 0, base + last), XS_CODE_SIGNAL_REL_SYS);
            assert_int_equal(xs_attach_signalled(&view, 0, 9, &value), 1);
            assert_int_equal(value, base + last);
            xs_view_ring(&view, 0)->mode = XS_DISCARD;
            xs_overflow_put(words, &xs_view_ring(&view, 0)->overflow, base + last + 5, 0);
            assert_int_equal(xs_attach_newest(&view, 0), (base + last + 5) & known);
            free(region);
        }
}

static void a_form_that_is_not_known_is_refused(void **unused) {
    (void)unused;
    xs_region_view view;
    char *region = a_region(&view, 2, 16);
    xs_region_header *h = (xs_region_header *)(void *)region;
    for (uint32_t words = 0; words <= 0xffff; words++) {
        h->record_words = (uint16_t)words;
        int expected = words == 2 || (words == 0 && XS_WHOLE_ACCESS) ? 0 : words ? XS_E_VERSION : XS_E_UNSUPPORTED;
        assert_int_equal(xs_region_view_open(&view, region, h->total_bytes), expected);
    }
    free(region);
}

/* The world's choice is in its region and its handles; in captures records are one again. */
static void a_world_says_its_form(void **unused) {
    (void)unused;
    for (uint32_t words = XS_WHOLE_ACCESS ? 1 : 2; words <= 2; words++) {
        xs_config config = {.size = sizeof config, .version = 1, .backend = "host", .ranks = 1, .record_words = words};
        xs_world *world = NULL;
        xs_handle xs;
        assert_int_equal(xs_world_create(&config, &world), 0);
        const xs_region_header *h = (const xs_region_header *)(const void *)world->region;
        assert_int_equal(h->record_words, words == 2 ? 2 : 0);
        assert_int_equal(xs_handle_begin(world, "own", 0, 1, 32, &xs), 1);
        assert_int_equal(xs.rings_per_rank, words == 2 ? 0 : 64);
        assert_int_equal(xs.rings_by_words, words == 2 ? 64 : 0);
        assert_int_equal(xs_handle_end(world, &xs), 0);
        const xs_frame_process *told = (const xs_frame_process *)(const void *)(world->region + h->catalog_offset + sizeof(xs_frame));
        assert_true(told->region.magic == XS_REGION_MAGIC);
        assert_int_equal(told->region.record_words, 0);
        assert_int_equal(xs_world_destroy(world), 0);
    }
    xs_config wrong = {.size = sizeof wrong, .version = 1, .backend = "host", .ranks = 1, .record_words = 3};
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&wrong, &world), XS_E_ARGUMENT);
    assert_non_null(strstr(xs_error_detail(), "record_words 3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_comes_back),
        cmocka_unit_test(the_nearest_sequence_is_found),
        cmocka_unit_test(half_a_record_is_none),
        cmocka_unit_test(a_drop_holds_its_whole_sequence),
        cmocka_unit_test(an_owner_is_taken_whole),
        cmocka_unit_test(half_a_line_is_none),
        cmocka_unit_test(bulk_is_the_same),
        cmocka_unit_test(laps_beyond_the_stamps_are_at_least), cmocka_unit_test(what_stands_through_a_run_of_drops_is_old),
        cmocka_unit_test(rings_are_looked_at_from_outside),
        cmocka_unit_test(a_form_that_is_not_known_is_refused),
        cmocka_unit_test(a_world_says_its_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
