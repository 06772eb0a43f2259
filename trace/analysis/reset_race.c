/* D12: a slot is set back while others still use it. A reset must come after every wait and arrival of the round
 * that it ends, and before every signal and arrival of the next; nothing else keeps the rounds apart. */
#include "detectors.h"
#include "hb.h"

typedef struct use {
    an_vector *waits, *writes;
    int64_t since, reset_time, before_time;   /* of the oldest use of this round; when `before` came */
    uint64_t waits_event, writes_event;       /* of the newest of them */
    uint32_t waits_writer, writes_writer;
    an_stamp reset;
    uint64_t reset_event, before;
    uint32_t reset_writer;
} use;
typedef struct open_wait { int64_t time; uint64_t need, event, record; uint32_t slot, writer; uint8_t cmp; } open_wait;
typedef struct resets { use *slots; uint32_t room; open_wait *open; uint32_t open_count, open_room; } resets;

static int room_for(an *a, resets *s) {
    TRY(RD_ROWS(s->slots, s->room, a->slot_count));
    return 0;
}

/* Somebody in that clock whom the agent has not heard of; XSR_NONE: nobody. */
static uint32_t unordered(const an *a, const an_vector *v, uint32_t agent) {
    for (uint32_t i = 0; v && i < v->count; i++)
        if (!an_hb_before(a, v->at[i], agent))
            return v->at[i].agent;
    return XSR_NONE;
}

static int say(an *a, uint32_t slot, uint32_t reset_writer, uint64_t reset, uint64_t other, uint32_t writer,
               const char *what, uint32_t confidence) {
    an_whole_writes(a, slot, a->last_time);
    xsa_finding f = an_like(XSA_RESET_RACE, XSA_ERROR, confidence);
    f.slot = slot;
    an_culprit(a, &f, XSR_NONE, reset_writer);
    an_victim(a, &f, XSR_NONE, writer);
    f.begin = f.end = a->slots[slot].reset.time == NO_TIME ? a->last_time : a->slots[slot].reset.time;
    f.cure = "count cumulatively and never reset; else order the reset behind all waits of its round and before all "
             "signals of the next (a barrier on both sides)";
    an_finding *out = an_find(a, &f, an_key(XSA_RESET_RACE, slot, 0, 0), "%s resets %s of rank %u %s %s, %s",
                              an_who(a, XSR_NONE, reset_writer), an_slot_name(a, slot), a->model->slots[slot].owner,
                              what, an_who(a, XSR_NONE, writer), an_since(a, f.begin));
    TRY(an_evidence(a, out, reset, "reset"));
    return an_evidence(a, out, other, "what it races with");
}

static int say_unordered(an *a, uint32_t slot, uint32_t reset_writer, uint64_t reset, uint64_t other, uint32_t writer,
                         const char *what, uint32_t before, int64_t from, uint32_t agent, int64_t to) {
    an_whole_order(a, before, from, agent, to); /* what orders the two lies between them */
    return say(a, slot, reset_writer, reset, other, writer, what, XSA_HIGH);
}

/* A poller whose value was there and that has not looked. */
static const open_wait *robbed(const an *a, const resets *s, uint32_t slot, uint64_t before, uint32_t writer) {
    for (uint32_t i = 0; i < s->open_count; i++)
        if (s->open[i].slot == slot && s->open[i].writer != writer &&
            an_holds(s->open[i].cmp, before, s->open[i].need) &&
            an_hb_agent(a, an_hb_agent_of(a, s->open[i].writer))->count == 0)
            /* else its end may only not have had its turn */
            return &s->open[i];
    return NULL;
}

static int take_reset(an *a, resets *s, const an_step *step, uint32_t slot) {
    const xsr_event *e = step->e;
    use *u = &s->slots[slot];
    const open_wait *o = robbed(a, s, slot, u->before, e->writer); /* before: what was written since the last reset */
    bool certain = o != NULL;
    uint32_t waited = unordered(a, u->waits, step->agent), wrote = unordered(a, u->writes, step->agent);
    u->reset = (an_stamp){step->agent, step->epoch};
    u->reset_event = e->id;
    u->reset_time = e->time;
    u->reset_writer = e->writer;
    if (certain && !an_holds(o->cmp, e->value, o->need)) {
        an_whole(a, o->writer, o->time, e->time); /* the end of its wait */
        an_only_by(a, AN_KIND(WAIT_END));
        an_only_between(a, o->writer, o->record, XSR_NONE, 0);
        if (o->time >= u->before_time) {
            /* it began to wait behind another reset; what came while it polled, any reset takes away */
            an_whole_rank(a, e->rank, u->since, e->time);
            an_only_by(a, AN_KIND(RESET));
            an_only_between(a, XSR_NONE, 0, e->writer, e->sequence);
        }
        TRY(say(a, slot, e->writer, e->id, o->event, o->writer, "under the poll of", XSA_HIGH));
    } else if (waited != XSR_NONE)
        TRY(say_unordered(a, slot, e->writer, e->id, u->waits_event, u->waits_writer,
                          "though nothing orders it behind the wait of", waited, u->since, step->agent, e->time));
    else if (wrote != XSR_NONE)
        TRY(say_unordered(a, slot, e->writer, e->id, u->writes_event, u->writes_writer,
                          "though nothing orders it behind what was written by", wrote, u->since, step->agent,
                          e->time));
    an_vector_drop(u->waits);
    an_vector_drop(u->writes);
    u->waits = u->writes = NULL;
    u->before = 0;
    u->since = e->time;
    return 0;
}

