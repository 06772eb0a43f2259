/* Opening and closing: maps the files, reads their frames, makes the tables. */
#include "internal.h"

#include <stdio.h>

static int take_counters(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_counters c;
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes < sizeof c)
        return 0;
    memcpy(&c, payload, sizeof c);
    xsr_process *row = &reader->model.processes[p]; /* counters only rise */
    row->no_ring = c.no_ring > row->no_ring ? c.no_ring : row->no_ring;
    row->foreign = c.foreign > row->foreign ? c.foreign : row->foreign;
    row->no_line = c.no_line > row->no_line ? c.no_line : row->no_line;
    row->journal_lost = c.journal_lost > row->journal_lost ? c.journal_lost : row->journal_lost;
    return 1;
}

static int take_end(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_end e;
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes < sizeof e)
        return 0;
    memcpy(&e, payload, sizeof e);
    xsr_process *row = &reader->model.processes[p];
    row->ended = true;
    row->clean = e.clean != 0;
    row->exit_status = e.exit_status;
    row->abort_reason = e.abort_reason;
    row->tail_unknown = e.tail_unknown != 0;
    /* On its own clock still. A bounded capture repeats the frame, with later times. */
    if (frame->time && frame->time < 1ull << 62 && (row->end_time == NO_TIME || (int64_t)frame->time < row->end_time))
        row->end_time = (int64_t)frame->time;
    return 1;
}

static int take_trigger(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    reader->triggered = true;
    size_t bytes = strnlen((const char *)payload, frame->payload_bytes);
    int rc = rd_note(reader, "the rings were dumped: %.*s", (int)(bytes < 400 ? bytes : 400), (const char *)payload);
    return rc < 0 ? rc : 1;
}

/* Frames whose time says how far the capture reaches (the catalog's may be old, or repeated; END is written when the
 * recorder is done, which may be long after the last process is over). */
static void note_time(xsr_reader *reader, const xs_frame *frame) {
    bool flows = frame->type >= XS_FRAME_RECORDS && frame->type <= XS_FRAME_LOOK;
    bool ends = frame->type == XS_FRAME_STATUS || frame->type == XS_FRAME_PROCESS_END;
    if ((flows || ends) && frame->time < 1ull << 62 && (int64_t)frame->time > reader->newest_frame)
        reader->newest_frame = (int64_t)frame->time;
}

/* Frames of one pass over the rings of a process have one time. When those of a later pass come, all that had been
 * recorded by then is there. */
static void note_pass(xsr_reader *reader, const xs_frame *frame) {
    if (frame->type < XS_FRAME_RECORDS || frame->type > XS_FRAME_COUNTERS)
        return;
    uint32_t at = rd_process_of(reader, frame);
    if (at == XSR_NONE)
        return;
    rd_process *p = &reader->processes[at];
    p->file = reader->file;
    if (!frame->time || frame->time >= 1ull << 62 || (int64_t)frame->time <= p->pass)
        return;
    p->pass_before = p->pass;
    p->pass = (int64_t)frame->time;
}

int rd_take_frame(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    note_time(reader, frame);
    note_pass(reader, frame);
    switch (frame->type) {
    case XS_FRAME_PROCESS: return rd_take_process(reader, frame, payload);
    case XS_FRAME_NAME: return rd_take_name(reader, frame, payload);
    case XS_FRAME_PAD: return rd_take_pad(reader, frame, payload);
    case XS_FRAME_PLAN: return rd_take_plan(reader, frame, payload);
    case XS_FRAME_JOURNAL: return rd_take_journal(reader, frame, payload);
    case XS_FRAME_RECORDS: return rd_take_records(reader, frame, payload);
    case XS_FRAME_LOOK:
    case XS_FRAME_OWNERS:
    case XS_FRAME_STATUS:
    case XS_FRAME_LOSS: return rd_take_ring_rows(reader, frame, payload);
    case XS_FRAME_COUNTERS: return take_counters(reader, frame, payload);
    case XS_FRAME_TRIGGER: return take_trigger(reader, frame, payload);
    case XS_FRAME_NOTE: return rd_take_note(reader, (const char *)payload, frame->payload_bytes);
    case XS_FRAME_PROCESS_END: return take_end(reader, frame, payload);
    case XS_FRAME_ACTIVITY: return rd_take_activity(reader, frame, payload);
    case XS_FRAME_CUPTI: return rd_take_cupti(reader, frame, payload);
    case XS_FRAME_END: return reader->model.closed = reader->files[reader->file].closed = true;
    default: return 1; /* FILE, and what newer versions add */
    }
}

