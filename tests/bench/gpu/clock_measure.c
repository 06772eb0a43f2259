/* The residual is told three times: of CUPTI's times as the reader brings them over, without what CUPTI's clock itself was seen to be off;
 * of the kernels that were left out when clocks were fitted to every other one; and of CUPTI's times as CUPTI told them. A kernel begins and
 * ends when it does, before and behind its stamps, by not always as much: that is in the residual of one kernel, and hardly in the median of a
 * second's. */
#include "clock_measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xs/read.h>

#include "clock_middles.h"

#define BAR_NS 64
#define LEAST 20 /* kernels */
#define SECOND 1000000000ll

enum which { ALL, LEFT_OUT, AS_TOLD };

static int is_kernel(const xsr_model *m, const xsr_activity *a) {
    return a->kind == XS_ACTIVITY_KERNEL && a->device >= 0 && (a->name == XSR_NONE || strcmp(m->names[a->name].text, XSR_CLOCK_KERNEL) != 0);
}

/* Stamps by kernel. */
static void add_stamps(const xsr_model *m, middles_kernel *all) {
    for (uint32_t i = 0; i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE || w->end == INT64_MIN)
            continue;
        middles_kernel *s = &all[w->kernel];
        s->first = w->begin < s->first ? w->begin : s->first;
        s->last = w->end > s->last ? w->end : s->last;
    }
}

static middles_kernel *collect(const xsr_model *m, enum which which, uint32_t *count) {
    middles_kernel *all = calloc(m->activity_count + 1, sizeof *all);
    uint32_t kept = 0, number = 0;
    for (uint32_t i = 0; all && i < m->activity_count; i++) {
        int64_t moved = which == AS_TOLD ? m->activities[i].moved : 0;
        all[i] = (middles_kernel){INT64_MAX, INT64_MIN, m->activities[i].begin + moved, m->activities[i].end + moved};
    }
    if (all)
        add_stamps(m, all);
    for (uint32_t i = 0; all && i < m->activity_count; i++) {
        if (!is_kernel(m, &m->activities[i]))
            continue;
        int left_out = number++ % 2;
        if (all[i].first != INT64_MAX && (which != LEFT_OUT || left_out))
            all[kept++] = all[i];
    }
    *count = kept;
    return all;
}

static void row(const char *name, const middles_row *r) {
    printf("%-42s %7u %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", name, r->count, r->least, r->p50, r->p99, r->most);
}

static void print(const middles_result *r) {
    printf("usual distance of the middles %" PRId64 "\n", r->usual);
    printf("%-42s %7s %8s %8s %8s %8s\n", "ns", "kernels", "min", "p50", "p99", "max");
    row("residual of the begins", &r->begins);
    row("of the ends", &r->ends);
    row("of the middles", &r->residual);
    row("  first 5 s", &r->first);
    row("  last 5 s", &r->last);
    row("of the medians of a second's begins", &r->seconds);
    row("kernel begins before its stamps by", &r->before);
    row("kernel ends after its stamps by", &r->behind);
    row("both", &r->both);
}

static const xsr_clock *gpu_clock(const xsr_model *m) {
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device >= 0)
            return &m->clocks[i];
    return NULL;
}

static int head(const xsr_model *m) {
    const xsr_cupti *c = &m->processes[0].cupti;
    const xsr_clock *clock = gpu_clock(m);
    printf("CUPTI %s %s, version %u: %" PRIu64 " kernels, %" PRIu64 " dropped, %" PRIu64 " without times, %" PRIu64 " lost\n",
           xsr_cupti_name(c->state), c->why, c->version, c->kernels, c->dropped, c->void_stamps, c->lost);
    for (uint32_t i = 0; i < m->note_count; i++)
        printf("note: %s\n", m->notes[i]);
    if (!clock)
        return fprintf(stderr, "bench_clock_residual: the capture has no clock of a GPU\n"), 1;
    printf("stated: step %" PRId64 ", residual %" PRId64 ", bound %" PRId64 ", contradiction %" PRId64 " ns; through %u answers and %u kernels; "
           "CUPTI's times moved by up to %" PRId64 "\n",
           clock->step_ns, clock->residual_ns, clock->bound_ns, clock->fault_ns, clock->samples, clock->kernels, clock->cupti_ns);
    return 0;
}

