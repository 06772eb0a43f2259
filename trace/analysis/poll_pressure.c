/* D21: many who poll one slot at a time, polls over a link (a slot is polled where it lives), and polls of a cache
 * line that payload is written to. Where payload lies is known where its name is that of a buffer of xs: its chunk i
 * is taken to begin at i times its bytes. */
#include "detectors.h"

#define CROWD 256u     /* waits for one slot at a time */
#define FAR_POLLS 64u  /* polls of another rank's memory, or of a line that is written to */
#define LINE      128u /* bytes */
#define LINE_WRITES 4u /* of payload */

typedef struct crowd {
    uint32_t now, most, rank; /* of the last of them */
    uint64_t event;
    int64_t time;
    uint64_t far_polls, far_wait;
    uint32_t far_writer;
    xsr_source far_source;
    int64_t far_begin, far_end;
} crowd;
typedef struct line { /* of an adopted slot in a buffer */
    xsr_plan place;
    uint64_t writes, polls, write, wait;
    uint32_t writer, waiter, slot;
    xsr_source source;
    int64_t begin, end;
} line;
typedef struct pressure {
    crowd *slots;
    uint32_t room;
    line *lines;
    uint32_t line_count, line_room;
    bool looked;
} pressure;

static int find_lines(const an *a, pressure *p) {
    for (uint32_t i = 0; !p->looked && i < a->model->plan_count; i++) {
        const xsr_plan *plan = &a->model->plan[i];
        if (plan->entry.kind != XS_PLAN_INSIDE || plan->pad == XSR_NONE || plan->entry.a == 0)
            continue;
        if (RD_ROOM(p->lines, p->line_room, p->line_count + 1) < 0)
            return XS_E_MEMORY;
        p->lines[p->line_count++] = (line){.place = *plan, .slot = XSR_NONE};
    }
    p->looked = true;
    return 0;
}

static void take_write(const an *a, pressure *p, const xsr_event *e) {
    uint64_t bytes = e->further[2], from = e->value * bytes,
             owner = e->further[0] == XS_NO_PEER ? an_number(a, e->rank) : e->further[0];
    for (uint32_t i = 0; i < p->line_count && e->object < a->model->name_count && bytes; i++) {
        line *l = &p->lines[i];
        const xs_plan_entry *at = &l->place.entry;
        uint64_t begin = at->b / LINE * LINE;
        if (at->owner != owner || from >= begin + LINE || from + bytes <= begin ||
            strcmp(a->model->names[at->a - 1].text, a->model->names[e->object].text) != 0)
            continue;
        l->writes++;
        l->write = e->id;
        l->writer = e->writer;
    }
}

static void take_polls(const an *a, pressure *p, const xsr_wait *w) {
    const xsr_slot *s = &a->model->slots[w->slot];
    for (uint32_t i = 0; i < p->line_count; i++) {
        line *l = &p->lines[i];
        const xs_plan_entry *at = &l->place.entry;
        if (l->place.pad != s->pad || at->owner != s->owner || at->row != s->row || at->column != s->column)
            continue;
        l->begin = l->polls ? l->begin : w->begin;
        l->end = w->open ? a->last_time : w->end;
        l->polls += w->polls;
        l->wait = w->id;
        l->waiter = w->writer;
        l->slot = w->slot;
        l->source = w->source;
    }
}

static crowd *crowd_of(an *a, pressure *p, uint32_t slot) {
    if (RD_ROWS(p->slots, p->room, a->slot_count) < 0)
        return NULL;
    return &p->slots[slot];
}

static int on_event(an *a, void *state, const xsr_event *e) {
    if (e->kind == XS_EV_WRITE_BEGIN) {
        TRY(find_lines(a, state));
        take_write(a, state, e);
        return 0;
    }
    crowd *c = e->slot == XSR_NONE ? NULL : crowd_of(a, state, e->slot);
    if (!c)
        return e->slot == XSR_NONE ? 0 : XS_E_MEMORY;
    if (e->kind == XS_EV_WAIT_END) {
        c->now -= c->now > 0;
    } else if (++c->now > c->most) {
        c->most = c->now;
        c->rank = e->rank;
        c->event = e->id;
        c->time = e->time;
    }
    return 0;
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    uint32_t owner = an_rank_of(a, a->model->slots[w->slot].owner);
    TRY(find_lines(a, state));
    if (!w->passed)
        take_polls(a, state, w);
    if (w->passed || owner == XSR_NONE || a->ranks[owner].device_key == a->ranks[w->rank].device_key)
        return 0;
    crowd *c = crowd_of(a, state, w->slot);
    if (!c)
        return XS_E_MEMORY;
    c->far_begin = c->far_polls ? c->far_begin : w->begin;
    c->far_polls += w->polls;
    c->far_wait = w->id;
    c->far_writer = w->writer;
    c->far_source = w->source;
    c->far_end = w->open ? a->last_time : w->end;
    return 0;
}

