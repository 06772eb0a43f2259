/* One cursor a ring: walks its records in order of sequence over all frames, notes the holes, puts events together from
 * their records. A record is kept if a frame holds it and its sequence word fits its place. */
#include "internal.h"


static bool load_span(const xsr_reader *reader, rd_ring *r) {
    for (; r->span < r->span_end; r->span++) {
        const rd_span *s = &reader->spans[r->span];
        uint64_t skip = s->first < r->expected ? r->expected - s->first : 0; /* a frame may repeat what was read */
        if (skip >= s->count)
            continue;
        r->at = (const xs_record *)(const void *)(s->payload + sizeof(xs_frame_records)) + skip;
        r->left = s->count - skip;
        r->sequence = s->first + skip;
        rd_time_span(r, s);
        return true;
    }
    r->left = 0;
    return false;
}

void rd_cursor_start(xsr_reader *reader, uint32_t ring) {
    rd_ring *r = &reader->rings[ring];
    r->span = r->span_begin;
    r->expected = 1;
    r->last_time = NO_TIME;
    r->key = INT64_MIN;
    r->look = r->look_begin;
    r->exact_sequence = 0;
    r->hole_count = 0;
    r->told = 1;
    rd_time_ring(reader, r);
    load_span(reader, r);
}

static const xs_record *peek(const xsr_reader *reader, rd_ring *r) {
    if (r->left == 0) {
        if (r->span >= r->span_end)
            return NULL;
        r->span++;
        if (!load_span(reader, r))
            return NULL;
    }
    return r->at;
}

static void step(rd_ring *r) {
    r->expected = r->sequence + 1;
    r->at++;
    r->sequence++;
    r->left--;
}

static int add_hole(rd_ring *r, uint64_t first, uint64_t last) {
    if (r->hole_count && r->holes[r->hole_count - 1].last + 1 == first) {
        r->holes[r->hole_count - 1].last = last;
        return 0;
    }
    if (RD_ROOM(r->holes, r->hole_room, r->hole_count + 1) < 0)
        return XS_E_MEMORY;
    r->holes[r->hole_count++] = (rd_hole){.first = first, .last = last, .before = r->last_time, .after = INT64_MAX};
    return 0;
}

/* The next record, behind a hole if records are missing. 1: *out is set and taken; 0: end. */
static int next_record(xsr_reader *reader, uint32_t ring, xs_record *out) {
    rd_ring *r = &reader->rings[ring];
    for (const xs_record *at; (at = peek(reader, r));) {
        bool fits = at->sequence == ((uint32_t)r->sequence & r->mask);
        uint64_t last = fits ? r->sequence - 1 : r->sequence;
        if (last >= r->expected && add_hole(r, r->expected, last) < 0)
            return XS_E_MEMORY;
        *out = *at;
        step(r);
        if (fits) {
            reader->model.rings[ring].kept++;
            return 1;
        }
    }
    return 0;
}

/* The record right behind the one taken last, if it is there and a MORE. */
static bool take_more(xsr_reader *reader, uint32_t ring, xs_record *out) {
    rd_ring *r = &reader->rings[ring];
    const xs_record *at = peek(reader, r);
    if (!at || r->sequence != r->expected || at->sequence != ((uint32_t)r->sequence & r->mask) ||
        at->code_object >> 24 != XS_CODE_MORE)
        return false;
    *out = *at;
    step(r);
    reader->model.rings[ring].kept++;
    return true;
}

/* Before XS_REGION_NAMED some processes wrote a stage of 8 bits: those that do not name a single file. */
static bool is_named(const xsr_reader *reader, uint32_t ring, const rd_raw *raw) {
    const rd_process *p = &reader->processes[reader->model.rings[ring].process];
    return raw->kind == XS_EV_WAIT_END && raw->furthers && raw->further[0] & XS_END_NAMED &&
           (p->names_files || p->region.version >= XS_REGION_NAMED);
}

static bool take_full(xsr_reader *reader, uint32_t ring, const xs_record *head, rd_raw *raw) {
    xs_record more;
    if (!take_more(reader, ring, &more))
        return false;
    uint32_t w = more.code_object;
    raw->records++;
    raw->kind = XS_DETAIL_KIND(w);
    raw->order = XS_DETAIL_ORDER(w);
    raw->scope = XS_DETAIL_SCOPE(w);
    raw->fence = XS_DETAIL_FENCE(w);
    raw->cmp = XS_DETAIL_CMP(w);
    raw->result = XS_DETAIL_RESULT(w);
    raw->furthers = XS_DETAIL_FURTHER(w);
    raw->detail = more.value;
    raw->time = (int64_t)((uint64_t)more.time << 32 | head->time);
    raw->full = true;
    if (raw->furthers > 2)
        return false;
    for (uint32_t i = 0; i < raw->furthers; i++, raw->records++) {
        if (!take_more(reader, ring, &more))
            return false;
        raw->further[3 * i] = more.code_object & XS_OBJECT_MASK;
        raw->further[3 * i + 1] = more.value;
        raw->further[3 * i + 2] = more.time;
    }
    raw->named = is_named(reader, ring, raw);
    raw->yields =
        reader->rings[ring].device < 0 && !reader->processes[reader->model.rings[ring].process].region.virtual_time;
    return raw->kind > XS_EV_NONE && raw->kind < XS_EV_COUNT && raw->time >= 0 && raw->time < 1ll << 62;
}

