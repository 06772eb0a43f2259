/* What CUPTI's times of a device are off by. CUPTI brings the device's time to the host's by looking at both clocks
 * every few seconds (4 on an H200) and goes on with the drift that it saw last: between looks it leaves the clock, and
 * with a look it jumps back. The first drift comes from looks close together: 0.2 ppm off, and 650 ns at the first
 * jump. Answers show no such jump, so it is not the device's clock.
 *
 * Where CUPTI looks is not told. So kernels' distances from the fit, less what is usual of their kind, are cut in
 * two where two lines fit best, and each part again, as long as that gains much more than their noise does: straight
 * lines, with jumps in between. Both ends of kernels must say so. docs/clocks.md */
#include "internal.h"

#define LEAST 16            /* kernels a line */
#define SHORTEST (SECOND / 4)
#define BLOCK (60 * SECOND) /* looked at as one: the time that it takes rises with its lines */
#define GAIN 40             /* of a cut: sum of squares, in variances of one kernel */
#define PRIOR_SLOPE 300.0   /* ns a second */
#define LEAST_SIGMA 16      /* ns */
#define AGREE 0.5           /* of what begins say, ends must say so much */

typedef struct point { /* a kernel */
    /* begin, end: from the first (last) stamp as the fit has it; less what is usual of kernels of its name */
    int64_t time, begin, end;
    uint32_t name;
    double x, y, weight; /* seconds, ns, 1 / variance */
} point;
typedef struct sums { double w, x, y, xx, xy, yy; } sums;

static void add(sums *s, const point *p, double x0, double sign) {
    double w = sign * p->weight, x = p->x - x0;
    s->w += w;
    s->x += w * x;
    s->y += w * p->y;
    s->xx += w * x * x;
    s->xy += w * x * p->y;
    s->yy += w * p->y * p->y;
}

/* Of the line through them: what is left, in variances; *middle, *level: a point of it. */
static double left_of(const sums *s, double *middle, double *level, double *slope) {
    double xx = s->xx - s->x * s->x / s->w, xy = s->xy - s->x * s->y / s->w, yy = s->yy - s->y * s->y / s->w;
    *middle = s->x / s->w;
    *level = s->y / s->w;
    *slope = xy / (xx + 1 / (PRIOR_SLOPE * PRIOR_SLOPE));
    return yy - *slope * xy;
}

static double rest_of(const sums *s) {
    double middle, level, slope;
    return left_of(s, &middle, &level, &slope);
}

static sums all_of(const point *points, uint32_t from, uint32_t to) {
    sums s = {0};
    for (uint32_t i = from; i < to; i++)
        add(&s, &points[i], points[from].x, 1);
    return s;
}

/* Where two lines fit best; 0: nowhere much better than one. */
static uint32_t best_cut(const point *points, uint32_t from, uint32_t to) {
    sums left = {0}, right = all_of(points, from, to);
    double one = rest_of(&right), best = one - GAIN;
    uint32_t cut = 0;
    for (uint32_t i = from; i + LEAST < to; i++) {
        add(&left, &points[i], points[from].x, 1);
        add(&right, &points[i], points[from].x, -1);
        if (i + 1 - from < LEAST || points[i].time - points[from].time < SHORTEST ||
            points[to - 1].time - points[i + 1].time < SHORTEST)
            continue;
        double two = rest_of(&left) + rest_of(&right);
        if (two < best) {
            best = two;
            cut = i + 1;
        }
    }
    return cut;
}

static int add_line(rd_device *d, const point *points, uint32_t from, uint32_t to) {
    sums s = all_of(points, from, to);
    double middle, level, slope, rest = left_of(&s, &middle, &level, &slope), flat = s.yy - s.y * s.y / s.w;
    if (RD_ROOM(d->lines, d->line_room, d->line_count + 1) < 0)
        return XS_E_MEMORY;
    slope = flat - rest > GAIN ? slope : 0;
    d->lines[d->line_count++] =
        (rd_error_line){points[from].time, points[to - 1].time, level - slope * middle, slope / SECOND};
    return 0;
}

static int cut_up(rd_device *d, const point *points, uint32_t from, uint32_t to) {
    uint32_t cut = best_cut(points, from, to);
    if (!cut)
        return add_line(d, points, from, to);
    int rc = cut_up(d, points, from, cut);
    return rc ? rc : cut_up(d, points, cut, to);
}

/* ---- the kernels ---- */

