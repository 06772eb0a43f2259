/* The walk back. It stands on a writer at a time, and knows to what that writer's time is owed: the next of its
 * signals that somebody already waited for. */
#include "blame.h"
#include "class.h"

typedef struct walk {
    an *a;
    uint32_t writer;
    uint64_t number;         /* the writer's newest entry that the path has not passed */
    int64_t at, floor;       /* cursor; what is before the floor is settled */
    uint32_t slot, waits;    /* to which slot the time is owed, index of the rank that waits for it; XSR_NONE */
    int64_t next_wait;       /* begin of the writer's next wait, or where the path left the writer */
    uint32_t line_from;      /* pieces since the path came to this writer */
    uint64_t epoch;
} walk;

int blame_piece(an_blame *b, const xsa_span *p) {
    if (p->begin >= p->end)
        return 0;
    if (RD_ROOM(b->pieces, b->piece_room, b->piece_count + 1) < 0)
        return XS_E_MEMORY;
    b->pieces[b->piece_count++] = *p;
    return 0;
}

static uint32_t rank_of(const walk *w) { return w->a->model->writers[w->writer].rank; }

/* From `from` to the cursor; the cursor moves there. owes: index of a rank. */
static int piece(walk *w, int64_t from, uint32_t part, uint32_t why, uint32_t owes, uint32_t waits, uint32_t slot) {
    from = from > w->floor ? from : w->floor;
    xsa_span p = {.begin = from,
                  .end = w->at,
                  .epoch = w->epoch,
                  .part = part,
                  .why = why,
                  .rank = an_number(w->a, waits),
                  .owes_rank = an_number(w->a, owes),
                  .slot = slot,
                  .writer = w->writer,
                  .pieces = 1};
    w->at = from < w->at ? from : w->at;
    return blame_piece(w->a->blame, &p);
}

static int own(walk *w, int64_t from, uint32_t part) {
    return piece(w, from, part, XSA_BLAME_KNOWN, rank_of(w), w->waits, w->slot);
}

static int not_known(walk *w, int64_t from, uint32_t why) {
    return piece(w, from, XSA_PART_UNKNOWN, why, rank_of(w), w->waits, w->slot);
}

static void go_to(walk *w, uint32_t writer, uint64_t number) {
    w->writer = writer;
    w->number = number;
    w->next_wait = w->at;
    w->line_from = w->a->blame->piece_count;
    w->a->blame->item_count = 0;
}

/* When the writer was last seen to do something else: a wait does not reach back behind that. */
static int64_t busy_until(const walk *w, const blame_entry *e) {
    const an_blame *b = w->a->blame;
    int64_t before = blame_has(b, e->before) ? blame_at(b, e->before)->time : NO_TIME;
    return before > e->from ? before : e->from;
}

static uint8_t tag(const an_blame *b) { return (uint8_t)(b->walks % 255 + 1); }

static bool was_here(const an_blame *b, uint64_t number) {
    return blame_has(b, number) && blame_at(b, number)->walked == tag(b);
}

static int64_t clock_bound(const walk *w, const blame_entry *e) {
    return e->other == XSR_NONE ? 0 : an_clock_bound(w->a, e->other, rank_of(w));
}

/* Signalled, but not seen before the end of the wait. */
static int seen_late(walk *w, const blame_entry *e, int64_t since) {
    uint32_t waits = rank_of(w);
    int64_t seen = e->extra > since ? e->extra < w->at ? e->extra : w->at : since;
    if (e->time - e->released <= clock_bound(w, e))
        return piece(w, since, XSA_PART_UNKNOWN, XSA_BLAME_CLOCK, e->other, waits, e->slot);
    TRY(piece(w, seen, XSA_PART_LAG, XSA_BLAME_KNOWN, waits, waits, e->slot));
    return piece(w, since, XSA_PART_LINK, XSA_BLAME_KNOWN, e->other, waits, e->slot);
}

static int over_to_signal(walk *w, const blame_entry *e) {
    const an_blame *b = w->a->blame;
    uint32_t waits = rank_of(w);
    TRY(blame_line(w->a, e, w->line_from));
    TRY(seen_late(w, e, e->released));
    w->slot = e->slot;
    w->waits = waits;
    if (blame_has(b, e->link))
        go_to(w, blame_at(b, e->link)->writer, e->link);
    else /* it is older than the log, and so is what comes before it */
        return piece(w, w->floor, XSA_PART_UNKNOWN, XSA_BLAME_SIGNAL, e->other, waits, e->slot);
    return 0;
}

