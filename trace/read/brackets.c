/* Kernels of CUPTI as brackets of a device's clock. CUPTI says when a kernel began and ended, on the host's clock; what
 * its writers stamped lies in between. Which stamps belong to which kernel is told by time, so the fit must be good
 * enough to tell: kernels whose neighbours are farther away than the fit may be off are taken, the fit is made again
 * through them, and with the better fit more kernels stand alone. docs/clocks.md */
#include "internal.h"

#define ROUNDS 5
#define REACH 50000 /* ns beyond a kernel in which stamps are taken for its own */

typedef struct alone {
    const xsr_activity *kernel;
    int64_t from, to; /* stamps in between are its own */
    bool left_out;
} alone;

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Ours, that asks the clock: it runs beside others for a moment, and says nothing of whose stamps are whose. */
static bool asks_clock(const xsr_model *m, const xsr_activity *a) {
    return a->name != XSR_NONE && strcmp(m->names[a->name].text, XSR_CLOCK_KERNEL) == 0;
}

/* Kernels of this device in order of begin. */
static uint32_t list_kernels(const xsr_reader *reader, const rd_device *d, const xsr_activity **list) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->model.activity_count; i++) {
        const xsr_activity *a = &reader->model.activities[i];
        if (a->kind != XS_ACTIVITY_KERNEL || a->process != d->process || a->device != d->device ||
            asks_clock(&reader->model, a))
            continue;
        if (list)
            list[count] = a;
        count++;
    }
    return count;
}

/* The kernel's own stretch, up to the middle of the gaps around it; false: a gap is too small for `off`. */
static bool stands_alone(const xsr_activity *const *kernels, uint32_t count, uint32_t i, int64_t end_before,
                         int64_t off, alone *out) {
    const xsr_activity *k = kernels[i];
    int64_t reach = REACH + 2 * off, before = end_before == NO_TIME ? 2 * reach : k->begin - end_before;
    int64_t behind = i + 1 < count ? kernels[i + 1]->begin - k->end : 2 * reach;
    if (before <= 2 * off || behind <= 2 * off)
        return false;
    *out = (alone){k, k->begin - (before / 2 < reach ? before / 2 : reach),
                   k->end + (behind / 2 < reach ? behind / 2 : reach), false};
    return true;
}

static int add_bracket(rd_device *d, const alone *a, int64_t first, int64_t last, int64_t half) {
    if (RD_ROOM(d->brackets, d->bracket_room, d->bracket_count + 1) < 0)
        return XS_E_MEMORY;
    d->brackets[d->bracket_count++] =
        (rd_bracket){first, last, a->kernel->begin, a->kernel->end, half, a->kernel->name, a->left_out};
    return 0;
}

/* One walk over kernels and stamps, both by time. */
static int match(const xsr_reader *reader, rd_device *d, const xsr_activity *const *kernels, uint32_t count,
                 const int64_t *stamps, uint32_t stamp_count, int64_t off) {
    const rd_process *p = &reader->processes[d->process];
    int64_t end_before = NO_TIME;
    uint32_t at = 0, hint = 0;
    d->bracket_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        alone a;
        bool is_alone = stands_alone(kernels, count, i, end_before, off, &a);
        end_before = kernels[i]->end > end_before ? kernels[i]->end : end_before;
        if (!is_alone)
            continue;
        a.left_out = reader->options.half_fit && i % 2;
        while (at < stamp_count && rd_fit_host(&d->fit, &hint, stamps[at]) + p->offset < a.from)
            at++;
        uint32_t first = at;
        while (at < stamp_count && rd_fit_host(&d->fit, &hint, stamps[at]) + p->offset <= a.to)
            at++;
        int64_t half;
        rd_cupti_time(p, kernels[i]->begin, &half);
        if (at - first >= 2 && add_bracket(d, &a, stamps[first], stamps[at - 1], half) < 0)
            return XS_E_MEMORY;
    }
    return 0;
}

/* The fit through answers and kernels. */
static int refit(const xsr_reader *reader, rd_device *d) {
    int rc = rd_kernel_samples(reader, d);
    if (rc)
        return rc;
    rd_sort_samples(d);
    return rd_fit_make(&d->fit, d->samples, d->sample_count);
}

/* What CUPTI's times are off by is in no bracket, and in no sample, any more: these are not fitted again. */
static int take_error_out(const xsr_reader *reader, rd_device *d) {
    int rc = rd_cupti_error_find(reader, d);
    rc = rc || !d->line_count ? rc : rd_kernel_samples(reader, d);
    rd_sort_samples(d);
    return rc;
}

/* How far the fit may be off, as its brackets say: what stamps of neighbours must be apart. */
static int64_t may_be_off(const xsr_reader *reader, const rd_device *d) {
    int64_t low, high, fault;
    rd_device_limits(d, reader->processes[d->process].offset, &low, &high, &fault);
    low = low < 0 ? -low : low;
    high = high < 0 ? -high : high;
    return (low > high ? low : high) + 64;
}

int rd_brackets_find(xsr_reader *reader, rd_device *d) {
    uint32_t count = list_kernels(reader, d, NULL), stamp_count;
    int64_t *stamps = NULL;
    d->answers = d->sample_count;
    if (!count || !d->sample_count)
        return 0;
    const xsr_activity **kernels = malloc(count * sizeof *kernels);
    int rc = kernels ? rd_writer_stamps(reader, d, &stamps, &stamp_count) : XS_E_MEMORY;
    if (rc == 0 && stamp_count) {
        list_kernels(reader, d, kernels);
        qsort(stamps, stamp_count, sizeof *stamps, by_number);
        int64_t off = may_be_off(reader, d), next;
        for (int round = 0; round < ROUNDS && rc == 0; round++, off = next) {
            rc = match(reader, d, kernels, count, stamps, stamp_count, off);
            if (rc == 0)
                rc = refit(reader, d);
            next = rc == 0 ? may_be_off(reader, d) : off;
            if (next * 5 > off * 4)
                break;
        }
    }
    free(stamps);
    free(kernels);
    if (rc == 0 && d->bracket_count)
        rc = take_error_out(reader, d);
    return rc;
}
