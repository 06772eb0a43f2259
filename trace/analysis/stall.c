/* D1: waits that gave up though their supplier goes on, and waits far longer than others of their class (pad,
 * waiting rank, supplier). */
#include "detectors.h"

#define LEAST 32u  /* waits of a class before its habit is known */
#define TIMES 16   /* so many times the p90 of its class */
#define BUCKETS 64u

typedef struct class {
    uint64_t count[BUCKETS], waits; /* by bits of the latency */
    xsr_wait worst;
    int64_t longest;
} class;

typedef struct stall { rd_map of; class *classes; uint32_t count, room; } stall;

static class *class_of(stall *s, const an *a, const xsr_wait *w) {
    uint64_t key = an_key(XSA_STALL, a->model->slots[w->slot].pad, w->rank, w->supplier_rank);
    uint32_t at = rd_map_get(&s->of, key);
    if (at == XSR_NONE) {
        at = s->count;
        if (RD_ROOM(s->classes, s->room, at + 1) < 0 || rd_map_put(&s->of, key, at) < 0)
            return NULL;
        memset(&s->classes[at], 0, sizeof s->classes[at]);
        s->classes[at].longest = -1;
        s->count++;
    }
    return &s->classes[at];
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    if (w->open || w->start_lost || w->end_lost || w->result != XS_RESULT_OK)
        return 0;
    class *c = class_of(state, a, w);
    if (!c)
        return XS_E_MEMORY;
    int64_t took = w->end - w->begin;
    c->count[took > 0 ? 64 - (uint32_t)__builtin_clzll((uint64_t)took) : 0]++;
    c->waits++;
    if (took > c->longest) {
        c->longest = took;
        c->worst = *w;
    }
    return 0;
}

/* Upper end of the bucket that nine of ten waits do not exceed. */
static int64_t p90(const class *c) {
    uint64_t left = c->waits - c->waits / 10;
    for (uint32_t b = 0; b < BUCKETS - 1; b++) {
        if (c->count[b] >= left)
            return b ? (1ll << b) - 1 : 0;
        left -= c->count[b];
    }
    return INT64_MAX / TIMES;
}

static int say_long(an *a, const class *c) {
    int64_t usual = p90(c);
    if (c->waits < LEAST || c->longest < a->options.stall_ns || c->longest / TIMES < usual)
        return 0;
    const xsr_wait *w = &c->worst;
    xsa_finding f = an_like(XSA_STALL, XSA_WARNING, XSA_MEDIUM);
    f.slot = w->slot;
    an_victim(a, &f, w->rank, w->writer);
    uint32_t owner = a->model->slots[w->slot].owner;
    bool by_host = w->released_by.reason == XSR_REASON_HOST && an_plan_of(a, w->slot, w->epoch).host;
    an_culprit(a, &f, w->released_by.rank, w->released_by.writer);
    f.owes_rank = by_host ? owner : f.owes_rank;
    f.begin = w->begin;
    f.end = w->end;
    an_source(a, &f, w->source);
    f.cure = by_host
                 ? "look at what the host did in that time: it signals the slot, and what it does is not in the trace"
                 : "look at what its supplier did in that time: the arrow of the wait in the trace leads there";
    an_finding *out =
        an_find(a, &f, 0, "%s waited %s for %s from %s, where nine of ten such waits take at most %s%s%s",
                an_who(a, w->rank, w->writer), an_span(a, c->longest), an_slot_name(a, w->slot), an_since(a, w->begin),
                an_span(a, usual), by_host ? an_print(a, "; the host of rank %u signals it", owner) : "",
                an_site(a, w->writer, w->source));
    TRY(an_evidence(a, out, w->id, "wait"));
    return an_evidence(a, out, w->released_by.event, "signal");
}

static int say_gave_up(an *a, const an_stuck *s) {
    xsa_finding f = an_stuck_like(a, s, XSA_STALL, s->late ? XSA_WARNING : XSA_ERROR);
    f.cure = s->late ? "a longer bound, or a faster supplier"
                     : "look what its supplier does: it goes on, and has not come to the signal";
    if (!s->certain) {
        an_unknown(a, XSA_STALL, f.lost, "%llu lost records could hold the end of a wait", (unsigned long long)f.lost);
        return 0;
    }
    an_finding *out = an_find(a, &f, 0, "%s; %s", an_stuck_words(a, s),
                              s->late ? "the signal came later"
                                      : an_print(a, "%s owes it and goes on", an_who(a, s->supplier, s->owes)));
    return an_evidence(a, out, s->w.id, "wait");
}

static int finish(an *a, void *state) {
    const stall *s = state;
    for (uint32_t i = 0; i < s->count; i++)
        TRY(say_long(a, &s->classes[i]));
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (a->stuck[i].late || a->stuck[i].why == AN_WHY_RUNNING ||
            (a->stuck[i].why == AN_WHY_WAITS && a->stuck[i].next == XSR_NONE))
            TRY(say_gave_up(a, &a->stuck[i]));
    return 0;
}

static void release(void *state) {
    stall *s = state;
    rd_map_free(&s->of);
    free(s->classes);
}

const an_ops an_stall = {.id = XSA_STALL,
                         .needs = AN_NEED_WAITS,
                         .state = sizeof(stall),
                         .on_wait = on_wait,
                         .finish = finish,
                         .release = release,
                         .cannot = "what is long for a wait of which there are fewer than 32 (of one pad, one rank "
                                   "that waits and one that is waited for)"};
