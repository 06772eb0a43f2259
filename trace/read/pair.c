/* Two relations of every wait: reads-from, the signal whose value it observed, and released-by, the first signal
 * that brought the slot to what it needed. A wait is settled when its signal is known, or when merged time has
 * passed its end by the grace (a signal's time is read before its store, so on one clock it comes first anyway). */
#include "internal.h"

static xsr_edge edge_to(uint32_t reason, const rd_mark *m) {
    if (!m)
        return (xsr_edge){
            .reason = (uint8_t)reason, .event = XSR_NO_ID, .writer = XSR_NONE, .rank = XSR_NONE, .time = NO_TIME};
    return (xsr_edge){(uint8_t)reason, m->event.id, m->event.writer, m->event.rank, m->post, m->event.time};
}

static bool is_counter(const rd_slot *s) { return s->arrived || (s->is_shared && !s->signalled); }

static uint32_t supplier_of(const xsr_reader *reader, uint32_t slot) { return reader->model.slots[slot].supplier_rank; }

/* Why no signal with the observed value is known. */
static uint32_t missing_reason(const xsr_reader *reader, const xsr_wait *w) {
    const rd_slot *s = &reader->slots[w->slot];
    if (s->has_reset && s->reset_value == w->observed)
        return XSR_REASON_RESET;
    if (w->observed == 0)
        return XSR_REASON_INITIAL;
    if (s->evicted && w->observed <= s->evicted_max)
        return XSR_REASON_OLD;
    if (s->host_supplier && !s->signalled)
        return XSR_REASON_HOST;
    if (rd_may_be_lost(reader, supplier_of(reader, w->slot), w->end))
        return XSR_REASON_LOST;
    return s->signalled ? XSR_REASON_LOST : XSR_REASON_HOST;
}

/* The value from which on the wait is over; 0: any. */
static uint64_t threshold(const xsr_wait *w) { return w->cmp == XS_CMP_GT ? w->need + 1 : w->need; }

static uint32_t release_reason(const rd_slot *s, const rd_mark *m, uint64_t need) {
    if (m->event.kind == XS_EV_RESET)
        return XSR_REASON_RESET;
    if (is_counter(s))
        return XSR_REASON_ARRIVALS;
    if (s->evicted && s->evicted_max >= need && rd_history_is_oldest(s, m))
        return XSR_REASON_OLD;
    return m->post > need && m->gap_before ? XSR_REASON_LOST : XSR_REASON_FOUND;
}

static int find_release(xsr_reader *reader, xsr_wait *w, rd_mark *read) {
    rd_slot *s = &reader->slots[w->slot];
    uint64_t need = threshold(w);
    bool rising = w->cmp == XS_CMP_GE || w->cmp == XS_CMP_GT;
    rd_mark *m = read;
    if (w->result != XS_RESULT_OK || w->start_lost) {
        w->released_by = edge_to(w->start_lost ? XSR_REASON_LOST : XSR_REASON_OPEN, NULL);
        return 0;
    }
    if (rising && (need == 0 || (s->has_reset && s->reset_value >= need))) {
        w->released_by = edge_to(need == 0 ? XSR_REASON_INITIAL : XSR_REASON_RESET, NULL);
        return 0;
    }
    if (rising) {
        m = rd_history_first(s, need);
        m = m && m->event.time <= w->end + reader->bound ? m : read;
    }
    if (!m) {
        w->released_by = edge_to(w->reads_from.reason, NULL);
        return 0;
    }
    uint32_t reason = rising ? release_reason(s, m, need) : w->reads_from.reason;
    bool known = reason == XSR_REASON_FOUND || reason == XSR_REASON_ARRIVALS;
    w->released_by = edge_to(reason, known ? m : NULL);
    return known ? rd_history_release(m, w->id) : 0;
}

static int settle(xsr_reader *reader, xsr_wait *w, rd_mark *read) {
    int rc = find_release(reader, w, read);
    if (rc == 0 && reader->model.clock_count > 1)
        rc = rd_causal_wait(reader, w);
    if (rc)
        return rc;
    if (w->released_by.event != XSR_NO_ID)
        w->lag_ns = w->end - w->released_by.time;
    w->supplier_rank =
        w->released_by.rank != XSR_NONE ? reader->model.ranks[w->released_by.rank].rank : supplier_of(reader, w->slot);
    return rd_sink_wait(reader, w);
}

