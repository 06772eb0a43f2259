/* D11: a wait passed on a value that is not this round's: one that nobody signalled, or one that its writer signals
 * again in a later round, so that the wait of that round could not tell the two apart. */
#include "detectors.h"
#include "class.h"

typedef struct pass {
    uint64_t wait, read, epoch, need, value;
    uint32_t writer, rank, launch, read_launch, read_writer;
    xsr_source source;
    int64_t time, read_time;
    bool again;
} pass;
typedef struct passes { pass *slots; uint32_t room; } passes;

static int room_for(an *a, passes *s) {
    TRY(RD_ROWS(s->slots, s->room, a->slot_count));
    return 0;
}

static uint32_t launch_of(const an *a, uint32_t writer) {
    return writer == XSR_NONE ? XSR_NONE : a->model->writers[writer].launch;
}

static int say_foreign(an *a, const xsr_wait *w) {
    uint32_t declared = XSR_NONE;
    bool planned = an_plan_declares_writer(a, w->slot, w->epoch, &declared);
    an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX); /* its signal: losses before it may be told only later */
    xsa_finding f = an_like(XSA_EARLY_PASS, planned ? XSA_ERROR : XSA_NOTE, planned ? XSA_HIGH : XSA_MEDIUM);
    f.slot = w->slot;
    an_victim(a, &f, w->rank, w->writer);
    f.owes_rank = planned ? declared : XSR_NONE;
    f.begin = w->begin;
    f.end = w->end;
    an_source(a, &f, w->source);
    f.cure = "set slots to 0 before the first launch, and let no memory of an earlier run be taken for a signal";
    an_finding *out =
        an_find(a, &f, an_key(XSA_EARLY_PASS, w->slot, 1, 0), "%s passed %s on %llu, which nobody has signalled%s, %s",
                an_who(a, w->rank, w->writer), an_slot_name(a, w->slot), (unsigned long long)w->observed,
                planned ? "" : " in this trace (the host may have)", an_since(a, w->end));
    return an_evidence(a, out, w->id, "wait");
}

static bool nobody_signalled(const an *a, const xsr_wait *w) {
    const an_slot *s = &a->slots[w->slot];
    int64_t clocks = s->signals ? an_clock_bound(a, s->signal.rank, w->rank) : 0;
    return w->need > 0 && w->observed >= w->need && w->cmp == XS_CMP_GE && s->first_signal > w->end + clocks &&
           !s->arrivals && !s->resets &&
           (w->reads_from.reason == XSR_REASON_HOST || w->reads_from.reason == XSR_REASON_LOST) &&
           an_capture_is_whole(a);
}

/* It passed in a later round than that of the signal that it read. */
static bool is_stale(const an *a, const xsr_wait *w, uint64_t signal_epoch, uint32_t signal_launch) {
    if (signal_launch != launch_of(a, w->writer) && signal_launch != XSR_NONE && launch_of(a, w->writer) != XSR_NONE)
        return true;
    return signal_epoch && w->epoch > signal_epoch;
}

/* epoch 0: not known */
typedef struct read_signal { uint64_t event, value, epoch; int64_t time; uint32_t writer; } read_signal;

/* What it read is known, whatever clocks say of which came first and which is the newest; else it can only have been
 * the newest. */