/* The first record of an event is lost, and nothing else: the second one says what it was. The record before the
 * hole ends an event, so that the lost one cannot have been a second one itself. */
static void take_orphan(xsr_reader *reader, uint32_t ring, const xs_record *second, rd_raw *raw) {
    rd_ring *r = &reader->rings[ring];
    rd_hole *hole = r->hole_count ? &r->holes[r->hole_count - 1] : NULL;
    uint32_t w = second->code_object, kind = XS_DETAIL_KIND(w), furthers = XS_DETAIL_FURTHER(w);
    xs_record more;
    if (!hole || hole->first != r->told || hole->first != hole->last || hole->last + 1 != raw->sequence ||
        furthers > 2 || kind == XS_EV_NONE || kind >= XS_EV_COUNT)
        return;
    for (uint32_t i = 0; i < furthers; i++, raw->records++)
        if (!take_more(reader, ring, &more))
            return;
    hole->kind = (uint8_t)kind;
    hole->result = (uint8_t)XS_DETAIL_RESULT(w);
    r->told = r->expected;
}

static void take_code(const xs_record *head, rd_raw *raw) {
    const rd_code_info *info = &rd_codes[head->code_object >> 24];
    raw->kind = info->kind;
    raw->order = info->order;
    raw->scope = info->scope;
    raw->fence = info->fence;
}

static bool may_be_of_a_slot(const rd_hole *h) {
    return !h->kind || rd_changes_slot(h->kind) || h->kind == XS_EV_PASS || h->kind == XS_EV_WAIT_START ||
           h->kind == XS_EV_WAIT_END;
}

/* after: of the ring's clock; INT64_MAX: nothing comes behind them. */
static void close_holes(xsr_reader *reader, rd_ring *r, int64_t after) {
    int64_t until = after == INT64_MAX || !r->hole_count ? after : rd_host_time(r, after);
    for (uint32_t i = r->hole_count; i-- > 0 && r->holes[i].after == INT64_MAX;) {
        r->holes[i].after = after;
        if (until > reader->gap_until && may_be_of_a_slot(&r->holes[i]))
            reader->gap_until = until;
    }
}

static int end_of_ring(xsr_reader *reader, uint32_t ring) {
    rd_ring *r = &reader->rings[ring];
    int rc = 0;
    if (r->newest >= r->expected) { /* more was written than any frame holds */
        rc = add_hole(r, r->expected, r->newest);
        r->expected = r->newest + 1;
    }
    close_holes(reader, r, INT64_MAX);
    reader->model.rings[ring].emitted = r->expected - 1;
    return rc;
}

int rd_cursor_next(xsr_reader *reader, uint32_t ring) {
    rd_ring *r = &reader->rings[ring];
    xs_record head;
    int rc;
    while ((rc = next_record(reader, ring, &head)) == 1) {
        rd_raw *raw = &r->raw;
        uint32_t code = head.code_object >> 24;
        *raw = (rd_raw){.sequence = r->sequence - 1,
                        .object = head.code_object & XS_OBJECT_MASK,
                        .value = head.value,
                        .records = 1};
        bool whole = true;
        if (code == XS_CODE_FULL)
            whole = take_full(reader, ring, &head, raw);
        else
            take_code(&head, raw);
        if (!whole || raw->kind == XS_EV_NONE) { /* its other records are lost, or its head is */
            if (code == XS_CODE_MORE)
                take_orphan(reader, ring, &head, raw);
            reader->model.rings[ring].torn += raw->records;
            continue;
        }
        if (!raw->full)
            raw->time = rd_time(reader, ring, raw->sequence, head.time, &raw->modulo);
        r->last_time = raw->time;
        r->told = raw->sequence + raw->records;
        r->key = raw->time > r->key ? raw->time : r->key;
        close_holes(reader, r, raw->time);
        if (raw->kind == XS_EV_WRITER_END && ((uint64_t)raw->detail << 32 | raw->value) != 0) {
            uint64_t next = (uint64_t)raw->detail << 32 | raw->value;
            if (next - 1 > r->newest && next - raw->sequence < 16)
                r->newest = next - 1;
        }
        return 1;
    }
    return rc < 0 ? rc : end_of_ring(reader, ring);
}
