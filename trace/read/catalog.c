/* What describes: processes, names, pads, plans, notes. Merged over captures: processes by identity, pads by name,
 * names by kind and text. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

static uint64_t hash(const void *bytes, size_t n, uint64_t seed) {
    const unsigned char *b = bytes;
    uint64_t h = 0xcbf29ce484222325ull ^ seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3ull;
    return h;
}

/* Zero-terminated strings behind the fixed part of a payload: the i-th, "" where it is not there. */
static const char *string_at(const char *text, uint64_t bytes, uint32_t i, size_t *length) {
    for (;; i--) {
        size_t n = strnlen(text, bytes);
        if (i == 0 || n == bytes) {
            *length = i == 0 ? n : 0;
            return i == 0 ? text : "";
        }
        text += n + 1;
        bytes -= n + 1;
    }
}

static const char *keep_string(xsr_reader *reader, const unsigned char *from, uint64_t bytes, uint32_t i) {
    size_t length;
    const char *text = string_at((const char *)from, bytes, i, &length);
    return rd_arena_text(&reader->text, text, length);
}

static uint64_t identity(const xs_frame *frame) {
    uint64_t id[2] = {frame->host, frame->process};
    return hash(id, sizeof id, 0);
}

static uint32_t add_process(xsr_reader *reader, const xs_frame *frame) {
    xsr_model *m = &reader->model;
    uint32_t p = m->process_count;
    if (RD_ROOM(m->processes, reader->room.processes, p + 1) < 0 ||
        RD_ROOM(reader->processes, reader->room.proc, p + 1) < 0 ||
        rd_map_put(&reader->process_of, identity(frame), p) < 0)
        return XSR_NONE;
    m->processes[p] = (xsr_process){.host = frame->host,
                                    .process = frame->process,
                                    .host_name = "",
                                    .command = "",
                                    .executable = "",
                                    .end_time = NO_TIME,
                                    .device = frame->device,
                                    .ranks = 1,
                                    .world_ranks = 1};
    memset(&reader->processes[p], 0, sizeof reader->processes[p]);
    reader->processes[p].region.rings_per_rank = UINT32_MAX;
    reader->processes[p].region.sequence_bits = 32;
    reader->processes[p].bracket = INT64_MAX;
    reader->processes[p].first_file = reader->file;
    m->process_count++;
    return p;
}

uint32_t rd_process_of(xsr_reader *reader, const xs_frame *frame) {
    uint32_t p = rd_map_get(&reader->process_of, identity(frame));
    return p != XSR_NONE ? p : add_process(reader, frame);
}

static bool region_makes_sense(xsr_reader *reader, const xs_region_header *r) {
    return r->ranks > 0 && r->rings_per_rank > 0 && r->record_bytes == sizeof(xs_record) && r->sequence_bits > 0 &&
           r->sequence_bits <= 32 && r->first_rank < (1u << 24) && r->ranks < (1u << 24) &&
           r->ranks <= reader->rank_budget;
}

int rd_take_process(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_process head;
    if (frame->payload_bytes < sizeof head)
        return 0;
    memcpy(&head, payload, sizeof head);
    const xs_region_header *r = &head.region;
    if (r->version > XS_REGION_VERSION)
        return rd_fail(reader, XS_E_VERSION,
                       "process %d was traced by a newer version of xs (region version %u, this one reads up to %u)",
                       r->pid, r->version, XS_REGION_VERSION);
    if (r->host != frame->host || r->process != frame->process || !region_makes_sense(reader, r))
        return 0;
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (reader->processes[p].known)
        return 1;
    xsr_process *out = &reader->model.processes[p];
    const unsigned char *strings = payload + sizeof head;
    uint64_t bytes = frame->payload_bytes - sizeof head;
    out->host_name = keep_string(reader, strings, bytes, 0);
    out->command = keep_string(reader, strings, bytes, 1);
    out->executable = keep_string(reader, strings, bytes, 2);
    if (!out->host_name || !out->command || !out->executable) {
        out->host_name = out->command = out->executable = "";
        return XS_E_MEMORY;
    }
    out->pid = r->pid;
    out->device = r->device;
    out->first_rank = r->first_rank;
    out->ranks = r->ranks;
    out->world_ranks = r->world_ranks;
    out->virtual_time = r->virtual_time != 0;
    reader->rank_budget -= r->ranks;
    reader->processes[p].region = *r;
    reader->processes[p].known = true;
    return 1;
}