static read_signal read_by(const xsr_wait *w, const an_slot *x) {
    const xsr_edge *from = &w->reads_from;
    if (from->reason != XSR_REASON_FOUND || from->event == x->signal.event)
        return (read_signal){x->signal.event, x->signal.value, x->signal.epoch, x->signal.time, x->signal.writer};
    return (read_signal){from->event, from->value, 0, from->time, from->writer};
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    passes *s = state;
    if (w->open || w->end_lost || w->start_lost || w->result != XS_RESULT_OK)
        return 0;
    TRY(room_for(a, s));
    pass *p = &s->slots[w->slot];
    const an_slot *x = &a->slots[w->slot];
    if (nobody_signalled(a, w) && !an_plan_of(a, w->slot, w->epoch).host)
        TRY(say_foreign(a, w));
    read_signal read = read_by(w, x);
    bool plain = (w->reads_from.reason == XSR_REASON_FOUND || w->reads_from.reason == XSR_REASON_AMBIGUOUS) &&
                 x->signals && !x->arrivals;
    if (!plain || w->observed != read.value || !is_stale(a, w, read.epoch, launch_of(a, read.writer)))
        return 0;
    if (w->reads_from.reason == XSR_REASON_AMBIGUOUS && read.event > w->id)
        return 0;
    if (p->again && p->read == read.event && p->launch == launch_of(a, w->writer) &&
        p->launch != launch_of(a, read.writer))
        return 0; /* a whole launch runs through on it: the first signal that comes too late tells of the first wait */
    *p = (pass){w->id,     read.event, w->epoch, w->need,  w->observed, w->writer, w->rank, launch_of(a, w->writer),
                launch_of(a, read.writer), read.writer, w->source, w->end, read.time, true};
    return 0;
}

/* The value that let the wait pass is signalled once more, in the round in which it passed: that signal was the one
 * it meant. */
static int on_event(an *a, void *state, const xsr_event *e) {
    passes *s = state;
    if (e->slot == XSR_NONE || e->slot >= s->room || !s->slots[e->slot].again)
        return 0;
    pass *p = &s->slots[e->slot];
    bool same_round =
        (p->epoch && e->epoch == p->epoch) || (launch_of(a, e->writer) == p->launch && p->launch != XSR_NONE);
    if (e->value > p->value || e->value < p->need || !same_round)
        return 0;
    p->again = false;
    /* Launches are known however much is lost, and values that are never reset tell which signal it read. */
    if (p->launch == XSR_NONE || p->launch == p->read_launch || !an_never_reset(a, e->slot)) {
        an_whole_rank(a, e->rank, INT64_MIN, e->time); /* another signal, or another round of either */
        /* who signal it: one of another rank's may be what was read */
        bool several = an_pad(a, e->slot)->flags & XS_PAD_SHARED;
        /* until then: a later wait, of which the signal told */
        an_whole(a, several ? XSR_NONE : p->writer, p->read_time, e->time);
        an_whole(a, p->read_writer, INT64_MIN, p->read_time); /* of which round that signal is */
        an_only_by(a, AN_ENTERS);
    }
    an_whole_writes(a, e->slot, e->time);
    xsa_finding f = an_like(XSA_EARLY_PASS, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_victim(a, &f, p->rank, p->writer);
    an_culprit(a, &f, e->rank, e->writer);
    f.begin = p->time;
    f.end = e->time > p->time ? e->time : p->time;
    an_source(a, &f, p->source);
    f.cure = "a value that rises over rounds and launches: not one baked into a graph or started anew";
    an_finding *out =
        an_find(a, &f, an_key(XSA_EARLY_PASS, e->slot, 2, 0),
                "%s passed %s on %llu of an earlier round; %s signalled this round's only then, with %llu again, %s",
                an_who(a, p->rank, p->writer), an_slot_name(a, e->slot), (unsigned long long)p->value,
                an_who(a, e->rank, e->writer), (unsigned long long)e->value, an_since(a, e->time));
    TRY(an_evidence(a, out, p->wait, "wait"));
    TRY(an_evidence(a, out, p->read, "signal that it read"));
    return an_evidence(a, out, e->id, "signal that it should have read");
}

static void release(void *state) { free(((passes *)state)->slots); }

const an_ops an_early_pass = {.id = XSA_EARLY_PASS,
                              .needs = AN_NEED_WAITS,
                              .kinds = AN_KIND(SIGNAL) | AN_KIND(WATERMARK),
                              .state = sizeof(passes),
                              .on_event = on_event,
                              .on_wait = on_wait,
                              .release = release,
                              .cannot = "slots that the host sets, and values that an adopted pad brought along"};
