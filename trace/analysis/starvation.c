#include "starvation.h"

static uint32_t bucket_of(int64_t ns) {
    uint64_t n = ns > 1 ? (uint64_t)ns : 1;
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(n), part = (uint32_t)((n << 2 >> octave) & 3u); /* of AN_OCTAVE */
    uint32_t at = octave * AN_OCTAVE + part, last = sizeof ((an_spread *)0)->buckets / sizeof(uint32_t) - 1;
    return at < last ? at : last;
}

void an_spread_add(an_spread *s, int64_t ns) {
    ns = ns > 0 ? ns : 0;
    s->count++;
    s->sum += (double)ns;
    s->most = ns > s->most ? ns : s->most;
    s->buckets[bucket_of(ns)]++;
}

int64_t an_spread_median(const an_spread *s) {
    uint64_t before = 0, half = (s->count + 1) / 2;
    for (uint32_t i = 0; i < sizeof s->buckets / sizeof *s->buckets && half; i++) {
        before += s->buckets[i];
        if (before < half)
            continue;
        /* the bucket's middle, and no more than the most */
        double low = (double)(1ull << i / AN_OCTAVE), step = low / AN_OCTAVE;
        int64_t middle = (int64_t)(low + step * (i % AN_OCTAVE + 0.5));
        return middle < s->most ? middle : s->most;
    }
    return 0;
}

double an_jain(const double *means, uint32_t count) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        double rate = 1 / (means[i] > 1 ? means[i] : 1);
        sum += rate;
        squares += rate * rate;
    }
    return squares > 0 ? sum * sum / (count * squares) : 1;
}

int an_starving_add(an *a, const xsa_starved *row, const an_spread *spread) {
    if (RD_ROOM(a->starving.list, a->starving.room, a->starving.count + 1) < 0)
        return XS_E_MEMORY;
    xsa_starved *s = &a->starving.list[a->starving.count++];
    *s = *row;
    s->finding = XSR_NONE;
    s->waits = spread->count;
    s->median_ns = an_spread_median(spread);
    s->max_ns = spread->most;
    return 0;
}

void an_starving_group(an *a, uint32_t first, double jain) {
    if (a->starving.count - first < 2) /* nobody to compare with */
        a->starving.count = first;
    for (uint32_t i = first; i < a->starving.count; i++)
        a->starving.list[i].jain = jain;
}

/* The finding of this pad and rank, which is who serves or who waits. */
static uint32_t finding_of(const an *a, const xsa_starved *s) {
    for (uint32_t i = 0; i < a->result.finding_count; i++) {
        const xsa_finding *f = &a->result.findings[i];
        if (f->detector == XSA_UNFAIRNESS && f->slot != XSR_NONE && a->model->slots[f->slot].pad == s->pad &&
            (s->peer == XSR_NONE ? f->rank == s->rank : f->owes_rank == s->rank))
            return i;
    }
    return XSR_NONE;
}

static double over_median(const xsa_starved *s) {
    return (double)s->max_ns / (double)(s->median_ns > 0 ? s->median_ns : 1);
}

static int worst_first(const void *left, const void *right) {
    const xsa_starved *x = left, *y = right;
    if ((x->finding == XSR_NONE) != (y->finding == XSR_NONE))
        return x->finding == XSR_NONE ? 1 : -1;
    if (over_median(x) != over_median(y))
        return over_median(x) > over_median(y) ? -1 : 1;
    if (x->pad != y->pad)
        return x->pad < y->pad ? -1 : 1;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->peer > y->peer) - (x->peer < y->peer);
}

void an_starving_finish(an *a) {
    xsa_starved *list = a->starving.list;
    uint32_t count = a->starving.count;
    for (uint32_t i = 0; i < count; i++)
        list[i].finding = finding_of(a, &list[i]);
    if (count)
        qsort(list, count, sizeof *list, worst_first);
    a->result.starved = list;
    a->result.starved_count = count;
}
