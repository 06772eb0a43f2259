/* The encoder alone: field numbers, lengths, clocks, interning. Field numbers are checked without our own .proto. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "encoder.h"
#include "map.h"
#include "trace_decode.h"

static char path[64];

static void begin(encoder *e, strings *texts) {
    snprintf(path, sizeof path, "/tmp/xs_encoder_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    memset(texts, 0, sizeof *texts);
    assert_int_equal(encoder_open(e, path, texts), 0);
    assert_int_equal(encoder_start(e, 1000, true, 77), 0);
    TrackDescriptor descriptor = TRACK_DESCRIPTOR__INIT;
    descriptor.has_uuid = 1;
    descriptor.uuid = 1;
    descriptor.name = (char *)"t";
    TracePacket packet = TRACE_PACKET__INIT;
    packet.track_descriptor = &descriptor;
    assert_int_equal(encoder_packet(e, &packet, 10), 0);
}

static td *end(encoder *e, strings *texts) {
    assert_int_equal(encoder_close(e), 0);
    assert_int_equal(output_rename(&e->out), 0);
    encoder_free(e);
    strings_free(texts);
    td *t = td_read(path);
    assert_non_null(t);
    assert_int_equal(t->unknown_iid + t->bad_sequence + t->bad_clock + t->missing_track, 0);
    return t;
}

/* Bytes as the format's documents give them; a wrong number in the .proto would fool protoc and the decoder alike. */
static void test_field_numbers(void **state) {
    (void)state;
    encoder e;
    strings texts;
    uint64_t flow = 5;
    uint8_t data[512];
    begin(&e, &texts);
    event_arg arg = {.key = strings_id(&texts, "k"), .type = ARG_UINT, .number = 9};
    event ev = {.type = EVENT_BEGIN, .track = 1, .time = 1003, .name = strings_id(&texts, "n"), .category = strings_id(&texts, "c")};
    ev.correlation = strings_id(&texts, "r");
    ev.args = &arg;
    ev.arg_count = 1;
    ev.flows = &flow;
    ev.flow_count = 1;
    size_t at = e.used;
    assert_int_equal(encoder_event(&e, &ev), 0);
    static const uint8_t expected[] = {
        0x0a, 0xc5, 0x00,                   /* Trace.packet, padded length */
        0x40, 3,                            /* timestamp 8: a delta */
        0x50, 1,                            /* trusted_packet_sequence_id 10 */
        0x5a, 27, 0x18, 3, 0x22, 4, 0x08, 1, 0x18, 9, 0x48, 1, 0x50, 2, 0x58, 1, /* track_event 11: 3, 4 {1, 3}, 9, 10, 11 */
        0xf9, 0x02, 5, 0, 0, 0, 0, 0, 0, 0, /* flow_ids 47, fixed64 */
        0xb0, 0x03, 4,                      /* correlation_id_str_iid 54 */
        0x62, 29, 0x0a, 5, 0x08, 3, 0x12, 1, 'c', 0x12, 5, 0x08, 2, 0x12, 1, 'n', 0x1a, 5, 0x08, 1, 0x12, 1, 'k', /* 12: 1, 2, 3 */
        0xda, 0x02, 5, 0x08, 4, 0x12, 1, 'r', /* correlation_id_str 43 */
        0x68, 2};                           /* sequence_flags 13 */
    memcpy(data, e.buffer + at, e.used - at);
    assert_int_equal(e.used - at, sizeof expected);
    uint8_t wanted[sizeof expected];
    memcpy(wanted, expected, sizeof expected);
    wanted[1] = (uint8_t)((sizeof expected - 3) | 0x80);
    assert_memory_equal(data, wanted, sizeof wanted);
    at = e.used;
    event over = {.type = EVENT_END, .track = 1, .time = 1002, .flow_ends = &flow, .flow_end_count = 1};
    assert_int_equal(encoder_event(&e, &over), 0);
    static const uint8_t last[] = {0x0a, 0x9a, 0x00, 0x40, 0xea, 0x07, 0x50, 1, 0x5a, 14, 0x48, 2, 0x58, 1, 0x81, 0x03, 5, 0, 0, 0, 0, 0,
                                   0, 0, 0x68, 2, 0xd0, 0x03, 65}; /* back in time: absolute, clock 65 in field 58 */
    assert_int_equal(e.used - at, sizeof last);
    assert_memory_equal(e.buffer + at, last, sizeof last);
    td_free(end(&e, &texts));
    unlink(path);
}