static int say_crowd(an *a, uint32_t slot, const crowd *c) {
    xsa_finding f = an_like(XSA_POLL_PRESSURE, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    f.owes_rank = f.rank = an_number(a, c->rank); /* who polls, wherever the slot lives */
    f.begin = f.end = c->time;
    f.cure = "one that polls and tells the others (a barrier of the block, a shared word), and a back-off";
    an_finding *out = an_find(a, &f, an_key(XSA_POLL_PRESSURE, a->model->slots[slot].pad, f.rank, 1),
                              "%u writers poll %s of rank %u at a time, %s", c->most, an_slot_name(a, slot),
                              a->model->slots[slot].owner, an_since(a, c->time));
    return an_evidence(a, out, c->event, "wait of the last of them");
}

static int say_far(an *a, uint32_t slot, const crowd *c) {
    xsa_finding f = an_like(XSA_POLL_PRESSURE, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    an_culprit(a, &f, XSR_NONE, c->far_writer);
    an_victim(a, &f, XSR_NONE, c->far_writer);
    f.begin = c->far_begin;
    f.end = c->far_end;
    an_source(a, &f, c->far_source);
    f.cure = "let the signal be stored into the waiter's own copy, and poll that";
    an_finding *out = an_find(a, &f, an_key(XSA_POLL_PRESSURE, a->model->slots[slot].pad, f.owes_rank, 2),
                              "%s polls %s in the memory of rank %u, over the link: %llu polls%s",
                              an_who(a, XSR_NONE, c->far_writer), an_slot_name(a, slot), a->model->slots[slot].owner,
                              (unsigned long long)c->far_polls, an_site(a, c->far_writer, c->far_source));
    return an_evidence(a, out, c->far_wait, "wait");
}

static int say_line(an *a, const line *l) {
    xsa_finding f = an_like(XSA_POLL_PRESSURE, XSA_WARNING, XSA_HIGH);
    f.slot = l->slot;
    an_culprit(a, &f, XSR_NONE, l->writer);
    an_victim(a, &f, XSR_NONE, l->waiter);
    f.begin = l->begin;
    f.end = l->end;
    an_source(a, &f, l->source);
    f.cure = "a cache line of its own (128 bytes) for what is polled";
    an_finding *out = an_find(a, &f, an_key(XSA_POLL_PRESSURE, l->slot, 3, 0),
                              "%s writes %s into the cache line of %s, which %s polls (%llu polls, %llu writes): each "
                              "takes the line from the other%s",
                              an_who(a, XSR_NONE, l->writer), a->model->names[l->place.entry.a - 1].text,
                              an_slot_name(a, l->slot), an_who(a, XSR_NONE, l->waiter), (unsigned long long)l->polls,
                              (unsigned long long)l->writes, an_site(a, l->waiter, l->source));
    TRY(an_evidence(a, out, l->write, "write into the line"));
    return an_evidence(a, out, l->wait, "wait");
}

static int finish(an *a, void *state) {
    const pressure *p = state;
    for (uint32_t i = 0; i < p->room && i < a->slot_count; i++) {
        if (p->slots[i].most >= CROWD)
            TRY(say_crowd(a, i, &p->slots[i]));
        if (p->slots[i].far_polls >= FAR_POLLS)
            TRY(say_far(a, i, &p->slots[i]));
    }
    for (uint32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].polls >= FAR_POLLS && p->lines[i].writes >= LINE_WRITES)
            TRY(say_line(a, &p->lines[i]));
    return 0;
}

static void release(void *state) {
    free(((pressure *)state)->slots);
    free(((pressure *)state)->lines);
}

const an_ops an_poll_pressure = {.id = XSA_POLL_PRESSURE,
                                 .needs = AN_NEED_WAITS,
                                 .kinds = AN_KIND(WAIT_START) | AN_KIND(WAIT_END) | AN_KIND(WRITE_BEGIN),
                                 .state = sizeof(pressure),
                                 .on_event = on_event,
                                 .on_wait = on_wait,
                                 .finish = finish,
                                 .release = release,
                                 .cannot = "pollers that note nothing; what polls cost those who wait for the link; "
                                           "payload in memory that is no buffer of its name"};
