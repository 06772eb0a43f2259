/* The capture is copied, given a clock a rank (tests/matrix/devices.c), and its stamps are moved (filter.c). */
#include "shifted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix.h"

typedef struct verdicts {
    xsr_sink sink;
    uint32_t order[XSA_DETECTOR_END]; /* findings that no time bears on, by detector */
    uint32_t errors, clock_faults;
    int64_t early;    /* a wait ended so long before the signal that it read; 0: none did */
    int64_t allowed;  /* the least that the clocks of two ranks allow */
    const xsr_model *model;
} verdicts;

static int on_begin(xsr_sink *sink, const xsr_model *model) {
    ((verdicts *)sink)->model = model;
    return 0;
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    verdicts *v = (verdicts *)sink;
    bool certain = !w->open && !w->end_lost && w->reads_from.reason == XSR_REASON_FOUND && w->reads_from.rank != w->rank;
    if (certain && w->reads_from.time - w->end > v->early)
        v->early = w->reads_from.time - w->end;
    return 0;
}

static void take(const xsa_result *r, verdicts *v) {
    for (uint32_t i = 0; i < r->finding_count; i++) {
        const xsa_finding *f = &r->findings[i];
        v->order[f->detector] += !matrix_is_timed(f->detector);
        v->clock_faults += f->detector == XSA_TRACE_HEALTH && strstr(f->text, "clock fault") != NULL;
        v->errors += f->severity == XSA_ERROR;
        if (f->severity == XSA_ERROR)
            fprintf(stderr, "  %s: %s\n", f->id, f->text);
    }
}

static int judge(const char *path, verdicts *v) {
    const char *text;
    xsr_reader *reader = NULL;
    memset(v, 0, sizeof *v);
    v->sink = (xsr_sink){.name = "verdicts", .begin = on_begin, .wait = on_wait};
    xsr_sink *sinks[] = {&v->sink, NULL};
    int rc = xsr_open(&path, 1, NULL, &reader, &text);
    if (rc >= 0)
        rc = xsa_open(NULL, &sinks[1]);
    if (rc >= 0)
        rc = xsr_run(reader, sinks, 2);
    if (rc >= 0)
        take(xsa_result_of(sinks[1]), v);
    xsa_close(sinks[1]);
    xsr_close(reader);
    return rc;
}

static int copy_of(const char *capture, const char *to) {
    FILE *in = fopen(capture, "rb"), *out = fopen(to, "wb");
    char buffer[1 << 16];
    size_t n = 0;
    while (in && out && (n = fread(buffer, 1, sizeof buffer, in)) > 0 && fwrite(buffer, 1, n, out) == n)
        ;
    int failed = !in || !out || n != 0;
    if (in)
        fclose(in);
    return (out && fclose(out) != 0) || failed ? XS_E_SYSTEM : 0;
}

/* bound: what the clocks say of themselves; shift: by how much they are off at most. */
static int differs_by(const char *capture, const char *copy, uint64_t seed, uint64_t bound, uint64_t shift) {
    matrix_options o = {.shift_ns = shift};
    verdicts right, moved;
    if (copy_of(capture, copy) < 0 || matrix_devices(copy, bound) < 0 || judge(copy, &right) < 0 || matrix_filter(copy, &o, seed) < 0 || judge(copy, &moved) < 0)
        return fprintf(stderr, "  the capture could not be given other clocks\n"), 1;
    if (right.errors || moved.errors)
        return fprintf(stderr, "  errors with clocks known to within %u ns and off by up to %u ns\n", (unsigned)bound, (unsigned)shift), 1;
    for (uint32_t d = 0; d < XSA_DETECTOR_END && shift <= bound; d++)
        if (right.order[d] != moved.order[d])
            return fprintf(stderr, "  %s: %u findings with right clocks, %u with clocks off by up to %u ns\n", xsa_detector_name(d), right.order[d], moved.order[d],
                           (unsigned)shift), 1;
    bool proven = moved.early > (int64_t)(2 * bound + 100); /* what a sample's rounding adds to a bound */
    if (proven != (moved.clock_faults > 0) && (proven || shift <= bound))
        return fprintf(stderr, "  a wait ended %lld ns before its signal, clocks are known to within %u ns: %u clock faults told\n", (long long)moved.early, (unsigned)bound,
                       moved.clock_faults), 1;
    return 0;
}

int shifted_differs(const char *capture, uint64_t seed) {
    static const struct { uint64_t bound, shift; } clocks[] = {{100, 100}, {3300, 3300}, {10000, 10000}, {100000, 100000}, {500, 20000}};
    char copy[600];
    int failed = 0;
    snprintf(copy, sizeof copy, "%s.shifted", capture);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks && !failed; i++)
        failed = differs_by(capture, copy, seed, clocks[i].bound, clocks[i].shift);
    if (!failed) /* else it is what to look at */
        unlink(copy);
    return failed;
}
