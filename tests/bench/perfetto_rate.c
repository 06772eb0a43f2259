/* How fast the Perfetto encoder alone is, one core: packets a second, BEGIN and END being one packet each.
 *   bench_perfetto_rate [PACKETS [FILE]]   default: 5 000 000, and bytes thrown away
 * Bars: 5 million packets/s with two arguments a slice, 2.5 million with all arguments of a wait. Exit 1 below a bar,
 * if XS_BENCH_STRICT is set. */
#include "timing.h"

#include <string.h>
#include <unistd.h>
#include <xs/errors.h>

#include "encoder.h"

#define TRACKS 2112u
#define REPEATS 5

/* The test's own sink for bytes: what is measured is the encoder, not the disk. */
static ssize_t swallow(int fd, const void *data, size_t bytes) {
    (void)fd;
    (void)data;
    return (ssize_t)bytes;
}

typedef struct shape {
    const char *name;
    uint32_t numbers, texts;
    bool named; /* name, category, correlation */
    double bar;
} shape;

static const shape shapes[] = {
    {"no arguments, name", 0, 0, true, 0},
    {"two arguments a slice", 2, 0, true, 5e6},
    {"all arguments of a wait", 7, 4, true, 2.5e6},
};

static void fill_args(strings *texts, event_arg *args, const shape *s) {
    for (uint32_t i = 0; i < s->numbers + s->texts; i++) {
        args[i].key = strings_format(texts, "key%u", i);
        args[i].type = i < s->numbers ? ARG_UINT : ARG_TEXT;
        args[i].number = 0;
    }
}

static int write_slices(encoder *e, const shape *s, strings *texts, uint64_t slices) {
    event_arg args[ENCODER_ARGS];
    uint32_t names[64], words[64], category = strings_id(texts, "wait");
    fill_args(texts, args, s);
    for (uint32_t i = 0; i < 64; i++) {
        names[i] = strings_format(texts, "done[src=%u,chunk=%u]", i % 4, i);
        words[i] = strings_format(texts, "rank %u done[src=%u,chunk=%u]", i % 4, i % 4, i);
    }
    int rc = encoder_start(e, 1000000000, false, 0);
    for (uint64_t i = 0; i < slices && rc == 0; i++) {
        uint64_t flow = i + 1;
        for (uint32_t k = 0; k < s->numbers; k++)
            args[k].number = i * (k + 1);
        for (uint32_t k = s->numbers; k < s->numbers + s->texts; k++)
            args[k].text = words[(i + k) % 64];
        event ev = {.type = EVENT_BEGIN, .track = 1 + (uint32_t)(i % TRACKS), .time = 1000000000 + (int64_t)i * 40};
        ev.name = s->named ? names[i % 64] : 0;
        ev.category = category;
        ev.correlation = s->numbers > 2 ? words[i % 4] : 0;
        ev.args = args;
        ev.arg_count = s->numbers + s->texts;
        rc = encoder_event(e, &ev);
        event end = {.type = EVENT_END, .track = ev.track, .time = ev.time + 20, .flow_ends = &flow, .flow_end_count = 1};
        if (rc == 0)
            rc = encoder_event(e, &end);
    }
    return rc;
}

/* Packets per second of this core's own time, so that what else runs on the machine does not count; *wall: as seen outside. */
static double rate(const shape *s, uint64_t packets, const char *path, double *bytes, double *wall) {
    strings texts = {0};
    encoder e;
    double best = 0;
    if (encoder_open(&e, path, &texts) == 0) {
        double start = seconds_of(CLOCK_MONOTONIC), begun = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        if (write_slices(&e, s, &texts, packets / 2) == 0 && encoder_close(&e) == 0)
            best = (double)e.packets / (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun);
        *wall = (double)e.packets / (seconds_of(CLOCK_MONOTONIC) - start);
        *bytes = (double)e.out.bytes / (double)e.packets;
    }
    encoder_free(&e);
    strings_free(&texts);
    return best;
}

int main(int argc, char **argv) {
    uint64_t packets = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
    char folder[] = "/tmp/perfetto_rate.XXXXXX", path[64];
    if (packets < 2 || !mkdtemp(folder))
        return 64;
    snprintf(path, sizeof path, "%s/trace", folder);
    if (argc <= 2)
        output_system_write = swallow;
    int below = 0;
    printf("Perfetto encoder, one core, %llu packets, median of %d after a warm-up%s\n", (unsigned long long)packets, REPEATS,
           argc > 2 ? ", to a file" : ", bytes thrown away");
    printf("%-28s %18s %14s %10s %8s\n", "packets", "M/s of core time", "M/s of wall", "B/packet", "bar");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double bytes = 0, rates[REPEATS], walls[REPEATS];
        rate(&shapes[i], packets / 10, argc > 2 ? argv[2] : path, &bytes, &walls[0]);
        for (int r = 0; r < REPEATS; r++)
            rates[r] = rate(&shapes[i], packets, argc > 2 ? argv[2] : path, &bytes, &walls[r]);
        double middle = median(rates, REPEATS);
        below |= middle < shapes[i].bar;
        printf("%-28s %18.2f %14.2f %10.1f %8s\n", shapes[i].name, middle * 1e-6, median(walls, REPEATS) * 1e-6, bytes,
               shapes[i].bar == 0 ? "-" : middle < shapes[i].bar ? "BELOW" : "met");
    }
    rmdir(folder);
    return below && getenv("XS_BENCH_STRICT") ? 1 : 0;
}
