/* D17: barriers of all ranks: who entered a generation, who did not, who left too soon, and whether the plan agrees. */
#include "detectors.h"

#define SEEN 16u /* generations of a pad that are kept */

#define SHOWN 8u /* generations of a rank that are known by its signals alone */

/* of a rank at a pad */
typedef struct entry {
    uint64_t entered, before, left, enters, event;
    uint32_t writer;
    int64_t time, before_time;
    bool inside;
    uint64_t signals, signals_before, shown[SHOWN];
    uint32_t shown_count;
} entry;
typedef struct barrier {
    uint32_t pad;
    uint64_t participants;
    entry *ranks;
    uint64_t seen[SEEN], seen_event[SEEN];
    uint32_t seen_count;
} barrier;
typedef struct barriers { barrier *list; uint32_t count, room; } barriers;

static barrier *barrier_of(an *a, barriers *b, uint32_t pad) {
    for (uint32_t i = 0; i < b->count; i++)
        if (b->list[i].pad == pad)
            return &b->list[i];
    if (RD_ROOM(b->list, b->room, b->count + 1) < 0)
        return NULL;
    barrier *n = &b->list[b->count];
    *n = (barrier){.pad = pad, .ranks = calloc(a->model->rank_count + 1, sizeof *n->ranks)};
    if (!n->ranks)
        return NULL;
    b->count++;
    return n;
}

static bool is_barrier(const barriers *b, uint32_t pad) {
    for (uint32_t i = 0; i < b->count; i++)
        if (b->list[i].pad == pad)
            return true;
    return false;
}

