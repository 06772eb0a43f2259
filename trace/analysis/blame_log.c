/* The log of what the critical path can lead over: lives of writers, signals, arrivals, waits, and where records are
 * missing. */
#include "blame.h"

int blame_room(an *a) {
    an_blame *b = a->blame;
    uint32_t writers = b->writer_room, slots = b->slot_room;
    if (a->writer_count <= writers && a->slot_count <= slots)
        return 0;
    if (RD_ROOM(b->writers, b->writer_room, a->writer_count) < 0 || RD_ROOM(b->slots, b->slot_room, a->slot_count) < 0)
        return XS_E_MEMORY;
    for (; writers < b->writer_room; writers++)
        b->writers[writers] = (blame_writer){.publishes = NO_TIME, .waited = NO_TIME, .block = XSR_NONE};
    for (; slots < b->slot_room; slots++)
        b->slots[slots] = (blame_slot){.slack = NO_SLACK};
    return 0;
}

enum { SMALL = 1 << 14 }; /* entries of a short run */

/* The log doubles while it is small, and has its whole size then; when that is full its older half is settled and
 * forgotten. */
static int make_room(an *a) {
    an_blame *b = a->blame;
    uint32_t used = (uint32_t)(b->next - b->first), whole = a->options.blame_entries;
    if (used < b->room)
        return 0;
    if (b->room >= whole)
        return blame_halve(a);
    uint32_t room = !b->room ? 1024 : b->room < SMALL ? b->room * 2 : whole;
    size_t bytes = room * sizeof *b->entries;
    blame_entry *bigger = room > SMALL ? rd_large(bytes) : malloc(bytes);
    if (!bigger)
        return XS_E_MEMORY;
    for (uint64_t n = b->first; n < b->next; n++)
        bigger[(n - 1) & (room - 1)] = *blame_at(b, n);
    free(b->entries);
    b->entries = bigger;
    b->room = room;
    return 0;
}

static int add(an *a, const blame_entry *like) {
    an_blame *b = a->blame;
    blame_writer *w = &b->writers[like->writer];
    TRY(make_room(a));
    uint64_t number = b->next++;
    blame_entry *e = blame_at(b, number);
    *e = *like;
    e->before = w->last;
    w->last = number;
    w->waits |= e->kind == BLAME_WAIT || e->kind == BLAME_GAP;
    w->talks |= e->kind != BLAME_BEGIN && e->kind != BLAME_END;
    return 0;
}

/* Signals, arrivals: with what its writer did since it had its payload ready. */
static int add_signal(an *a, const xsr_event *e, blame_entry *n) {
    an_blame *b = a->blame;
    blame_writer *w = &b->writers[e->writer];
    bool arrival = an_arrives(e->kind);
    n->kind = arrival ? BLAME_ARRIVAL : BLAME_SIGNAL;
    n->from = w->publishes == NO_TIME ? e->time : w->publishes;
    n->extra = NO_SLACK;
    if (arrival) {
        n->link = b->slots[e->slot].arrival;
        n->elected = e->kind == XS_EV_ARRIVE && e->further[1] && e->value + e->further[0] == e->further[1];
    }
    TRY(add(a, n));
    if (arrival)
        b->slots[e->slot].arrival = b->next - 1;
    w->publishes = arrival && w->publishes == NO_TIME ? e->time : arrival ? w->publishes : NO_TIME;
    return 0;
}

static int add_life(an *a, const xsr_event *e, blame_entry *n) {
    an_blame *b = a->blame;
    blame_rank *r = &b->ranks[e->rank];
    n->kind = e->kind == XS_EV_WRITER_BEGIN ? BLAME_BEGIN : BLAME_END;
    n->link = n->kind == BLAME_BEGIN ? r->ended : 0;
    if (n->kind == BLAME_BEGIN && r->first == NO_TIME)
        r->first = e->time;
    TRY(add(a, n));
    if (n->kind == BLAME_BEGIN)
        return 0;
    r->ended = b->next - 1;
    if (a->model->writers[e->writer].begin != NO_TIME)
        b->writers[e->writer].ran = e->time - a->model->writers[e->writer].begin;
    return 0;
}

static bool publishes(uint32_t kind) {
    return kind == XS_EV_FENCE || kind == XS_EV_PAYLOAD_END || kind == XS_EV_BUS_FLUSH;
}

