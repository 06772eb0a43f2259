/* Many seeds of one example on the sim scheduler: the result is right (the example compares), there is no deadlock, nothing is
 * lost, every wait is paired or has a reason, the detectors find no error and leave nothing unknown, and the trace's counts are
 * those that the kernels kept in memory of their own.
 * With clocks that disagree (shifted.c) nothing moves that times do not bear on.
 * The same seed twice gives the same capture, byte for byte. The critical path of the first seeds is that of a walk without a log.
 *
 *   seeds NAME FIRST COUNT FOLDER [example options]      (the example's main is linked in as example_entry) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/analyse.h>

#include "naive_blame.h"
#include "shifted.h"

int example_entry(int argc, char **argv);

typedef struct checks {
    xsr_sink sink;
    uint64_t signals, waits, skips, arrivals, elections, gates, barriers;
    uint64_t lost, open, unreasoned, failed, unpaired, errors, unknown;
} checks;

static int on_event(xsr_sink *sink, const xsr_event *e) {
    checks *c = (checks *)sink;
    c->signals += e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK;
    c->skips += e->kind == XS_EV_SKIP;
    c->arrivals += e->kind == XS_EV_ARRIVE;
    c->gates += e->kind == XS_EV_GATE_ARRIVE;
    c->barriers += e->kind == XS_EV_BARRIER_LEAVE;
    return 0;
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    checks *c = (checks *)sink;
    c->waits++;
    c->open += w->open;
    c->failed += w->result != XS_RESULT_OK;
    c->unreasoned += w->released_by.reason == XSR_REASON_LOST || w->released_by.reason == XSR_REASON_AMBIGUOUS ||
                     w->reads_from.reason == XSR_REASON_LOST || w->released_by.reason >= XSR_REASON_COUNT;
    c->unpaired += w->released_by.reason == XSR_REASON_FOUND && w->released_by.value < w->need;
    return 0;
}

static int on_signal(xsr_sink *sink, const xsr_signal *s) {
    ((checks *)sink)->elections += s->elected_by != XSR_NO_ID;
    return 0;
}

static int on_lost(xsr_sink *sink, const xsr_loss *loss) {
    ((checks *)sink)->lost += loss->last - loss->first + 1;
    return 0;
}

/* What the detectors say: an error in a run that is right is theirs. */
static void take_verdicts(const xsa_result *r, checks *c) {
    c->errors = r ? r->errors : 1;
    c->unknown = r ? r->unknown : 1;
    for (uint32_t i = 0; r && i < r->finding_count; i++)
        if (r->findings[i].severity == XSA_ERROR)
            fprintf(stderr, "  %s: %s\n", r->findings[i].id, r->findings[i].text);
}

static int read_capture(const char *path, checks *c) {
    memset(c, 0, sizeof *c);
    c->sink = (xsr_sink){.name = "checks", .event = on_event, .wait = on_wait, .signal = on_signal, .lost = on_lost};
    xsr_reader *reader = NULL;
    const char *text = NULL;
    int e = xsr_open(&path, 1, NULL, &reader, &text);
    xsr_sink *sinks[] = {&c->sink, NULL};
    if (e >= 0)
        e = xsa_open(NULL, &sinks[1]);
    if (e >= 0)
        e = xsr_run(reader, sinks, 2);
    if (e >= 0)
        take_verdicts(xsa_result_of(sinks[1]), c);
    xsa_close(sinks[1]);
    for (uint32_t i = 0; e >= 0 && i < xsr_model_of(reader)->ring_count; i++)
        c->lost += xsr_model_of(reader)->rings[i].lost;
    if (e < 0)
        fprintf(stderr, "%s: %s (%d)\n", path, text ? text : "?", e);
    xsr_close(reader);
    return e;
}

/* The kernels' own counts, printed by the example into `file`. */
static int kept_counts(const char *file, unsigned long long kept[7]) {
    FILE *f = fopen(file, "r");
    char line[512];
    int ok = f && fgets(line, sizeof line, f);
    char *from = ok ? strstr(line, "signals") : NULL;
    ok = from && sscanf(from, "signals %llu waits %llu skips %llu arrivals %llu elections %llu gates %llu barriers %llu", &kept[0],
                        &kept[1], &kept[2], &kept[3], &kept[4], &kept[5], &kept[6]) == 7;
    if (f)
        fclose(f);
    return ok;
}

