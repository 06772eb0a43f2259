/* How well a GPU's clock is brought to the host's, against the bounds of kernels that CUPTI tells of.
 *     bench_clock_residual [SECONDS [CAPTURE]]       60 s, a capture in /tmp that is removed
 * Short kernels with stamps in them for SECONDS, then the capture is read: for every kernel, how far the middle of
 * CUPTI's bounds lies from the middle of its stamps as converted (the residual), and by how much CUPTI's bounds enclose
 * the stamps. Exit 1: it could not be measured; 77: no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/read.h>

#include "brief.kernel.h"

#define EVERY_NS 20000000
#define BAR_NS 64
#define END_NS 5000000000ll /* both ends are looked at by themselves */
#define LEAST 20            /* kernels */

typedef struct seen {
    int64_t first, last, kernel_begin, kernel_end;
} seen;
typedef struct series {
    int64_t *values;
    uint32_t count;
} series;

static int fail(const char *what, int rc) {
    fprintf(stderr, "bench_clock_residual: %s: %s%s%s\n", what, xs_strerror(rc), *xs_error_detail() ? ": " : "",
            xs_error_detail());
    return rc == XS_E_BACKEND ? 77 : 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A kernel every 20 ms; waited for once a second, so that the GPU's clock is asked as in a run. */
static int run_kernels(xs_world *world, uint32_t seconds) {
    struct brief_args args = {.work_ns = 5000, .role = (uint32_t)xs_role(world, "stamp")};
    xs_launch_config config = {.size = sizeof config, .grid = 4, .block = 128};
    struct timespec pause = {0, EVERY_NS};
    uint64_t end = now_ns() + seconds * 1000000000ull;
    for (uint32_t i = 0; now_ns() < end; i++) {
        args.work_ns = 2000 + 1000 * (i % 16);
        int rc = xs_launch(world, &brief_kernel, &config, &args, sizeof args);
        if (rc < 0)
            return rc;
        nanosleep(&pause, NULL);
        rc = i % 50 == 49 ? xs_sync(world) : 0;
        if (rc < 0)
            return rc;
    }
    return xs_sync(world);
}

static int record(const char *capture, uint32_t seconds) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = 1, .capture = capture};
    xs_world *world;
    int rc = xs_world_create(&config, &world);
    if (rc)
        return fail("no world", rc);
    rc = run_kernels(world, seconds);
    int ended = xs_world_destroy(world);
    if (rc < 0 || ended < 0)
        return fail("the run", rc < 0 ? rc : ended);
    return 0;
}

/* Stamps by kernel. */
static seen *collect(const xsr_model *m, uint32_t *count) {
    seen *all = calloc(m->activity_count + 1, sizeof *all);
    uint32_t kept = 0;
    for (uint32_t i = 0; all && i < m->activity_count; i++)
        all[i] = (seen){INT64_MAX, INT64_MIN, m->activities[i].begin, m->activities[i].end};
    for (uint32_t i = 0; all && i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE || w->end == INT64_MIN)
            continue;
        seen *s = &all[w->kernel];
        s->first = w->begin < s->first ? w->begin : s->first;
        s->last = w->end > s->last ? w->end : s->last;
    }
    for (uint32_t i = 0; all && i < m->activity_count; i++)
        if (all[i].first != INT64_MAX)
            all[kept++] = all[i];
    *count = kept;
    return all;
}

static int by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int64_t rank_of(const series *s, uint32_t percent) {
    return s->count ? s->values[(s->count * (uint64_t)percent + 99) / 100 - (percent > 0)] : -1;
}

static void row(const char *name, series *s) {
    if (s->count)
        qsort(s->values, s->count, sizeof *s->values, by_value);
    printf("%-34s %7u %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", name, s->count, rank_of(s, 0),
           rank_of(s, 50), rank_of(s, 99), s->count ? s->values[s->count - 1] : -1);
}

static int64_t off_of(const seen *s) {
    int64_t off = ((s->first - s->kernel_begin) - (s->kernel_end - s->last)) / 2;
    return off < 0 ? -off : off;
}

enum { WHOLE, HEAD, TAIL, BEFORE, BEHIND, SERIES };