static uint64_t name_key(uint32_t process, uint32_t kind, uint32_t id) {
    return (uint64_t)process << 40 ^ (uint64_t)kind << 32 ^ id;
}

uint32_t rd_name(xsr_reader *reader, uint32_t process, uint32_t kind, uint32_t id) {
    return rd_map_get(&reader->name_ids, name_key(process, kind, id));
}

uint32_t rd_name_text(xsr_reader *reader, uint32_t kind, const char *text, size_t length) {
    xsr_model *m = &reader->model;
    uint64_t key = hash(text, length, kind);
    uint32_t at = rd_map_get(&reader->name_of, key);
    if (at != XSR_NONE && m->names[at].kind == kind && strlen(m->names[at].text) == length &&
        memcmp(m->names[at].text, text, length) == 0)
        return at;
    at = m->name_count;
    const char *copy = rd_arena_text(&reader->text, text, length);
    if (!copy || RD_ROOM(m->names, reader->room.names, at + 1) < 0 || rd_map_put(&reader->name_of, key, at) < 0)
        return XSR_NONE;
    m->names[at] = (xsr_name){kind, copy};
    m->name_count++;
    return at;
}

int rd_take_name(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_name head;
    if (frame->payload_bytes < sizeof head)
        return 0;
    memcpy(&head, payload, sizeof head);
    if (head.kind == 0 || head.kind > 255)
        return 0;
    size_t length;
    const char *text = string_at((const char *)payload + sizeof head, frame->payload_bytes - sizeof head, 0, &length);
    uint32_t p = rd_process_of(reader, frame), at = rd_name_text(reader, head.kind, text, length);
    if (p == XSR_NONE || at == XSR_NONE || rd_map_put(&reader->name_ids, name_key(p, head.kind, head.id), at) < 0)
        return XS_E_MEMORY;
    reader->processes[p].names_files |= head.kind == XS_NAME_FILE;
    return 1;
}

static bool pad_makes_sense(const xs_frame_pad *pad) {
    uint64_t objects = (uint64_t)pad->rows * pad->columns; /* each below 2^32: no overflow */
    return pad->rows && pad->columns && pad->owners && objects <= XS_OBJECT_MASK &&
           objects * pad->owners + pad->first <= (uint64_t)XS_OBJECT_MASK + 1;
}

static uint32_t find_pad(const xsr_model *m, const char *name, size_t length, const xs_frame_pad *pad) {
    for (uint32_t i = 0; i < m->pad_count; i++) {
        const xsr_pad *p = &m->pads[i];
        if (p->rows == pad->rows && p->columns == pad->columns && strlen(p->name) == length &&
            memcmp(p->name, name, length) == 0)
            return i;
    }
    return XSR_NONE;
}

static int add_pad(xsr_reader *reader, const xs_frame_pad *pad, const unsigned char *strings, uint64_t bytes) {
    xsr_model *m = &reader->model;
    const char *text[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!(text[i] = keep_string(reader, strings, bytes, i)))
            return XS_E_MEMORY;
    if (RD_ROOM(m->pads, reader->room.pads, m->pad_count + 1) < 0)
        return XS_E_MEMORY;
    m->pads[m->pad_count++] = (xsr_pad){text[0], text[1], text[2], pad->rows, pad->columns, pad->owners, pad->flags};
    return 0;
}

/* Later frames of a pad may bring its labels. */
static int relabel(xsr_reader *reader, uint32_t at, const unsigned char *strings, uint64_t bytes) {
    xsr_pad *pad = &reader->model.pads[at];
    const char *row = keep_string(reader, strings, bytes, 1), *column = keep_string(reader, strings, bytes, 2);
    if (!row || !column)
        return XS_E_MEMORY;
    if (*row)
        pad->row_label = row;
    if (*column)
        pad->column_label = column;
    return 0;
}

static int place_pad(rd_process *p, const xs_frame_pad *head, uint32_t pad) {
    uint32_t objects = head->rows * head->columns * head->owners, at = p->pad_count;
    for (uint32_t i = 0; i < p->pad_count; i++)
        if (p->pads[i].first == head->first)
            return 0;
    if (RD_ROOM(p->pads, p->pad_room, p->pad_count + 1) < 0)
        return XS_E_MEMORY;
    for (; at > 0 && p->pads[at - 1].first > head->first; at--)
        p->pads[at] = p->pads[at - 1];
    p->pads[at] = (rd_pad_at){head->first, objects, pad};
    p->pad_count++;
    return 0;
}

