/* Starts and ends of waits: matched by writer and slot, in order. */
#include "internal.h"

#define END_RECORDS 5 /* the end of one wait and the start of the next take so many records: fewer hide no such pair */

static xsr_edge no_edge(uint32_t reason) {
    return (xsr_edge){
        .reason = (uint8_t)reason, .event = XSR_NO_ID, .writer = XSR_NONE, .rank = XSR_NONE, .time = NO_TIME};
}

static xsr_wait wait_of(const xsr_event *e) {
    return (xsr_wait){.id = e->id,
                      .start_event = XSR_NO_ID,
                      .begin = e->time,
                      .end = e->time,
                      .last_fail = NO_TIME,
                      .writer = e->writer,
                      .rank = e->rank,
                      .role = e->role,
                      .slot = e->slot,
                      .epoch = e->epoch,
                      .need = e->need,
                      .order = e->order,
                      .scope = e->scope,
                      .fence = e->fence,
                      .cmp = e->cmp,
                      .result = e->result,
                      .source = {e->file, 0},
                      .supplier_rank = XSR_NONE,
                      .reads_from = no_edge(XSR_REASON_OPEN),
                      .released_by = no_edge(XSR_REASON_OPEN)};
}

static void drop_open(rd_ring *r, uint32_t at) {
    memmove(&r->open[at], &r->open[at + 1], (r->open_count - at - 1) * sizeof *r->open);
    r->open_count--;
}

/* Its end is lost, but something after it proves that it is over. */
static int end_unseen(xsr_reader *reader, rd_ring *r, uint32_t at, int64_t proof) {
    xsr_wait w = r->open[at].wait;
    drop_open(r, at);
    w.end = proof;
    w.end_lost = true;
    w.open = false;
    w.reads_from = w.released_by = no_edge(XSR_REASON_LOST);
    w.supplier_rank = reader->model.slots[w.slot].supplier_rank;
    return rd_sink_wait(reader, &w);
}

static int end_unseen_all(xsr_reader *reader, rd_ring *r, int64_t proof) {
    int rc = 0;
    while (r->open_count && rc == 0)
        rc = end_unseen(reader, r, 0, r->open[0].went_on == NO_TIME ? proof : r->open[0].went_on);
    return rc;
}

/* The writer does something that is no wait. Behind a hole the ends of its open waits are in the hole; without one
 * they may yet come (a mark inside a loop that polls), and if they do not, tracing was off when they did. */
static int went_on(xsr_reader *reader, rd_ring *r, const xsr_event *e) {
    int rc = 0;
    for (uint32_t i = 0; i < r->open_count && rc == 0;) {
        rd_open_wait *o = &r->open[i];
        if (o->went_on == NO_TIME)
            o->went_on = e->time;
        if (o->missing)
            rc = end_unseen(reader, r, i, e->time);
        else
            i++;
    }
    return rc;
}

static uint32_t find_open(const rd_ring *r, uint32_t slot) {
    for (uint32_t i = 0; i < r->open_count; i++)
        if (r->open[i].slot == slot)
            return i;
    return XSR_NONE;
}

/* A writer waits for a slot once at a time: an older start of the same slot has had its end. */
static int start(xsr_reader *reader, rd_ring *r, const xsr_event *e) {
    uint32_t at = find_open(r, e->slot);
    int rc = at != XSR_NONE ? end_unseen(reader, r, at, e->time) : 0;
    if (rc)
        return rc;
    if (RD_ROOM(r->open, r->open_room, r->open_count + 1) < 0)
        return XS_E_MEMORY;
    rd_open_wait *o = &r->open[r->open_count++];
    *o = (rd_open_wait){.slot = e->slot, .went_on = NO_TIME, .wait = wait_of(e)};
    o->wait.start_event = e->id;
    o->wait.observed = e->detail;
    o->wait.end = NO_TIME;
    o->wait.open = true;
    return 0;
}

static bool holds(uint32_t cmp, uint64_t seen, uint64_t need) {
    switch (cmp) {
    case XS_CMP_EQ: return seen == need;
    case XS_CMP_NE: return seen != need;
    case XS_CMP_LT: return seen < need;
    case XS_CMP_GT: return seen > need;
    default: return seen >= need;
    }
}

/* Is this end the end of that start, though records between them are lost? Not where it gave up on what that one
 * asked for. */
