/* D15, and D16 where payload tells: reads and writes of one chunk that nothing orders. A chunk is (who writes, whose memory, index, name of
 * the write); readers name the writer as their peer. Of a generation, several blocks may write parts. */
#include "detectors.h"
#include "hb.h"

#define ANY (XSR_NONE - 1)

typedef struct access { an_vector *stamps; uint64_t event; uint32_t writer, active, active_agent; } access; /* event, writer: of the newest */
typedef struct chunk { uint64_t generation, read_generation; access writes, reads; uint32_t name; bool written; } chunk;
typedef struct begun { uint32_t chunk; bool write, any; uint64_t generation; } begun; /* of a writer: what PAYLOAD_END ends */
typedef struct races { rd_map of; chunk *chunks; uint32_t count, room; uint32_t names[8]; uint32_t name_count; begun *writers; uint32_t writer_room; } races;

static uint64_t key_of(uint32_t src, uint32_t dst, uint64_t index, uint32_t name) { return an_key(XSA_PAYLOAD_RACE, (uint64_t)src << 32 | dst, index, name); }

static void know_name(races *r, uint32_t name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i] == name)
            return;
    if (r->name_count < 8)
        r->names[r->name_count++] = name;
}

static uint32_t chunk_at(races *r, uint64_t key, uint32_t name) {
    uint32_t at = rd_map_get(&r->of, key);
    if (at != XSR_NONE)
        return at;
    at = r->count;
    if (RD_ROOM(r->chunks, r->room, at + 1) < 0 || rd_map_put(&r->of, key, at) < 0)
        return XSR_NONE;
    r->chunks[at] = (chunk){.name = name};
    r->count++;
    return at;
}

static uint32_t peer_of(const xsr_event *e) { return e->further[0] == XS_NO_PEER ? ANY : (uint32_t)e->further[0]; }

/* The chunk that a read is of: among those that its peer (or, without one, its own rank) wrote for it or for all; the one of its generation. */
static uint32_t read_chunk(const an *a, const races *r, const xsr_event *e) {
    uint32_t self = an_number(a, e->rank), from = peer_of(e) == ANY ? self : peer_of(e), only = XSR_NONE, found = 0;
    for (uint32_t i = 0; i < 2 * r->name_count; i++) {
        uint32_t at = rd_map_get(&r->of, key_of(from, i & 1 ? ANY : self, e->value, r->names[i / 2]));
        if (at == XSR_NONE)
            continue;
        if (r->chunks[at].generation == e->detail)
            return at;
        only = at;
        found++;
    }
    return found == 1 ? only : XSR_NONE;
}

static bool unordered(const an *a, const access *x, uint32_t agent, bool *active) {
    *active = x->active && x->active_agent != agent;
    if (*active)
        return true;
    for (uint32_t i = 0; x->stamps && i < x->stamps->count; i++)
        if (!an_hb_before(a, x->stamps->at[i], agent))
            return true;
    return false;
}