static int on_wait(walk *w, const blame_entry *e) {
    const an_blame *b = w->a->blame;
    int64_t since = busy_until(w, e);
    if (!e->failed && e->why == XSA_BLAME_KNOWN && e->link && e->released > since && !e->passed &&
        !was_here(b, e->link))
        return over_to_signal(w, e);
    if (blame_line_add(w->a->blame, e, w->next_wait))
        return XS_E_MEMORY;
    w->next_wait = e->from;
    if (since < w->at && !e->passed) {
        if (e->failed)
            TRY(piece(w, since, XSA_PART_OWED, XSA_BLAME_KNOWN, e->other, rank_of(w), e->slot));
        else if (e->released == NO_TIME)
            TRY(piece(w, since, XSA_PART_UNKNOWN, e->why == XSA_BLAME_KNOWN ? XSA_BLAME_SIGNAL : e->why, e->other,
                      rank_of(w), e->slot));
        else
            TRY(seen_late(w, e, since));
    }
    w->number = blame_has(b, e->before) ? e->before : 0;
    return 0;
}

/* Before a writer there was its rank: another writer that ended, or its launch, or nothing yet. */
static int on_begin(walk *w, const blame_entry *e) {
    an *a = w->a;
    const an_blame *b = a->blame;
    uint32_t rank = rank_of(w);
    int64_t first = b->ranks[rank].first;
    if (blame_has(b, e->link)) {
        TRY(own(w, blame_at(b, e->link)->time, XSA_PART_START));
        go_to(w, blame_at(b, e->link)->writer, e->link);
        return 0;
    }
    if (e->link) /* that writer ended before what is settled */
        return own(w, w->floor, XSA_PART_START);
    if (first != NO_TIME)
        TRY(own(w, first, XSA_PART_START));
    if (w->at - a->first_time <= an_clock_bound(a, b->first_rank, rank))
        return not_known(w, w->floor, XSA_BLAME_CLOCK);
    return own(w, w->floor, XSA_PART_LATE);
}

static int on_signal(walk *w, const blame_entry *e) {
    const an_blame *b = w->a->blame;
    if (e->other != XSR_NONE) {
        w->slot = e->slot;
        w->waits = e->other;
    }
    int64_t before = blame_has(b, e->before) ? blame_at(b, e->before)->time : NO_TIME;
    TRY(own(w, before > e->from ? before : e->from, XSA_PART_PUBLISH));
    w->number = blame_has(b, e->before) ? e->before : 0;
    return 0;
}

/* From `from` to the cursor the writer did nothing that the log knows: over to the wait of its block that held it up
 * meanwhile. */
static int held_up(walk *w, int64_t from, bool *went) {
    const an_blame *b = w->a->blame;
    uint64_t wait = blame_held_up(w->a, w->writer, from > w->floor ? from : w->floor, w->at);
    *went = wait && !was_here(b, wait);
    if (!*went)
        return 0;
    TRY(own(w, blame_at(b, wait)->time, XSA_PART_COMPUTE));
    go_to(w, blame_at(b, wait)->writer, wait);
    return 0;
}

/* Its entries before are forgotten. */
static int to_the_floor(walk *w) {
    bool went;
    TRY(held_up(w, w->floor, &went));
    return went ? 0 : own(w, w->floor, XSA_PART_COMPUTE);
}

static int step(walk *w) {
    const an_blame *b = w->a->blame;
    bool went;
    TRY(held_up(w, blame_at(b, w->number)->time, &went));
    if (went)
        return 0;
    blame_entry *e = blame_at(b, w->number);
    if (e->walked == tag(b)) {
        w->number = 0;
        return not_known(w, w->floor, XSA_BLAME_SIGNAL);
    }
    e->walked = tag(b);
    w->epoch = e->epoch;
    TRY(own(w, e->time, XSA_PART_COMPUTE));
    switch (e->kind) {
    case BLAME_WAIT: TRY(on_wait(w, e)); break;
    case BLAME_SIGNAL:
    case BLAME_ARRIVAL: TRY(on_signal(w, e)); break;
    case BLAME_BEGIN: return on_begin(w, e); /* other writers, or the floor */
    case BLAME_GAP:
        TRY(not_known(w, e->from, XSA_BLAME_LOST));
        w->number = blame_has(b, e->before) ? e->before : 0;
        break;
    default: w->number = blame_has(b, e->before) ? e->before : 0; break;
    }
    if (w->number)
        return 0;
    if (e->before) /* on this writer since before the floor */
        return to_the_floor(w);
    return not_known(w, w->floor, e->kind == BLAME_GAP ? XSA_BLAME_LOST : XSA_BLAME_BEGIN);
}

int blame_walk(an *a, blame_end from) {
    an_blame *b = a->blame;
    TRY(blame_blocks(a));
    walk w = {.a = a, .at = from.end, .floor = b->settled, .slot = XSR_NONE, .waits = XSR_NONE};
    go_to(&w, from.writer, blame_has(b, from.number) ? from.number : 0);
    w.line_from = 0;
    w.epoch = a->writers[from.writer].epoch;
    b->walks++;
    if (!w.number)
        TRY(to_the_floor(&w));
    while (w.at > w.floor && w.number)
        TRY(step(&w));
    return 0;
}