static bool belongs(const rd_open_wait *o, const xsr_event *e) {
    if (o->missing && e->result != XS_RESULT_OK && holds(e->cmp, e->value, o->wait.need))
        return false;
    return o->missing < END_RECORDS || e->value == o->wait.need;
}

static void fill_end(xsr_wait *w, const xsr_event *e) {
    w->id = e->id;
    w->end = e->time;
    w->open = false;
    w->observed = e->value;
    w->polls = e->detail;
    w->slept_ns = e->further[0]; /* asked for; what a wait slept cannot be longer than it was */
    if (!w->start_lost && w->end >= w->begin && w->slept_ns > (uint64_t)(w->end - w->begin))
        w->slept_ns = (uint64_t)(w->end - w->begin);
    w->last_fail = e->further[1] && (int64_t)e->further[1] <= e->time ? e->time - (int64_t)e->further[1] : NO_TIME;
    w->source.line = (uint32_t)e->further[2] & 0xffffu;
    if (e->file != XSR_NONE)
        w->source.file = e->file;
    w->stage = (uint32_t)e->further[2] >> 16;
    w->order = e->order;
    w->scope = e->scope;
    w->fence = e->fence;
    w->cmp = e->cmp;
    w->result = e->result;
}

static int end(xsr_reader *reader, rd_ring *r, xsr_event *e, xsr_wait *w) {
    uint32_t at = find_open(r, e->slot);
    if (at != XSR_NONE && !belongs(&r->open[at], e)) {
        int rc = end_unseen(reader, r, at, e->time);
        if (rc)
            return rc;
        at = XSR_NONE;
    }
    if (at == XSR_NONE) {
        *w = wait_of(e);
        w->start_lost = true;
    } else {
        *w = r->open[at].wait;
        drop_open(r, at);
        e->need = w->need;
    }
    fill_end(w, e);
    return 0;
}

/* Returns 1 where *w is a wait that is over, to be paired once the event has been delivered. */
int rd_wait_event(xsr_reader *reader, xsr_event *e, xsr_wait *w) {
    rd_ring *r = &reader->rings[e->ring];
    int rc = 0;
    if (e->kind == XS_EV_WRITER_BEGIN || e->kind == XS_EV_WRITER_END)
        return end_unseen_all(reader, r, e->time);
    if (r->open_count && e->kind != XS_EV_WAIT_START && e->kind != XS_EV_WAIT_END && e->kind != XS_EV_PASS)
        rc = went_on(reader, r, e);
    if (rc || e->slot == XSR_NONE)
        return rc;
    if (e->kind == XS_EV_WAIT_START)
        return start(reader, r, e);
    if (e->kind == XS_EV_WAIT_END) {
        rc = end(reader, r, e, w);
        return rc ? rc : 1;
    }
    if (e->kind != XS_EV_PASS)
        return 0;
    *w = wait_of(e);
    w->passed = true;
    w->observed = e->value;
    w->polls = 1;
    return 1;
}

void rd_wait_gap(xsr_reader *reader, uint32_t ring, uint64_t records) {
    rd_ring *r = &reader->rings[ring];
    for (uint32_t i = 0; i < r->open_count; i++)
        r->open[i].missing += records;
}

/* Of the one that is open, if nothing is missing since its start. */
void rd_wait_gave_up(xsr_reader *reader, uint32_t ring, uint32_t result) {
    rd_ring *r = &reader->rings[ring];
    if (r->open_count == 1 && r->open[0].missing == 0)
        r->open[0].wait.result = (uint8_t)result;
}