static int add(access *x, const an_step *step) {
    x->event = step->e->id;
    x->writer = step->e->writer;
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

static void clear(access *x) {
    an_vector_drop(x->stamps);
    *x = (access){.writer = XSR_NONE};
}

/* Lost records may hold what orders the two. */
static bool may_be_lost(an *a, uint32_t detector) {
    uint64_t lost = a->lost_records + an_hb_guesses(a);
    if (a->lost_records)
        an_unknown(a, detector, lost, "what orders payload may be among %llu lost records", (unsigned long long)a->lost_records);
    return a->lost_records != 0;
}

static int say(an *a, uint32_t detector, const xsr_event *e, const access *other, uint64_t other_generation, const char *what, const char *cure) {
    if (may_be_lost(a, detector))
        return 0;
    xsa_finding f = an_like(detector, XSA_ERROR, XSA_HIGH);
    bool write = e->kind == XS_EV_WRITE_BEGIN;
    uint32_t culprit = write ? e->writer : other->writer, victim = write ? other->writer : e->writer;
    an_culprit(a, &f, XSR_NONE, culprit);
    an_victim(a, &f, XSR_NONE, victim);
    f.begin = f.end = e->time;
    f.slot = culprit == XSR_NONE ? XSR_NONE : a->writers[culprit].signal_slot;
    f.cure = cure;
    uint64_t key = an_key(detector, an_number(a, e->rank), other->writer == XSR_NONE ? XSR_NONE : a->model->writers[other->writer].rank, e->object);
    an_finding *out = an_find(a, &f, key, "%s %s %s %llu of generation %llu %s %s (generation %llu), %s", an_who(a, e->rank, e->writer), write ? "writes" : "reads",
                              e->object == XSR_NONE ? "payload" : a->model->names[e->object].text, (unsigned long long)e->value, (unsigned long long)e->detail, what,
                              an_who(a, XSR_NONE, other->writer), (unsigned long long)other_generation, an_since(a, e->time));
    TRY(an_evidence(a, out, other->event, "the other access"));
    return an_evidence(a, out, e->id, "access");
}

#define CURE_ORDER "let the signal come behind the last write, with a release, and the read behind the wait, with an acquire"
#define CURE_CREDIT "wait for a credit of every reader before a buffer is written again, or make the ring deeper"

static int take_write(an *a, races *r, const an_step *step, chunk *c) {
    const xsr_event *e = step->e;
    bool active;
    if (c->written && e->detail != c->generation) {
        if (unordered(a, &c->reads, step->agent, &active))
            TRY(say(a, XSA_LAPPING, e, &c->reads, c->read_generation, active ? "while it is read by" : "though nothing orders it behind the read by", CURE_CREDIT));
        if (unordered(a, &c->writes, step->agent, &active))
            TRY(say(a, XSA_PAYLOAD_RACE, e, &c->writes, c->generation, "though nothing orders it behind the write by", CURE_ORDER));
        clear(&c->writes);
        if (c->read_generation != e->detail)
            clear(&c->reads);
    } else if (c->read_generation == e->detail && c->reads.stamps && unordered(a, &c->reads, step->agent, &active)) {
        TRY(say(a, XSA_PAYLOAD_RACE, e, &c->reads, c->read_generation, "only after it was read by", CURE_ORDER));
    }
    c->generation = e->detail;
    c->written = true;
    c->writes.active++;
    c->writes.active_agent = step->agent;
    (void)r;
    return add(&c->writes, step);
}

static int take_read(an *a, const an_step *step, chunk *c) {
    const xsr_event *e = step->e;
    bool active;
    if (c->written && e->detail < c->generation)
        TRY(say(a, XSA_LAPPING, e, &c->writes, c->generation, "which is overwritten already by", CURE_CREDIT));
    else if (c->written && e->detail == c->generation && unordered(a, &c->writes, step->agent, &active))
        TRY(say(a, XSA_PAYLOAD_RACE, e, &c->writes, c->generation, active ? "while it is written by" : "though nothing orders it behind the write by", CURE_ORDER));
    c->read_generation = e->detail;
    c->reads.active++;
    c->reads.active_agent = step->agent;
    return add(&c->reads, step);
}

static int note_begun(an *a, races *r, const xsr_event *e, uint32_t chunk_index) {
    uint32_t had = r->writer_room;
    if (RD_ROOM(r->writers, r->writer_room, a->writer_count) < 0)
        return XS_E_MEMORY;
    if (r->writer_room > had)
        memset(&r->writers[had], 0, (r->writer_room - had) * sizeof *r->writers);
    r->writers[e->writer] = (begun){chunk_index, e->kind == XS_EV_WRITE_BEGIN, chunk_index != XSR_NONE, e->detail};
    return 0;
}

static int take_end(races *r, const an_step *step) {
    const xsr_event *e = step->e;
    begun *b = e->writer < r->writer_room ? &r->writers[e->writer] : NULL;
    if (!b || !b->any)
        return 0;
    chunk *c = &r->chunks[b->chunk];
    access *x = b->write ? &c->writes : &c->reads;
    b->any = false;
    if (b->generation != (b->write ? c->generation : c->read_generation))
        return 0; /* another generation has begun */
    x->active -= x->active > 0;
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

static int on_step(an *a, void *state, const an_step *step) {
    races *r = state;
    const xsr_event *e = step->e;
    uint32_t at;
    if ((e->kind == XS_EV_WRITE_BEGIN || e->kind == XS_EV_READ_BEGIN) && e->further[1] == 0 && e->further[2] == 0)
        return note_begun(a, r, e, XSR_NONE); /* no rows, no bytes: nothing is touched */
    switch (e->kind) {
    case XS_EV_WRITE_BEGIN:
        know_name(r, e->object);
        at = chunk_at(r, key_of(an_number(a, e->rank), peer_of(e), e->value, e->object), e->object);
        if (at == XSR_NONE)
            return XS_E_MEMORY;
        TRY(take_write(a, r, step, &r->chunks[at]));
        return note_begun(a, r, e, at);
    case XS_EV_READ_BEGIN:
        at = read_chunk(a, r, e);
        if (at != XSR_NONE)
            TRY(take_read(a, step, &r->chunks[at]));
        return note_begun(a, r, e, at);
    case XS_EV_WORK_BEGIN: return note_begun(a, r, e, XSR_NONE);
    case XS_EV_PAYLOAD_END: return take_end(r, step);
    default: return 0;
    }
}

static void release(void *state) {
    races *r = state;
    for (uint32_t i = 0; i < r->count; i++) {
        an_vector_drop(r->chunks[i].writes.stamps);
        an_vector_drop(r->chunks[i].reads.stamps);
    }
    rd_map_free(&r->of);
    free(r->chunks);
    free(r->writers);
}

const an_ops an_payload_race = {.id = XSA_PAYLOAD_RACE, .needs = AN_PAYLOAD, .state = sizeof(races), .on_step = on_step, .release = release,
                                .cannot = "threads of one block, parts of one chunk, and accesses that note nothing"};