static void test_clocks(void **state) {
    (void)state;
    static const int64_t times[] = {1000, 1000, 5000, 4000, 4500, 900, 6000000000000, 5999999999999, 6000000000001, -5};
    enum { N = sizeof times / sizeof *times };
    encoder e;
    strings texts;
    begin(&e, &texts);
    for (int i = 0; i < N; i++) {
        event ev = {.type = EVENT_COUNTER, .track = 1, .time = times[i], .counter = i};
        assert_int_equal(encoder_event(&e, &ev), 0);
    }
    td *t = end(&e, &texts);
    assert_int_equal(t->counter_count, N);
    assert_int_equal(t->realtime_minus_boot, 77);
    for (int i = 0; i < N; i++)
        assert_int_equal(t->counters[i].ts, times[t->counters[i].value] < 0 ? 0 : times[t->counters[i].value]);
    td_free(t);
    unlink(path);
}

/* A signal that frees thousands, a text beyond any bound: longer than two bytes of length can say. */
static void test_long_packets(void **state) {
    (void)state;
    enum { FLOWS = 50000 };
    encoder e;
    strings texts;
    uint64_t *flows = malloc(FLOWS * sizeof *flows);
    char *text = malloc(300001);
    assert_true(flows && text);
    begin(&e, &texts);
    for (int i = 0; i < FLOWS; i++)
        flows[i] = (uint64_t)i + 1;
    memset(text, 'x', 300000);
    text[300000] = 0;
    for (uint32_t count = 1; count <= FLOWS; count = count * 3 + 1) {
        event ev = {.type = EVENT_INSTANT, .track = 1, .time = 2000 + count, .text = "signal", .flows = flows, .flow_count = count};
        assert_int_equal(encoder_event(&e, &ev), 0);
        event_arg arg = {.key = strings_id(&texts, "k"), .type = ARG_CHARS, .chars = text + 300000 - count};
        event named = {.type = EVENT_INSTANT, .track = 1, .time = 2000 + count, .text = text + 300000 - count, .args = &arg, .arg_count = 1};
        assert_int_equal(encoder_event(&e, &named), 0);
    }
    uint32_t cut = strings_id(&texts, text);
    assert_int_equal(texts.length[cut], STRINGS_TEXT_MAX);
    td *t = end(&e, &texts);
    uint32_t count = 1;
    for (int i = 0; i < t->slice_count; i += 2, count = count * 3 + 1) {
        assert_int_equal(t->slices[i].event->n_flow_ids, count);
        assert_int_equal(strlen(t->slices[i + 1].name), count);
        assert_int_equal(strlen(td_text(t, &t->slices[i + 1], "k")), count);
    }
    td_free(t);
    free(flows);
    free(text);
    unlink(path);
}

static void test_strings(void **state) {
    (void)state;
    strings s = {0};
    for (uint32_t i = 1; i <= 20000; i++)
        assert_int_equal(strings_format(&s, "text %u", i), i);
    for (uint32_t i = 1; i <= 20000; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i);
        assert_int_equal(strings_id(&s, text), i);
        assert_string_equal(s.text[i], text);
    }
    assert_int_equal(strings_id(&s, NULL), 0);
    char wide[1002] = "";
    for (int i = 0; i < 1000; i += 2)
        memcpy(wide + i + 1, "\xc3\xa9", 3); /* two bytes a character: the bound falls inside one */
    wide[0] = 'x';
    assert_int_equal(s.length[strings_id(&s, wide)] % 2, 1);
    strings_free(&s);
}

static void test_map(void **state) {
    (void)state;
    xsv_map t = {0};
    for (uint64_t round = 0; round < 50; round++) { /* filled and emptied for ever */
        for (uint64_t k = 1; k <= 1000; k++)
            *xsv_map_put(&t, k * 64 + round) = k;
        for (uint64_t k = 1; k <= 1000; k += 2)
            xsv_map_remove(&t, k * 64 + round);
        for (uint64_t k = 1; k <= 1000; k++) {
            uint64_t *found = xsv_map_get(&t, k * 64 + round);
            assert_true(k % 2 ? found == NULL : found && *found == k);
        }
        for (uint64_t k = 2; k <= 1000; k += 2)
            xsv_map_remove(&t, k * 64 + round);
        assert_int_equal(t.used, 0);
    }
    assert_int_equal(t.size, 2048);
    assert_null(xsv_map_get(&t, 7));
    xsv_map_remove(&t, 7);
    xsv_map_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field_numbers), cmocka_unit_test(test_clocks), cmocka_unit_test(test_long_packets),
        cmocka_unit_test(test_strings), cmocka_unit_test(test_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
