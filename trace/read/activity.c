/* What CUPTI tells: frames ACTIVITY and CUPTI. Rows keep CUPTI's times until its clock is known (rd_activity_finish).
 */
#include "internal.h"

#define LONG 10000000 /* ns: CUPTI's clock leaves the device's by less than 2 ns in it */

static uint64_t name_key(uint32_t process, uint32_t number, bool call) {
    return (uint64_t)process << 33 | (uint64_t)call << 32 | number;
}

/* Segments repeat names: the same text again is the same row. */
static int name_complete(xsr_reader *reader, uint32_t process, const rd_process *p) {
    for (int call = 0; call < 2; call++) {
        uint32_t at = rd_name_text(reader, call ? XS_NAME_CALL : XS_NAME_KERNEL, p->name_text, p->name_bytes);
        if (at == XSR_NONE || rd_map_put(&reader->activity_names, name_key(process, p->name_open, call), at) < 0)
            return XS_E_MEMORY;
    }
    return 1;
}

/* Parts follow each other; whatever does not fit drops the name. */
static int take_name(xsr_reader *reader, uint32_t process, const xs_activity_name *part) {
    rd_process *p = &reader->processes[process];
    if (part->offset == 0) {
        p->name_open = part->name;
        p->name_bytes = 0;
    }
    if (!part->name || part->name != p->name_open || part->offset != p->name_bytes ||
        part->bytes > XS_ACTIVITY_NAME_MOST || part->offset >= part->bytes)
        return 0;
    uint32_t left = part->bytes - part->offset, n = left < sizeof part->text ? left : (uint32_t)sizeof part->text;
    if (memchr(part->text, 0, n))
        return 0;
    if (RD_ROOM(p->name_text, p->name_room, p->name_bytes + n) < 0)
        return XS_E_MEMORY;
    memcpy(p->name_text + p->name_bytes, part->text, n);
    p->name_bytes += n;
    return p->name_bytes == part->bytes ? name_complete(reader, process, p) : 1;
}

static bool sane(uint64_t time) { return time > 0 && time < (uint64_t)RD_TIME_MAX; }

static int take_clock(xsr_reader *reader, uint32_t process, const xs_activity_entry *e) {
    rd_process *p = &reader->processes[process];
    if (!sane(e->begin) || !sane(e->end) || !sane(e->bytes) || e->end < e->begin)
        return 0;
    if (RD_ROOM(p->ticks, p->tick_room, p->tick_count + 1) < 0)
        return XS_E_MEMORY;
    p->ticks[p->tick_count++] = (rd_tick){(int64_t)e->begin, (int64_t)e->end, (int64_t)e->bytes};
    return 1;
}

static int take_row(xsr_reader *reader, uint32_t process, const xs_activity_entry *e) {
    xsr_model *m = &reader->model;
    if (!sane(e->begin) || !sane(e->end) || e->end < e->begin)
        return 0;
    if (RD_ROOM(m->activities, reader->room.activities, m->activity_count + 1) < 0)
        return XS_E_MEMORY;
    xsr_activity *a = &m->activities[m->activity_count++];
    *a = (xsr_activity){.kind = (uint8_t)e->kind,
                        .process = process,
                        .device = e->kind == XS_ACTIVITY_CALL ? -1 : e->device,
                        .context = e->context,
                        .stream = e->stream,
                        .correlation = e->correlation,
                        .name = e->name,
                        .call = XSR_NONE,
                        .launch = XSR_NONE,
                        .graph = e->graph,
                        .thread = e->thread,
                        .graph_node = e->graph_node,
                        .shared_static = e->shared_static,
                        .shared_dynamic = e->shared_dynamic,
                        .registers = e->registers,
                        .bytes = e->bytes,
                        .copy = e->copy,
                        .to_device = e->to_device,
                        .result = e->result,
                        .begin = (int64_t)e->begin,
                        .end = (int64_t)e->end};
    memcpy(a->grid, e->grid, sizeof a->grid);
    memcpy(a->block, e->block, sizeof a->block);
    return 1;
}

static int take_entry(xsr_reader *reader, uint32_t process, const xs_activity_entry *e) {
    xs_activity_name part;
    switch (e->kind) {
    case XS_ACTIVITY_NAME:
        memcpy(&part, e, sizeof part);
        return take_name(reader, process, &part);
    case XS_ACTIVITY_CLOCK:
        return take_clock(reader, process, e);
    case XS_ACTIVITY_KERNEL:
    case XS_ACTIVITY_COPY:
    case XS_ACTIVITY_CALL:
        return take_row(reader, process, e);
    default:
        return 0; /* of a newer version */
    }
}

int rd_take_activity(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes % sizeof(xs_activity_entry))
        return 0;
    for (uint64_t i = 0; i < frame->payload_bytes / sizeof(xs_activity_entry); i++) {
        xs_activity_entry e;
        memcpy(&e, payload + i * sizeof e, sizeof e);
        int rc = take_entry(reader, p, &e);
        if (rc < 0)
            return rc;
    }
    return 1;
}

static int64_t time_or_none(uint64_t time) { return sane(time) ? (int64_t)time : NO_TIME; }

int rd_take_cupti(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_cupti_health h;
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes < sizeof h)
        return 0;
    memcpy(&h, payload, sizeof h);
    if (h.state >= XS_CUPTI_STATE_COUNT)
        return 0;
    xsr_cupti *to = &reader->model.processes[p].cupti;
    const char *why = to->why;
    size_t bytes = strnlen(h.why, sizeof h.why);
    if (!why || strlen(why) != bytes || memcmp(why, h.why, bytes) != 0)
        why = rd_arena_text(&reader->text, h.why, bytes);
    if (!why)
        return XS_E_MEMORY;
    *to = (xsr_cupti){h.state,
                      h.version,
                      h.built,
                      time_or_none(h.since),
                      time_or_none(h.until),
                      h.kernels,
                      h.copies,
                      h.calls,
                      h.dropped,
                      h.void_stamps,
                      h.unknown,
                      h.lost,
                      why};
    return 1;
}

