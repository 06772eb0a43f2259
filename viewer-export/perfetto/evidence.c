/* Arrows between findings and the events that prove them. An event is drawn long before the row of findings is, so
 * which ones prove something is asked of an analysis that an earlier pass has finished; without one there are no
 * arrows. An edge leads from what begins first to the other, or the viewer would drop it: the event decides when it
 * is drawn, and its finding follows. */
#include <stdlib.h>
#include <string.h>

#include "../../trace/read/search.h"
#include "draw.h"

#define EVIDENCE_IDS (3ull << 61) /* apart from ids of events and of edges between open waits */

enum { PROOF_NOT_DRAWN, PROOF_STARTS, PROOF_ENDS };

typedef struct proof {
    uint64_t event;
    uint32_t finding; /* index in findings */
    uint32_t drawn;   /* whether the edge starts or ends at the event, once that is known */
    int64_t time;     /* of the event, as drawn */
} proof;

struct evidence {
    uint32_t count;
    proof proofs[]; /* by event, then finding; the number of an edge is its place */
};

static int by_event(const void *left, const void *right) {
    const proof *x = left, *y = right;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->finding > y->finding) - (x->finding < y->finding);
}

int evidence_begin(drawing *d) {
    const xsa_result *result = findings_of(d);
    uint32_t all = 0;
    for (uint32_t i = 0; result && i < result->finding_count; i++)
        all += result->findings[i].evidence_count;
    d->evidence = calloc(1, sizeof *d->evidence + all * sizeof *d->evidence->proofs);
    if (!d->evidence)
        return XS_E_MEMORY;
    struct evidence *e = d->evidence;
    for (uint32_t i = 0; result && i < result->finding_count; i++)
        for (uint32_t k = 0; k < result->findings[i].evidence_count; k++)
            if (result->findings[i].evidence[k].event)
                e->proofs[e->count++] = (proof){.event = result->findings[i].evidence[k].event, .finding = i};
    if (e->count)
        qsort(e->proofs, e->count, sizeof *e->proofs, by_event);
    return XS_OK;
}

void evidence_free(drawing *d) { free(d->evidence); }

/* The place of the first proof by the event, or where it would be. */
static uint32_t place_of(const struct evidence *e, uint64_t id) {
    uint32_t at;
    RD_SEARCH(at, 0, e->count, e->proofs[at].event < id);
    return at;
}

bool evidence_is(const drawing *d, uint64_t id) {
    uint32_t at = place_of(d->evidence, id);
    return at < d->evidence->count && d->evidence->proofs[at].event == id;
}

/* Not before the drawing begins, which its row does not either. */
static bool finding_is_first(const drawing *d, const xsa_finding *f, int64_t time) {
    bool over = f->end != INT64_MIN && f->end < time;
    return time > f->begin && time > d->first_time && (over || f->end == INT64_MIN);
}

/* Ids of edges belong to one file: what is drawn in several has its edges in the last, so there only what never
 * ended has one. */
static bool may_join(const drawing *d, const xsa_finding *f, bool open) {
    return !d->split || (open && f->end == INT64_MIN);
}

static int make_room(flow_lists *f, uint32_t more) {
    uint32_t room = f->start_count + f->end_count + 2 * more;
    uint64_t *own = malloc(room * sizeof *own);
    if (!own)
        return XS_E_MEMORY;
    uint64_t *ends = own + f->start_count + more;
    if (f->start_count)
        memcpy(own, f->starts, f->start_count * sizeof *own);
    if (f->end_count)
        memcpy(ends, f->ends, f->end_count * sizeof *own);
    free(f->own);
    f->own = own;
    f->starts = own;
    f->ends = ends;
    return XS_OK;
}

int evidence_join(drawing *d, uint64_t id, int64_t time, bool open, flow_lists *f) {
    struct evidence *e = d->evidence;
    uint32_t first = place_of(e, id), end = first;
    while (end < e->count && e->proofs[end].event == id)
        end++;
    if (first == end)
        return XS_OK;
    TRY(make_room(f, end - first));
    uint64_t *starts = f->own, *ends = f->own + (f->ends - f->own);
    for (uint32_t i = first; i < end; i++) {
        proof *p = &e->proofs[i];
        const xsa_finding *finding = &findings_of(d)->findings[p->finding];
        if (p->drawn != PROOF_NOT_DRAWN || !may_join(d, finding, open))
            continue;
        p->drawn = finding_is_first(d, finding, time) ? PROOF_ENDS : PROOF_STARTS;
        p->time = time;
        if (p->drawn == PROOF_STARTS)
            starts[f->start_count++] = EVIDENCE_IDS + i;
        else
            ends[f->end_count++] = EVIDENCE_IDS + i;
    }
    return XS_OK;
}

void evidence_of_finding(const drawing *d, uint32_t number, int64_t begin, int64_t end, evidence_ids *ids) {
    const xsa_finding *f = &findings_of(d)->findings[number];
    const struct evidence *e = d->evidence;
    *ids = (evidence_ids){.start_count = 0};
    for (uint32_t k = 0; k < f->evidence_count && k < EVIDENCE_MOST; k++) {
        uint32_t at = place_of(e, f->evidence[k].event);
        while (at < e->count && e->proofs[at].event == f->evidence[k].event && e->proofs[at].finding != number)
            at++;
        if (at == e->count || e->proofs[at].event != f->evidence[k].event || e->proofs[at].drawn == PROOF_NOT_DRAWN)
            continue;
        const proof *p = &e->proofs[at];
        if (p->drawn == PROOF_ENDS)
            ids->starts[ids->start_count++] = EVIDENCE_IDS + at;
        else if (p->time <= begin)
            ids->begin_ends[ids->begin_end_count++] = EVIDENCE_IDS + at;
        else if (end != INT64_MIN && p->time <= end)
            ids->ends[ids->end_count++] = EVIDENCE_IDS + at;
    }
}