static int64_t print(const seen *all, uint32_t count) {
    static const char *const names[] = {"residual", "  first 5 s", "  last 5 s", "kernel begins before its stamps by",
                                        "kernel ends after its stamps by"};
    series s[SERIES];
    for (int i = 0; i < SERIES; i++)
        s[i] = (series){calloc(count + 1, sizeof(int64_t)), 0};
    for (uint32_t i = 0; i < count; i++) {
        s[WHOLE].values[s[WHOLE].count++] = off_of(&all[i]);
        if (all[i].first - all[0].first < END_NS)
            s[HEAD].values[s[HEAD].count++] = off_of(&all[i]);
        if (all[count - 1].first - all[i].first < END_NS)
            s[TAIL].values[s[TAIL].count++] = off_of(&all[i]);
        s[BEFORE].values[s[BEFORE].count++] = all[i].first - all[i].kernel_begin;
        s[BEHIND].values[s[BEHIND].count++] = all[i].kernel_end - all[i].last;
    }
    printf("%-34s %7s %8s %8s %8s %8s\n", "ns", "kernels", "min", "p50", "p99", "max");
    for (int i = 0; i < SERIES; i++)
        row(names[i], &s[i]);
    int64_t worst = rank_of(&s[WHOLE], 99);
    for (int i = 0; i < SERIES; i++)
        free(s[i].values);
    return worst;
}

static const xsr_clock *gpu_clock(const xsr_model *m) {
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device >= 0)
            return &m->clocks[i];
    return NULL;
}

static int judge(const xsr_model *m) {
    const xsr_cupti *c = &m->processes[0].cupti;
    const xsr_clock *clock = gpu_clock(m);
    uint32_t count;
    printf("CUPTI %s %s, version %u: %" PRIu64 " kernels, %" PRIu64 " dropped, %" PRIu64 " without times, %" PRIu64
           " lost\n",
           xsr_cupti_name(c->state), c->why, c->version, c->kernels, c->dropped, c->void_stamps, c->lost);
    for (uint32_t i = 0; i < m->note_count; i++)
        printf("note: %s\n", m->notes[i]);
    if (!clock)
        return fprintf(stderr, "bench_clock_residual: the capture has no clock of a GPU\n"), 1;
    printf("stated: step %" PRId64 ", residual %" PRId64 ", bound %" PRId64 ", contradiction %" PRId64
           " ns; through %u answers and %u kernels\n",
           clock->step_ns, clock->residual_ns, clock->bound_ns, clock->fault_ns, clock->samples, clock->kernels);
    seen *all = collect(m, &count);
    if (!all || count < LEAST) {
        free(all);
        return fprintf(stderr, "bench_clock_residual: stamps of %u kernels alone were told apart: nothing to measure\n",
                       count),
               1;
    }
    int64_t worst = print(all, count);
    printf("residual p99 %" PRId64 " ns, bar %d ns: %s\n", worst, BAR_NS, worst <= BAR_NS ? "PASS" : "FAIL");
    free(all);
    return 0;
}

static int measure(const char *capture) {
    xsr_reader *reader = NULL;
    const char *why;
    int rc = xsr_open(&capture, 1, NULL, &reader, &why);
    if (rc == 0)
        rc = xsr_run(reader, NULL, 0);
    if (rc)
        fprintf(stderr, "bench_clock_residual: %s: %s\n", capture, why);
    rc = rc ? 1 : judge(xsr_model_of(reader));
    xsr_close(reader);
    return rc;
}

int main(int argc, char **argv) {
    char own[64], *capture = own;
    int seconds = argc > 1 ? atoi(argv[1]) : 60;
    if (seconds < 1 || argc > 3)
        return fprintf(stderr, "usage: bench_clock_residual [SECONDS [CAPTURE]]\n"), 64;
    snprintf(own, sizeof own, "/tmp/xs_clock_%d.xs", (int)getpid());
    if (argc > 2)
        capture = argv[2];
    int rc = record(capture, (uint32_t)seconds);
    if (!rc)
        rc = measure(capture);
    if (argc <= 2)
        unlink(own);
    return rc;
}
