/* D22: a rank whose process died, whose heartbeat stands still while others go on and wait for it, or whose kernel
 * stopped where it was: a check of its own failed, or the GPU refused to go on. */
#include "detectors.h"

static int say_stuck(an *a, const an_stuck *s, const char *why) {
    xsa_finding f = an_stuck_like(a, s, XSA_DEAD_PEER, XSA_ERROR);
    f.cure = "look why that rank died: its last events and status lines are in the capture";
    uint64_t key = an_key(XSA_DEAD_PEER, s->supplier_number, 0, 0);
    uint64_t last = s->supplier == XSR_NONE ? XSR_NO_ID : a->ranks[s->supplier].last_event;
    an_finding *out = an_find(a, &f, key, "%s; rank %u %s", an_stuck_words(a, s), s->supplier_number, why);
    TRY(an_evidence(a, out, s->w.id, "wait"));
    return an_evidence(a, out, last, "its last event");
}

/* Its beats stopped while other ranks recorded on for long. */
static bool beats_stopped(const an *a, uint32_t rank) {
    const an_rank *r = &a->ranks[rank];
    return r->beats && r->ended < r->writers && an_still(a) - r->last_beat > a->options.silent_ns &&
           an_still(a) - r->last_time > a->options.silent_ns;
}

/* The writers of a process that ended in order have ended too, unless what ran them was stopped. */
static bool never_ended(const an *a, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    const xsr_process *p = &a->model->processes[w->process];
    return w->end == NO_TIME && p->ended && p->clean;
}

static const char *kernel_of(an *a, uint32_t writer) {
    uint32_t launch = a->model->writers[writer].launch,
             kernel = launch == XSR_NONE ? XSR_NONE : a->model->launches[launch].kernel;
    return kernel == XSR_NONE ? "" : an_print(a, " %s", a->model->names[kernel].text);
}

/* Whose kernel stopped in mid-way: that of a check that failed, or of any writer that waited for nobody when its GPU
 * gave up. */
static const char *why_it_stopped(an *a, uint32_t writer) {
    if (!never_ended(a, writer))
        return NULL;
    if (a->writers[writer].abort.line)
        return an_print(a, "a check of its own failed%s; it stopped %s", an_site(a, writer, a->writers[writer].abort),
                        an_since(a, a->writers[writer].last_time));
    if (a->model->processes[a->model->writers[writer].process].abort_reason != (uint32_t)-XS_E_SYSTEM ||
        an_stuck_of_writer(a, writer) != XSR_NONE)
        return NULL;
    return an_print(a, "its kernel%s was stopped by an error of its GPU (a bad address, a trap), last heard of %s",
                    kernel_of(a, writer), an_since(a, a->writers[writer].last_time));
}

/* A wait that it left open: until the world was aborted, or until its bound, since the driver tells of an error a
 * second or more after the warp has stopped. */
static bool left_waiting(const an *a, const an_stuck *s, uint32_t writer) {
    if (s->late || s->owes != writer)
        return false;
    return s->w.open || s->w.result == XS_RESULT_ABORTED ||
           (s->w.result == XS_RESULT_TIMEOUT && a->writers[writer].last_time <= s->w.end);
}

static int say_stopped(an *a, uint32_t writer, const char *why) {
    bool waited = false;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (!left_waiting(a, s, writer))
            continue;
        waited = true;
        an_whole(a, writer, a->writers[writer].last_time, INT64_MAX); /* where its end could be */
        xsa_finding f = an_stuck_like(a, s, XSA_DEAD_PEER, XSA_ERROR);
        if (a->writers[writer].abort.line) /* where it stopped, rather than where somebody waits for it */
            an_source(a, &f, a->writers[writer].abort);
        f.cure =
            "look at its last events: they lead to the line that stopped it; compute-sanitizer finds bad addresses";
        an_finding *out = an_find(a, &f, an_key(XSA_DEAD_PEER, writer, 1, 0), "%s; %s owes it: %s",
                                  an_stuck_words(a, s), an_who(a, XSR_NONE, writer), why);
        TRY(an_evidence(a, out, a->writers[writer].last_event, "its last event"));
        TRY(an_evidence(a, out, s->w.id, "wait"));
    }
    if (waited)
        return 0;
    an_whole(a, writer, a->writers[writer].last_time, INT64_MAX);
    xsa_finding f = an_like(XSA_DEAD_PEER, XSA_ERROR, XSA_MEDIUM);
    an_culprit(a, &f, XSR_NONE, writer);
    an_source(a, &f, a->writers[writer].abort);
    f.begin = a->writers[writer].last_time;
    f.cure = "look at its last events: they lead to the line that stopped it; compute-sanitizer finds bad addresses";
    return an_evidence(a,
                       an_find(a, &f, an_key(XSA_DEAD_PEER, writer, 1, 0), "%s: %s", an_who(a, XSR_NONE, writer), why),
                       a->writers[writer].last_event, "its last event");
}

static int stopped(an *a) {
    for (uint32_t i = 0; i < a->model->process_count; i++)
        if (a->model->processes[i].abort_reason)
            for (uint32_t w = 0; w < a->writer_count; w++) {
                const char *why = a->model->writers[w].process == i ? why_it_stopped(a, w) : NULL;
                if (why)
                    TRY(say_stopped(a, w, why));
            }
    return 0;
}

static int finish(an *a, void *state) {
    (void)state;
    TRY(stopped(a));
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (s->late || s->supplier == XSR_NONE)
            continue;
        const an_rank *r = &a->ranks[s->supplier];
        if (s->why == AN_WHY_DEAD)
            TRY(say_stuck(
                a, s,
                an_print(a, "owes it and its process died%s",
                         r->last_time == NO_TIME ? "" : an_print(a, ", last heard of %s", an_since(a, r->last_time)))));
        else if (s->w.result == XS_RESULT_PEER_DEAD && s->why != AN_WHY_NO_RANK && r->last_time <= s->w.end)
            TRY(say_stuck(a, s,
                          an_print(a, "owes it and its heartbeat stood still%s",
                                   r->beats ? an_print(a, " after beat %s", an_since(a, r->last_beat)) : "")));
        else if (beats_stopped(a, s->supplier))
            TRY(say_stuck(a, s, an_print(a, "owes it and has been silent since %s", an_since(a, r->last_time))));
    }
    return 0;
}

const an_ops an_dead_peer = {.id = XSA_DEAD_PEER,
                             .finish = finish,
                             .cannot = "a rank that computes for long without a heartbeat from one that is dead; which "
                                       "of several that ran touched the bad address"};
