/* D7: the values of a slot rise strictly, unless it is reset. Wide pads carry a producer's id in the high half:
 * there each id's values rise. */
#include "detectors.h"

static bool comparable(const an *a, uint32_t slot, uint64_t x, uint64_t y) {
    return !(an_pad(a, slot)->flags & XS_PAD_WIDE) || x >> 32 == y >> 32;
}

/* A reset, by whomever: of another launch, or where it may be the habit. */
static void whole_between(an *a, uint32_t slot, uint32_t writer, int64_t now, const an_touch *before) {
    bool one_launch = writer != XSR_NONE && before->writer != XSR_NONE &&
                      a->model->writers[writer].launch == a->model->writers[before->writer].launch;
    if (!one_launch || !an_never_reset(a, slot))
        an_whole(a, XSR_NONE, before->time, now);
    an_whole_writes(a, slot, now);
}

static int say(an *a, const xsr_event *e, uint32_t severity) {
    const an_slot *s = &a->slots[e->slot];
    bool falls = e->value < s->signal.value;
    whole_between(a, e->slot, e->writer, e->time, &s->signal);
    xsa_finding f = an_like(XSA_REGRESSION, severity, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[e->slot].owner;
    f.begin = f.end = e->time;
    f.cure = "sequences only rise: count on over epochs and launches, never start again or repeat a value";
    an_finding *out = an_find(
        a, &f, an_key(XSA_REGRESSION, e->slot, 0, 0), "%s signals %llu at %s of rank %u, which %s %llu already, %s",
        an_who(a, e->rank, e->writer), (unsigned long long)e->value, an_slot_name(a, e->slot), f.rank,
        falls ? "had" : "holds", (unsigned long long)s->signal.value, an_since(a, e->time));
    TRY(an_evidence(a, out, s->signal.event, "signal before"));
    return an_evidence(a, out, e->id, "signal");
}

/* Two devices' stamps may show two signals in the other order: only what one rank did is judged. */
static int on_event(an *a, void *state, const xsr_event *e) {
    (void)state;
    if (e->slot == XSR_NONE)
        return 0;
    const an_slot *s = &a->slots[e->slot];
    bool reset = s->reset.event != XSR_NO_ID && s->reset.event > s->signal.event;
    if (!s->signals || reset || s->is_state || s->signal.rank != e->rank || e->value > s->signal.value ||
        !comparable(a, e->slot, e->value, s->signal.value))
        return 0;
    return say(a, e,
               e->value == s->signal.value && e->epoch == s->signal.epoch && e->writer == s->signal.writer ? XSA_WARNING
                                                                                                           : XSA_ERROR);
}

/* What one writer observed fell. */
static int on_wait(an *a, void *state, const xsr_wait *w) {
    (void)state;
    const an_slot *s = &a->slots[w->slot];
    bool reset = s->reset.event != XSR_NO_ID && s->reset.event > s->wait.event;
    if (w->open || w->end_lost || s->is_state || s->wait.event == XSR_NO_ID || s->wait.writer != w->writer ||
        w->observed >= s->wait.value || reset || w->id < s->wait.event || s->arrivals ||
        !comparable(a, w->slot, w->observed, s->wait.value))
        return 0;
    whole_between(a, w->slot, w->writer, w->end, &s->wait);
    xsa_finding f = an_like(XSA_REGRESSION, XSA_ERROR, XSA_HIGH);
    f.slot = w->slot;
    an_victim(a, &f, w->rank, w->writer);
    an_culprit(a, &f, s->signal.rank, s->signal.writer);
    f.begin = w->begin;
    f.end = w->end;
    an_source(a, &f, w->source);
    f.cure = "sequences only rise: look for a reset that is not noted, or a second writer";
    an_finding *out =
        an_find(a, &f, an_key(XSA_REGRESSION, w->slot, 0, 0), "%s saw %llu at %s after it had seen %llu, %s",
                an_who(a, w->rank, w->writer), (unsigned long long)w->observed, an_slot_name(a, w->slot),
                (unsigned long long)s->wait.value, an_since(a, w->end));
    TRY(an_evidence(a, out, s->wait.event, "wait before"));
    return an_evidence(a, out, w->id, "wait");
}

/* Whoever waits for it knows that its values fall: it waits for less than before, or by equality, there or at
 * another slot of the pad. Not known while waits pass at their first poll, which do not tell how they compare. */
static bool flips(const an *a, uint32_t slot) {
    if (a->slots[slot].is_state || a->slots[slot].needs_fall)
        return true;
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (a->slots[i].is_state && a->model->slots[i].pad == a->model->slots[slot].pad)
            return true;
    return false;
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (an_found(a, XSA_REGRESSION, an_key(XSA_REGRESSION, i, 0, 0)) && flips(a, i))
            an_withdraw(a, an_key(XSA_REGRESSION, i, 0, 0));
    return 0;
}

const an_ops an_regression = {
    .id = XSA_REGRESSION,
    .needs = AN_NEED_SIGNALS | AN_NEED_WAITS,
    .kinds = AN_KIND(SIGNAL) | AN_KIND(WATERMARK),
    .on_event = on_event,
    .on_wait = on_wait,
    .finish = finish,
    .cannot = "resets by the host, which no record tells of; slots that are waited for by equality, or for less than "
              "before (a sense that flips); which of two ranks signalled first"};
