/* From a device's time to the host's: a line of a few pieces through bracketed samples.
 *
 * The device's clock runs a few ppm off CLOCK_BOOTTIME, and not evenly: one line through a minute misses by 240 ns,
 * lines through 5 s by one timer step. So: a least-squares line through all samples, then a continuous broken line
 * (a knot every five seconds, fewer where samples are few) through what is left. A sample counts less the wider its
 * bracket is. Two weak priors keep noise out where samples are few or close together: drifts are tens of ppm, and
 * bends a few. Knots are whole nanoseconds on both clocks and every piece rises, so order on the device is never
 * changed. */
#include "internal.h"

#define PIECE (5 * SECOND)
#define SAMPLES_A_PIECE 4
#define PRIOR_DRIFT 20e-6
#define PRIOR_BEND 2e-6
#define MOST_DRIFT 1e-3 /* BOOTTIME is slewed by at most 500 ppm */

typedef struct line { double middle, y, drift; } line;
typedef struct equations { double *diagonal, *beside, *right; } equations;

static double x_of(const rd_sample *s, const rd_sample *first) { return (double)(s->device - first->device); }

/* What the host's clock has gained on the device's since the first sample. */
static double y_of(const rd_sample *s, const rd_sample *first) {
    return (double)((s->host - first->host) - (s->device - first->device));
}

static double on_line(const line *l, double x) { return l->y + l->drift * (x - l->middle); }

/* Near-best samples agree within a fraction of their bracket; in a wider one the answer may lie anywhere. */
static double weight_of(const rd_sample *s, int64_t best) {
    double sigma =
        s->sigma > 0 ? s->sigma : (double)best / 16 + (s->bracket > best ? (double)(s->bracket - best) / 2 : 0) + 1;
    return 1 / (sigma * sigma);
}

static double limited(double drift) {
    return drift > MOST_DRIFT ? MOST_DRIFT : drift < -MOST_DRIFT ? -MOST_DRIFT : drift;
}