int an_blame_event(an *a, const xsr_event *e) {
    an_blame *b = a->blame;
    if (e->writer == XSR_NONE)
        return 0;
    TRY(blame_room(a));
    b->first_rank = b->first_rank == XSR_NONE ? e->rank : b->first_rank;
    b->newest = e->writer;
    b->last_id = e->id;
    blame_writer *w = &b->writers[e->writer];
    blame_entry n = {.id = e->id,
                     .time = e->time,
                     .from = e->time,
                     .released = NO_TIME,
                     .extra = NO_TIME,
                     .epoch = e->epoch,
                     .writer = e->writer,
                     .slot = e->slot,
                     .other = XSR_NONE};
    if (e->slot != XSR_NONE && (an_signals(e->kind) || an_arrives(e->kind)))
        return add_signal(a, e, &n);
    if (e->kind == XS_EV_PAYLOAD_END || (publishes(e->kind) && w->publishes == NO_TIME))
        w->publishes = e->time; /* payload that ends is ready only now */
    else if (!publishes(e->kind))
        w->publishes = NO_TIME;
    if (e->kind == XS_EV_WRITER_BEGIN || e->kind == XS_EV_WRITER_END)
        return add_life(a, e, &n);
    if (e->slot == XSR_NONE || (e->kind != XS_EV_WAIT_END && e->kind != XS_EV_PASS))
        return 0;
    n.kind = BLAME_WAIT;
    n.passed = e->kind == XS_EV_PASS;
    n.why = XSA_BLAME_SIGNAL; /* until its wait is told */
    return add(a, &n);
}

/* Number of the entry of an event; 0: it is not there (any more). What is asked for is mostly new. */
static uint64_t find(const an_blame *b, uint64_t id) {
    uint64_t low = b->first, high = b->next, at;
    for (uint64_t step = 1; step < b->next - b->first; step *= 2)
        if (blame_at(b, b->next - step)->id < id) {
            low = b->next - step;
            break;
        } else {
            high = b->next - step + 1;
        }
    RD_SEARCH(at, low, high, blame_at(b, at)->id < id);
    return at < b->next && blame_at(b, at)->id == id && blame_at(b, at)->kind != BLAME_GAP ? at : 0;
}

static uint8_t why_of(const xsr_wait *w) {
    switch (w->released_by.reason) {
    case XSR_REASON_FOUND:
    case XSR_REASON_ARRIVALS: return w->released_by.event == XSR_NO_ID ? XSA_BLAME_SIGNAL : XSA_BLAME_KNOWN;
    case XSR_REASON_INITIAL: return XSA_BLAME_KNOWN;
    case XSR_REASON_LOST: return XSA_BLAME_LOST;
    case XSR_REASON_HOST: return XSA_BLAME_HOST;
    default: return XSA_BLAME_SIGNAL;
    }
}

static void note_awaited(an *a, const xsr_wait *w, uint64_t signal) {
    blame_entry *s = blame_at(a->blame, signal);
    if (w->passed || s->time <= w->begin || s->other != XSR_NONE)
        return;
    s->other = w->rank;
    a->blame->slots[s->slot].awaited++;
}

static int take_waited(an *a, const xsr_wait *w) {
    int64_t *until = &a->blame->writers[w->writer].waited, from = w->begin > *until ? w->begin : *until;
    if (w->passed || w->end <= from)
        return 0;
    *until = w->end;
    return blame_busy(a, w->writer, from - w->end);
}

int an_blame_wait(an *a, const xsr_wait *w) {
    an_blame *b = a->blame;
    if (w->open || w->writer == XSR_NONE || w->end_lost) /* where its end is lost a gap tells so */
        return 0;
    TRY(blame_room(a));
    TRY(take_waited(a, w));
    uint64_t number = find(b, w->id);
    if (!number)
        return 0;
    blame_entry *e = blame_at(b, number);
    e->from = w->begin;
    e->failed = w->result != XS_RESULT_OK;
    e->why = w->start_lost ? XSA_BLAME_LOST : why_of(w);
    e->extra = w->last_fail;
    e->other = w->released_by.rank != XSR_NONE ? w->released_by.rank : an_rank_of(a, w->supplier_rank);
    if (e->why != XSA_BLAME_KNOWN || e->failed || w->released_by.event == XSR_NO_ID)
        return 0;
    e->released = w->released_by.time;
    e->link = find(b, w->released_by.event);
    if (e->link)
        note_awaited(a, w, e->link);
    return 0;
}

int an_blame_lost(an *a, const xsr_loss *loss) {
    an_blame *b = a->blame;
    if (loss->writer == XSR_NONE || loss->before == NO_TIME)
        return 0; /* nothing of it is known before: its first entry says so */
    TRY(an_state_room(a));
    TRY(blame_room(a));
    int64_t after = loss->after == INT64_MAX || loss->after < a->last_time ? a->last_time : loss->after;
    blame_entry n = {.id = b->last_id,
                     .kind = BLAME_GAP,
                     .time = after,
                     .from = loss->before,
                     .released = NO_TIME,
                     .extra = NO_TIME,
                     .epoch = a->writers[loss->writer].epoch,
                     .writer = loss->writer,
                     .slot = XSR_NONE,
                     .other = XSR_NONE,
                     .why = XSA_BLAME_LOST};
    return add(a, &n);
}
