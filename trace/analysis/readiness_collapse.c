/* D25: most signals of an epoch come at its very end, so that what waits for them has nothing to overlap with. */
#include "detectors.h"
#include "class.h"

#define LEAST 8u    /* signals of an epoch */
#define EPOCHS 3u   /* such epochs, and most of them */
#define LATE 0.85   /* mean place of a signal between the epoch's begin and its last signal */

/* (pad, signalling rank, block and whom it signals): parts for one, not one thing for many */
typedef struct spread {
    uint64_t epoch, count, epochs, late, event;
    double sum;
    int64_t begin, last, first_seen;
    uint32_t slot, writer;
    uint64_t waited;
} spread;
/* of a writer: its wait, and all before it in this epoch */
typedef struct blocked { int64_t since; uint64_t sum; } blocked;
typedef struct readiness {
    an_classes classes;
    spread *rows;
    uint32_t room;
    blocked *waits;
    uint32_t wait_room;
} readiness;

static void close_epoch(spread *s) {
    if (s->count >= LEAST && s->last > s->begin) {
        s->epochs++;
        bool held = s->waited * 2 > (uint64_t)(s->last - s->begin); /* by what it waited for: it could do no earlier */
        s->late += !held && s->sum / (double)s->count > LATE * (double)(s->last - s->begin);
    }
    s->count = 0;
    s->sum = 0;
}

static int take_wait(an *a, readiness *r, const xsr_event *e) {
    if (e->writer == XSR_NONE)
        return 0;
    TRY(RD_ROWS(r->waits, r->wait_room, a->writer_count));
    blocked *b = &r->waits[e->writer];
    if (e->kind == XS_EV_EPOCH)
        *b = (blocked){0};
    else if (e->kind == XS_EV_WAIT_START)
        b->since = e->time;
    else if (b->since)
        b->sum += (uint64_t)(e->time - b->since), b->since = 0;
    return 0;
}

static int on_event(an *a, void *state, const xsr_event *e) {
    readiness *r = state;
    if (!an_signals(e->kind))
        return take_wait(a, r, e);
    if (e->slot == XSR_NONE || !e->epoch || e->writer == XSR_NONE ||
        a->model->slots[e->slot].owner == an_number(a, e->rank))
        return 0;
    uint32_t at = an_class(&r->classes, a->model->slots[e->slot].pad, e->rank,
                           an_block(a, e->writer) << 12 ^ a->model->slots[e->slot].owner);
    if (at == XSR_NONE)
        return XS_E_MEMORY;
    TRY(RD_ROWS(r->rows, r->room, at + 1));
    spread *s = &r->rows[at];
    if (s->epoch != e->epoch) {
        close_epoch(s);
        s->epoch = e->epoch;
        s->begin = a->writers[e->writer].epoch_time;
        s->first_seen = s->first_seen ? s->first_seen : s->begin;
    }
    s->count++;
    s->sum += (double)(e->time - s->begin);
    s->last = e->time;
    s->event = e->id;
    s->slot = e->slot;
    s->writer = e->writer;
    s->waited = e->writer < r->wait_room ? r->waits[e->writer].sum : 0;
    return 0;
}

static int finish(an *a, void *state) {
    readiness *r = state;
    for (uint32_t i = 0; i < r->classes.count; i++) {
        spread *s = &r->rows[i];
        close_epoch(s);
        if (s->epochs < EPOCHS || s->late * 2 <= s->epochs)
            continue;
        xsa_finding f = an_like(XSA_READINESS_COLLAPSE, XSA_WARNING, XSA_MEDIUM);
        f.slot = s->slot;
        an_culprit(a, &f, r->classes.keys[i][1], s->writer);
        f.begin = s->first_seen;
        f.end = s->last;
        f.cure = "signal each part as soon as it is done, and in the order in which it is consumed";
        an_finding *out = an_find(
            a, &f, 0, "rank %u signals %s at the very end of its epochs (%llu of %llu): nothing overlaps with it",
            f.owes_rank, an_pad_name(a, s->slot), (unsigned long long)s->late, (unsigned long long)s->epochs);
        TRY(an_evidence(a, out, s->event, "last signal"));
    }
    return 0;
}

static void release(void *state) {
    readiness *r = state;
    an_classes_free(&r->classes);
    free(r->rows);
    free(r->waits);
}

const an_ops an_readiness_collapse = {.id = XSA_READINESS_COLLAPSE,
                                      .needs = AN_NEED_EPOCHS,
                                      .kinds = AN_KIND(SIGNAL) | AN_KIND(WATERMARK) | AN_KIND(EPOCH) |
                                               AN_KIND(WAIT_START) | AN_KIND(WAIT_END),
                                      .state = sizeof(readiness),
                                      .on_event = on_event,
                                      .finish = finish,
                                      .release = release,
                                      .cannot = "how early the work itself could have been done"};
