/* From the words of an event to its meaning: 64-bit values, slots, names, attribution. */
#include "internal.h"

#include <xs/backoff.h>

#define CHUNK_ROWS 64u /* a watermark of one record finishes a whole chunk */

static uint64_t wide(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

/* A value of a slot: all 64 bits where the records hold them, else unwrapped. */
static uint64_t value_of(const rd_slot *s, const rd_raw *raw, bool full, uint32_t high, uint32_t low) {
    return full && raw->furthers ? wide(high, low) : rd_unwrap(s->last, low);
}

static void advance(rd_slot *s, uint64_t value) { s->last = value > s->last ? value : s->last; }

static void decode_wait_start(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    e->detail = value_of(s, raw, !s->narrow, raw->further[2], raw->detail);
    advance(s, e->detail);
    e->value = e->need = value_of(s, raw, !s->narrow, raw->further[1], raw->value);
}

/* All ones, or the file in its place: what back-off asks for in so many polls. Threads of a host do not sleep for
 * that. */
static uint64_t slept(const rd_raw *raw, bool both, uint64_t polls) {
    uint32_t low = raw->further[1], high = both ? raw->further[3] & 0xffffu : 0xffffu;
    if (raw->named || (low == UINT32_MAX && high == 0xffffu))
        return raw->yields ? 0 : xs_backoff_slept(polls < UINT32_MAX ? (uint32_t)polls : UINT32_MAX);
    return wide(both ? high : 0, low);
}

static uint64_t observed_of(const rd_slot *s, const rd_raw *raw) {
    if (raw->kind == XS_EV_PASS)
        return value_of(s, raw, raw->full, raw->further[1], raw->value);
    return raw->furthers && !s->narrow ? wide(raw->furthers == 2 ? raw->further[4] : 0, raw->value)
                                       : rd_unwrap(s->last, raw->value);
}

bool rd_observed(const xsr_reader *reader, uint32_t ring, uint32_t slot, uint64_t *value) {
    const rd_raw *raw = &reader->rings[ring].raw;
    if (raw->kind != XS_EV_PASS && raw->kind != XS_EV_WAIT_END)
        return false;
    *value = observed_of(&reader->slots[slot], raw);
    return true;
}

/* need stays 0 here: the start of the wait holds it (wait.c). Slots of 32 bits wrap: their high half is always 0. */
static void decode_wait_end(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    const uint32_t *f = raw->further;
    bool both = raw->furthers == 2; /* else the high halves are 0 */
    e->value = observed_of(s, raw);
    advance(s, e->value);
    e->detail = wide(both ? f[3] >> 16 & 0xffu : 0, raw->detail);
    e->further[0] = raw->furthers ? slept(raw, both, e->detail) : 0;
    e->further[1] = raw->furthers ? f[2] : 0;
    e->further[2] = raw->furthers ? f[0] & ~(raw->named ? XS_END_NAMED : 0u) : 0;
}

static void decode_pass(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    e->value = observed_of(s, raw);
    advance(s, e->value);
    e->need = raw->full ? value_of(s, raw, true, raw->further[2], raw->detail) : e->value;
    e->detail = e->need;
}

static void decode_arrive(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    if (!raw->full) {
        rd_arrive_packed(s, e, raw->value);
    } else {
        e->value = value_of(s, raw, true, raw->further[1], raw->value);
        e->detail = raw->detail;
        e->further[0] = raw->furthers ? raw->further[0] : 1;
        e->further[1] = raw->furthers && raw->further[2] ? rd_unwrap(e->value, raw->further[2]) : 0;
        rd_arrive_full(s, e);
    }
    advance(s, e->value + e->further[0]);
}

static void decode_gate(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    e->value = value_of(s, raw, raw->full, raw->further[1], raw->value);
    e->detail = raw->full ? raw->detail : 1; /* one record: one arrival */
    advance(s, e->value + e->detail);
}

static void decode_stored(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    e->value = value_of(s, raw, raw->full, raw->further[1], raw->value);
    e->detail = raw->detail;
    if (raw->kind == XS_EV_WATERMARK && !raw->full)
        e->detail = CHUNK_ROWS;
    if (raw->kind == XS_EV_RESET)
        s->last = e->value;
    else
        advance(s, e->value);
}

static void decode_slot_event(rd_slot *s, const rd_raw *raw, xsr_event *e) {
    switch (raw->kind) {
    case XS_EV_WAIT_START: decode_wait_start(s, raw, e); return;
    case XS_EV_WAIT_END: decode_wait_end(s, raw, e); return;
    case XS_EV_PASS: decode_pass(s, raw, e); return;
    case XS_EV_ARRIVE: decode_arrive(s, raw, e); return;
    case XS_EV_GATE_ARRIVE: decode_gate(s, raw, e); return;
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK:
    case XS_EV_RESET: decode_stored(s, raw, e); return;
    case XS_EV_PUBLISH:
    case XS_EV_CONSUME:
        e->value = value_of(s, raw, raw->full, raw->further[1], raw->value);
        e->further[0] = raw->further[0];
        break;
    case XS_EV_BARRIER_ENTER:
    case XS_EV_BARRIER_LEAVE:
    case XS_EV_SKIP: e->value = rd_unwrap(s->last, raw->value); break;
    default: e->value = rd_event_info_of(raw->kind)->unwrap ? rd_unwrap(s->last, raw->value) : raw->value; break;
    }
    e->detail = raw->detail;
    e->need = raw->kind == XS_EV_SKIP ? e->value : 0;
}

/* Events without a slot, and those whose object lies in no pad that the capture describes. */
static void decode_plain(const rd_raw *raw, xsr_event *e) {
    e->value = raw->value;
    e->detail = raw->detail;
    for (uint32_t i = 0; i < 3; i++)
        e->further[i] = raw->further[i];
    if (raw->kind == XS_EV_WRITER_BEGIN) {
        e->further[1] = raw->further[1] & 0xffffu;
        e->further[2] = raw->further[1] >> 16;
    } else if (raw->kind == XS_EV_EPOCH || raw->kind == XS_EV_WRITER_END) {
        e->value = wide(raw->detail, raw->value);
        e->detail = 0;
    }
}

/* The number of the source file that the event names; 0: none. */
static uint32_t file_of(const rd_raw *raw) {
    switch (raw->kind) {
    case XS_EV_FENCE:
    case XS_EV_ABORT: return raw->object;
    case XS_EV_WAIT_START: return raw->furthers ? raw->further[0] : 0;
    case XS_EV_WAIT_END: return raw->named ? raw->further[1] : 0;
    default: return 0;
    }
}

static void name_file(xsr_reader *reader, uint32_t process, const rd_raw *raw, xsr_event *e) {
    uint32_t id = file_of(raw);
    if (id)
        e->file = rd_name(reader, process, XS_NAME_FILE, id);
    if (rd_event_info_of(raw->kind)->object == XS_OBJECT_NONE)
        e->object = 0;
}

static void name_object(xsr_reader *reader, uint32_t process, xsr_event *e) {
    uint32_t object = rd_event_info_of(e->kind)->object;
    if (object == XS_OBJECT_ROLE)
        e->object = rd_name(reader, process, XS_NAME_ROLE, e->object);
    else if (object == XS_OBJECT_MARK)
        e->object = rd_name(reader, process, XS_NAME_MARK, e->object);
}

static int decode_object(xsr_reader *reader, uint32_t process, uint32_t known, const rd_raw *raw, xsr_event *e) {
    if (rd_event_info_of(raw->kind)->object == XS_OBJECT_SLOT) {
        e->slot = known != XSR_NONE ? known : rd_slot_of(reader, process, raw->object);
        if (e->slot == RD_NO_MEMORY)
            return XS_E_MEMORY;
        if (e->slot != XSR_NONE) {
            decode_slot_event(&reader->slots[e->slot], raw, e);
            return 0;
        }
    }
    decode_plain(raw, e);
    name_object(reader, process, e);
    return 0;
}

int rd_decode(xsr_reader *reader, uint32_t ring, xsr_event *e) {
    rd_ring *r = &reader->rings[ring];
    const rd_raw *raw = &r->raw;
    const xsr_ring *row = &reader->model.rings[ring];
    *e = (xsr_event){.id = reader->next_id++,
                     .time = rd_host_time(r, raw->time),
                     .sequence = raw->sequence,
                     .ring = ring,
                     .writer = XSR_NONE,
                     .rank = row->rank,
                     .role = XSR_NONE,
                     .kind = raw->kind,
                     .order = raw->order,
                     .scope = raw->scope,
                     .fence = raw->fence,
                     .cmp = raw->cmp,
                     .result = raw->result,
                     .time_modulo = raw->modulo,
                     .slot = XSR_NONE,
                     .object = raw->object,
                     .file = XSR_NONE};
    name_file(reader, row->process, raw, e);
    /* Roles and epochs take hold with their own event, so attribution comes first; it reads raw words only. */
    int rc = rd_attribute(reader, ring, e);
    return rc < 0 ? rc : decode_object(reader, row->process, r->slot, raw, e);
}
