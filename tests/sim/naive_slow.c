/* How much slower than others ranks are, once more: of each writer, what it ran without a wait. */
#include "naive_run.h"

#include <stdio.h>
#include <stdlib.h>

static bool follows(const naive_run *run, uint32_t writer) {
    for (size_t i = 0; i < run->event_count; i++)
        if (run->events[i].writer != XSR_NONE && run->events[i].writer != writer && naive_is_wait(&run->events[i]) && naive_joined(run, writer, run->events[i].writer))
            return true;
    return false;
}

/* From its begin on: to the end of what it waits in now, or to where it waits next. */
static int64_t busy_of(const naive_run *run, uint32_t writer) {
    int64_t at = run->model->writers[writer].begin, end = run->model->writers[writer].end, busy = 0;
    while (at != INT64_MIN && at < end) {
        int64_t inside = at, next = end;
        for (size_t i = 0; i < run->wait_count; i++) {
            const xsr_wait *w = &run->waits[i];
            if (w->writer != writer || w->passed || w->open)
                continue;
            if (w->begin <= at && w->end > inside)
                inside = w->end;
            else if (w->begin > at && w->begin < next)
                next = w->begin;
        }
        busy += inside > at ? 0 : next - at;
        at = inside > at ? inside : next;
    }
    return busy;
}

static int by_size(const void *left, const void *right) {
    int64_t x = *(const int64_t *)left, y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

/* Of ranks that play the role: own of each, how many there are; the lower median. */
static size_t busy_in(const naive_run *run, uint32_t role, int64_t *own, bool *plays, int64_t *median) {
    size_t n = 0, ranks = run->model->rank_count;
    int64_t *sorted = calloc(ranks + 1, sizeof *sorted);
    for (uint32_t r = 0; sorted && r < ranks; r++) {
        own[r] = 0, plays[r] = false;
        for (uint32_t w = 0; w < run->model->writer_count; w++)
            if (run->model->writers[w].rank == r && run->model->writers[w].role == role && !follows(run, w))
                own[r] += busy_of(run, w), plays[r] = true;
        if (plays[r])
            sorted[n++] = own[r];
    }
    if (n)
        qsort(sorted, n, sizeof *sorted, by_size);
    *median = n ? sorted[(n - 1) / 2] : 0;
    free(sorted);
    return n;
}

static bool is_first_of_role(const naive_run *run, uint32_t writer) {
    for (uint32_t w = 0; w < writer; w++)
        if (run->model->writers[w].role == run->model->writers[writer].role)
            return false;
    return true;
}

int naive_slow_differs(const naive_run *run, const xsa_result *result) {
    size_t ranks = run->model->rank_count;
    int differs = 0;
    int64_t *own = calloc(ranks + 1, sizeof *own), median;
    double *sum = calloc(ranks + 1, sizeof *sum), *usual = calloc(ranks + 1, sizeof *usual);
    bool *plays = calloc(ranks + 1, sizeof *plays);
    for (uint32_t w = 0; w < run->model->writer_count; w++)
        if (is_first_of_role(run, w) && busy_in(run, run->model->writers[w].role, own, plays, &median) >= 3)
            for (uint32_t r = 0; r < ranks; r++) {
                sum[r] += plays[r] ? (double)own[r] : 0;
                usual[r] += plays[r] ? (double)median : 0;
            }
    for (uint32_t r = 0; r < ranks; r++) {
        double want = usual[r] > 0 ? sum[r] / usual[r] : 0, off = result->blame->ranks[r].slow - want;
        if (off > 1e-9 || off < -1e-9)
            differs = fprintf(stderr, "  rank %u is %.6f times as slow as others, step by step %.6f\n", run->model->ranks[r].rank, result->blame->ranks[r].slow, want);
    }
    free(own);
    free(sum);
    free(usual);
    free(plays);
    return differs;
}
