/* The sink: state first where detectors need it, detectors by kind of event, verdicts at the end. */
#include "analysis.h"
#include "blame.h"
#include "hb.h"
#include "recount.h"
#include "starvation.h"

#define STALL_NS 10000000
#define LATE_NS 50000000
#define SILENT_NS 100000000
#define LAG_NS 20000

static an *of(xsr_sink *sink) { return (an *)sink; }

static int make_states(an *a) {
    for (uint32_t i = 0; an_detectors[i]; i++) {
        const an_ops *d = an_detectors[i];
        if (d->state && !(a->states[d->id] = calloc(1, d->state)))
            return XS_E_MEMORY;
    }
    return 0;
}

static int begin(xsr_sink *sink, const xsr_model *model) {
    an *a = of(sink);
    if (a->model) /* one pass an analysis */
        return XS_E_ARGUMENT;
    a->model = model;
    TRY(make_states(a));
    TRY(an_state_begin(a));
    TRY(an_plan_begin(a));
    TRY(an_recount_begin(a));
    TRY(an_blame_begin(a));
    return an_hb_begin(a);
}

static void note_seen(an *a, const xsr_event *e) {
    switch (e->kind) {
    case XS_EV_READ_BEGIN:
    case XS_EV_WRITE_BEGIN: a->seen |= AN_NEED_PAYLOAD; break;
    case XS_EV_BLOCK_ENTER:
    case XS_EV_BLOCK_LEAVE: a->seen |= AN_NEED_BLOCK_BARRIERS; break;
    case XS_EV_BARRIER_ENTER:
    case XS_EV_BARRIER_LEAVE: a->seen |= AN_NEED_BARRIERS; break;
    case XS_EV_PUBLISH: a->seen |= AN_NEED_RINGS; break;
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK: a->seen |= AN_NEED_SIGNALS | (e->epoch ? AN_NEED_EPOCHS : 0); break;
    case XS_EV_ARRIVE:
    case XS_EV_GATE_ARRIVE:
    case XS_EV_EXPECT: a->seen |= AN_NEED_ARRIVALS; break;
    case XS_EV_RESET: a->seen |= AN_NEED_RESETS; break;
    default: break;
    }
}

static int tell_epoch(an *a, const xsr_event *e) {
    if (e->kind != XS_EV_EPOCH || e->epoch <= a->ranks[e->rank].epoch)
        return 0;
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->on_epoch)
            TRY(an_detectors[i]->on_epoch(a, a->states[an_detectors[i]->id], e));
    return 0;
}

static int on_event(xsr_sink *sink, const xsr_event *e) {
    an *a = of(sink);
    if (e->rank >= a->model->rank_count)
        return 0; /* its rank is in no process of the capture */
    TRY(an_state_room(a));
    note_seen(a, e);
    TRY(tell_epoch(a, e));
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->on_event && an_detectors[i]->kinds >> e->kind & 1)
            TRY(an_detectors[i]->on_event(a, a->states[an_detectors[i]->id], e));
    TRY(an_recount_event(a, e));
    TRY(an_state_event(a, e));
    TRY(an_blame_event(a, e));
    return an_hb_event(a, e);
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    an *a = of(sink);
    if (w->rank >= a->model->rank_count)
        return 0;
    TRY(an_state_room(a));
    a->seen |= AN_NEED_WAITS; /* its status line may be all that is left of it */
    TRY(an_hb_wait(a, w));
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->on_wait)
            TRY(an_detectors[i]->on_wait(a, a->states[an_detectors[i]->id], w));
    TRY(an_blame_wait(a, w));
    return an_state_wait(a, w);
}

static int on_lost(xsr_sink *sink, const xsr_loss *loss) {
    an *a = of(sink);
    TRY(an_blame_lost(a, loss));
    TRY(an_hb_lost(a, loss));
    return an_loss_add(a, loss);
}

int an_step_tell(an *a, const an_step *step) {
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->on_step)
            TRY(an_detectors[i]->on_step(a, a->states[an_detectors[i]->id], step));
    return 0;
}

static int finish(xsr_sink *sink) {
    an *a = of(sink);
    TRY(an_state_room(a));
    TRY(an_hb_finish(a));
    TRY(an_stuck_graph(a));
    TRY(an_blame_finish(a));
    TRY(an_recount_close(a));
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->finish)
            TRY(an_detectors[i]->finish(a, a->states[an_detectors[i]->id]));
    TRY(an_findings_finish(a));
    an_starving_finish(a);
    a->finished = true;
    return 0;
}

static void with_defaults(xsa_options *o, const xsa_options *wanted) {
    if (wanted)
        memcpy(o, wanted, wanted->size < sizeof *o ? wanted->size : sizeof *o);
    o->size = sizeof *o;
    o->stall_ns = o->stall_ns > 0 ? o->stall_ns : STALL_NS;
    o->late_ns = o->late_ns > 0 ? o->late_ns : LATE_NS;
    o->silent_ns = o->silent_ns > 0 ? o->silent_ns : SILENT_NS;
    o->lag_ns = o->lag_ns > 0 ? o->lag_ns : LAG_NS;
    uint32_t entries = 1024;
    while (entries < BLAME_ENTRIES && entries < o->blame_entries)
        entries *= 2;
    o->blame_entries = o->blame_entries ? entries : BLAME_ENTRIES;
}

int xsa_open(const xsa_options *options, xsr_sink **sink) {
    if (!sink || (options && options->size == 0))
        return XS_E_ARGUMENT;
    an *a = calloc(1, sizeof *a);
    if (!a)
        return XS_E_MEMORY;
    with_defaults(&a->options, options);
    a->sink = (xsr_sink){
        .name = "analysis", .begin = begin, .event = on_event, .wait = on_wait, .lost = on_lost, .finish = finish};
    a->failed_at = a->aborted_at = INT64_MAX;
    a->first_time = a->last_time = NO_TIME;
    *sink = &a->sink;
    return 0;
}

const xsa_result *xsa_result_of(const xsr_sink *sink) {
    const an *a = (const an *)sink;
    return a && a->finished ? &a->result : NULL;
}

void xsa_close(xsr_sink *sink) {
    an *a = of(sink);
    if (!a)
        return;
    for (uint32_t i = 0; an_detectors[i]; i++) {
        void *state = a->states[an_detectors[i]->id];
        if (state && an_detectors[i]->release)
            an_detectors[i]->release(state);
        free(state);
    }
    an_hb_free(a);
    an_blame_free(a);
    free(a->starving.list);
    an_recount_free(a);
    an_plan_free(a);
    an_state_free(a);
    an_findings_free(a);
    rd_arena_free(&a->text);
    free(a);
}

int xsa_exit_code(const xsa_result *r) { return r->errors ? 1 : r->unknown ? 2 : 0; }
