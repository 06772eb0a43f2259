/* D18: waits of one writer for slots of one pad, one after the other, though the later one was ready first: arrival
 * order against the order in which they are consumed. A cost, not an error. */
#include "detectors.h"
#include "class.h"

#define LEAST 8u        /* pairs before an order is judged */
#define MOSTLY 0.6      /* of the pairs are the wrong way round */
#define WORTH 0.1       /* of the time that the rank waited for that peer */

/* of (writer, pad, supplier) */
typedef struct before { uint64_t epoch; int64_t released, begin, end; uint32_t slot; uint64_t wait; } before;
/* most: blocked by one */
typedef struct pairs {
    uint64_t pairs, inverted, waits;
    int64_t blocked, waited, first, last, most;
    uint32_t writer, slot;
    uint64_t early, late;
} pairs;
typedef struct lines {
    an_classes writers, peers;
    before *last;
    uint32_t last_room;
    pairs *rows;
    uint32_t row_room;
} lines;

static int on_wait(an *a, void *state, const xsr_wait *w) {
    lines *l = state;
    uint32_t from = w->released_by.rank, pad = a->model->slots[w->slot].pad;
    if (w->open || w->end_lost || w->start_lost || w->result != XS_RESULT_OK ||
        w->released_by.reason != XSR_REASON_FOUND || from == w->rank)
        return 0;
    uint32_t at = an_class(&l->writers, w->writer, pad, from), row = an_class(&l->peers, pad, w->rank, from);
    if (at == XSR_NONE || row == XSR_NONE)
        return XS_E_MEMORY;
    TRY(RD_ROWS(l->last, l->last_room, at + 1));
    TRY(RD_ROWS(l->rows, l->row_room, row + 1));
    before *b = &l->last[at];
    pairs *p = &l->rows[row];
    p->waits++;
    p->waited += w->end - w->begin;
    p->first = p->first ? p->first : w->begin;
    p->last = w->end;
    if (b->wait && b->epoch == w->epoch && b->slot != w->slot) {
        int64_t ready = w->released_by.time, since = ready > b->begin ? ready : b->begin;
        p->pairs++;
        if (ready + an_clock_bound(a, from, w->rank) < b->released) {
            int64_t blocked = b->end > since ? b->end - since : 0;
            p->inverted++;
            p->blocked += blocked;
            if (blocked >= p->most) {
                p->most = blocked;
                p->writer = w->writer;
                p->slot = b->slot;
                p->early = b->wait;
                p->late = w->id;
            }
        }
    }
    *b = (before){w->epoch, w->released_by.time, w->begin, w->end, w->slot, w->id};
    return 0;
}

static bool is_wrong_way(const pairs *p) {
    return p->pairs >= LEAST && (double)p->inverted > MOSTLY * (double)p->pairs;
}
static bool is_inverted(const pairs *p) { return is_wrong_way(p) && (double)p->blocked > WORTH * (double)p->waited; }

/* All peers of a consumer the wrong way round: it is the one. */
static bool consumer_is_it(const lines *l, uint32_t row) {
    uint32_t classes = 0, wrong = 0;
    for (uint32_t i = 0; i < l->peers.count; i++)
        if (l->peers.keys[i][0] == l->peers.keys[row][0] && l->peers.keys[i][1] == l->peers.keys[row][1] &&
            l->rows[i].pairs >= LEAST) {
            classes++;
            wrong += is_wrong_way(&l->rows[i]); /* one peer's wait may hide what the next one's would have cost */
        }
    return classes > 1 && wrong == classes;
}

static int finish(an *a, void *state) {
    const lines *l = state;
    for (uint32_t i = 0; i < l->peers.count; i++) {
        const pairs *p = &l->rows[i];
        if (!is_inverted(p))
            continue;
        uint32_t consumer = l->peers.keys[i][1], producer = l->peers.keys[i][2],
                 who = consumer_is_it(l, i) ? consumer : producer;
        xsa_finding f = an_like(XSA_HEAD_OF_LINE, XSA_WARNING, XSA_MEDIUM);
        f.slot = p->slot;
        an_culprit(a, &f, who, XSR_NONE);
        an_victim(a, &f, XSR_NONE, p->writer);
        f.begin = p->first;
        f.end = p->last;
        f.cure = "visit them in one order on both sides, or take what is ready first";
        an_finding *out =
            an_find(a, &f, an_key(XSA_HEAD_OF_LINE, l->peers.keys[i][0], who, 0),
                    "%s takes %s in an order against which rank %u delivers (%llu of %llu neighbours the other way "
                    "round): %s behind slots that were not ready",
                    an_who(a, consumer, p->writer), an_pad_name(a, p->slot), an_number(a, producer),
                    (unsigned long long)p->inverted, (unsigned long long)p->pairs, an_span(a, p->blocked));
        TRY(an_evidence(a, out, p->early, "wait that held up"));
        TRY(an_evidence(a, out, p->late, "wait that was ready before"));
    }
    return 0;
}

static void release(void *state) {
    lines *l = state;
    an_classes_free(&l->writers);
    an_classes_free(&l->peers);
    free(l->last);
    free(l->rows);
}

const an_ops an_head_of_line = {
    .id = XSA_HEAD_OF_LINE,
    .needs = AN_NEED_WAITS,
    .state = sizeof(lines),
    .on_wait = on_wait,
    .finish = finish,
    .release = release,
    .cannot = "whether the data ask for that order; what holds up waits that arrivals end (gates)"};