/* ---- when all frames are read ---- */

static int by_begin(const void *a, const void *b) {
    const xsr_activity *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1; /* calls first */
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->graph_node < y->graph_node ? -1 : x->graph_node > y->graph_node;
}

static int64_t process_offset(const xsr_reader *reader, uint32_t p) { return reader->processes[p].offset; }

/* Times and names; rows whose clock nothing relates to ours are left out. */
static int settle_rows(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        xsr_activity a = m->activities[i];
        int64_t half, begin = rd_cupti_time(&reader->processes[a.process], a.begin, &half);
        if (begin == NO_TIME)
            continue;
        a.end = begin + (a.end - a.begin) + process_offset(reader, a.process);
        a.begin = begin + process_offset(reader, a.process);
        a.name = a.name ? rd_map_get(&reader->activity_names, name_key(a.process, a.name, a.kind == XS_ACTIVITY_CALL))
                        : XSR_NONE;
        m->activities[kept++] = a;
    }
    uint32_t left_out = m->activity_count - kept;
    m->activity_count = kept;
    return left_out
               ? rd_note(
                     reader,
                     "%u kernels, copies and calls that CUPTI told of are left out: no sample of its clock was kept",
                     left_out)
               : 0;
}

static uint64_t call_key(const xsr_activity *a) { return (uint64_t)a->process << 32 | a->correlation; }

/* The call of an activity: of several with its correlation (the runtime's, and the driver's inside it) the first. */
static int link_calls(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    rd_map calls = {0};
    int rc = 0;
    for (uint32_t i = 0; i < m->activity_count && rc == 0; i++)
        if (m->activities[i].kind == XS_ACTIVITY_CALL && rd_map_get(&calls, call_key(&m->activities[i])) == XSR_NONE)
            rc = rd_map_put(&calls, call_key(&m->activities[i]), i);
    for (uint32_t i = 0; i < m->activity_count && rc == 0; i++)
        if (m->activities[i].kind != XS_ACTIVITY_CALL)
            m->activities[i].call = rd_map_get(&calls, call_key(&m->activities[i]));
    rd_map_free(&calls);
    return rc;
}

/* Seconds after the process's start; 0 where nothing was ever told. */
static double told_until(const xsr_reader *reader, uint32_t p) {
    int64_t until = reader->model.processes[p].cupti.until, start = rd_sane(reader->processes[p].region.start_time);
    return until == NO_TIME || until < start ? 0 : (double)(until - start) / SECOND;
}

/* A killed run: from when on nothing was told. */
static int note_state(xsr_reader *reader, uint32_t p) {
    const xsr_process *process = &reader->model.processes[p];
    const xsr_cupti *c = &process->cupti;
    if (c->state == XS_CUPTI_NONE || c->state == XS_CUPTI_ENDED)
        return 0;
    if (c->state == XS_CUPTI_ON || c->state == XS_CUPTI_LOST)
        return rd_note(reader,
                       "process %d: CUPTI is missing from %.6f s after its start on%s%s: later kernels are known by "
                       "their launches and ends alone",
                       process->pid, told_until(reader, p), *c->why ? ": " : "", c->why);
    return rd_note(reader, "process %d: without CUPTI: %s%s%s", process->pid, xsr_cupti_meaning(c->state),
                   *c->why ? ": " : "", c->why);
}

static void move_times(xsr_reader *reader, uint32_t p) {
    xsr_cupti *c = &reader->model.processes[p].cupti;
    c->why = c->why ? c->why : "";
    c->since += c->since == NO_TIME ? 0 : process_offset(reader, p);
    c->until += c->until == NO_TIME ? 0 : process_offset(reader, p);
}

/* Both times of a kernel are told by one conversion; over a long one the error is another at its end. */
static void move(const rd_device *d, xsr_activity *a) {
    a->moved = rd_cupti_error_at(d, a->begin);
    a->end -= a->end - a->begin > LONG ? rd_cupti_error_at(d, a->end) : a->moved;
    a->begin -= a->moved;
}

/* Kernels and copies: their times are the device's, as CUPTI brought them over. */
int rd_activity_move(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    bool moved = false;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        xsr_activity *a = &m->activities[i];
        uint32_t at = a->kind == XS_ACTIVITY_CALL ? XSR_NONE : rd_device_at(reader, a->process, a->device);
        if (at == XSR_NONE || !reader->devices[at].line_count)
            continue;
        move(&reader->devices[at], a);
        moved = true;
    }
    if (!moved)
        return 0;
    qsort(m->activities, m->activity_count, sizeof *m->activities, by_begin);
    return link_calls(reader);
}

int rd_activity_finish(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    int rc = 0;
    for (uint32_t p = 0; p < m->process_count && rc == 0; p++)
        rc = rd_cupti_pieces(&reader->processes[p]);
    if (rc == 0)
        rc = settle_rows(reader);
    if (rc == 0 && m->activity_count)
        qsort(m->activities, m->activity_count, sizeof *m->activities, by_begin);
    if (rc == 0)
        rc = link_calls(reader);
    for (uint32_t p = 0; p < m->process_count && rc == 0; p++) {
        rc = note_state(reader, p);
        move_times(reader, p);
    }
    return rc;
}
