/* Who wrote: WRITER_BEGIN records, else OWNERS frames by range of sequences, else nobody known. */
#include "internal.h"

#define HAND_OVER_RECORDS 5 /* the end of one writer and the begin of the next */

typedef struct owner_facts {
    uint64_t first;
    int64_t time;
    uint32_t launch, block, warp, sm, role, ordinal;
} owner_facts;

static bool several_warps(const xsr_reader *reader, uint32_t launch, uint32_t warp) {
    return launch == XSR_NONE || reader->model.launches[launch].block == 0 ? warp != 0
                                                                           : reader->model.launches[launch].block > 32;
}

static const char *writer_name(xsr_reader *reader, const xsr_writer *w) {
    const char *role = w->role == XSR_NONE ? "" : reader->model.names[w->role].text, *space = *role ? " " : "";
    if (several_warps(reader, w->launch, w->warp))
        return rd_arena_print(&reader->run_text, "%s%sblock %u warp %u", role, space, w->block, w->warp);
    return rd_arena_print(&reader->run_text, "%s%sblock %u", role, space, w->block);
}

static int add_writer(xsr_reader *reader, uint32_t ring, const owner_facts *o) {
    xsr_model *m = &reader->model;
    rd_ring *r = &reader->rings[ring];
    uint32_t process = m->rings[ring].process;
    if (RD_ROOM(m->writers, reader->room.writers, m->writer_count + 1) < 0)
        return XS_E_MEMORY;
    xsr_writer *w = &m->writers[m->writer_count];
    *w = (xsr_writer){.process = process,
                      .rank = m->rings[ring].rank,
                      .ring = ring,
                      .ordinal = o->ordinal,
                      .launch = rd_map_get(&reader->launch_of, (uint64_t)process << 32 | o->launch),
                      .role = rd_name(reader, process, XS_NAME_ROLE, o->role),
                      .block = o->block,
                      .warp = o->warp,
                      .sm = o->sm,
                      .first_sequence = o->first,
                      .last_sequence = o->first,
                      .begin = o->time,
                      .end = NO_TIME,
                      .kernel = XSR_NONE};
    w->name = writer_name(reader, w);
    if (!w->name)
        return XS_E_MEMORY;
    r->writer = m->writer_count++;
    r->role = w->role;
    r->ordinal = o->ordinal;
    r->epoch = 0;
    r->writing = true;
    r->elected_by = XSR_NO_ID;
    rd_feed_writer(reader, r->writer);
    return 0;
}

static int take_owner(xsr_reader *reader, uint32_t ring, const rd_owner *owner) {
    const xs_ring_owner *o = &owner->owner;
    owner_facts facts = {o->first, rd_host_time(&reader->rings[ring], rd_sane(o->time)), o->launch, o->block,
                         o->warp_sm & 0xffffu, o->warp_sm >> 16, o->role, owner->ordinal};
    return add_writer(reader, ring, &facts);
}

static int begin_writer(xsr_reader *reader, uint32_t ring, const xsr_event *e) {
    rd_ring *r = &reader->rings[ring];
    const rd_raw *raw = &r->raw;
    owner_facts facts = {e->sequence,
                         e->time,
                         raw->detail,
                         raw->value,
                         raw->further[1] & 0xffffu,
                         raw->further[1] >> 16,
                         raw->object,
                         r->writer == XSR_NONE && r->ordinal == XSR_NONE ? 0 : r->ordinal + 1};
    if (r->owner < r->owner_end && reader->owners[r->owner].owner.first == e->sequence)
        facts.ordinal = reader->owners[r->owner].ordinal;
    int rc = add_writer(reader, ring, &facts);
    if (rc == 0)
        r->epoch = raw->further[2];
    return rc;
}

/* Owners whose range starts at or before this sequence: r->owner ends on the newest of them (or stays before the
 * first). */
static bool owner_at(const xsr_reader *reader, rd_ring *r, uint64_t sequence) {
    while (r->owner + 1 < r->owner_end && reader->owners[r->owner + 1].owner.first <= sequence)
        r->owner++;
    return r->owner < r->owner_end && reader->owners[r->owner].owner.first <= sequence;
}