/* `slots` of them from this one on. */
static int take_resets(an *a, resets *s, const an_step *step) {
    const xsr_event *e = step->e;
    const xsr_slot *first = &a->model->slots[e->slot];
    const xsr_pad *pad = an_pad(a, e->slot);
    uint64_t from = ((uint64_t)first->owner * pad->rows + first->row) * pad->columns + first->column;
    TRY(take_reset(a, s, step, e->slot));
    for (uint32_t i = 0; i < a->slot_count && i < s->room && e->detail > 1; i++) {
        const xsr_slot *o = &a->model->slots[i];
        uint64_t place = ((uint64_t)o->owner * pad->rows + o->row) * pad->columns + o->column;
        if (i != e->slot && o->pad == first->pad && place >= from && place - from < e->detail)
            TRY(take_reset(a, s, step, i));
    }
    return 0;
}

static void note_ended(resets *s, const xsr_event *e) {
    for (uint32_t i = 0; i < s->open_count; i++)
        if (s->open[i].slot == e->slot && s->open[i].writer == e->writer) {
            s->open[i] = s->open[--s->open_count];
            return;
        }
}

/* It does something else: none of its waits is open any more, though the records of their ends may be lost. */
static void note_went_on(resets *s, uint32_t writer) {
    for (uint32_t i = s->open_count; i-- > 0;)
        if (s->open[i].writer == writer)
            s->open[i] = s->open[--s->open_count];
}

static int note_open(resets *s, const xsr_event *e) {
    note_ended(s, e); /* of the wait before, if that is lost */
    if (RD_ROOM(s->open, s->open_room, s->open_count + 1) < 0)
        return XS_E_MEMORY;
    s->open[s->open_count++] = (open_wait){e->time, e->need, e->id, e->sequence, e->slot, e->writer, e->cmp};
    return 0;
}

static int take_wait(an *a, use *u, const an_step *step) {
    const xsr_event *e = step->e;
    if (step->w && step->w->result != XS_RESULT_OK)
        return 0;
    bool old_round = u->reset_event && step->from && step->from->event < u->reset_event;
    if (old_round && !an_hb_before(a, (an_stamp){step->agent, step->epoch}, u->reset.agent) &&
        u->reset.agent != step->agent)
        TRY(say_unordered(a, e->slot, u->reset_writer, u->reset_event, e->id, e->writer, "before the wait ended of",
                          step->agent, step->from->time, u->reset.agent, e->time));
    u->waits_event = e->id;
    u->waits_writer = e->writer;
    return an_vector_join(&u->waits, NULL, (an_stamp){step->agent, step->epoch});
}

static int take_write(an *a, use *u, const an_step *step) {
    const xsr_event *e = step->e;
    uint64_t value = an_arrives(e->kind) ? e->value + an_weight(e) : e->value;
    if (u->reset_event && !an_hb_before(a, u->reset, step->agent))
        TRY(say_unordered(a, e->slot, u->reset_writer, u->reset_event, e->id, e->writer,
                          "though nothing orders it before what is written by", u->reset.agent, u->reset_time,
                          step->agent, e->time));
    u->before_time = value > u->before ? e->time : u->before_time;
    u->before = value > u->before ? value : u->before;
    u->writes_event = e->id;
    u->writes_writer = e->writer;
    return an_vector_join(&u->writes, NULL, (an_stamp){step->agent, step->epoch});
}

static int on_step(an *a, void *state, const an_step *step) {
    resets *s = state;
    const xsr_event *e = step->e;
    if (s->open_count && e->kind != XS_EV_WAIT_START && e->kind != XS_EV_WAIT_END && e->kind != XS_EV_PASS)
        note_went_on(s, e->writer);
    if (e->slot == XSR_NONE)
        return 0;
    TRY(room_for(a, s));
    switch (e->kind) {
    case XS_EV_RESET: return take_resets(a, s, step);
    case XS_EV_WAIT_START: return note_open(s, e);
    case XS_EV_WAIT_END: note_ended(s, e); return take_wait(a, &s->slots[e->slot], step);
    case XS_EV_PASS: return take_wait(a, &s->slots[e->slot], step);
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK:
    case XS_EV_ARRIVE:
    case XS_EV_GATE_ARRIVE: return take_write(a, &s->slots[e->slot], step);
    default: return 0;
    }
}

/* A wait that began too late: its value had been there, and a reset took it away. */
static int finish(an *a, void *state) {
    resets *s = state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *k = &a->stuck[i];
        const an_slot *x = &a->slots[k->w.slot];
        if (k->late || !k->certain || !x->resets || k->w.slot >= s->room ||
            an_found(a, XSA_RESET_RACE, an_key(XSA_RESET_RACE, k->w.slot, 0, 0)))
            continue;
        const use *u = &s->slots[k->w.slot];
        bool had = an_holds(k->w.cmp, x->arrivals ? x->post : x->signal.value, k->w.need) &&
                   !an_holds(k->w.cmp, x->reset.value, k->w.need);
        if (had && u->reset_writer != k->w.writer)
            an_whole(a, XSR_NONE, x->reset.time, an_still(a));
        if (had && u->reset_writer != k->w.writer)
            TRY(say(a, k->w.slot, u->reset_writer, u->reset_event, k->w.id, k->w.writer,
                    "and takes its value from the wait of", XSA_HIGH));
    }
    return 0;
}

static void release(void *state) {
    resets *s = state;
    for (uint32_t i = 0; i < s->room; i++) {
        an_vector_drop(s->slots[i].waits);
        an_vector_drop(s->slots[i].writes);
    }
    free(s->slots);
    free(s->open);
}

const an_ops an_reset_race = {.id = XSA_RESET_RACE,
                              .needs = AN_NEED_RESETS,
                              .state = sizeof(resets),
                              .on_step = on_step,
                              .finish = finish,
                              .release = release,
                              .cannot = "resets by the host, and waits or resets that note nothing"};
