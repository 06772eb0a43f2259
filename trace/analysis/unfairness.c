/* D19: peers of which some are served far later than others (Jain's index over 1 / mean delay). Signals that are not
 * looked at while those of other peers are served again and again: unfairness_scan.c. Waits for one slot that others
 * overtake: unfairness_queue.c. */
#include "detectors.h"
#include "unfairness.h"

#define LEAST 8u     /* waits of a peer */
#define JAIN 0.75
#define TIMES 4.0    /* the slowest against the median */

static int take_delay(an *a, fairness *s, const xsr_wait *w) {
    uint32_t from = w->released_by.rank;
    if (w->released_by.reason != XSR_REASON_FOUND || from == w->rank)
        return 0;
    uint32_t row = an_class(&s->peers, a->model->slots[w->slot].pad, w->rank, from);
    if (row == XSR_NONE)
        return XS_E_MEMORY;
    TRY(RD_ROWS(s->rows, s->row_room, row + 1));
    served *r = &s->rows[row];
    int64_t delay = w->lag_ns - an_clock_bound(a, from, w->rank);
    delay = delay > 1 ? delay : 1;
    r->waits++;
    r->delay += (double)delay;
    an_spread_add(&r->spread, delay);
    r->first = r->waits == 1 ? w->begin : r->first;
    r->last = w->end;
    if (delay > r->worst) {
        r->worst = delay;
        r->wait = w->id;
        r->slot = w->slot;
        r->writer = w->writer;
    }
    return 0;
}

static int on_event(an *a, void *state, const xsr_event *e) {
    fairness *s = state;
    uint32_t flags = e->slot == XSR_NONE ? 0 : an_pad(a, e->slot)->flags;
    if (e->slot != XSR_NONE && an_signals(e->kind))
        return flags & XS_PAD_SHARED    ? (unfairness_hand_over(s, e), 0)
               : flags & XS_PAD_NO_DATA ? 0
                                        : unfairness_request(a, s, e);
    return flags & XS_PAD_SHARED ? unfairness_contend(s, e) : 0;
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    if (w->open || w->end_lost || w->start_lost || w->result != XS_RESULT_OK)
        return 0;
    if (!(an_pad(a, w->slot)->flags & (XS_PAD_SHARED | XS_PAD_NO_DATA)) &&
        an_number(a, w->rank) == a->model->slots[w->slot].owner)
        TRY(unfairness_service(a, state, w));
    if (an_pad(a, w->slot)->flags & XS_PAD_SHARED)
        TRY(unfairness_waited(state, w));
    return take_delay(a, state, w);
}

static int by_value(const void *x, const void *y) {
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

/* At a barrier whoever comes early is seen late, and in whatever order they are looked at: nobody is served before
 * all have come. */
static bool is_barrier(const an *a, uint32_t pad, uint32_t rank) {
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (a->slots[i].is_barrier && a->model->slots[i].pad == pad && a->model->slots[i].owner == an_number(a, rank))
            return true;
    return false;
}

/* All peers of one waiter at one pad. */
static int judge(an *a, const fairness *s, uint32_t first) {
    const uint32_t *key = s->peers.keys[first];
    double *means = calloc(s->peers.count + 1u, sizeof *means), sum = 0, squares = 0;
    uint32_t n = 0, worst = first;
    for (uint32_t i = first; means && i < s->peers.count; i++) {
        const served *r = &s->rows[i];
        if (s->peers.keys[i][0] != key[0] || s->peers.keys[i][1] != key[1] || r->waits < LEAST)
            continue;
        double mean = r->delay / (double)r->waits, rate = 1 / mean;
        if (n == 0 || mean > s->rows[worst].delay / (double)s->rows[worst].waits)
            worst = i;
        means[n++] = mean;
        sum += rate;
        squares += rate * rate;
    }
    if (!means)
        return XS_E_MEMORY;
    qsort(means, n, sizeof *means, by_value);
    double median = n ? means[(n - 1) / 2] : 0, top = n ? means[n - 1] : 0,
           jain = squares > 0 ? sum * sum / (n * squares) : 1;
    free(means);
    if (n < 3 || jain > JAIN || top < TIMES * median || top < (double)a->options.lag_ns ||
        is_barrier(a, key[0], key[1]))
        return 0;
    const served *r = &s->rows[worst];
    if ((double)an_spread_median(&r->spread) <
        TIMES * median) /* a few looks that something held up are no way to serve */
        return 0;
    xsa_finding f = an_like(XSA_UNFAIRNESS, XSA_WARNING, XSA_MEDIUM);
    f.slot = r->slot;
    f.owes_rank = an_number(a, key[1]);
    f.owes_block = an_block(a, r->writer);
    f.owes_writer = r->writer;
    f.rank = an_number(a, s->peers.keys[worst][2]);
    f.begin = r->first;
    f.end = r->last;
    f.cure = "begin each scan behind where the last one ended, or serve in the order of arrival";
    an_finding *out = an_find(
        a, &f, an_key(XSA_UNFAIRNESS, key[0], key[1], 0),
        "rank %u sees signals of rank %u at %s %s late on average, the median of its %u peers is %s (Jain %.2f)",
        f.owes_rank, f.rank, an_pad_name(a, r->slot), an_span(a, (int64_t)top), n, an_span(a, (int64_t)median), jain);
    return an_evidence(a, out, r->wait, "latest");
}

static int finish(an *a, void *state) {
    fairness *s = state;
    TRY(unfairness_ignored(a, s));
    TRY(unfairness_still_waiting(s));
    TRY(unfairness_list(a, s));
    for (uint32_t i = 0; i < s->peers.count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i && first && i < 8192; k++)
            first = s->peers.keys[k][0] != s->peers.keys[i][0] || s->peers.keys[k][1] != s->peers.keys[i][1];
        if (first)
            TRY(judge(a, s, i));
    }
    return unfairness_overtaken(a, &s->worst);
}

static void release(void *state) {
    fairness *s = state;
    an_classes_free(&s->peers);
    an_classes_free(&s->owners);
    an_classes_free(&s->shared);
    free(s->shared_rows);
    free(s->servers);
    free(s->slots);
    free(s->rows);
    free(s->now);
}

const an_ops an_unfairness = {.id = XSA_UNFAIRNESS,
                              .needs = AN_NEED_WAITS,
                              .kinds = AN_KIND(WAIT_START) | AN_KIND(WAIT_END) | AN_KIND(SIGNAL) | AN_KIND(WATERMARK),
                              .state = sizeof(fairness),
                              .on_event = on_event,
                              .on_wait = on_wait,
                              .finish = finish,
                              .release = release,
                              .cannot = "peers that ask for more than others"};