static rd_pending *pending_at(const xsr_reader *reader, uint64_t number) {
    return &reader->pending[number & (reader->pending_room - 1)];
}

/* Waits of its writer that ended before and are not settled read nothing that came later: where values come again
 * that counts. */
static int note_read(xsr_reader *reader, const xsr_wait *w, uint64_t event, bool sure) {
    rd_slot *s = &reader->slots[w->slot];
    for (uint64_t n = rd_history_repeats(s) ? s->pending_head : 0; n; n = pending_at(reader, n - 1)->next) {
        rd_pending *p = pending_at(reader, n - 1);
        if (p->wait.writer == w->writer && p->wait.id < w->id && event < p->limits.ceiling)
            p->limits.ceiling = event;
    }
    return rd_history_read(reader, s, w, event, sure);
}

/* 1: settled, 0: its signal is not known yet. */
static int try_settle(xsr_reader *reader, xsr_wait *w, const rd_limits *limits, bool last) {
    rd_slot *s = &reader->slots[w->slot];
    bool ambiguous, counter = is_counter(s);
    int rc = 0;
    rd_mark *read = rd_history_equal(reader, w, limits, &ambiguous);
    if (!read && counter && last)
        read = rd_history_newest(s, w->end);
    if (read) {
        bool unsure = rd_history_unsure(reader, s, w, read);
        if (counter || unsure || !ambiguous) /* the likeliest still bounds what comes behind */
            rc = note_read(reader, w, read->event.id, !unsure && (read->event.id < w->id || !read->gap_before));
        ambiguous |= unsure;
        uint32_t reason = counter ? XSR_REASON_ARRIVALS : ambiguous ? XSR_REASON_AMBIGUOUS : XSR_REASON_FOUND;
        w->reads_from = edge_to(reason, reason == XSR_REASON_AMBIGUOUS ? NULL : read);
        if (reason == XSR_REASON_AMBIGUOUS)
            read = NULL;
    } else if (last || (w->observed == 0 && !s->has_reset && !counter && !limits->floor)) {
        w->reads_from = edge_to(counter && w->observed ? XSR_REASON_ARRIVALS : missing_reason(reader, w), NULL);
    } else {
        return 0;
    }
    rc = rc ? rc : settle(reader, w, read);
    return rc ? rc : 1;
}

static int grow_queue(xsr_reader *reader) {
    uint32_t room = reader->pending_room ? reader->pending_room * 2 : 64;
    rd_pending *bigger = malloc(room * sizeof *bigger);
    if (!bigger)
        return XS_E_MEMORY;
    for (uint64_t n = reader->pending_first; n < reader->pending_next; n++)
        bigger[n & (room - 1)] = *pending_at(reader, n);
    free(reader->pending);
    reader->pending = bigger;
    reader->pending_room = room;
    return 0;
}

static int queue_wait(xsr_reader *reader, const xsr_wait *w, const rd_limits *limits) {
    rd_slot *s = &reader->slots[w->slot];
    if (reader->pending_next - reader->pending_first == reader->pending_room && grow_queue(reader) < 0)
        return XS_E_MEMORY;
    uint64_t number = reader->pending_next++;
    *pending_at(reader, number) = (rd_pending){.wait = *w, .limits = *limits};
    if (s->pending_tail)
        pending_at(reader, s->pending_tail - 1)->next = number + 1;
    else
        s->pending_head = number + 1;
    s->pending_tail = number + 1;
    return 0;
}

int rd_pair_wait(xsr_reader *reader, xsr_wait *w) {
    rd_limits limits = rd_history_limits(reader, &reader->slots[w->slot], w);
    int rc = try_settle(reader, w, &limits, false);
    if (rc == 0 && limits.floor) /* what it read is not known yet, but lies behind that */
        rc = note_read(reader, w, limits.floor + 1, false);
    if (rc == 0)
        return queue_wait(reader, w, &limits);
    return rc == 1 ? 0 : rc;
}

