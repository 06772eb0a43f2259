/* D8: values at the end of what a 32-bit slot, or a signed compare of it, can hold. An error where a wait passed, or
 * stood still, against what the values say; a note where the limit is near and has not been passed. */
#include "detectors.h"

#define NEAR (1ull << 16)

/* Distance to the next multiple of 2^31 above, from below; those around it are where compares differ. */
static uint64_t headroom(uint64_t value) { return (1ull << 31) - (value & 0x7fffffffull); }
static bool is_near(uint64_t value) { return headroom(value) <= NEAR || (value & 0x7fffffffull) < NEAR; }
static bool narrow(const an *a, uint32_t slot) {
    return a->slots[slot].width == 32 && !(an_pad(a, slot)->flags & XS_PAD_WIDE);
}

static const char *limit_of(uint64_t value) {
    return headroom(value) <= NEAR ? ((value >> 31) & 1 ? "2^32" : "2^31") : (value >> 31) & 1 ? "2^31" : "2^32";
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    (void)state;
    if (w->open || w->start_lost || w->end_lost || w->result != XS_RESULT_OK || !is_near(w->need) || w->need < NEAR ||
        an_holds(w->cmp, w->observed, w->need))
        return 0;
    xsa_finding f = an_like(XSA_WRAP_RISK, XSA_ERROR, XSA_HIGH);
    f.slot = w->slot;
    an_victim(a, &f, w->rank, w->writer);
    an_culprit(a, &f, w->rank, w->writer);
    f.begin = w->begin;
    f.end = w->end;
    an_source(a, &f, w->source);
    f.cure = "64-bit sequences, or compare 32-bit ones by distance ((int32_t)(seen - need) >= 0)";
    an_finding *out = an_find(a, &f, an_key(XSA_WRAP_RISK, w->slot, 0, 0),
                              "%s passed %s with %llu where %llu is needed: its compare breaks at %s, %s",
                              an_who(a, w->rank, w->writer), an_slot_name(a, w->slot), (unsigned long long)w->observed,
                              (unsigned long long)w->need, limit_of(w->need), an_since(a, w->end));
    return an_evidence(a, out, w->id, "wait");
}

/* Signalled past the limit, and the waiter does not see it as enough. */
static int say_stuck(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    xsa_finding f = an_stuck_like(a, s, XSA_WRAP_RISK, XSA_ERROR);
    f.cure = "64-bit sequences, or compare 32-bit ones by distance ((int32_t)(seen - need) >= 0)";
    if (!s->certain) {
        an_windows_clear(a);
        return 0;
    }
    an_culprit(a, &f, s->w.rank, s->w.writer);
    an_finding *out = an_find(a, &f, an_key(XSA_WRAP_RISK, s->w.slot, 0, 0),
                              "%s; it was signalled %llu: the compare, or the 32 bits, break at %s",
                              an_stuck_words(a, s), (unsigned long long)x->max_value, limit_of(s->w.need));
    TRY(an_evidence(a, out, x->signal.event, "signal"));
    return an_evidence(a, out, s->w.id, "wait");
}

static int say_near(an *a, uint32_t slot) {
    const an_slot *x = &a->slots[slot];
    uint64_t top = x->max_value > x->post ? x->max_value : x->post;
    if (!narrow(a, slot) || top < NEAR || headroom(top) > NEAR)
        return 0;
    xsa_finding f = an_like(XSA_WRAP_RISK, XSA_NOTE, XSA_MEDIUM);
    f.slot = slot;
    an_culprit(a, &f, x->signals ? x->signal.rank : x->arrival.rank, x->signals ? x->signal.writer : x->arrival.writer);
    f.begin = f.end = x->signals ? x->signal.time : x->arrival.time;
    f.cure = "64-bit sequences, or compare 32-bit ones by distance";
    an_finding *out =
        an_find(a, &f, an_key(XSA_WRAP_RISK, slot, 0, 0), "%s of 32 bits stands at %llu, %llu before %s",
                an_slot_name(a, slot), (unsigned long long)top, (unsigned long long)headroom(top), limit_of(top));
    return an_evidence(a, out, x->signals ? x->signal.event : x->arrival.event, "last value");
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (!s->late && is_near(s->w.need) && s->w.need >= NEAR &&
            (s->why == AN_WHY_SIGNALLED || s->w.observed > s->w.need + (1ull << 30)))
            TRY(say_stuck(a, s));
    }
    for (uint32_t i = 0; i < a->slot_count; i++)
        TRY(say_near(a, i));
    return 0;
}

const an_ops an_wrap_risk = {.id = XSA_WRAP_RISK,
                             .needs = AN_NEED_SIGNALS | AN_NEED_ARRIVALS | AN_NEED_WAITS,
                             .on_wait = on_wait,
                             .finish = finish,
                             .cannot = "how a kernel compares, before it does so at the limit; when a value that is "
                                       "further than 65 536 from one will reach it"};
