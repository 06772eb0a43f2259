/* zstd was linked, and nothing was compressed. A compressed trace holds the same packets, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>
#include <xs/errors.h>
#include <zstd.h>

#include "compress.h"
#include "export_help.h"

#define PACKET_MOST (512u << 10)

typedef struct bytes {
    unsigned char *at;
    size_t count;
} bytes;

static bytes read_file(const char *path) {
    FILE *in = fopen(path, "rb");
    bytes b = {malloc(16u << 20), 0};
    assert_non_null(in);
    assert_non_null(b.at);
    b.count = fread(b.at, 1, 16u << 20, in);
    fclose(in);
    return b;
}

static uint64_t varint(const bytes *b, size_t *at) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        assert_true(*at < b->count);
        unsigned char c = b->at[(*at)++];
        value |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return value;
    }
}

/* What a reader makes of it: frames give way to the packets in them. frames: how many. */
static bytes unfold(const bytes *b, uint32_t *frames) {
    bytes out = {malloc(16u << 20), 0};
    assert_non_null(out.at);
    for (size_t at = 0; at < b->count;) {
        size_t begin = at;
        assert_int_equal(varint(b, &at), 1 << 3 | 2);
        uint64_t length = varint(b, &at);
        size_t end = at + length;
        assert_true(end <= b->count);
        if (varint(b, &at) == (133 << 3 | 2)) {
            assert_true(length < PACKET_MOST);
            uint64_t frame = varint(b, &at);
            assert_int_equal(at + frame, end); /* and no other field */
            size_t n = ZSTD_decompress(out.at + out.count, (16u << 20) - out.count, b->at + at, frame);
            assert_false(ZSTD_isError(n));
            assert_true(n < PACKET_MOST);
            out.count += n;
            ++*frames;
        } else {
            memcpy(out.at + out.count, b->at + begin, end - begin);
            out.count += end - begin;
        }
        at = end;
    }
    return out;
}

static void same_packets(const char *plain_path, const char *path, uint32_t frames_least) {
    uint32_t frames = 0;
    bytes plain = read_file(plain_path), small = read_file(path), all = unfold(&small, &frames);
    assert_int_equal(all.count, plain.count);
    assert_memory_equal(all.at, plain.at, plain.count);
    assert_true(small.count < plain.count / 4);
    assert_true(frames >= frames_least);
    free(plain.at), free(small.at), free(all.at);
}

static void the_same_packets(void **state) {
    (void)state;
    const run_shape shape = {.ranks = 4, .epochs = 60, .chunks = 8, .slow = 2, .epoch_gap = 1000};
    xsv_perfetto_options plain = {.size = sizeof plain, .run = "run"}, small = {.size = sizeof small, .run = "run", .compress = 1};
    xsv_perfetto_summary summary;
    exported e;
    char path[160];
    assert_int_equal(export_run(&e, &shape, &plain), 0);
    assert_true(e.summary.bytes > 3 * COMPRESS_BYTES);
    snprintf(path, sizeof path, "%s/small.perfetto", e.folder);
    assert_int_equal(export_again(&e, path, &small, &summary), 0);
    same_packets(e.path, path, 4);
    assert_int_equal(summary.packets, e.summary.packets);
    assert_true(summary.bytes < e.summary.bytes / 4);
    export_free(&e);
}

static void windows_too(void **state) {
    (void)state;
    const run_shape shape = {.ranks = 3, .epochs = 12, .chunks = 3, .slow = 2, .epoch_gap = 1000};
    xsv_perfetto_options plain = {.size = sizeof plain, .run = "run", .split_limit = 1, .window_events = 500}, small = plain;
    xsv_perfetto_summary summary;
    exported e;
    char a[160], b[160];
    small.compress = 1;
    assert_int_equal(export_run(&e, &shape, &plain), 0);
    assert_true(e.summary.files > 3);
    snprintf(b, sizeof b, "%s/small.perfetto", e.folder);
    assert_int_equal(export_again(&e, b, &small, &summary), 0);
    assert_int_equal(summary.files, e.summary.files);
    for (uint32_t i = 0; i < summary.files; i++) {
        char name[32] = "overview";
        if (i)
            snprintf(name, sizeof name, "%04u", i);
        snprintf(a, sizeof a, "%s/run.%s.perfetto", e.folder, name);
        snprintf(b, sizeof b, "%s/small.%s.perfetto", e.folder, name);
        same_packets(a, b, 1);
    }
    export_free(&e);
}

/* What gets no smaller, or is more than a reader takes, stays as it is. */
static void what_cannot_be_compressed_stays(void **state) {
    (void)state;
    char path[] = "/tmp/xs_compress.XXXXXX";
    unsigned char *data = calloc(1, 1u << 20);
    unsigned seed = 1;
    assert_non_null(data);
    close(mkstemp(path));
    for (size_t i = 0; i < 100000; i++)
        data[i] = (unsigned char)rand_r(&seed);
    const size_t sizes[] = {100000, 5, 0, COMPRESS_BYTES + 1}, of_zeros = COMPRESS_BYTES;
    compress *c = compress_new();
    assert_non_null(c);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        output out;
        assert_int_equal(output_open(&out, path), 0);
        assert_int_equal(compress_write(c, &out, data, sizes[i]), 0);
        assert_int_equal(output_close(&out) || output_rename(&out), 0);
        bytes b = read_file(path);
        assert_int_equal(b.count, sizes[i]);
        assert_memory_equal(b.at, data, sizes[i]);
        free(b.at);
        output_free(&out);
    }
    output out;
    assert_int_equal(output_open(&out, path), 0);
    assert_int_equal(compress_write(c, &out, data + 100000, of_zeros), 0);
    assert_true(out.bytes < of_zeros / 100);
    output_free(&out);
    compress_free(c);
    free(data);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_packets), cmocka_unit_test(windows_too),
                                       cmocka_unit_test(what_cannot_be_compressed_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
