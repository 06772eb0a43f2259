/* D24: a rank that started late, or not at all, while others waited for it: late, not dead. Starts are compared
 * within a launch (by number, over all processes). */
#include "detectors.h"

/* for a rank, before it had begun */
typedef struct waited { int64_t ns; uint64_t wait; uint32_t writer; int64_t begin; uint32_t slot; } waited;
typedef struct late { waited *of; } lateness;

static int on_wait(an *a, void *state, const xsr_wait *w) {
    lateness *l = state;
    uint32_t rank = w->released_by.rank;
    if (w->open || w->passed || rank == XSR_NONE || rank == w->rank)
        return 0;
    if (!l->of && !(l->of = calloc(a->model->rank_count + 1, sizeof *l->of)))
        return XS_E_MEMORY;
    int64_t began = a->ranks[rank].first_begin, took = began == NO_TIME || began <= w->begin ? 0 : began - w->begin;
    if (took > l->of[rank].ns)
        l->of[rank] = (waited){took, w->id, w->writer, w->begin, w->slot};
    return 0;
}

static int say_never(an *a, const an_stuck *s) {
    xsa_finding f = an_stuck_like(a, s, XSA_LATE_RANK, XSA_ERROR);
    bool late = s->supplier != XSR_NONE && a->ranks[s->supplier].first_begin != NO_TIME;
    f.cure = "start all ranks before the bound of the waits is over; look what holds it up (compilation, loading, an "
             "earlier kernel)";
    if (s->supplier == XSR_NONE)
        f.confidence = XSA_LOW;
    uint64_t key = an_key(XSA_LATE_RANK, s->supplier_number, 0, 0);
    an_finding *out = an_find(a, &f, key, "%s; rank %u owes it and %s", an_stuck_words(a, s), s->supplier_number,
                              s->supplier == XSR_NONE ? "is in no capture"
                              : late ? an_print(a, "began only %s", an_since(a, a->ranks[s->supplier].first_begin))
                                     : "has started nothing");
    if (late)
        TRY(an_evidence(a, out, a->ranks[s->supplier].first_event, "its first event"));
    return an_evidence(a, out, s->w.id, "wait");
}

static int64_t first_of_others(const an *a, uint32_t rank) {
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        if (i != rank && a->ranks[i].first_begin != NO_TIME && a->ranks[i].first_begin < first)
            first = a->ranks[i].first_begin;
    return first;
}

static int say_late(an *a, uint32_t rank, const waited *w) {
    const an_rank *r = &a->ranks[rank];
    xsa_finding f = an_like(XSA_LATE_RANK, XSA_WARNING, XSA_HIGH);
    an_culprit(a, &f, rank, XSR_NONE);
    an_victim(a, &f, XSR_NONE, w->writer);
    f.slot = w->slot;
    f.begin = w->begin;
    f.end = r->first_begin;
    f.cure = "look what held its start up: compilation, loading, an earlier kernel, the host";
    an_whole_rank(a, rank, INT64_MIN, r->first_begin); /* else it may have begun before */
    an_finding *out = an_find(a, &f, an_key(XSA_LATE_RANK, an_number(a, rank), 0, 0),
                              "rank %u began %s after the first rank; %s waited %s for it on %s", an_number(a, rank),
                              an_span(a, r->first_begin - first_of_others(a, rank)), an_who(a, XSR_NONE, w->writer),
                              an_span(a, w->ns), an_slot_name(a, w->slot));
    TRY(an_evidence(a, out, r->first_event, "its first event"));
    return an_evidence(a, out, w->wait, "wait");
}

static int finish(an *a, void *state) {
    const lateness *l = state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        bool by_start = s->why != AN_WHY_NO_BLOCK && s->why != AN_WHY_WAITS && s->supplier != XSR_NONE && !s->w.open &&
                        s->w.result != XS_RESULT_OK && a->ranks[s->supplier].first_begin > s->w.end;
        if ((s->why == AN_WHY_NO_RANK && !s->late) || by_start)
            TRY(say_never(a, s));
    }
    for (uint32_t i = 0; l->of && i < a->model->rank_count; i++)
        if (l->of[i].ns > a->options.late_ns && a->ranks[i].first_begin - first_of_others(a, i) > a->options.late_ns)
            TRY(say_late(a, i, &l->of[i]));
    return 0;
}

static void release(void *state) { free(((lateness *)state)->of); }

const an_ops an_late_rank = {.id = XSA_LATE_RANK,
                             .needs = AN_NEED_WAITS,
                             .state = sizeof(lateness),
                             .on_wait = on_wait,
                             .finish = finish,
                             .release = release,
                             .cannot = "what the rank did before its first record"};