/* May an owner that no frame tells of have begun between this one and the next that is told of? */
static bool owners_follow(const xsr_reader *reader, const rd_ring *r) {
    if (r->owner + 1 >= r->owner_end)
        return true;
    return reader->owners[r->owner + 1].ordinal == reader->owners[r->owner].ordinal + 1;
}

static void forget_writer(rd_ring *r) {
    r->writer = r->role = XSR_NONE;
    r->writing = false;
    r->epoch = 0;
}

/* Behind a hole: the writer is the same where the hole is too small for a hand-over, else the one that OWNERS tell
 * of, or unknown. Role and epoch may be older than they were. */
int rd_attribute_gap(xsr_reader *reader, uint32_t ring, uint64_t missing, uint64_t next) {
    rd_ring *r = &reader->rings[ring];
    r->elected_by = XSR_NO_ID;
    if (r->writing && missing < HAND_OVER_RECORDS)
        return 0;
    if (!owner_at(reader, r, next) || !owners_follow(reader, r)) {
        forget_writer(r);
        return 0;
    }
    const rd_owner *owner = &reader->owners[r->owner];
    if (r->writer != XSR_NONE && reader->model.writers[r->writer].first_sequence >= owner->owner.first)
        return 0;
    return owner->owner.first == next && r->raw.kind == XS_EV_WRITER_BEGIN ? 0 : take_owner(reader, ring, owner);
}

int rd_attribute_line(xsr_reader *reader, uint32_t ring) {
    rd_ring *r = &reader->rings[ring];
    if (r->writer != XSR_NONE || r->owner_begin == r->owner_end)
        return 0;
    r->owner = r->owner_end - 1;
    return take_owner(reader, ring, &reader->owners[r->owner]);
}

static void enter_epoch(xsr_reader *reader, uint32_t rank, uint64_t epoch) {
    xsr_rank *r = &reader->model.ranks[rank];
    if (r->first_epoch && epoch >= r->first_epoch && epoch <= r->last_epoch)
        return;
    if (r->first_epoch == 0 || epoch < r->first_epoch)
        r->first_epoch = epoch;
    if (epoch > r->last_epoch)
        r->last_epoch = epoch;
    rd_feed_rank(reader, rank);
}

/* Nobody known holds the ring: OWNERS may tell who began where the first records are not kept. */
static int find_writer(xsr_reader *reader, uint32_t ring, const xsr_event *e) {
    rd_ring *r = &reader->rings[ring];
    if (owner_at(reader, r, e->sequence) && reader->owners[r->owner].ordinal != r->ordinal)
        return take_owner(reader, ring, &reader->owners[r->owner]);
    if (r->writer != XSR_NONE)
        forget_writer(r);
    return 0;
}

int rd_attribute(xsr_reader *reader, uint32_t ring, xsr_event *e) {
    rd_ring *r = &reader->rings[ring];
    int rc = 0;
    if (e->kind == XS_EV_WRITER_BEGIN) {
        owner_at(reader, r, e->sequence);
        rc = begin_writer(reader, ring, e);
    } else if (!r->writing) {
        rc = find_writer(reader, ring, e);
    }
    if (rc < 0)
        return rc;
    if (e->kind == XS_EV_ROLE)
        r->role = rd_name(reader, reader->model.rings[ring].process, XS_NAME_ROLE, r->raw.object);
    else if (e->kind == XS_EV_EPOCH)
        r->epoch = (uint64_t)r->raw.detail << 32 | r->raw.value;
    e->writer = r->writer;
    e->role = r->role;
    e->epoch = r->epoch;
    if (r->epoch)
        enter_epoch(reader, e->rank, r->epoch);
    if (r->writer != XSR_NONE) {
        xsr_writer *w = &reader->model.writers[r->writer];
        w->last_sequence = e->sequence + r->raw.records - 1;
        if (e->kind == XS_EV_WRITER_END) {
            w->end = e->time;
            r->writing = false;
            rd_feed_writer(reader, r->writer);
        }
    }
    return 0;
}