/* A process that no frame says has ended, in a capture that was not closed: its tail is unknown. */
static void finish_processes(xsr_reader *reader) {
    for (uint32_t p = 0; p < reader->model.process_count; p++) {
        xsr_process *row = &reader->model.processes[p];
        const rd_process *in = &reader->processes[p];
        bool whole = row->ended || reader->files[in->file].closed;
        row->known_until = whole ? INT64_MAX : in->pass_before ? in->pass_before : NO_TIME;
        row->tail_unknown |= !whole;
    }
}

/* What runs without a record of it is told. */
static int note_untraced(xsr_reader *reader) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->model.launch_count; i++)
        count += reader->model.launches[i].room.untraced != 0;
    return count ? rd_note(reader, "launches that ran without tracing, which was stopped (XS_PLAIN_STOPPED): %u", count)
                 : 0;
}

static int open_paths(xsr_reader *reader, const char *const *paths, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t files = reader->file_count;
        int rc = paths[i] ? rd_open_path(reader, paths[i]) : XS_E_ARGUMENT;
        if (rc)
            return rc;
        for (; files < reader->file_count; files++)
            reader->files[files].given = i;
    }
    return 0;
}

/* Captures of two runs were read as one: every slot of the one was taken for the other's. A rank that came again
 * within a run is in one capture. */
static int check_worlds(xsr_reader *reader, const char *const *paths) {
    const xsr_model *m = &reader->model;
    for (uint32_t b = 1; b < m->process_count; b++)
        for (uint32_t a = 0; a < b; a++) {
            const xsr_process *p = &m->processes[a], *q = &m->processes[b];
            uint32_t first = p->first_rank > q->first_rank ? p->first_rank : q->first_rank;
            uint32_t in_p = reader->files[reader->processes[a].first_file].given,
                     in_q = reader->files[reader->processes[b].first_file].given;
            if (in_p != in_q && reader->processes[a].known && reader->processes[b].known &&
                first - p->first_rank < p->ranks && first - q->first_rank < q->ranks)
                return rd_fail(reader, XS_E_FORMAT, "%s and %s are two runs, not two parts of one: each has a rank %u",
                               paths[in_p], paths[in_q], first);
        }
    return 0;
}

static int read_files(xsr_reader *reader, const char *const *paths, uint32_t count) {
    int opened = open_paths(reader, paths, count);
    if (opened)
        return opened;
    reader->rank_budget = 4096 + reader->file_bytes / 64;
    for (uint32_t i = 0; i < reader->file_count; i++) {
        reader->file = i;
        int rc = reader->files[i].bytes ? rd_scan_file(reader, &reader->files[i]) : 0;
        if (rc)
            return rc;
    }
    finish_processes(reader);
    int rc = count > 1 ? check_worlds(reader, paths) : 0;
    if (rc == 0)
        rc = rd_index_finish(reader);
    if (rc == 0)
        rc = rd_clocks_finish(reader);
    if (rc == 0)
        rc = note_untraced(reader);
    return rc ? rc : rd_plan_index_make(reader);
}

static xsr_options with_defaults(const xsr_options *options) {
    xsr_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.size = sizeof o;
    return o;
}

int xsr_open(const char *const *paths, uint32_t count, const xsr_options *options, xsr_reader **out,
             const char **error_text) {
    const char *nowhere;
    error_text = error_text ? error_text : &nowhere;
    *error_text = "no capture is named";
    if (!out)
        return XS_E_ARGUMENT;
    *out = NULL;
    if (!paths || !count)
        return XS_E_ARGUMENT;
    *error_text = "out of memory";
    xsr_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return XS_E_MEMORY;
    *out = reader;
    reader->options = with_defaults(options);
    rd_names_ready();
    int rc = read_files(reader, paths, count);
    reader->opened = rc == 0;
    reader->model.windowed = reader->windowed;
    reader->model.trimmed = reader->trimmed;
    reader->model.triggered = reader->triggered;
    reader->declared_notes = reader->model.note_count;
    if (rc == 0)
        rd_pass_reset(reader);
    else if (reader->error[0])
        *error_text = reader->error;
    return rc;
}

