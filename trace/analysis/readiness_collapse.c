/* D25: most signals of an epoch come at its very end, so that what waits for them has nothing to overlap with. */
#include "detectors.h"
#include "class.h"

#define LEAST 8u    /* signals of an epoch */
#define EPOCHS 3u   /* such epochs, and most of them */
#define LATE 0.85   /* mean place of a signal between the epoch's begin and its last signal */

typedef struct spread { uint64_t epoch, count, epochs, late, event; double sum; int64_t begin, last, first_seen; uint32_t slot, writer; } spread; /* (pad, signalling rank) */
typedef struct readiness { an_classes classes; spread *rows; uint32_t room; int64_t *begins; } readiness;

static void close_epoch(spread *s) {
    if (s->count >= LEAST && s->last > s->begin) {
        s->epochs++;
        s->late += s->sum / (double)s->count > LATE * (double)(s->last - s->begin);
    }
    s->count = 0;
    s->sum = 0;
}

static int on_epoch(an *a, void *state, const xsr_event *e) {
    readiness *r = state;
    if (!r->begins && !(r->begins = calloc(a->model->rank_count + 1, sizeof *r->begins)))
        return XS_E_MEMORY;
    r->begins[e->rank] = e->time;
    return 0;
}

static int on_event(an *a, void *state, const xsr_event *e) {
    readiness *r = state;
    if (e->slot == XSR_NONE || !e->epoch || !r->begins || a->model->slots[e->slot].owner == an_number(a, e->rank))
        return 0;
    uint32_t at = an_class(&r->classes, a->model->slots[e->slot].pad, e->rank, 0);
    if (at == XSR_NONE)
        return XS_E_MEMORY;
    TRY(an_class_rows((void **)&r->rows, &r->room, at + 1, sizeof *r->rows));
    spread *s = &r->rows[at];
    if (s->epoch != e->epoch) {
        close_epoch(s);
        s->epoch = e->epoch;
        s->begin = r->begins[e->rank];
        s->first_seen = s->first_seen ? s->first_seen : s->begin;
    }
    s->count++;
    s->sum += (double)(e->time - s->begin);
    s->last = e->time;
    s->event = e->id;
    s->slot = e->slot;
    s->writer = e->writer;
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
        an_finding *out = an_find(a, &f, 0, "rank %u signals %s at the very end of its epochs (%llu of %llu): nothing overlaps with it", f.owes_rank, an_pad_name(a, s->slot),
                                  (unsigned long long)s->late, (unsigned long long)s->epochs);
        TRY(an_evidence(a, out, s->event, "last signal"));
    }
    return 0;
}

static void release(void *state) {
    readiness *r = state;
    an_classes_free(&r->classes);
    free(r->rows);
    free(r->begins);
}

const an_ops an_readiness_collapse = {.id = XSA_READINESS_COLLAPSE, .kinds = AN_KIND(SIGNAL) | AN_KIND(WATERMARK), .state = sizeof(readiness), .on_epoch = on_epoch,
                                      .on_event = on_event, .finish = finish, .release = release, .cannot = "how early the work itself could have been done"};
