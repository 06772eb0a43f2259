#include "gpu_run.h"

#include <stdlib.h>
#include <string.h>

#define CUPTI_LOOKS (4 * S)

int64_t gpu_random_below(int64_t n) { return rand() % n; }

/* A clock that is not a line: up to 300 ns away from one, over 40 s. */
static int64_t gpu_exact(const gpu_run *r, int64_t host) {
    double x = (double)(host - H0), t = x / (40 * S), u = t - (double)(int64_t)t;
    return D0 + (host - H0) + (int64_t)(r->ppm * 1e-6 * x + 1200 * u * (1 - u));
}
uint64_t gpu_stamp(const gpu_run *r, int64_t host) {
    int64_t d = gpu_exact(r, host);
    return (uint64_t)(d - d % 32);
}
uint64_t gpu_cupti_time(const gpu_run *r, int64_t host) {
    return (uint64_t)(C0 + (host - H0) + (r->cupti_step && host >= r->cupti_step_at ? r->cupti_step : 0));
}

void gpu_begin(gpu_run *r, const char *name, double ppm) {
    memset(r, 0, sizeof *r);
    srand(7);
    r->ppm = ppm;
    r->path = help_path(name);
    r->c = cb_begin(r->path);
    assert_non_null(r->c);
    xs_region_header region = cb_region(0, 1, 1);
    region.device = 0;
    region.start_time = (uint64_t)(H0 - S);
    region.start_realtime = C0;
    cb_process_as(r->c, &region);
}

/* About 0, most within 2 sd. */
static int64_t gpu_noise(int64_t sd) {
    return (gpu_random_below(1001) + gpu_random_below(1001) + gpu_random_below(1001) + gpu_random_below(1001) - 2000) * sd / 577;
}

/* PROBE: read in the middle. H200: half a microsecond after it was asked for, and seen as long after that, or later. LOOKS: read whenever
 * the poll comes round, and seen a microsecond after that. */
void gpu_answer(gpu_run *r, int64_t host) {
    int64_t bracket = (r->kind == GPU_PROBE ? 2050 : 1050) + gpu_random_below(120);
    int64_t read = r->kind == GPU_PROBE ? bracket / 2 + gpu_random_below(155) - 77 : 480 + gpu_random_below(60);
    if (r->kind == GPU_LOOKS) {
        read = 400 + gpu_random_below(1000);
        bracket = read + 1050 + gpu_noise(20);
    }
    cb_device_clock(r->c, 0, (uint64_t)(host + bracket / 2 + r->wrong), gpu_stamp(r, host + read), (uint64_t)bracket);
}

void gpu_tick(gpu_run *r, int64_t host) {
    int64_t took = 60 + gpu_random_below(100);
    cb_tick(r->c, (uint64_t)host, (uint64_t)(host + took), gpu_cupti_time(r, host + gpu_random_below(took)));
}

/* CUPTI's time of a kernel. It looks at both clocks every 4 s, and goes on from there with the drift since the look before; with the first
 * look it has one that is 0.2 ppm off. */
static uint64_t kernel_time(const gpu_run *r, int64_t host) {
    int64_t look = (host - H0) / CUPTI_LOOKS, at = H0 + look * CUPTI_LOOKS;
    if (r->kind != GPU_LOOKS)
        return gpu_cupti_time(r, host);
    int64_t before = look ? at - CUPTI_LOOKS : at, after = look ? at : at + CUPTI_LOOKS;
    double drift = (double)(after - before) / (double)(gpu_exact(r, after) - gpu_exact(r, before)) - 1 - (look ? 0 : 0.2e-6);
    int64_t gone = gpu_exact(r, host) - gpu_exact(r, at);
    return gpu_cupti_time(r, at + gone + (int64_t)(drift * (double)gone));
}

/* CUPTI's span is longer than the stamps by what was measured, and its ends are good to some 50 ns. */
void gpu_ran(gpu_run *r, int64_t at, int64_t length, uint32_t stream, uint64_t node, uint32_t ring, uint32_t launch) {
    int64_t before = r->kind == GPU_PROBE ? 380 + gpu_random_below(60) : 500 + gpu_noise(r->kind == GPU_LOOKS ? 8 : 25);
    int64_t behind = r->kind == GPU_PROBE ? 370 + gpu_random_below(60) : 2950 + gpu_noise(90); /* its end waits for the bus */
    before += r->later && at >= r->late_from ? r->later : 0;
    if (!r->quiet)
        cb_gpu_kernel(r->c, "work", 0, stream, kernel_time(r, at - before), kernel_time(r, at + length + behind), r->correlation + 1, node, 1, 32);
    r->correlation++;
    cb_writer_begin(r->c, ring, gpu_stamp(r, at), 0, r->correlation, launch);
    cb_writer_end(r->c, ring, gpu_stamp(r, at + length));
}

void gpu_read_back(gpu_run *r) {
    assert_int_equal(cb_end(r->c), 0);
    r->reader = help_open(r->path);
    assert_int_equal(help_run(r->reader, &r->told), 0);
}

void gpu_end(gpu_run *r) {
    help_free(&r->told);
    xsr_close(r->reader);
}

const xsr_clock *gpu_clock(const gpu_run *r) {
    const xsr_model *m = xsr_model_of(r->reader);
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device == 0)
            return &m->clocks[i];
    fail_msg("no clock of the GPU");
    return NULL;
}

int gpu_by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int64_t gpu_begin_of(uint32_t i) { return H0 + S + (int64_t)i * 20 * MS; }

void gpu_minute(gpu_run *r) {
    for (uint32_t i = 0; i < MINUTE; i++) {
        if (i % 50 == 0)
            gpu_answer(r, gpu_begin_of(i) - 5 * MS);
        if (i % 5 == 0)
            gpu_tick(r, gpu_begin_of(i) - 3 * MS);
        gpu_ran(r, gpu_begin_of(i), (int64_t)(3 + i % 16) * US, 7, 0, 0, 0);
        cb_flush_at(r->c, (uint64_t)(gpu_begin_of(i) + 10 * MS));
    }
    gpu_answer(r, gpu_begin_of(MINUTE));
    gpu_tick(r, gpu_begin_of(MINUTE));
}

void gpu_record_minute(gpu_run *r, const char *name, int64_t wrong, gpu_kind kind) {
    gpu_begin(r, name, 10.6);
    r->wrong = wrong;
    r->kind = kind;
    gpu_minute(r);
}

int64_t gpu_worst_of(const gpu_run *r, uint32_t first, uint32_t last) {
    const xsr_model *m = xsr_model_of(r->reader);
    int64_t worst = 0;
    for (uint32_t i = first; i < last; i++) {
        int64_t off = llabs(m->writers[i].begin - gpu_begin_of(m->writers[i].block - 1));
        worst = off > worst ? off : worst;
    }
    return worst;
}

int64_t gpu_scatter(const gpu_run *r, int64_t *common) {
    static int64_t off[MINUTE];
    const xsr_model *m = xsr_model_of(r->reader);
    assert_int_equal(m->writer_count, MINUTE);
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = m->writers[i].begin - gpu_begin_of(m->writers[i].block - 1);
    qsort(off, MINUTE, sizeof *off, gpu_by_value);
    *common = off[MINUTE / 2];
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = llabs(off[i] - *common);
    qsort(off, MINUTE, sizeof *off, gpu_by_value);
    return off[MINUTE * 99 / 100];
}
