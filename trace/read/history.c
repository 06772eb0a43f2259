/* The bounded history of a slot: signals, watermarks, arrivals and resets, in merged order. An entry is settled
 * (told to the sinks, with the waits that it released) when it is pushed out, and at the end. */
#include "internal.h"

/* How many entries a slot keeps by default, once all slots together have so many. */
static const struct { uint32_t all, each; } most_marks[] = {{1u << 21, 8}, {1u << 19, 16}, {1u << 17, 64}, {0, 1024}};

static rd_mark *mark_at(const rd_slot *s, uint32_t i) { return &s->marks[(s->mark_first + i) & (s->mark_room - 1)]; }

bool rd_changes_slot(uint32_t kind) {
    return kind == XS_EV_SIGNAL || kind == XS_EV_WATERMARK || kind == XS_EV_ARRIVE || kind == XS_EV_GATE_ARRIVE ||
           kind == XS_EV_RESET;
}

static int settle_mark(xsr_reader *reader, rd_mark *mark) {
    if (mark->event.kind == XS_EV_RESET || !reader->signals_wanted) {
        free(mark->more);
        mark->more = NULL;
        return 0;
    }
    xsr_signal signal = {.event = mark->event, .elected_by = mark->elected_by, .elect_time = mark->elect_time,
                         .released = mark->more ? mark->more : mark->few, .released_count = mark->released_count};
    int rc = rd_sink_signal(reader, &signal);
    free(mark->more);
    mark->more = NULL;
    mark->released_count = 0;
    return rc;
}

int rd_history_release(rd_mark *mark, uint64_t wait) {
    if (!mark->more && mark->released_count < RD_FEW) {
        mark->few[mark->released_count++] = wait;
        return 0;
    }
    uint32_t had = mark->more ? mark->released_room : 0;
    if (RD_ROOM(mark->more, mark->released_room, mark->released_count + 1) < 0)
        return XS_E_MEMORY;
    if (!had)
        memcpy(mark->more, mark->few, sizeof mark->few);
    mark->more[mark->released_count++] = wait;
    return 0;
}

static int evict(xsr_reader *reader, rd_slot *s) {
    rd_mark *oldest = mark_at(s, 0);
    int rc = settle_mark(reader, oldest);
    if (s->fresh == s->mark_count) { /* else older than the last reset */
        s->evicted_max = oldest->post > s->evicted_max ? oldest->post : s->evicted_max;
        s->evicted++;
    }
    reader->marks--;
    s->mark_first = (s->mark_first + 1) & (s->mark_room - 1);
    s->mark_count--;
    s->rising = s->rising < s->mark_count ? s->rising : s->mark_count;
    s->fresh = s->fresh < s->mark_count ? s->fresh : s->mark_count;
    return rc;
}

static void note_reset(rd_slot *s, const xsr_event *event, uint64_t value) {
    s->has_reset = true;
    s->reached = value;
    s->ahead = 0;
    s->reset_value = value;
    s->reset_event = event->id;
    s->reset_writer = event->writer;
    s->fresh = 0;
    s->rising = 0;
    s->evicted = s->evicted_max = 0; /* what was pushed out before the reset cannot be read any more */
}

static bool is_full(const xsr_reader *reader, const rd_slot *s) {
    uint32_t i = 0;
    if (reader->options.keep_signals)
        return s->mark_count == reader->options.keep_signals;
    while (reader->marks < most_marks[i].all)
        i++;
    return s->mark_count >= most_marks[i].each;
}

/* Whether stamps alone say which of the slot's writes came first. */
static void note_order(const xsr_reader *reader, rd_slot *s, const xsr_event *event, uint64_t post) {
    s->repeats |= s->mark_count > 1 && !s->arrived && post <= mark_at(s, s->mark_count - 2)->post;
    bool first = s->newest == 0 && s->certain == 0, apart = first || event->time - s->newest > reader->bound;
    if (first || (apart && s->alone))
        s->certain = first ? NO_TIME : s->newest;
    s->alone = apart;
    s->newest = first || event->time > s->newest ? event->time : s->newest;
}