int rd_take_pad(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_pad head;
    if (frame->payload_bytes < sizeof head)
        return 0;
    memcpy(&head, payload, sizeof head);
    if (!pad_makes_sense(&head))
        return 0;
    const unsigned char *strings = payload + sizeof head;
    uint64_t bytes = frame->payload_bytes - sizeof head;
    size_t length;
    const char *name = string_at((const char *)strings, bytes, 0, &length);
    uint32_t p = rd_process_of(reader, frame), at = find_pad(&reader->model, name, length, &head);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    int rc = at == XSR_NONE ? add_pad(reader, &head, strings, bytes) : relabel(reader, at, strings, bytes);
    if (rc < 0)
        return rc;
    if (at == XSR_NONE)
        at = reader->model.pad_count - 1;
    if (head.owners > reader->model.pads[at].owners)
        reader->model.pads[at].owners = head.owners;
    rc = place_pad(&reader->processes[p], &head, at);
    return rc < 0 ? rc : 1;
}

static uint32_t pad_at(const rd_process *p, uint32_t first) {
    for (uint32_t i = 0; i < p->pad_count; i++)
        if (p->pads[i].first == first)
            return p->pads[i].pad;
    return XSR_NONE;
}

/* Ids of roles and buffers become rows of names, + 1; 0 stays "none". */
static void name_ids(xsr_reader *reader, uint32_t process, xs_plan_entry *e) {
    if (e->kind == XS_PLAN_INSIDE) {
        uint32_t buffer = e->a <= UINT32_MAX ? rd_name(reader, process, XS_NAME_BUFFER, (uint32_t)e->a) : XSR_NONE;
        e->a = buffer == XSR_NONE ? 0 : (uint64_t)buffer + 1;
    }
    if (e->kind != XS_PLAN_WRITER && e->kind != XS_PLAN_ROLE_BLOCKS)
        return;
    uint64_t *role = e->kind == XS_PLAN_WRITER ? &e->b : &e->a;
    uint32_t name = *role && *role <= UINT32_MAX ? rd_name(reader, process, XS_NAME_ROLE, (uint32_t)*role) : XSR_NONE;
    *role = name == XSR_NONE ? 0 : (uint64_t)name + 1;
}

/* The same promise is often made by every process: it is kept once. */
static int add_plan(xsr_reader *reader, uint32_t pad, const xs_plan_entry *e) {
    xsr_model *m = &reader->model;
    uint64_t key = hash(e, sizeof *e, pad);
    if (rd_map_get(&reader->plan_of, key) != XSR_NONE)
        return 0;
    if (RD_ROOM(m->plan, reader->room.plan, m->plan_count + 1) < 0 ||
        rd_map_put(&reader->plan_of, key, m->plan_count) < 0)
        return XS_E_MEMORY;
    m->plan[m->plan_count++] = (xsr_plan){pad, *e};
    reader->declared_plan = m->plan_count;
    return 0;
}

int rd_take_plan(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes % sizeof(xs_plan_entry))
        return 0;
    for (uint64_t i = 0; i < frame->payload_bytes / sizeof(xs_plan_entry); i++) {
        xs_plan_entry e;
        memcpy(&e, payload + i * sizeof e, sizeof e);
        bool everywhere = e.pad_first == XS_PLAN_ANY;
        uint32_t pad = everywhere ? XSR_NONE : pad_at(&reader->processes[p], e.pad_first);
        if (e.origin > XS_PLAN_REPORTED || (!everywhere && pad == XSR_NONE))
            continue;
        name_ids(reader, p, &e);
        int rc = add_plan(reader, pad, &e);
        if (rc < 0)
            return rc;
    }
    return 1;
}

int rd_take_note(xsr_reader *reader, const char *text, size_t bytes) {
    xsr_model *m = &reader->model;
    const char *copy = rd_arena_text(reader->opened ? &reader->run_text : &reader->text, text, strnlen(text, bytes));
    if (!copy || RD_ROOM(m->notes, reader->room.notes, m->note_count + 1) < 0)
        return XS_E_MEMORY;
    m->notes[m->note_count++] = copy;
    return 1;
}

int rd_note(xsr_reader *reader, const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    int rc = rd_take_note(reader, line, sizeof line);
    return rc < 0 ? rc : 0;
}
