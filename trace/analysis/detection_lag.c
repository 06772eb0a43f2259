/* D20: signals that were there long before the waiter looked again. The lag counts from the last failed poll where
 * that came after the signal; what clocks may be apart is taken off. */
#include "detectors.h"
#include "class.h"

#define LEAST 8u
#define SHARE 0.2 /* of the time that such waits lasted */

/* (pad, waiter) */
typedef struct lags {
    uint64_t waits, polls;
    double lag, lasted, slept;
    int64_t worst, first, last;
    uint64_t wait, signal;
    uint32_t slot, writer;
    xsr_source source;
} lags;
typedef struct detection { an_classes classes; lags *rows; uint32_t room; } detection;

static int on_wait(an *a, void *state, const xsr_wait *w) {
    detection *d = state;
    if (w->open || w->passed || w->end_lost || w->start_lost || w->result != XS_RESULT_OK ||
        w->released_by.event == XSR_NO_ID)
        return 0;
    uint32_t row = an_class(&d->classes, a->model->slots[w->slot].pad, w->rank, 0);
    if (row == XSR_NONE)
        return XS_E_MEMORY;
    TRY(RD_ROWS(d->rows, d->room, row + 1));
    lags *l = &d->rows[row];
    int64_t seen_from = w->released_by.time > w->begin ? w->released_by.time : w->begin;
    if (w->last_fail != NO_TIME && w->last_fail > seen_from)
        seen_from = w->last_fail;
    int64_t lag = w->end - seen_from - an_clock_bound(a, w->released_by.rank, w->rank);
    lag = lag > 0 ? lag : 0;
    l->waits++;
    l->polls += w->polls;
    l->lag += (double)lag;
    l->lasted += (double)(w->end - w->begin);
    l->slept += (double)w->slept_ns;
    l->first = l->waits == 1 ? w->begin : l->first;
    l->last = w->end;
    if (lag > l->worst) {
        l->worst = lag;
        l->wait = w->id;
        l->signal = w->released_by.event;
        l->slot = w->slot;
        l->writer = w->writer;
        l->source = w->source;
    }
    return 0;
}

static int finish(an *a, void *state) {
    const detection *d = state;
    for (uint32_t i = 0; i < d->classes.count; i++) {
        const lags *l = &d->rows[i];
        double mean = l->lag / (double)l->waits;
        if (l->waits < LEAST || mean < (double)a->options.lag_ns || l->lag < SHARE * l->lasted)
            continue;
        bool sleeps = l->slept > 0.5 * l->lasted;
        xsa_finding f = an_like(XSA_DETECTION_LAG, XSA_WARNING, XSA_MEDIUM);
        f.slot = l->slot;
        an_culprit(a, &f, XSR_NONE, l->writer);
        an_victim(a, &f, XSR_NONE, l->writer);
        f.begin = l->first;
        f.end = l->last;
        an_source(a, &f, l->source);
        f.cure = sleeps ? "a shorter back-off: it sleeps through the signal"
                        : "fewer waits in turn, or pollers that are not held up";
        an_finding *out = an_find(a, &f, an_key(XSA_DETECTION_LAG, d->classes.keys[i][0], d->classes.keys[i][1], 0),
                                  "%s sees signals at %s %s after they came, on average (%.0f %% of the time that it "
                                  "waits there; worst %s)%s",
                                  an_who(a, XSR_NONE, l->writer), an_pad_name(a, l->slot), an_span(a, (int64_t)mean),
                                  100 * l->lag / l->lasted, an_span(a, l->worst), an_site(a, l->writer, l->source));
        TRY(an_evidence(a, out, l->wait, "wait"));
        TRY(an_evidence(a, out, l->signal, "signal"));
    }
    return 0;
}

static void release(void *state) {
    an_classes_free(&((detection *)state)->classes);
    free(((detection *)state)->rows);
}

const an_ops an_detection_lag = {.id = XSA_DETECTION_LAG,
                                 .needs = AN_NEED_WAITS,
                                 .state = sizeof(detection),
                                 .on_wait = on_wait,
                                 .finish = finish,
                                 .release = release,
                                 .cannot = "how much of it the link took: that is not measured"};