int rd_history_add(xsr_reader *reader, const xsr_event *event, uint64_t post) {
    rd_slot *s = &reader->slots[event->slot];
    const rd_ring *ring = &reader->rings[event->ring];
    int rc = is_full(reader, s) ? evict(reader, s) : 0;
    if (rc == 0)
        rc = RD_CIRCLE(s->marks, s->mark_room, s->mark_first, s->mark_count);
    if (rc)
        return rc;
    bool rises = s->rising == 0 || post >= mark_at(s, s->mark_count - 1)->post;
    uint64_t gaps = reader->rank_gaps[event->rank];
    *mark_at(s, s->mark_count++) = (rd_mark){.event = *event, .post = post, .elected_by = ring->elected_by,
                                             .elect_time = ring->elect_time, .gap_before = gaps != s->gaps};
    reader->marks++;
    note_order(reader, s, event, post);
    s->gaps = gaps;
    s->rising = rises ? s->rising + 1 : 1;
    s->fresh++;
    if (event->kind == XS_EV_RESET)
        note_reset(s, event, post);
    return 0;
}

/* Index of the first entry of the rising tail [from, count) whose value is at least need. Waits mostly look at the
 * newest entries: the search gallops back from there. */
static uint32_t lower(const rd_slot *s, uint32_t from, uint64_t need) {
    uint32_t low = from, high = s->mark_count, at;
    for (uint32_t step = 1; high - from >= step; step *= 2) {
        if (mark_at(s, high - step)->post < need) {
            low = high - step + 1;
            break;
        }
        high -= step;
    }
    RD_SEARCH(at, low, high, mark_at(s, at)->post < need);
    return at;
}

static uint32_t first_from(const rd_slot *s, uint32_t from, uint64_t need) {
    uint32_t tail = s->mark_count - s->rising;
    if (tail <= from)
        return lower(s, from, need);
    while (from < s->mark_count && mark_at(s, from)->post < need)
        from++;
    return from;
}

static bool is_sorted(const rd_slot *s) { return s->rising >= s->fresh; }

/* Counts rise, in whatever order the arrivals come by. */
static rd_mark *least_from(const rd_slot *s, uint64_t need) {
    rd_mark *least = NULL;
    for (uint32_t i = s->mark_count - s->fresh; i < s->mark_count; i++) {
        rd_mark *mark = mark_at(s, i);
        least = mark->post >= need && (!least || mark->post < least->post) ? mark : least;
    }
    return least;
}

rd_mark *rd_history_first(rd_slot *s, uint64_t need) {
    if (s->arrived && !is_sorted(s))
        return least_from(s, need);
    uint32_t at = first_from(s, s->mark_count - s->fresh, need);
    return at < s->mark_count ? mark_at(s, at) : NULL;
}

static bool other_writer(const xsr_event *a, const xsr_event *b) {
    return a->rank != b->rank || (a->writer != b->writer && a->writer != XSR_NONE && b->writer != XSR_NONE);
}

static uint64_t reader_key(const xsr_reader *reader, const rd_slot *s, uint32_t writer) {
    return (uint64_t)(s - reader->slots) << 32 | writer;
}

/* What that writer read here last; NULL: nothing that is known. */
static const rd_read *read_of(const xsr_reader *reader, const rd_slot *s, uint32_t writer) {
    if (writer == XSR_NONE || !s->read.wait || s->read.by == writer)
        return writer != XSR_NONE && s->read.wait ? &s->read : NULL;
    uint32_t at = s->read_by_others ? rd_map_get(&reader->reads_of, reader_key(reader, s, writer)) : XSR_NONE;
    return at == XSR_NONE ? NULL : &reader->reads[at];
}

static int read_by_another(xsr_reader *reader, rd_slot *s, rd_read read) {
    uint64_t key = reader_key(reader, s, read.by);
    uint32_t at = rd_map_get(&reader->reads_of, key);
    if (read.by == XSR_NONE)
        return 0;
    if (at == XSR_NONE) {
        at = reader->read_count;
        if (RD_ROOM(reader->reads, reader->read_room, at + 1) < 0 || rd_map_put(&reader->reads_of, key, at) < 0)
            return XS_E_MEMORY;
        reader->reads[reader->read_count++] = (rd_read){0};
        s->read_by_others = true;
    }
    if (read.wait >= reader->reads[at].wait)
        reader->reads[at] = read;
    return 0;
}

