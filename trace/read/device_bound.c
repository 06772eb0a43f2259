/* How far a GPU's clock may be off: what its brackets leave, and how precise its samples are. docs/clocks.md */
#include "internal.h"

#define GAP (5 * SECOND)
#define NEAR_BEST 3 /* fewer samples do not measure the precision of their fit */

static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int by_size(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool near_best(const rd_sample *s, int64_t best, int64_t step) {
    return (s->sigma > 0 ? s->excess : s->bracket - best) <= best / 16 + step;
}

/* p99 of how far near-best samples lie from the fit; too few of them say nothing better than their brackets. */
static int residual_of(const rd_device *d, int64_t step, int64_t *residual, bool *measured) {
    int64_t best = rd_best_bracket(d->samples, d->sample_count), *far = malloc(d->sample_count * sizeof *far);
    uint32_t count = 0, hint = 0;
    if (!far)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < d->sample_count; i++) {
        const rd_sample *s = &d->samples[i];
        if (near_best(s, best, step))
            far[count++] = size_of(s->host + d->centred - rd_fit_host(&d->fit, &hint, s->device));
    }
    qsort(far, count, sizeof *far, by_size);
    /* the kernels' own distance is fitted too */
    *measured = count >= NEAR_BEST && count > d->fit.count + (d->bracket_count > 0);
    *residual = *measured ? far[(count * 99ull + 99) / 100 - 1] : larger(far[count - 1], (best + 1) / 2);
    free(far);
    return 0;
}

typedef struct limits { int64_t low, high; } limits;

static void narrow(limits *l, int64_t low, int64_t high) {
    l->low = low > l->low ? low : l->low;
    l->high = high < l->high ? high : l->high;
}

static limits limits_of_answers(const rd_device *d) {
    limits l = {INT64_MIN / 4, INT64_MAX / 4};
    uint32_t hint = 0;
    for (uint32_t i = 0; i < d->sample_count; i++) {
        const rd_sample *s = &d->samples[i];
        int64_t from = s->middle - rd_fit_host(&d->fit, &hint, s->device), half = (s->bracket + 1) / 2;
        if (!s->kernel)
            narrow(&l, from - half, from + half);
    }
    return l;
}

static limits limits_of_kernels(const rd_device *d, int64_t offset) {
    limits l = {INT64_MIN / 4, INT64_MAX / 4};
    uint32_t hint = 0;
    for (uint32_t i = 0; i < d->bracket_count; i++) {
        const rd_bracket *b = &d->brackets[i];
        int64_t low = b->begin - offset - b->half - rd_fit_host(&d->fit, &hint, b->first);
        narrow(&l, low, b->end - offset + b->half - rd_fit_host(&d->fit, &hint, b->last));
    }
    return l;
}

/* Every bracket says where the truth lies from the fit: between the innermost ends of what all of them say. Where
 * they contradict each other (*fault: by so much), between the outermost ends of what each kind says: which of them
 * is wrong is not known. */
void rd_device_limits(const rd_device *d, int64_t offset, int64_t *low, int64_t *high, int64_t *fault) {
    limits a = limits_of_answers(d), k = limits_of_kernels(d, offset), both = a;
    narrow(&both, k.low, k.high);
    *fault = both.low > both.high ? both.low - both.high : 0;
    *low = both.low;
    *high = both.high;
    if (!*fault)
        return;
    int64_t ends[] = {a.low, a.high, k.low, k.high};
    *low = *high = 0;
    for (int i = 0; i < (d->bracket_count ? 4 : 2); i++) {
        *low = ends[i] < *low ? ends[i] : *low;
        *high = ends[i] > *high ? ends[i] : *high;
    }
}

/* Samples say how the clock runs; where it lies between the innermost ends of all brackets none of them says, and
 * the middle is least wrong. Where answers and kernels contradict each other: as near to the answers as kernels
 * still enclose what was stamped in them. */
void rd_device_centre(const xsr_reader *reader, rd_device *d) {
    limits k = limits_of_kernels(d, reader->processes[d->process].offset), both = limits_of_answers(d);
    if (!d->sample_count)
        return;
    narrow(&both, k.low, k.high);
    d->centred = both.low + (both.high - both.low) / 2;
    if (k.low <= k.high)
        d->centred = d->centred < k.low ? k.low : d->centred > k.high ? k.high : d->centred;
    for (uint32_t i = 0; i < d->fit.count; i++)
        d->fit.knots[i].host += d->centred;
}

/* Between samples a minute apart a clock was seen to leave its line by 240 ns: allow 20 ns a second. Beyond the
 * samples: 20 ppm. */
static int64_t widening_of(const rd_device *d, int64_t *beyond) {
    int64_t gap = 0;
    for (uint32_t i = 1; i < d->sample_count; i++)
        gap = larger(gap, d->samples[i].device - d->samples[i - 1].device);
    *beyond = d->first == NO_TIME ? 0 : larger(0, d->samples[0].device - d->first);
    *beyond = d->last == NO_TIME ? *beyond : larger(*beyond, d->last - d->samples[d->sample_count - 1].device);
    return (gap > GAP ? gap / (SECOND / 20) : 0) + *beyond / 50000;
}

static uint32_t fitted_kernels(const rd_device *d) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->bracket_count; i++)
        count += !d->brackets[i].left_out;
    return count;
}

int rd_device_measure(xsr_reader *reader, rd_device *d, rd_clock *clock) {
    xsr_clock *row = &clock->row;
    int64_t residual, beyond, low, high, fault;
    bool measured;
    row->step_ns = d->told_step ? d->told_step : rd_step_of(reader, d);
    row->residual_ns = row->bound_ns = -1;
    if (row->step_ns == 0)
        return XS_E_MEMORY;
    if (d->sample_count == 0)
        return 0;
    int rc = residual_of(d, row->step_ns, &residual, &measured);
    if (rc)
        return rc;
    clock->widened = widening_of(d, &beyond);
    row->residual_ns = residual;
    rd_device_limits(d, reader->processes[d->process].offset, &low, &high, &fault);
    row->samples = d->answers;
    row->kernels = fitted_kernels(d);
    row->cupti_ns = d->cupti_error;
    row->fault_ns = fault > 2 * row->step_ns ? fault : 0;
    row->bound_ns = rd_bound(rd_bound(larger(size_of(low), size_of(high))) + (measured ? rd_bound(residual) : 0) +
                             rd_bound(row->step_ns) + rd_bound(clock->widened));
    if (row->fault_ns)
        rc = rd_note(reader,
                     "clock fault of GPU %d of process %d: its answers to the host and the kernels that CUPTI tells of "
                     "contradict each other "
                     "by %lld ns: its bound is widened to hold both",
                     d->device, reader->model.processes[d->process].pid, (long long)fault);
    if (rc || beyond / 50000 <= row->step_ns)
        return rc;
    return rd_note(reader,
                   "process %d, GPU %d: records reach %.3f s beyond the samples of its clock: its bound is widened by "
                   "20 ppm of that",
                   reader->model.processes[d->process].pid, d->device, (double)beyond / SECOND);
}