static int by_time(const void *a, const void *b) {
    const point *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static int by_name_begin(const void *a, const void *b) {
    const point *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_name_end(const void *a, const void *b) {
    const point *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void less_usual(point *points, uint32_t count, bool end) {
    qsort(points, count, sizeof *points, end ? by_name_end : by_name_begin);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && points[to].name == points[from].name; to++) {
        }
        int64_t usual = end ? points[from + (to - from) / 2].end : points[from + (to - from) / 2].begin;
        for (uint32_t i = from; i < to; i++)
            *(end ? &points[i].end : &points[i].begin) -= usual;
    }
}

static uint32_t list(const rd_device *d, int64_t offset, point *points) {
    uint32_t count = 0, hint = 0;
    for (uint32_t i = 0; i < d->bracket_count; i++) {
        const rd_bracket *b = &d->brackets[i];
        int64_t begin = b->begin - offset - rd_fit_host(&d->fit, &hint, b->first);
        int64_t end = b->end - offset - rd_fit_host(&d->fit, &hint, b->last);
        if (!b->left_out)
            points[count++] = (point){.time = b->begin, .begin = begin, .end = end, .name = b->name};
    }
    less_usual(points, count, true);
    less_usual(points, count, false);
    if (count)
        qsort(points, count, sizeof *points, by_time);
    return count;
}

/* Of the five around it. */
static double neighbours(const point *points, uint32_t count, uint32_t i) {
    uint32_t from = i < 2 ? 0 : i + 3 > count ? count - 5 : i - 2;
    int64_t five[5];
    for (uint32_t k = 0; k < 5; k++)
        five[k] = points[from + k].begin;
    return (double)rd_median(five, 5);
}

/* The noise is what neighbours differ by. One that is far from its neighbours is taken as no farther than noise is. */
static void weigh(point *points, uint32_t count, int64_t *room) {
    for (uint32_t i = 1; i < count; i++)
        room[i - 1] = points[i].begin - points[i - 1].begin;
    double sigma = rd_spread(room, count - 1);
    sigma = sigma < LEAST_SIGMA ? LEAST_SIGMA : sigma;
    for (uint32_t i = 0; i < count; i++) {
        points[i].x = (double)(points[i].time - points[0].time) / SECOND;
        double y = (double)points[i].begin, usual = neighbours(points, count, i);
        points[i].y = y < usual - 3 * sigma ? usual - 3 * sigma : y > usual + 3 * sigma ? usual + 3 * sigma : y;
        points[i].weight = 1 / (sigma * sigma);
    }
}

static int cut_blocks(rd_device *d, const point *points, uint32_t count) {
    int rc = 0;
    for (uint32_t from = 0, to; from < count && rc == 0; from = to) {
        for (to = from; to < count && points[to].time - points[from].time < BLOCK; to++) {
        }
        rc = cut_up(d, points, from, to);
    }
    return rc;
}

/* ---- taken out ---- */

/* Kernels in whole are not moved: what all have in common is their slack. */
static void centre(rd_device *d, const point *points, uint32_t count, int64_t *room) {
    for (uint32_t i = 0; i < count; i++)
        room[i] = rd_cupti_error_at(d, points[i].time);
    int64_t usual = rd_median(room, count);
    for (uint32_t i = 0; i < d->line_count; i++)
        d->lines[i].value -= (double)usual;
    d->cupti_error = usual - room[0] > room[count - 1] - usual ? usual - room[0] : room[count - 1] - usual;
}

/* A kernel that begins otherwise than others is no error of CUPTI's, whose ends are then late as well. */
static bool ends_agree(const rd_device *d, const point *points, uint32_t count, int64_t *room) {
    double both = 0, own = 0, mean = 0;
    for (uint32_t i = 0; i < count; i++) {
        room[i] = points[i].end;
        mean += (double)rd_cupti_error_at(d, points[i].time) / count;
    }
    double limit = 4 * rd_spread(room, count) + (double)d->cupti_error;
    for (uint32_t i = 0; i < count; i++) {
        double error = (double)rd_cupti_error_at(d, points[i].time) - mean, end = (double)points[i].end;
        both += error * (end > limit ? limit : end < -limit ? -limit : end);
        own += error * error;
    }
    return both >= AGREE * own;
}

static int find(rd_device *d, point *points, uint32_t count, int64_t *room) {
    weigh(points, count, room);
    int rc = cut_blocks(d, points, count);
    if (rc)
        return rc;
    centre(d, points, count, room);
    if (!d->cupti_error || !ends_agree(d, points, count, room))
        d->line_count = d->cupti_error = 0;
    return 0;
}

int64_t rd_cupti_error_at(const rd_device *d, int64_t time) {
    uint32_t next;
    if (!d->line_count)
        return 0;
    RD_SEARCH(next, 1, d->line_count, d->lines[next].from <= time);
    const rd_error_line *l = &d->lines[next - 1];
    time = time < l->from ? l->from : time > l->to ? l->to : time;
    double error = l->value + l->slope * (double)(time - l->from);
    return (int64_t)(error < 0 ? error - 0.5 : error + 0.5);
}

int rd_cupti_error_find(const xsr_reader *reader, rd_device *d) {
    point *points = malloc(d->bracket_count * sizeof *points + 1);
    int64_t *room = malloc(d->bracket_count * sizeof *room + 1);
    uint32_t count = points && room ? list(d, reader->processes[d->process].offset, points) : 0;
    int rc = !points || !room ? XS_E_MEMORY : count < 2 * LEAST ? 0 : find(d, points, count, room);
    free(points);
    free(room);
    for (uint32_t i = 0; i < d->bracket_count && d->line_count; i++) {
        rd_bracket *b = &d->brackets[i];
        int64_t error = rd_cupti_error_at(d, b->begin);
        b->begin -= error;
        b->end -= error;
        /* as told or as moved: not known. Those that stay bound the clock as they did */
        b->half += error < 0 ? -error : error;
    }
    return rc;
}