static int say_twice(an *a, const xsr_event *e, const entry *r) {
    xsa_finding f = an_like(XSA_BARRIER_MISMATCH, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.begin = r->time;
    f.end = e->time;
    f.cure = "one block of a rank at a barrier, or a pad for each";
    an_finding *out = an_find(a, &f, an_key(XSA_BARRIER_MISMATCH, e->slot, 1, 0),
                              "%s enters generation %llu of %s while %s is inside generation %llu, %s",
                              an_who(a, e->rank, e->writer), (unsigned long long)e->value, an_pad_name(a, e->slot),
                              an_who(a, e->rank, r->writer), (unsigned long long)r->entered, an_since(a, e->time));
    TRY(an_evidence(a, out, r->event, "entered before"));
    return an_evidence(a, out, e->id, "enters");
}

static int say_participants(an *a, const xsr_event *e, uint64_t planned) {
    xsa_finding f = an_like(XSA_BARRIER_MISMATCH, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.begin = f.end = e->time;
    f.cure = "make all ranks, and the plan, agree on who takes part";
    an_finding *out = an_find(a, &f, an_key(XSA_BARRIER_MISMATCH, e->slot, 2, 0),
                              "%s enters %s as one of %llu, where %llu take part", an_who(a, e->rank, e->writer),
                              an_pad_name(a, e->slot), (unsigned long long)e->detail, (unsigned long long)planned);
    return an_evidence(a, out, e->id, "enters");
}

/* The record of its entry is lost, and others of that generation are not. */
static bool is_shown(const entry *r, uint64_t generation) {
    for (uint32_t i = 0; i < SHOWN && i < r->shown_count; i++)
        if (r->shown[i] == generation)
            return true;
    return false;
}

/* Records that a generation leaves of a rank, of those that tell of it: its entry, its signals as far as they are
 * noted, its leaving. */
static uint64_t records_of(const barrier *b, const entry *r) {
    uint64_t signals = r->enters > 1 ? r->signals_before / (r->enters - 1) : 0;
    return 1 + (signals < b->participants ? signals : b->participants) + (r->left != 0);
}

static void show(entry *r, uint64_t generation) {
    if (generation != r->entered && !is_shown(r, generation))
        r->shown[r->shown_count++ % SHOWN] = generation;
}

static int say_skipped(an *a, const barrier *b, const xsr_event *e, uint32_t rank, uint64_t generation,
                       uint64_t entered_by_others) {
    const entry *r = &b->ranks[rank];
    if (is_shown(r, generation))
        return 0;
    an_whole_rank(a, rank, r->before_time, r->time); /* it may have entered there, by whichever block */
    an_only_by(a, AN_KIND(BARRIER_ENTER));
    an_only_beyond(a, records_of(b, r) - 1); /* all of them would have to be lost */
    xsa_finding f = an_like(XSA_BARRIER_MISMATCH, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, rank, r->writer);
    f.begin = r->time;
    f.end = e->time;
    f.cure = "every rank enters each barrier, on every path, equally often";
    uint64_t key = an_key(XSA_BARRIER_MISMATCH, b->pad, rank, generation);
    an_finding *out = an_find(
        a, &f, key, "rank %u left out generation %llu of %s, which others entered: it went from %llu to %llu, %s",
        an_number(a, rank), (unsigned long long)generation, an_pad_name(a, e->slot), (unsigned long long)r->before,
        (unsigned long long)r->entered, an_since(a, e->time));
    TRY(an_evidence(a, out, r->event, "entered instead"));
    return an_evidence(a, out, entered_by_others, "entered by others");
}

/* Generations rise by any amount, but by the same on all ranks: what one enters, all enter. */
static int look_for_skips(an *a, barrier *b, const xsr_event *e) {
    const entry *own = &b->ranks[e->rank];
    bool known = false;
    for (uint32_t i = 0; i < SEEN && i < b->seen_count; i++) {
        known |= b->seen[i] == e->value;
        if (own->enters > 1 && b->seen[i] > own->before && b->seen[i] < e->value)
            TRY(say_skipped(a, b, e, e->rank, b->seen[i], b->seen_event[i]));
    }
    if (known)
        return 0;
    b->seen_event[b->seen_count % SEEN] = e->id;
    b->seen[b->seen_count++ % SEEN] = e->value;
    for (uint32_t r = 0; r < a->model->rank_count; r++)
        if (r != e->rank && b->ranks[r].enters > 1 && b->ranks[r].before < e->value && b->ranks[r].entered > e->value)
            TRY(say_skipped(a, b, e, r, e->value, e->id));
    return 0;
}

static int on_event(an *a, void *state, const xsr_event *e) {
    if (e->slot == XSR_NONE || (an_signals(e->kind) && !is_barrier(state, a->model->slots[e->slot].pad)))
        return 0;
    barrier *b = barrier_of(a, state, a->model->slots[e->slot].pad);
    if (!b)
        return XS_E_MEMORY;
    entry *r = &b->ranks[e->rank];
    if (an_signals(e->kind)) {
        r->signals++;
        show(r, e->value);
        return 0;
    }
    if (e->kind == XS_EV_BARRIER_LEAVE) {
        show(r, e->value);
        r->left = e->value;
        r->inside = false;
        return 0;
    }
    an_plan p = an_plan_of(a, e->slot, e->epoch);
    uint64_t planned = p.participants ? p.participants : b->participants;
    if (planned && planned != e->detail)
        TRY(say_participants(a, e, planned));
    b->participants = b->participants ? b->participants : e->detail;
    if (r->inside && r->writer != e->writer)
        an_whole(a, r->writer, r->time, e->time);
    if (r->inside && r->writer != e->writer)
        TRY(say_twice(a, e, r));
    r->before = r->entered;
    r->before_time = r->enters ? r->time : NO_TIME;
    r->entered = e->value;
    r->enters++;
    r->signals_before = r->signals;
    r->event = e->id;
    r->writer = e->writer;
    r->time = e->time;
    r->inside = true;
    return look_for_skips(a, b, e);
}

/* A rank stands inside a generation that another one has not entered, and that one does something else or is gone. */
static int say_missing(an *a, const an_stuck *s, const barrier *b) {
    const entry *r = &b->ranks[s->supplier];
    xsa_finding f = an_stuck_like(a, s, XSA_BARRIER_MISMATCH, XSA_ERROR);
    f.cure = "every rank enters each barrier, on every path, equally often";
    if (!s->certain) {
        an_unknown(a, XSA_BARRIER_MISMATCH, f.lost, "%llu lost records could show that rank %u entered",
                   (unsigned long long)f.lost, s->supplier_number);
        return 0;
    }
    uint64_t key = an_key(XSA_BARRIER_MISMATCH, b->pad, s->supplier, s->w.need);
    const char *so_far =
        r->enters ? an_print(a, "%llu times, up to %llu", (unsigned long long)r->enters, (unsigned long long)r->entered)
                  : "never";
    an_finding *out =
        an_find(a, &f, key, "rank %u did not enter generation %llu of %s (it entered %s): %s", s->supplier_number,
                (unsigned long long)s->w.need, an_pad_name(a, s->w.slot), so_far, an_stuck_words(a, s));
    TRY(an_evidence(a, out, s->w.id, "wait"));
    return an_evidence(a, out, r->event, "entered last");
}

static int finish(an *a, void *state) {
    barriers *b = state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (s->late || s->supplier == XSR_NONE ||
            (s->why != AN_WHY_ENDED && s->why != AN_WHY_MOVED_ON && s->why != AN_WHY_SILENT))
            continue;
        for (uint32_t k = 0; k < b->count; k++)
            if (b->list[k].pad == a->model->slots[s->w.slot].pad && b->list[k].ranks[s->w.rank].inside &&
                b->list[k].ranks[s->supplier].entered < s->w.need)
                TRY(say_missing(a, s, &b->list[k]));
    }
    return 0;
}

static void release(void *state) {
    barriers *b = state;
    for (uint32_t i = 0; i < b->count; i++)
        free(b->list[i].ranks);
    free(b->list);
}

const an_ops an_barrier_mismatch = {.id = XSA_BARRIER_MISMATCH,
                                    .needs = AN_NEED_BARRIERS,
                                    .kinds = AN_KIND(BARRIER_ENTER) | AN_KIND(BARRIER_LEAVE) | AN_KIND(SIGNAL),
                                    .state = sizeof(barriers),
                                    .on_event = on_event,
                                    .finish = finish,
                                    .release = release,
                                    .cannot =
                                        "barriers that are built of signals by hand: their waits are judged as waits"};