int rd_history_read(xsr_reader *reader, rd_slot *s, const xsr_wait *w, uint64_t event, bool sure) {
    rd_read read = {.event = event, .wait = w->id, .gaps = reader->rank_gaps[w->rank], .by = w->writer, .sure = sure};
    bool comes_again = s->is_shared || s->repeats || s->has_reset;
    if (reader->hold && comes_again && s->read.wait && s->read.by != w->writer)
        return read_by_another(reader, s, read);
    if (s->read.by != w->writer || w->id >= s->read.wait)
        s->read = read;
    return 0;
}

/* A wait of its own whose first poll failed behind what that writer read before was not ended by it again. */
static uint64_t read_before(const xsr_reader *reader, const rd_slot *s, uint32_t writer, uint64_t until, bool waited) {
    const rd_read *own = read_of(reader, s, writer);
    return own && own->wait < until ? own->event + (waited && own->sure) : 0;
}

static uint64_t floor_of(const xsr_reader *reader, const rd_slot *s, uint32_t writer, uint64_t until, bool waited) {
    uint64_t floor = read_before(reader, s, writer, until, waited);
    for (uint32_t i = s->mark_count; i-- > s->mark_count - s->fresh && mark_at(s, i)->event.id > floor;)
        if (mark_at(s, i)->event.writer == writer && mark_at(s, i)->event.id < until)
            return mark_at(s, i)->event.id;
    return floor;
}

bool rd_history_repeats(const rd_slot *s) { return !s->arrived && !is_sorted(s); }

rd_limits rd_history_limits(const xsr_reader *reader, const rd_slot *s, const xsr_wait *w) {
    bool waited = reader->hold && !w->passed && w->result == XS_RESULT_OK;
    uint64_t floor = 0;
    if (rd_history_repeats(s))
        floor = floor_of(reader, s, w->writer, w->id, waited);
    else if (waited && !s->arrived)
        floor = read_before(reader, s, w->writer, w->id, true);
    return (rd_limits){floor, UINT64_MAX};
}

/* Where values come again and clocks disagree, who has seen what keeps rounds apart. A record lost since their order
 * was last certain may have told that a wait was over, or the flag set back, and from then on every wait could be
 * taken for that of a round before. */
bool rd_history_unsure(const xsr_reader *reader, const rd_slot *s, const xsr_wait *w, const rd_mark *read) {
    if (!reader->hold || reader->gap_until == NO_TIME || s->arrived)
        return false;
    const rd_read *own = read_of(reader, s, w->writer);
    bool read_again = own && own->event == read->event.id && own->gaps != reader->rank_gaps[w->rank];
    bool comes_again = s->has_reset || s->repeats || read_again;
    bool waited = !w->passed && !w->start_lost && w->result == XS_RESULT_OK;
    if (waited && read->event.time - reader->bound > w->begin && reader->gap_until < w->begin - reader->bound)
        return false; /* it was written while nothing was lost and the wait went on */
    return comes_again && (read_again || s->certain == NO_TIME || reader->gap_until >= s->certain - reader->bound);
}

/* What has its turn later than the wait was written before it ended if stamps leave that open; not what came behind
 * a later write of its writer. */
rd_mark *rd_history_equal(const xsr_reader *reader, const xsr_wait *w, const rd_limits *limits, bool *ambiguous) {
    rd_slot *s = &reader->slots[w->slot];
    rd_mark *found = NULL;
    bool sorted = is_sorted(s), repeats = rd_history_repeats(s);
    uint32_t at = sorted ? lower(s, s->mark_count - s->fresh, w->observed) : s->mark_count - s->fresh;
    *ambiguous = false;
    if (s->reset_event > w->id && s->reset_writer == w->writer)
        return NULL;
    for (; at < s->mark_count; at++) {
        rd_mark *mark = mark_at(s, at);
        if (repeats &&
            (mark->event.id > limits->ceiling || (mark->event.writer == w->writer && mark->event.id > w->id)))
            break;
        if (mark->post != w->observed || (mark->event.id > w->id && mark->event.time > w->end + reader->grace)) {
            if (sorted)
                break;
            continue;
        }
        if (mark->event.id < limits->floor)
            continue;
        *ambiguous |= found && other_writer(&found->event, &mark->event);
        found = mark;
    }
    return found;
}

