/* Kernels of CUPTI as samples of a device's clock. A kernel begins before its first stamp and ends behind its last,
 * by amounts that are about the same for all kernels of a run, unknown, and unlike each other: they say how the
 * clock runs, and not where it is. So they are moved to where the answers lie. Either end says so, with a noise of
 * its own: ends wait for the bus. docs/clocks.md */
#include <math.h>

#include "internal.h"

#define CUPTI_LOOKS (4 * SECOND) /* CUPTI looks at the device's clock so often (an H200's driver) */
#define CUPTI_DRIFT 50e-9        /* and in between leaves it by so much, most of the time */
#define LONGEST \
    10000000 /* ns: over a longer kernel the drift is not known well enough to make one sample of both ends */

enum side { BEGIN, END, WIDTH };

static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

/* How far CUPTI's begin (end) lies from the first (last) stamp as the fit has it; WIDTH: the one less the other,
 * free of the clock. */
static int64_t distance(const rd_device *d, const rd_bracket *b, int64_t offset, enum side side, uint32_t *hint) {
    int64_t begin = b->begin - offset - rd_fit_host(&d->fit, hint, b->first),
            end = b->end - offset - rd_fit_host(&d->fit, hint, b->last);
    return side == BEGIN ? begin : side == END ? end : end - begin;
}

static bool is_sample(const rd_device *d, const rd_bracket *b, int64_t offset, uint32_t *hint) {
    return !b->left_out && b->end - b->begin <= LONGEST && distance(d, b, offset, WIDTH, hint) >= 0;
}

/* Of all kernels: the usual one, and how far half of them lie from it (in room). */
static int64_t usual_of(const rd_device *d, int64_t offset, enum side side, int64_t *room, double *spread) {
    uint32_t count = 0, hint = 0;
    for (uint32_t i = 0; i < d->bracket_count; i++)
        if (is_sample(d, &d->brackets[i], offset, &hint))
            room[count++] = distance(d, &d->brackets[i], offset, side, &hint);
    int64_t usual = rd_median(room, count);
    *spread = rd_spread(room, count);
    return usual;
}

/* Of samples of one kind, how far they usually lie from the fit. */
static int64_t usual_distance(const rd_device *d, bool kernel, int64_t *room) {
    uint32_t count = 0, hint = 0;
    for (uint32_t i = 0; i < d->sample_count; i++)
        if (d->samples[i].kernel == kernel)
            room[count++] = d->samples[i].host - rd_fit_host(&d->fit, &hint, d->samples[i].device);
    return rd_median(room, count);
}

/* Between two looks CUPTI's clock leaves the device's, for all kernels alike: many of them say no more of the clock
 * than one with that error. Samples from..count, by time. */
static void count_in_common(rd_sample *samples, uint32_t from, uint32_t count) {
    for (uint32_t to; from < count; from = to) {
        for (to = from + 1; to < count && samples[to].device - samples[from].device < CUPTI_LOOKS; to++) {
        }
        double off = CUPTI_DRIFT * (double)(samples[to - 1].device - samples[from].device),
               in_common = off * off * (to - from);
        for (uint32_t i = from; i < to; i++)
            samples[i].sigma = sqrt(samples[i].sigma * samples[i].sigma + in_common);
    }
}

/* One whose span is longer or shorter than usual beside its stamps counts the less. */
static int add(const xsr_reader *reader, rd_device *d, int64_t *room) {
    int64_t offset = reader->processes[d->process].offset, best = rd_best_bracket(d->samples, d->sample_count);
    double begins, ends, widths;
    uint32_t hint = 0, answers = d->sample_count;
    int64_t usual = usual_of(d, offset, WIDTH, room, &widths);
    usual_of(d, offset, BEGIN, room, &begins);
    usual_of(d, offset, END, room, &ends);
    double weight = rd_weight_of_first(begins, ends, widths);
    for (uint32_t i = 0; i < d->bracket_count; i++) {
        const rd_bracket *b = &d->brackets[i];
        if (!is_sample(d, b, offset, &hint))
            continue;
        if (RD_ROOM(d->samples, d->sample_room, d->sample_count + 1) < 0)
            return XS_E_MEMORY;
        int64_t begin = distance(d, b, offset, BEGIN, &hint), width = distance(d, b, offset, WIDTH, &hint);
        int64_t host = rd_fit_host(&d->fit, &hint, b->first) + begin + (int64_t)((1 - weight) * (double)width);
        int64_t excess = size_of(width - usual);
        d->samples[d->sample_count++] =
            (rd_sample){host, b->first, best + excess, true, host, excess, (double)best / 16 + (double)excess / 2 + 1};
    }
    int64_t apart = usual_distance(d, true, room) - usual_distance(d, false, room);
    for (uint32_t i = 0; i < d->sample_count; i++)
        d->samples[i].host -= d->samples[i].kernel ? apart : 0;
    count_in_common(d->samples, answers, d->sample_count);
    return 0;
}

int rd_kernel_samples(const xsr_reader *reader, rd_device *d) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->sample_count; i++)
        if (!d->samples[i].kernel)
            d->samples[kept++] = d->samples[i];
    d->sample_count = kept;
    int64_t *room = malloc(((size_t)kept + d->bracket_count + 1) * sizeof *room);
    int rc = room ? add(reader, d, room) : XS_E_MEMORY;
    free(room);
    return rc;
}
