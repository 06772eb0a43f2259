/* How well a GPU's clock is brought to the host's, against the bounds of kernels that CUPTI tells of.
 *     bench_clock_residual [SECONDS [CAPTURE]]       60 s, a capture in /tmp that is removed
 * Short kernels with stamps in them for SECONDS, then the capture is read: for every kernel, how far CUPTI's begin lies from the first stamp
 * as converted, its end from the last, and the middle of its bounds from that of the stamps, less what is usual for all of them (the
 * residual), and by how much CUPTI's bounds enclose the stamps. A kernel begins and ends when it does, before and behind its stamps, by not always as much: that is in the residual of
 * one kernel, and hardly in the median of a second's, which is told beside it. Without CAPTURE a third of SECONDS more of kernels that are
 * launched plainly, not as a cooperative launch. Exit 1: it could not be measured; 77: no GPU. */
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/read.h>

#include "brief.kernel.h"
#include "clock_middles.h"

#define EVERY_NS 20000000
#define BAR_NS 64
#define LEAST 20            /* kernels */

extern const xs_cuda_entry brief_cuda;

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

typedef struct load {
    xs_world *world;
    struct brief_args args;
    xs_launch_config config;
    int plain;
} load;

static int launch_plain(load *l) {
    xs_handle handle;
    void *arguments[] = {&l->args, &handle};
    dim3 grid = {l->config.grid, 1, 1}, block = {l->config.block, 1, 1};
    int rc = xs_handle_begin(l->world, "brief", 0, l->config.grid, l->config.block, &handle);
    if (rc < 0)
        return rc;
    cudaError_t error = cudaLaunchKernel(brief_cuda.function, grid, block, arguments, 0, 0);
    error = error ? error : cudaDeviceSynchronize();
    rc = xs_handle_end(l->world, &handle);
    return error ? XS_E_BACKEND : rc;
}

static int launch(load *l, uint32_t i) {
    if (l->plain)
        return launch_plain(l);
    int rc = xs_launch(l->world, &brief_kernel, &l->config, &l->args, sizeof l->args);
    return rc < 0 || i % 50 != 49 ? rc : xs_sync(l->world); /* waited for once a second, so that the GPU's clock is asked as in a run */
}

/* A kernel every 20 ms. */
static int run_kernels(load *l, double seconds) {
    struct timespec pause = {0, EVERY_NS};
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    for (uint32_t i = 0; now_ns() < end; i++) {
        l->args.work_ns = 2000 + 1000 * (i % 16);
        int rc = launch(l, i);
        if (rc < 0)
            return rc;
        nanosleep(&pause, NULL);
    }
    return xs_sync(l->world);
}

static int record(const char *capture, double seconds, int plain) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = 1, .capture = capture};
    load l = {.plain = plain, .config = {.size = sizeof l.config, .grid = 4, .block = 128}};
    int rc = xs_world_create(&config, &l.world);
    if (rc)
        return fail("no world", rc);
    l.args.role = (uint32_t)xs_role(l.world, "stamp");
    rc = run_kernels(&l, seconds);
    int ended = xs_world_destroy(l.world);
    if (rc < 0 || ended < 0)
        return fail("the run", rc < 0 ? rc : ended);
    return 0;
}

/* Stamps by kernel. */
static middles_kernel *collect(const xsr_model *m, uint32_t *count) {
    middles_kernel *all = calloc(m->activity_count + 1, sizeof *all);
    uint32_t kept = 0;
    for (uint32_t i = 0; all && i < m->activity_count; i++)
        all[i] = (middles_kernel){INT64_MAX, INT64_MIN, m->activities[i].begin, m->activities[i].end};
    for (uint32_t i = 0; all && i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE || w->end == INT64_MIN)
            continue;
        middles_kernel *s = &all[w->kernel];
        s->first = w->begin < s->first ? w->begin : s->first;
        s->last = w->end > s->last ? w->end : s->last;
    }
    for (uint32_t i = 0; all && i < m->activity_count; i++)
        if (all[i].first != INT64_MAX)
            all[kept++] = all[i];
    *count = kept;
    return all;
}

static void row(const char *name, const middles_row *r) {
    printf("%-34s %7u %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", name, r->count, r->least, r->p50, r->p99, r->most);
}

static void print(const middles_result *r) {
    printf("usual distance of the middles %" PRId64 "\n", r->usual);
    printf("%-34s %7s %8s %8s %8s %8s\n", "ns", "kernels", "min", "p50", "p99", "max");
    row("residual of the begins", &r->begins);
    row("of the ends", &r->ends);
    row("of the middles", &r->residual);
    row("  first 5 s", &r->first);
    row("  last 5 s", &r->last);
    row("  of the medians of a second", &r->seconds);
    row("kernel begins before its stamps by", &r->before);
    row("kernel ends after its stamps by", &r->behind);
    row("both", &r->both);
    printf("residual p99 of the begins %" PRId64 " ns, bar %d ns: %s; of the middles %" PRId64 ", of the ends, which wait for the bus, %" PRId64
           "; of the medians of a second %" PRId64 " ns\n",
           r->begins.p99, BAR_NS, r->begins.p99 <= BAR_NS ? "PASS" : "FAIL", r->residual.p99, r->ends.p99, r->seconds.p99);
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
    middles_kernel *all = collect(m, &count);
    if (!all || count < LEAST) {
        free(all);
        return fprintf(stderr, "bench_clock_residual: stamps of %u kernels alone were told apart: nothing to measure\n",
                       count),
               1;
    }
    middles_result r;
    int rc = middles_of(all, count, &r);
    free(all);
    return rc ? fail("no memory", XS_E_MEMORY) : (print(&r), 0);
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

static int own_capture(const char *path, double seconds, int plain) {
    int rc = record(path, seconds, plain);
    rc = rc ? rc : measure(path);
    unlink(path);
    return rc;
}

int main(int argc, char **argv) {
    char own[64];
    int seconds = argc > 1 ? atoi(argv[1]) : 60;
    if (seconds < 1 || argc > 3)
        return fprintf(stderr, "usage: bench_clock_residual [SECONDS [CAPTURE]]\n"), 64;
    snprintf(own, sizeof own, "/tmp/xs_clock_%d.xs", (int)getpid());
    if (argc > 2) {
        int rc = record(argv[2], seconds, 0);
        return rc ? rc : measure(argv[2]);
    }
    int rc = own_capture(own, seconds, 0);
    if (rc)
        return rc;
    puts("\nkernels that are launched plainly:");
    return own_capture(own, seconds / 3.0 > 3 ? seconds / 3.0 : 3, 1);
}