static int told(const xsr_model *m, enum which which, middles_result *r, middles_kernel **kernels, uint32_t *count) {
    *kernels = collect(m, which, count);
    if (!*kernels || *count < LEAST)
        return fprintf(stderr, "bench_clock_residual: stamps of %u kernels alone were told apart: nothing to measure\n", *count), 1;
    return middles_of(*kernels, *count, r) ? fprintf(stderr, "bench_clock_residual: no memory\n"), 1 : 0;
}

static int measured(const xsr_model *m, enum which which, middles_result *r) {
    middles_kernel *kernels;
    uint32_t count;
    int rc = told(m, which, r, &kernels, &count);
    free(kernels);
    return rc;
}

/* Medians, less those of all; of CUPTI's times as brought over, and as told. */
static int seconds(const xsr_model *m) {
    middles_result all[2];
    middles_kernel *kernels[2] = {NULL, NULL};
    uint32_t count = 0, from = 0, to;
    int rc = told(m, ALL, &all[0], &kernels[0], &count);
    rc = rc ? rc : told(m, AS_TOLD, &all[1], &kernels[1], &count);
    if (!rc)
        printf("\n%8s %8s %10s %10s %10s %22s\n", "second", "kernels", "begins", "ends", "middles", "begins as CUPTI told");
    for (; !rc && from < count; from = to) {
        middles_result of[2];
        for (to = from; to < count && kernels[0][to].first - kernels[0][from].first < SECOND; to++) {
        }
        if (middles_of(kernels[0] + from, to - from, &of[0]) || middles_of(kernels[1] + from, to - from, &of[1]))
            rc = 1;
        printf("%8.1f %8u %10" PRId64 " %10" PRId64 " %10" PRId64 " %22" PRId64 "\n",
               (double)(kernels[0][from].first - kernels[0][0].first) / SECOND, to - from, all[0].before.p50 - of[0].before.p50,
               of[0].behind.p50 - all[0].behind.p50, of[0].usual - all[0].usual, all[1].before.p50 - of[1].before.p50);
    }
    free(kernels[0]);
    free(kernels[1]);
    return rc;
}

static int open_it(const char *capture, uint32_t half_fit, xsr_reader **reader) {
    xsr_options options = {.size = sizeof options, .half_fit = half_fit};
    const char *why;
    int rc = xsr_open(&capture, 1, &options, reader, &why);
    if (rc == 0)
        rc = xsr_run(*reader, NULL, 0);
    if (rc)
        fprintf(stderr, "bench_clock_residual: %s: %s\n", capture, why);
    return rc ? 1 : 0;
}

static int judge(const xsr_model *m, const xsr_model *half) {
    middles_result all, left_out, as_told;
    int rc = head(m);
    rc = rc ? rc : measured(m, ALL, &all);
    rc = rc ? rc : measured(half, LEFT_OUT, &left_out);
    rc = rc ? rc : measured(m, AS_TOLD, &as_told);
    if (rc)
        return rc;
    print(&all);
    row("begins of kernels left out of the fit", &left_out.begins);
    row("begins as CUPTI told them", &as_told.begins);
    printf("residual p99 of the begins %" PRId64 " ns, of those left out %" PRId64 ", bar %d ns: %s; of the middles %" PRId64
           ", of the ends, which wait for the bus, %" PRId64 "; of the medians of a second's begins %" PRId64 " ns\n",
           all.begins.p99, left_out.begins.p99, BAR_NS, all.begins.p99 <= BAR_NS && left_out.begins.p99 <= BAR_NS ? "PASS" : "FAIL",
           all.residual.p99, all.ends.p99, all.seconds.p99);
    return 0;
}

int clock_measure(const char *capture, int each_second) {
    xsr_reader *reader = NULL, *half = NULL;
    int rc = open_it(capture, 0, &reader);
    rc = rc ? rc : open_it(capture, 1, &half);
    rc = rc ? rc : judge(xsr_model_of(reader), xsr_model_of(half));
    if (!rc && each_second)
        rc = seconds(xsr_model_of(reader));
    xsr_close(half);
    xsr_close(reader);
    return rc;
}