const xsr_model *xsr_model_of(const xsr_reader *reader) { return reader ? &reader->model : NULL; }

static void free_slots(xsr_reader *reader) {
    for (uint32_t i = 0; i < reader->model.slot_count; i++) {
        rd_slot *s = &reader->slots[i];
        for (uint32_t k = 0; k < s->mark_count; k++)
            free(s->marks[(s->mark_first + k) & (s->mark_room - 1)].more);
        free(s->marks);
    }
    reader->model.slot_count = 0;
}

/* Back to what the catalog says: tables that a pass makes are emptied. */
void rd_pass_reset(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    rd_feed_free(reader);
    free_slots(reader);
    rd_map_free(&reader->slot_of);
    rd_map_free(&reader->slot_at);
    rd_map_free(&reader->reads_of);
    reader->read_count = 0;
    rd_arena_free(&reader->run_text);
    m->writer_count = 0;
    m->plan_count = reader->declared_plan;
    m->note_count = reader->declared_notes;
    rd_clocks_reset(reader);
    rd_map_free(&reader->reported_of);
    reader->reported_count = 0;
    reader->reported_more = 0;
    reader->next_id = 1;
    reader->marks = 0;
    reader->gap_until = NO_TIME;
    reader->pending_first = reader->pending_next = 0;
    for (uint32_t i = 0; i < m->rank_count; i++)
        m->ranks[i].first_epoch = m->ranks[i].last_epoch = 0;
    for (uint32_t i = 0; i < m->ring_count; i++) {
        xsr_ring *row = &m->rings[i];
        rd_ring *r = &reader->rings[i];
        *row = (xsr_ring){.process = row->process, .ring = row->ring, .rank = row->rank};
        r->owner = r->owner_begin;
        r->writer = r->role = r->ordinal = XSR_NONE;
        r->epoch = 0;
        r->writing = false;
        r->heard = NO_TIME;
        r->after = 1;
        r->open_count = 0;
        r->elected_by = XSR_NO_ID;
    }
}

static void free_rings(xsr_reader *reader) {
    for (uint32_t i = 0; i < reader->model.ring_count; i++) {
        free(reader->rings[i].holes);
        free(reader->rings[i].open);
    }
    free(reader->rings);
}

static void free_maps(xsr_reader *reader) {
    rd_map *maps[] = {&reader->process_of, &reader->ring_of, &reader->name_of, &reader->name_ids,
                      &reader->launch_of, &reader->journal_of, &reader->status_of, &reader->plan_of, &reader->slot_of, &reader->slot_at, &reader->reads_of,
                      &reader->activity_names, &reader->device_of, &reader->pair_of, &reader->reported_of};
    for (uint32_t i = 0; i < sizeof maps / sizeof *maps; i++)
        rd_map_free(maps[i]);
}

static void free_process(rd_process *p) {
    free(p->pads);
    free(p->ticks);
    free(p->pieces);
    free(p->name_text);
}

void xsr_close(xsr_reader *reader) {
    if (!reader)
        return;
    xsr_model *m = &reader->model;
    rd_feed_free(reader);
    free_slots(reader);
    free(reader->reads);
    free_rings(reader);
    for (uint32_t p = 0; p < m->process_count; p++)
        free_process(&reader->processes[p]);
    for (uint32_t d = 0; d < reader->device_count; d++) {
        free(reader->devices[d].samples);
        free(reader->devices[d].brackets);
        free(reader->devices[d].lines);
        free(reader->devices[d].fit.knots);
    }
    for (uint32_t c = 0; reader->clocks && c < m->clock_count; c++)
        free(reader->clocks[c].parked);
    free_maps(reader);
    rd_planned_free(&reader->planned);
    void *arrays[] = {
        m->processes,       m->ranks,       m->pads,           m->slots,        m->names,         m->launches,
        m->writers,         m->rings,       m->clocks,         m->plan,         m->activities,    m->notes,
        reader->spans,      reader->losses, reader->owners,    reader->looks,   reader->statuses, reader->processes,
        reader->slots,      reader->heap,   reader->rank_gaps, reader->pending, reader->devices,  reader->device_rings,
        reader->rank_clock, reader->clocks, reader->pairs,     reader->reported};
    for (uint32_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    rd_close_files(reader);
    rd_arena_free(&reader->text);
    rd_arena_free(&reader->run_text);
    free(reader);
}