/* Waits of this slot that the newest signal settles leave the slot's chain. */
static int recheck(xsr_reader *reader, uint32_t slot) {
    rd_slot *s = &reader->slots[slot];
    uint64_t before = 0;
    for (uint64_t n = s->pending_head; n;) {
        rd_pending *p = pending_at(reader, n - 1);
        uint64_t next = p->next;
        int rc = try_settle(reader, &p->wait, &p->limits, false);
        if (rc != 0 && rc != 1)
            return rc;
        p->settled = rc == 1;
        if (!p->settled) {
            before = n;
        } else {
            if (before)
                pending_at(reader, before - 1)->next = next;
            else
                s->pending_head = next;
            if (!next)
                s->pending_tail = before;
        }
        n = next;
    }
    return 0;
}

static int pop_pending(xsr_reader *reader) {
    rd_pending *p = pending_at(reader, reader->pending_first);
    int rc = 0;
    if (!p->settled) { /* the oldest of the queue is the oldest of its slot */
        rd_slot *s = &reader->slots[p->wait.slot];
        s->pending_head = p->next;
        if (!p->next)
            s->pending_tail = 0;
        rc = try_settle(reader, &p->wait, &p->limits, true);
    }
    reader->pending_first++;
    return rc == 1 ? 0 : rc;
}

int rd_pair_time(xsr_reader *reader, int64_t now) {
    while (reader->pending_first < reader->pending_next) {
        const rd_pending *p = pending_at(reader, reader->pending_first);
        if (!p->settled && p->wait.end > now - reader->grace)
            return 0;
        int rc = pop_pending(reader);
        if (rc)
            return rc;
    }
    return 0;
}

static int reset_range(xsr_reader *reader, const xsr_event *event) {
    const xsr_slot *first = &reader->model.slots[event->slot];
    const xsr_pad *pad = &reader->model.pads[first->pad];
    uint64_t from = ((uint64_t)first->owner * pad->rows + first->row) * pad->columns + first->column;
    for (uint32_t i = 0; i < reader->model.slot_count && event->detail > 1; i++) {
        const xsr_slot *s = &reader->model.slots[i];
        uint64_t at = ((uint64_t)s->owner * pad->rows + s->row) * pad->columns + s->column;
        if (i == event->slot || s->pad != first->pad || at < from || at - from >= event->detail)
            continue;
        xsr_event here = *event;
        here.slot = i;
        reader->slots[i].last = event->value;
        reader->awaited |= reader->slots[i].held > 0;
        int rc = rd_history_add(reader, &here, event->value);
        if (rc)
            return rc;
    }
    return 0;
}

static uint64_t post_of(const xsr_event *e) {
    if (e->kind == XS_EV_ARRIVE)
        return e->value + e->further[0];
    return e->kind == XS_EV_GATE_ARRIVE ? e->value + e->detail : e->value;
}

/* An election that elected is remembered until its writer does something other than publish. */
static void note_elected(rd_ring *ring, const xsr_event *e) {
    if (e->kind == XS_EV_ARRIVE && e->further[1] && e->value + e->further[0] == e->further[1]) {
        ring->elected_by = e->id;
        ring->elect_time = e->time;
    } else if (e->kind != XS_EV_SIGNAL && e->kind != XS_EV_WATERMARK && e->kind != XS_EV_FENCE) {
        ring->elected_by = XSR_NO_ID;
    }
}

int rd_pair_event(xsr_reader *reader, const xsr_event *e) {
    rd_ring *ring = &reader->rings[e->ring];
    if (e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE)
        ring->elected_by = XSR_NO_ID; /* an arrival is elected by none */
    int rc = 0;
    if (e->slot != XSR_NONE && rd_changes_slot(e->kind)) {
        rd_slot *s = &reader->slots[e->slot];
        s->signalled |= e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK;
        s->arrived |= e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE;
        s->elects |= e->kind == XS_EV_ARRIVE;
        reader->awaited |= s->held > 0;
        rc = rd_turn_overdue(reader, e, post_of(e));
        rc = rc ? rc : rd_history_add(reader, e, post_of(e));
        if (e->kind == XS_EV_GATE_ARRIVE)
            rd_history_arrived(s, e, post_of(e));
        if (rc == 0 && e->kind == XS_EV_RESET)
            rc = reset_range(reader, e);
        if (rc == 0 && s->pending_head)
            rc = recheck(reader, e->slot);
    }
    note_elected(ring, e);
    return rc;
}

int rd_pair_finish(xsr_reader *reader) {
    while (reader->pending_first < reader->pending_next) {
        int rc = pop_pending(reader);
        if (rc)
            return rc;
    }
    return 0;
}