/* One in twenty is narrower: of many, a few may be so by mistake. */
int64_t rd_best_bracket(const rd_sample *samples, uint32_t count) {
    int64_t low = INT64_MAX, high = 0;
    for (uint32_t i = 0; i < count; i++) {
        low = samples[i].bracket < low ? samples[i].bracket : low;
        high = samples[i].bracket > high ? samples[i].bracket : high;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        uint32_t narrower = 0;
        for (uint32_t i = 0; i < count; i++)
            narrower += samples[i].bracket <= middle;
        if (narrower > count / 20)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static line line_through(const rd_sample *samples, uint32_t count, int64_t best) {
    double sum = 0, x = 0, y = 0, xx = 1 / (PRIOR_DRIFT * PRIOR_DRIFT), xy = 0;
    for (uint32_t i = 0; i < count; i++) {
        double w = weight_of(&samples[i], best);
        sum += w;
        x += w * x_of(&samples[i], samples);
        y += w * y_of(&samples[i], samples);
    }
    line l = {x / sum, y / sum, 0};
    for (uint32_t i = 0; i < count; i++) {
        double w = weight_of(&samples[i], best), dx = x_of(&samples[i], samples) - l.middle;
        xx += w * dx * dx;
        xy += w * dx * (y_of(&samples[i], samples) - l.y);
    }
    l.drift = limited(xy / xx);
    return l;
}

static uint32_t pieces_for(int64_t span, uint32_t count) {
    int64_t by_time = span / PIECE, by_count = count / SAMPLES_A_PIECE,
            pieces = by_time < by_count ? by_time : by_count;
    return pieces < 1 ? 1 : (uint32_t)pieces;
}

/* The normal equations of the broken line's knots, in distances from the line: tridiagonal. */
static void set_up(const equations *s, const rd_sample *samples, uint32_t count, int64_t best, const line *l,
                   uint32_t pieces, double length) {
    double prior = 1 / (PRIOR_BEND * length * PRIOR_BEND * length);
    for (uint32_t k = 0; k < pieces; k++) {
        s->diagonal[k] += prior;
        s->diagonal[k + 1] += prior;
        s->beside[k] -= prior;
    }
    for (uint32_t i = 0; i < count; i++) {
        double x = x_of(&samples[i], samples), w = weight_of(&samples[i], best),
               rest = y_of(&samples[i], samples) - on_line(l, x);
        uint32_t k = x / length < pieces - 1 ? (uint32_t)(x / length) : pieces - 1;
        double right = x / length - k, left = 1 - right;
        s->diagonal[k] += w * left * left;
        s->diagonal[k + 1] += w * right * right;
        s->beside[k] += w * left * right;
        s->right[k] += w * left * rest;
        s->right[k + 1] += w * right * rest;
    }
}

/* Leaves the solution in s->right. */
static void solve(const equations *s, uint32_t pieces) {
    for (uint32_t k = 1; k <= pieces; k++) {
        double m = s->beside[k - 1] / s->diagonal[k - 1];
        s->diagonal[k] -= m * s->beside[k - 1];
        s->right[k] -= m * s->right[k - 1];
    }
    s->right[pieces] /= s->diagonal[pieces];
    for (uint32_t k = pieces; k-- > 0;)
        s->right[k] = (s->right[k] - s->beside[k] * s->right[k + 1]) / s->diagonal[k];
}

static int64_t rounded(double x) { return (int64_t)(x < 0 ? x - 0.5 : x + 0.5); }
static int64_t possible(int64_t host) { return host < 0 ? 0 : host > RD_UPTIME_MAX ? RD_UPTIME_MAX : host; }

/* Drifts of the pieces, from knots that are whole nanoseconds: neighbours meet exactly. */
static void join(rd_fit *fit) {
    for (uint32_t k = 0; k + 1 < fit->count; k++) {
        rd_knot *a = &fit->knots[k], *b = &fit->knots[k + 1];
        double length = (double)(b->device - a->device);
        a->drift = limited((double)((b->host - a->host) - (b->device - a->device)) / length);
        b->host = a->host + (b->device - a->device) + rounded(a->drift * length);
        b->drift = a->drift;
    }
}

static int place_knots(rd_fit *fit, const rd_sample *samples, uint32_t count, uint32_t pieces, const line *l) {
    const rd_sample *first = &samples[0];
    double length = x_of(&samples[count - 1], first) / pieces;
    double *memory = calloc(3 * ((size_t)pieces + 1), sizeof *memory);
    if (!memory || RD_ROOM(fit->knots, fit->room, pieces + 1) < 0) {
        free(memory);
        return XS_E_MEMORY;
    }
    equations s = {memory, memory + pieces + 1, memory + 2 * ((size_t)pieces + 1)};
    if (pieces > 1) {
        set_up(&s, samples, count, rd_best_bracket(samples, count), l, pieces, length);
        solve(&s, pieces);
    }
    for (uint32_t k = 0; k <= pieces; k++) {
        int64_t x = rounded(k * length);
        int64_t host = first->host + x + rounded(on_line(l, (double)x) + s.right[k]);
        fit->knots[k] = (rd_knot){first->device + x, possible(host), 0};
    }
    fit->count = pieces + 1;
    join(fit);
    free(memory);
    return 0;
}

int rd_fit_one(rd_fit *fit, int64_t device, int64_t host) {
    if (RD_ROOM(fit->knots, fit->room, 1) < 0)
        return XS_E_MEMORY;
    fit->knots[0] = (rd_knot){device, host, 0};
    fit->count = 1;
    return 0;
}

/* samples: at least one, by device time. */
int rd_fit_make(rd_fit *fit, const rd_sample *samples, uint32_t count) {
    int64_t span = samples[count - 1].device - samples[0].device;
    line l = line_through(samples, count, rd_best_bracket(samples, count));
    if (span < 1000) /* one moment: the drift is not known */
        return rd_fit_one(fit, samples[0].device, possible(samples[0].host + rounded(on_line(&l, 0))));
    return place_knots(fit, samples, count, pieces_for(span, count), &l);
}

/* Times outside the knots go on with the nearest piece. *hint: where to look first, any number; times mostly rise. */
int64_t rd_fit_host(const rd_fit *fit, uint32_t *hint, int64_t device) {
    uint32_t k = *hint < fit->count ? *hint : 0;
    while (k > 0 && device < fit->knots[k].device)
        k--;
    while (k + 1 < fit->count && device >= fit->knots[k + 1].device)
        k++;
    *hint = k;
    int64_t past = device - fit->knots[k].device;
    return fit->knots[k].host + past + rounded(fit->knots[k].drift * (double)past);
}

int64_t rd_fit_device(const rd_fit *fit, int64_t host) {
    uint32_t next; /* behind the last that is not later, or behind the first */
    RD_SEARCH(next, 1, fit->count, fit->knots[next].host <= host);
    const rd_knot *k = &fit->knots[next - 1];
    int64_t past = host - k->host;
    return k->device + past - rounded(k->drift / (1 + k->drift) * (double)past);
}
