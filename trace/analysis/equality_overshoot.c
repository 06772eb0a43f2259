/* D10: waits for equality. One that the value jumped over never ends; one that passed while the value then went on
 * past it was lucky. */
#include "detectors.h"
#include "hb.h"

/* passed_by: nothing made who went past it wait for it */
typedef struct lucky {
    uint64_t need, wait;
    uint32_t writer, rank;
    xsr_source source;
    int64_t begin, end;
    an_stamp stamp;
    bool any, passed_by;
} lucky;
typedef struct equality { lucky *slots; uint32_t room; } equality;

/* The newest wait of a slot; one that was passed by stays. */
static int on_step(an *a, void *state, const an_step *step) {
    equality *q = state;
    const xsr_wait *w = step->w;
    if (step->e->slot == XSR_NONE)
        return 0;
    if ((an_signals(step->e->kind) || an_arrives(step->e->kind)) && step->e->slot < q->room) {
        lucky *l = &q->slots[step->e->slot];
        l->passed_by |= l->any && !an_hb_before(a, l->stamp, step->agent);
        return 0;
    }
    if (!w || w->cmp != XS_CMP_EQ || w->result != XS_RESULT_OK)
        return 0;
    TRY(RD_ROWS(q->slots, q->room, a->slot_count));
    if (!q->slots[w->slot].passed_by)
        q->slots[w->slot] = (lucky){
            w->need, w->id, w->writer, w->rank, w->source, w->begin, w->end, {step->agent, step->epoch}, true, false};
    return 0;
}

static int say_stuck(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    xsa_finding f = an_stuck_like(a, s, XSA_EQUALITY_OVERSHOOT, XSA_ERROR);
    f.cure = "wait for at least the value (>=), never for equality, and count cumulatively";
    if (!s->certain) {
        an_unknown(a, XSA_EQUALITY_OVERSHOOT, f.lost, "%llu lost records could hold the end of a wait",
                   (unsigned long long)f.lost);
        return 0;
    }
    uint64_t passed = s->w.observed > s->w.need ? s->w.observed : x->post > x->max_value ? x->post : x->max_value;
    an_finding *out =
        an_find(a, &f, an_key(XSA_EQUALITY_OVERSHOOT, s->w.slot, 0, 0),
                "%s, for equality, and the value is past it: %llu", an_stuck_words(a, s), (unsigned long long)passed);
    TRY(an_evidence(a, out, x->signal.event, "signal"));
    TRY(an_evidence(a, out, x->arrival.event, "arrival"));
    return an_evidence(a, out, s->w.id, "wait");
}

/* It went past without a reset in between: the next time the wait may look too late. */
static int say_lucky(an *a, uint32_t slot, const lucky *l) {
    const an_slot *x = &a->slots[slot];
    uint64_t top = x->post > x->max_value ? x->post : x->max_value;
    if (top <= l->need || x->resets)
        return 0;
    xsa_finding f = an_like(XSA_EQUALITY_OVERSHOOT, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    an_victim(a, &f, l->rank, l->writer);
    an_culprit(a, &f, x->arrivals ? x->arrival.rank : x->signal.rank,
               x->arrivals ? x->arrival.writer : x->signal.writer);
    f.begin = l->begin;
    f.end = l->end;
    an_source(a, &f, l->source);
    f.cure = "wait for at least the value (>=), never for equality, and count cumulatively";
    an_finding *out = an_find(
        a, &f, an_key(XSA_EQUALITY_OVERSHOOT, slot, 0, 0),
        "%s waited for %s to equal %llu and passed, but it goes on to %llu: the wait can miss its value",
        an_who(a, l->rank, l->writer), an_slot_name(a, slot), (unsigned long long)l->need, (unsigned long long)top);
    return an_evidence(a, out, l->wait, "wait");
}

static int finish(an *a, void *state) {
    const equality *q = state;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!a->stuck[i].late && a->stuck[i].why == AN_WHY_PASSED_BY)
            TRY(say_stuck(a, &a->stuck[i]));
    for (uint32_t i = 0; i < q->room && i < a->slot_count; i++)
        if (q->slots[i].passed_by)
            TRY(say_lucky(a, i, &q->slots[i]));
    return 0;
}

static void release(void *state) { free(((equality *)state)->slots); }

const an_ops an_equality_overshoot = {.id = XSA_EQUALITY_OVERSHOOT,
                                      .needs = AN_NEED_WAITS,
                                      .state = sizeof(equality),
                                      .on_step = on_step,
                                      .finish = finish,
                                      .release = release,
                                      .cannot = "values that the writer may take and did not"};
