#include "clock_middles.h"

#include <stdlib.h>

#define END_NS 5000000000ll
#define WINDOW_NS 1000000000ll
#define LEAST_A_WINDOW 10

typedef struct series {
    int64_t *values;
    uint32_t count;
} series;

static int by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int by_first(const void *a, const void *b) {
    const middles_kernel *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void add(series *s, int64_t value) { s->values[s->count++] = value; }
static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

/* Of sorted values: the least that so many of a hundred do not exceed. */
static int64_t percentile(const series *s, uint32_t percent) { return s->values[(s->count * (uint64_t)percent + 99) / 100 - 1]; }

static middles_row row_of(series *s) {
    if (!s->count)
        return (middles_row){0, -1, -1, -1, -1};
    qsort(s->values, s->count, sizeof *s->values, by_value);
    return (middles_row){s->count, s->values[0], percentile(s, 50), percentile(s, 99), s->values[s->count - 1]};
}

/* From the middle of the kernel to that of its stamps. */
static int64_t middle_of(const middles_kernel *k) { return ((k->first - k->kernel_begin) - (k->kernel_end - k->last)) / 2; }

static int64_t begin_of(const middles_kernel *k) { return k->first - k->kernel_begin; }

static int64_t median_of(const middles_kernel *some, uint32_t count, int64_t (*what)(const middles_kernel *), series *s) {
    s->count = 0;
    for (uint32_t i = 0; i < count; i++)
        add(s, what(&some[i]));
    return row_of(s).p50;
}

static middles_row distances(const middles_kernel *all, uint32_t count, int64_t usual, int64_t from, int64_t to, series *s) {
    s->count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].first >= from && all[i].first <= to)
            add(s, size_of(middle_of(&all[i]) - usual));
    return row_of(s);
}

static middles_row windows(const middles_kernel *all, uint32_t count, series *s, series *room) {
    int64_t usual = median_of(all, count, begin_of, room);
    s->count = 0;
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && all[to].first - all[from].first < WINDOW_NS; to++) {
        }
        if (to - from >= LEAST_A_WINDOW)
            add(s, size_of(median_of(all + from, to - from, begin_of, room) - usual));
    }
    return row_of(s);
}

/* What is left of the values in s when the usual is taken away. */
static middles_row less_usual(series *s) {
    int64_t usual = row_of(s).p50;
    for (uint32_t i = 0; i < s->count; i++)
        s->values[i] = size_of(s->values[i] - usual);
    return row_of(s);
}

static void slacks(const middles_kernel *all, uint32_t count, middles_result *r, series *s) {
    s->count = 0;
    for (uint32_t i = 0; i < count; i++)
        add(s, begin_of(&all[i]));
    r->before = row_of(s);
    r->begins = less_usual(s);
    s->count = 0;
    for (uint32_t i = 0; i < count; i++)
        add(s, all[i].kernel_end - all[i].last);
    r->behind = row_of(s);
    r->ends = less_usual(s);
    s->count = 0;
    for (uint32_t i = 0; i < count; i++)
        add(s, (all[i].kernel_end - all[i].kernel_begin) - (all[i].last - all[i].first));
    r->both = row_of(s);
}

int middles_of(middles_kernel *all, uint32_t count, middles_result *r) {
    int64_t *memory = malloc(2 * sizeof *memory * count);
    series s = {memory, 0}, room = {memory + count, 0};
    if (!memory)
        return -1;
    qsort(all, count, sizeof *all, by_first);
    r->usual = median_of(all, count, middle_of, &s);
    r->residual = distances(all, count, r->usual, INT64_MIN, INT64_MAX, &s);
    r->first = distances(all, count, r->usual, INT64_MIN, all[0].first + END_NS, &s);
    r->last = distances(all, count, r->usual, all[count - 1].first - END_NS, INT64_MAX, &s);
    r->seconds = windows(all, count, &s, &room);
    slacks(all, count, r, &s);
    free(memory);
    return 0;
}
