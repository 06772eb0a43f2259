/* D14: an edge between blocks whose signal does not release, whose wait does not acquire, or whose scope does not
 * reach the other side. It is judged by PTX, not by what this run happened to read. Pads that guard no data are left
 * alone; on adopted pads, whose fences xs cannot see, it is a note. */
#include "detectors.h"
#include "hb.h"

#define PENDING 64u

typedef struct pending {
    uint64_t wait, signal;
    uint32_t slot, writer, from_writer;
    xsr_source source;
    uint8_t need, order;
    int64_t begin, end, used;
} pending;
/* relaxed waits of a block that no fence has acquired yet; more: for which there was no room */
typedef struct weak { pending at[PENDING]; uint32_t count; uint64_t more; } weak;
/* missed: those relied upon with no fence between that reaches all */
typedef struct order { weak **agents; uint32_t room; uint64_t missed; } order;

static const char *level_name(uint8_t level) {
    return level == AN_SYS ? "another device (sys scope)" : "another block (gpu scope)";
}

/* Volatile is an accepted idiom of older code: a note. */
static uint32_t severity_of(const an *a, uint32_t slot, uint32_t order_of) {
    return an_pad(a, slot)->flags & XS_PAD_ADOPTED || order_of == XS_VOLATILE ? XSA_NOTE : XSA_ERROR;
}

static bool strong(uint32_t order_of) { return an_acquires(order_of) || an_releases(order_of); }

static bool exempt(const an *a, uint32_t slot) { return an_pad(a, slot)->flags & XS_PAD_NO_DATA; }

/* One finding a pad, role and side: a weak operation is a line of code. */
static uint64_t key_of(const an *a, uint32_t slot, uint32_t writer, uint64_t side) {
    uint32_t role = writer == XSR_NONE ? XSR_NONE : a->model->writers[writer].role;
    return an_key(XSA_ORDER_SCOPE, a->model->slots[slot].pad, role, side);
}

static xsa_finding like_of(const an *a, uint32_t slot, uint32_t order_of, uint32_t writer, uint32_t victim,
                           int64_t begin, int64_t end) {
    xsa_finding f = an_like(XSA_ORDER_SCOPE, severity_of(a, slot, order_of), XSA_HIGH);
    f.slot = slot;
    an_culprit(a, &f, XSR_NONE, writer);
    an_victim(a, &f, XSR_NONE, victim);
    f.begin = begin;
    f.end = end;
    return f;
}

static const char *release_words(an *a, const an_release *r) {
    const char *order_name = xsr_order_name(r->order), *scope = xsr_scope_name(r->scope);
    static const char *const fences[] = {"no fence", "a cta fence", "a gpu fence", "a sys fence", "an unknown fence"};
    if (strong(r->order))
        return an_print(a, "%s.%s", order_name, scope);
    return an_print(a, "%s.%s behind %s", order_name, scope, fences[r->fence < 5 ? r->fence : 4]);
}

static int say_release(an *a, const an_step *step) {
    const an_release *r = step->from;
    const xsr_event *e = step->e;
    if (!strong(r->order)) { /* a fence before it: any that came, since one covers all stores behind it */
        an_whole(a, r->writer, INT64_MIN, r->time);
        an_only_by(a, AN_KIND(FENCE));
    }
    xsa_finding f = like_of(a, e->slot, r->order, r->writer, e->writer, step->w ? step->w->begin : e->time, e->time);
    f.cure =
        "release at the scope of both sides: st.release, or a fence of that scope before the store, never behind it";
    an_finding *out =
        an_find(a, &f, key_of(a, e->slot, r->writer, 1),
                "%s %s %s (%s), but %s reads it on %s: what it wrote before need not be seen",
                an_who(a, r->rank, r->writer), an_arrives(r->kind) ? "arrives at" : "signals", an_slot_name(a, e->slot),
                release_words(a, r), an_who(a, e->rank, e->writer), level_name(step->need));
    if (out && out->f.count == 1)
        out->at--; /* where both sides are weak, the release is read first */
    TRY(an_evidence(a, out, r->event, "signal"));
    return an_evidence(a, out, e->id, "wait");
}

static int say_acquire(an *a, pending *p, int64_t used, const char *how) {
    p->used = used;
    if (!strong(p->order)) /* a fence behind it */
        an_whole(a, p->writer, p->begin, p->used);
    xsa_finding f = like_of(a, p->slot, p->order, p->writer, p->writer, p->begin, p->end);
    an_source(a, &f, p->source);
    f.cure =
        "acquire at the scope of both sides: ld.acquire, or a fence of that scope between the wait and the first read";
    an_finding *out =
        an_find(a, &f, key_of(a, p->slot, p->writer, 2),
                "%s waits for %s (%s), which %s signals from %s: what it reads next may be older%s",
                an_who(a, XSR_NONE, p->writer), an_slot_name(a, p->slot), how, an_who(a, XSR_NONE, p->from_writer),
                level_name(p->need), an_site(a, p->writer, p->source));
    TRY(an_evidence(a, out, p->wait, "wait"));
    return an_evidence(a, out, p->signal, "signal");
}