static uint64_t two_words(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static int64_t line_start(const xsr_reader *reader, const rd_status *s) {
    return rd_host_time(&reader->rings[s->ring], rd_sane(two_words(s->status.p3.start_lo, s->status.p3.start_hi)));
}

static bool line_waits(const rd_status *s) {
    uint32_t state = s->status.p0.state_stage & 0xffu;
    return state == XS_LINE_WAITING || state == XS_LINE_SLOW;
}

static void take_line(xsr_reader *reader, xsr_wait *w, const rd_status *s) {
    const xs_status_line *l = &s->status;
    w->polls = two_words(l->p2.polls, l->p7.polls_hi);
    w->observed = two_words(l->p1.observed_lo, l->p1.observed_hi);
    w->stage = l->p0.state_stage >> 8 & 0xffu;
    w->source.line = l->p4.line_role & 0xffffu;
    if (l->p5.file)
        w->source.file = rd_name(reader, reader->model.rings[s->ring].process, XS_NAME_FILE, l->p5.file);
    w->word = l->p4.user;
}

/* A line is written behind its WAIT_START, and says when it was written first. A later wait for the slot needs more. */
static bool line_is_of(const xsr_reader *reader, const rd_status *s, const xsr_wait *w) {
    return line_start(reader, s) >= w->begin && s->status.p0.need_lo == (uint32_t)w->need;
}

static int finish_open(xsr_reader *reader, rd_ring *r, rd_open_wait *o) {
    o->wait.maybe_over = o->missing > 0;
    for (uint32_t i = r->status_begin; i < r->status_end; i++) {
        rd_status *s = &reader->statuses[i];
        uint32_t slot = rd_slot_of(reader, reader->model.rings[s->ring].process, s->status.p0.object);
        if (slot == RD_NO_MEMORY)
            return XS_E_MEMORY;
        if (slot == o->slot && line_is_of(reader, s, &o->wait)) {
            take_line(reader, &o->wait, s);
            o->wait.maybe_over = o->wait.maybe_over && !line_waits(s);
        }
    }
    o->wait.id = o->wait.start_event;
    o->wait.supplier_rank = reader->model.slots[o->slot].supplier_rank;
    return rd_sink_wait(reader, &o->wait);
}

/* A wait that only its status line tells of: its start is lost, or tracing was off. It gets an id behind all events. */
static int finish_line(xsr_reader *reader, const rd_status *s) {
    const xsr_ring *row = &reader->model.rings[s->ring];
    const rd_ring *r = &reader->rings[s->ring];
    uint32_t slot = rd_slot_of(reader, row->process, s->status.p0.object);
    if (slot == RD_NO_MEMORY)
        return XS_E_MEMORY;
    if (slot == XSR_NONE || find_open(r, slot) != XSR_NONE)
        return 0;
    if (rd_attribute_line(reader, s->ring) < 0)
        return XS_E_MEMORY;
    const xs_status_line *l = &s->status;
    xsr_wait w = {.id = reader->next_id++,
                  .start_event = XSR_NO_ID,
                  .begin = line_start(reader, s),
                  .end = NO_TIME,
                  .last_fail = NO_TIME,
                  .writer = r->writer,
                  .rank = row->rank,
                  .role = r->role,
                  .slot = slot,
                  .epoch = l->p3.epoch,
                  .need = two_words(l->p0.need_lo, l->p1.need_hi),
                  .cmp = (uint8_t)(l->p0.state_stage >> 24),
                  .source = {XSR_NONE, 0},
                  .open = true,
                  .start_lost = true,
                  .reads_from = no_edge(XSR_REASON_OPEN),
                  .released_by = no_edge(XSR_REASON_OPEN),
                  .supplier_rank = reader->model.slots[slot].supplier_rank};
    take_line(reader, &w, s);
    return rd_sink_wait(reader, &w);
}

static int finish_ring(xsr_reader *reader, rd_ring *r) {
    int rc = 0;
    for (uint32_t i = 0; i < r->open_count && rc == 0;) {
        if (r->open[i].went_on != NO_TIME || r->open[i].wait.result != XS_RESULT_OK)
            rc = end_unseen(reader, r, i, r->open[i].went_on == NO_TIME ? reader->model.end : r->open[i].went_on);
        else
            rc = finish_open(reader, r, &r->open[i++]);
    }
    return rc;
}

/* What is open when a process ends is told of with its end: lines told of before and not again were of waits that
 * are over. */
static bool is_over(const xsr_reader *reader, const rd_status *s) {
    uint32_t p = reader->model.rings[s->ring].process;
    const xsr_process *process = &reader->model.processes[p];
    return process->end_time != NO_TIME && s->time &&
           (int64_t)s->time + reader->processes[p].offset < process->end_time;
}

int rd_waits_finish(xsr_reader *reader) {
    int rc = 0;
    for (uint32_t i = 0; i < reader->status_count && rc == 0; i++) {
        const rd_status *s = &reader->statuses[i];
        const rd_ring *r = &reader->rings[s->ring];
        if (line_waits(s) && !is_over(reader, s) && r->heard < line_start(reader, s))
            rc = finish_line(reader, s);
    }
    for (uint32_t ring = 0; ring < reader->model.ring_count && rc == 0; ring++)
        rc = finish_ring(reader, &reader->rings[ring]);
    return rc;
}