bool rd_history_before_reset(const xsr_reader *reader, const rd_slot *s, uint64_t value) {
    if (!s->has_reset || s->mark_count < s->fresh + 2)
        return false;
    const rd_mark *reset = mark_at(s, s->mark_count - s->fresh - 1), *before = mark_at(s, s->mark_count - s->fresh - 2);
    return before->post == value && reader->rank_clock[before->event.rank] != reader->rank_clock[reset->event.rank] &&
        reset->event.time - before->event.time <= reader->hold;
}

#define AHEAD_MOST 256u /* entries that are looked through for the next arrival */

/* The arrival at a gate that found exactly `reached` there, if it came by already. */
static const rd_mark *next_arrival(const rd_slot *s) {
    uint32_t most = s->fresh < AHEAD_MOST ? s->fresh : AHEAD_MOST;
    for (uint32_t i = 0; i < most; i++) {
        const rd_mark *mark = mark_at(s, s->mark_count - 1 - i);
        if (mark->event.kind == XS_EV_GATE_ARRIVE && mark->event.value == s->reached && mark->post > s->reached)
            return mark;
    }
    return NULL;
}

void rd_history_arrived(rd_slot *s, const xsr_event *e, uint64_t post) {
    if (e->value > s->reached) {
        s->ahead++;
        return;
    }
    s->reached = post > s->reached ? post : s->reached;
    for (const rd_mark *mark; s->ahead && (mark = next_arrival(s)); s->ahead--)
        s->reached = mark->post;
}

bool rd_history_shows(const xsr_reader *reader, const rd_slot *s, uint64_t value, uint32_t writer, bool waited) {
    bool initial = value == (s->has_reset ? s->reset_value : 0);
    if (s->arrived)
        return (s->elects ? s->last : s->reached) >= value;
    if (is_sorted(s) && !initial)
        return s->fresh && mark_at(s, s->mark_count - 1)->post >= value &&
               mark_at(s, s->mark_count - 1)->event.id >= read_before(reader, s, writer, UINT64_MAX, waited);
    uint64_t floor = floor_of(reader, s, writer, UINT64_MAX, waited);
    for (uint32_t i = s->mark_count; i-- > s->mark_count - s->fresh && mark_at(s, i)->event.id >= floor;)
        if (mark_at(s, i)->post == value)
            return true;
    return floor == 0 && (initial || s->evicted);
}

rd_mark *rd_history_newest(rd_slot *s, int64_t until) {
    for (uint32_t i = s->mark_count; i-- > s->mark_count - s->fresh;)
        if (mark_at(s, i)->event.time <= until)
            return mark_at(s, i);
    return NULL;
}

bool rd_history_is_oldest(const rd_slot *s, const rd_mark *mark) { return s->mark_count && mark == mark_at(s, 0); }

/* The entry that the next event of this slot will write or read: asked for early, since histories outgrow the
 * caches. */
void rd_history_prefetch(const rd_slot *s, uint32_t kind) {
    if (!s->mark_room)
        return;
    const char *at = (const char *)mark_at(s, rd_changes_slot(kind) ? s->mark_count : s->mark_count - 1);
    for (size_t line = 0; line < sizeof(rd_mark); line += 64)
        __builtin_prefetch(at + line, 1);
}

int rd_history_finish(xsr_reader *reader) {
    int rc = 0;
    for (uint32_t slot = 0; slot < reader->model.slot_count && rc == 0; slot++) {
        rd_slot *s = &reader->slots[slot];
        for (uint32_t i = 0; i < s->mark_count && rc == 0; i++)
            rc = settle_mark(reader, mark_at(s, i));
    }
    return rc;
}