static pending pending_of(const an_step *step) {
    const xsr_wait *w = step->w;
    return (pending){step->e->id,     step->from->event,  step->e->slot,
                     step->e->writer, step->from->writer, w ? w->source : (xsr_source){XSR_NONE, 0},
                     step->need,      step->e->order,     w ? w->begin : step->e->time,
                     step->e->time,   step->e->time};
}

static weak *weak_of(order *o, uint32_t agent) {
    if (RD_ROWS(o->agents, o->room, agent + 1) < 0)
        return NULL;
    if (!o->agents[agent])
        o->agents[agent] = calloc(1, sizeof(weak));
    return o->agents[agent];
}

static int take_edge(an *a, order *o, const an_step *step) {
    const xsr_event *e = step->e;
    if (!step->from || step->guessed || step->edge == AN_EDGE_LOCAL || step->edge == AN_EDGE_ORDERED ||
        exempt(a, e->slot) || an_signals(e->kind))
        return 0;
    if (!step->released)
        TRY(say_release(a, step));
    if (step->acquired)
        return 0;
    pending p = pending_of(step);
    uint8_t level = e->order == XS_VOLATILE ? AN_LEVELS : an_level_of_scope(e->scope);
    if (strong(e->order) || level <= step->need)
        return say_acquire(a, &p, e->time, an_print(a, "%s.%s", xsr_order_name(e->order), xsr_scope_name(e->scope)));
    if (an_arrives(e->kind))
        return e->kind == XS_EV_ARRIVE && e->further[1] && e->value + an_weight(e) == e->further[1]
                   ? say_acquire(a, &p, e->time, "relaxed")
                   : 0;
    weak *w = weak_of(o, step->agent);
    if (!w)
        return XS_E_MEMORY;
    if (w->count < PENDING)
        w->at[w->count++] = p;
    else
        w->more++;
    return 0;
}

/* A fence acquires what the relaxed waits before it read, as far as it reaches. */
static void take_fence(order *o, const an_step *step) {
    const xsr_event *e = step->e;
    weak *w = step->agent < o->room ? o->agents[step->agent] : NULL;
    if (!w || !an_acquires(e->order))
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->at[i].need >= an_level_of_scope(e->scope))
            w->at[kept++] = w->at[i];
    w->count = kept;
    w->more = an_level_of_scope(e->scope) == AN_LEVELS ? 0 : w->more;
}

/* What follows a wait and relies on it. */
static int use_waits(an *a, order *o, const an_step *step) {
    weak *w = step->agent < o->room ? o->agents[step->agent] : NULL;
    for (uint32_t i = 0; w && i < w->count; i++)
        TRY(say_acquire(a, &w->at[i], step->e->time, "relaxed, and no fence behind it"));
    if (w) {
        o->missed += w->more;
        w->count = 0;
        w->more = 0;
    }
    return 0;
}

static int on_step(an *a, void *state, const an_step *step) {
    order *o = state;
    switch (step->e->kind) {
    case XS_EV_FENCE: take_fence(o, step); return 0;
    case XS_EV_PASS:
    case XS_EV_WAIT_END: return step->e->slot == XSR_NONE ? 0 : take_edge(a, o, step);
    case XS_EV_ARRIVE:
        TRY(use_waits(a, o, step));
        return step->e->slot == XSR_NONE ? 0 : take_edge(a, o, step);
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK:
    case XS_EV_GATE_ARRIVE:
    case XS_EV_READ_BEGIN:
    case XS_EV_WRITE_BEGIN:
    case XS_EV_WORK_BEGIN:
    case XS_EV_WRITER_END: return use_waits(a, o, step);
    default: return 0;
    }
}

static int finish(an *a, void *state) {
    const order *o = state;
    if (o->missed)
        an_unknown(a, XSA_ORDER_SCOPE, 0,
                   "%llu relaxed waits had %u others of their block ahead of them with no fence in between: which "
                   "slots they were for is not kept",
                   (unsigned long long)o->missed, PENDING);
    return 0;
}

static void release(void *state) {
    order *o = state;
    for (uint32_t i = 0; i < o->room; i++)
        free(o->agents[i]);
    free(o->agents);
}

const an_ops an_order_scope = {.id = XSA_ORDER_SCOPE,
                               .needs = AN_NEED_WAITS | AN_NEED_ARRIVALS,
                               .state = sizeof(order),
                               .on_step = on_step,
                               .finish = finish,
                               .release = release,
                               .cannot = "fences that are not noted, and writes by the asynchronous proxy (bulk "
                                         "copies), which need a fence of their own"};