static int differs(const char *what, uint64_t trace, unsigned long long kept) {
    if (trace == kept)
        return 0;
    fprintf(stderr, "  %s: the trace has %llu, the kernels kept %llu\n", what, (unsigned long long)trace, kept);
    return 1;
}

static int must_be_zero(const char *what, uint64_t n) { return differs(what, n, 0); }

static char *file_bytes(const char *path, size_t *size) {
    struct stat st;
    FILE *f = fopen(path, "rb");
    char *bytes = f && fstat(fileno(f), &st) == 0 ? malloc((size_t)st.st_size + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)st.st_size, f) : 0;
    if (f)
        fclose(f);
    return bytes;
}

typedef struct setting {
    const char *name, *folder;
    char **extra;
    int extra_count;
    int counts_all; /* the example keeps every count (combine, barrier) */
} setting;

static int run_once(const setting *s, unsigned long long seed, const char *capture, const char *counts) {
    char seed_text[32];
    snprintf(seed_text, sizeof seed_text, "%llu", seed);
    char *argv[64] = {(char *)s->name, "--scheduler", "sim", "--seed", seed_text, "--counts", (char *)counts};
    int argc = 7;
    for (int i = 0; i < s->extra_count && argc < 63; i++)
        argv[argc++] = s->extra[i];
    setenv("XS_CAPTURE", capture, 1);
    unlink(counts);
    return example_entry(argc, argv);
}

static int same_twice(const setting *s, unsigned long long seed, const char *first, const char *counts) {
    char again[512];
    snprintf(again, sizeof again, "%s/%s.again.xs", s->folder, s->name);
    size_t a_size = 0, b_size = 0;
    int failed = run_once(s, seed, again, counts) != 0;
    char *a = file_bytes(first, &a_size), *b = file_bytes(again, &b_size);
    failed |= !a || !b || a_size != b_size || a_size == 0 || memcmp(a, b, a_size) != 0;
    if (failed)
        fprintf(stderr, "  seed %llu twice: captures of %zu and %zu bytes differ\n", seed, a_size, b_size);
    free(a);
    free(b);
    return failed;
}

#define SHIFTED 4u /* of every so many seeds: each is judged ten times more */
#define WALKED 5u /* of the first seeds: all events are searched at every step */

static int check_seed(const setting *s, unsigned long long seed, unsigned long long number) {
    char capture[512], counts[512];
    snprintf(capture, sizeof capture, "%s/%s.xs", s->folder, s->name);
    snprintf(counts, sizeof counts, "%s/%s.counts", s->folder, s->name);
    unsigned long long kept[7] = {0};
    checks c;
    if (run_once(s, seed, capture, counts) != 0)
        return fprintf(stderr, "  the example failed\n"), 1;
    if (read_capture(capture, &c) < 0 || !kept_counts(counts, kept))
        return fprintf(stderr, "  no capture or no counts\n"), 1;
    int failed = must_be_zero("lost", c.lost) | must_be_zero("open waits", c.open) | must_be_zero("failed waits", c.failed) |
                 must_be_zero("waits without reason", c.unreasoned) | must_be_zero("waits released by too little", c.unpaired) |
                 must_be_zero("error findings", c.errors) | must_be_zero("unknown verdicts", c.unknown);
    if (s->counts_all)
        failed |= differs("signals", c.signals, kept[0]) | differs("waits", c.waits, kept[1]) | differs("skips", c.skips, kept[2]) |
                  differs("arrivals", c.arrivals, kept[3]) | differs("elections", c.elections, kept[4]) |
                  differs("gates", c.gates, kept[5]) | differs("barriers", c.barriers, kept[6]);
    if (number < WALKED && naive_blame_differs(capture))
        failed = 1;
    if (number % SHIFTED == 0 && shifted_differs(capture, seed))
        failed = 1;
    return number % 100 == 0 ? failed | same_twice(s, seed, capture, counts) : failed;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return fprintf(stderr, "usage: seeds NAME FIRST COUNT FOLDER [options]\n"), 64;
    unsigned long long first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    setting s = {argv[1], argv[4], argv + 5, argc - 5, strcmp(argv[1], "publish") != 0};
    mkdir(s.folder, 0777);
    int null = freopen("/dev/null", "w", stdout) == NULL;
    for (unsigned long long seed = first; seed < first + count && !null; seed++)
        if (check_seed(&s, seed, seed - first))
            return fprintf(stderr, "seed %llu of %s failed\n", seed, s.name), 1;
    fprintf(stderr, "%s: %llu seeds from %llu right\n", s.name, count, first);
    return null || count == 0;
}
