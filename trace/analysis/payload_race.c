/* D15, and D16 where payload tells: reads and writes of one chunk that nothing orders. A chunk is (who writes, whose memory, index, name of
 * the write); readers name the writer as their peer. Of a generation, several blocks may write parts. Where a reader names no peer and others
 * have written to it, the place is one for all who write there: a queue of several producers. */
#include "detectors.h"
#include "class.h"
#include "hb.h"

#define ANY (XSR_NONE - 1)
#define ALL (XSR_NONE - 2) /* as who writes: all who write there */

/* The last wait of a block that passed: the signal that it read. */
typedef struct guard { uint64_t signal, value, record, epoch; uint32_t agent, slot; bool any, unsure; /* it passed another since, whose signal is not known */ } guard;
typedef struct access { /* event, last, record, epoch, writer, agent, guard: of the newest; last: its end, or its begin while it goes on */
    an_vector *stamps;
    uint64_t event, last, record, epoch; /* epoch: of its writer */
    uint32_t writer, agent, active;
    int64_t since; /* of the oldest of them */
    guard guard;
} access;
typedef struct early { uint64_t generation; uint32_t name; access reads; } early; /* a read of a chunk that nobody has written yet */
typedef struct chunk { uint64_t generation, read_generation; access writes, reads; uint32_t name, usual; bool written; } chunk; /* usual: slot + 1 whose signal told a reader of it; 0: none did */
typedef struct begun { uint32_t chunk; bool write, any; uint64_t generation; } begun; /* of a writer: what PAYLOAD_END ends */
typedef struct races { rd_map of; chunk *chunks; uint32_t count, room; uint32_t names[8]; bool shared[8]; uint32_t name_count; begun *writers; uint32_t writer_room;
                     guard *guards; uint32_t guard_room; rd_map early_of; early *earlies; uint32_t early_count, early_room; } races;

static uint64_t key_of(uint32_t src, uint32_t dst, uint64_t index, uint32_t name) { return an_key(XSA_PAYLOAD_RACE, (uint64_t)src << 32 | dst, index, name); }

static void know_name(races *r, uint32_t name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i] == name)
            return;
    if (r->name_count < 8)
        r->names[r->name_count++] = name;
}

static bool is_shared(const races *r, uint32_t name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i] == name)
            return r->shared[i];
    return false;
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

/* Who reads may call it otherwise than who writes, but not by the name of another buffer. */
static bool is_of_another_name(const races *r, uint32_t read, uint32_t written) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i] == read)
            return read != written;
    return false;
}

/* The same of a read that names no peer: written by others. From then on that place is one for all of them. */
static uint32_t shared_chunk(const an *a, races *r, const xsr_event *e) {
    for (uint32_t i = 0; i < r->name_count; i++) {
        uint32_t at = is_of_another_name(r, e->object, r->names[i]) ? XSR_NONE : rd_map_get(&r->of, key_of(ALL, an_number(a, e->rank), e->value, r->names[i]));
        if (at == XSR_NONE)
            continue;
        r->shared[i] = true;
        return at;
    }
    return XSR_NONE;
}

/* The chunk that a read is of: among those that its peer (or, without one, its own rank) wrote for it or for all; the one of its generation. */
static uint32_t read_chunk(const an *a, const races *r, const xsr_event *e) {
    uint32_t self = an_number(a, e->rank), from = peer_of(e) == ANY ? self : peer_of(e), only = XSR_NONE, found = 0;
    for (uint32_t i = 0; i < 2 * r->name_count; i++) {
        uint32_t at = rd_map_get(&r->of, key_of(from, i & 1 ? ANY : self, e->value, r->names[i / 2]));
        if (at == XSR_NONE || is_of_another_name(r, e->object, r->names[i / 2]))
            continue;
        if (r->chunks[at].generation == e->detail)
            return at;
        only = at;
        found++;
    }
    return found == 1 ? only : XSR_NONE;
}

static bool unordered(const an *a, const access *x, uint32_t agent, bool *active) {
    *active = x->active && x->agent != agent;
    if (*active)
        return true;
    for (uint32_t i = 0; x->stamps && i < x->stamps->count; i++)
        if (!an_hb_before(a, x->stamps->at[i], agent))
            return true;
    return false;
}

static int add(const races *r, access *x, const an_step *step) {
    x->since = x->stamps ? x->since : step->e->time;
    x->record = step->e->sequence;
    x->event = x->last = step->e->id;
    x->writer = step->e->writer;
    x->epoch = step->e->epoch;
    x->agent = step->agent;
    x->guard = step->agent < r->guard_room ? r->guards[step->agent] : (guard){0};
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

static void clear(access *x) {
    an_vector_drop(x->stamps);
    *x = (access){.writer = XSR_NONE};
}

typedef struct verdict { uint32_t detector, culprit, victim, slot; const char *cure; uint32_t named; const access *told; /* who else is to blame if a wait of this reader is lost */
                         bool unwritten, of_before; /* the read came before the write; what told of it is of an earlier epoch */ } verdict;

/* The read began before the write did, by more than clocks are apart: nothing can have told it of that write. */
static bool is_ahead(const an *a, const access *reads, const xsr_event *write) {
    return write->time - reads->since > an_clock_bound(a, a->model->writers[reads->writer].rank, write->rank);
}

/* The rank of the writer has signalled nothing yet that tells of that generation: the reader cannot have been told too early. */
static bool has_not_told(const an *a, const xsr_event *write) {
    for (uint32_t i = 0; i < a->writer_count; i++)
        if (a->model->writers[i].rank == write->rank && a->writers[i].signal_most >= write->detail)
            return false;
    return true;
}

static const char cure_wait[] = "wait for the signal of that batch before it is read, in every block that reads it";

static int say(an *a, verdict v, const an_step *step, const access *other, uint64_t other_generation, const char *what) {
    const xsr_event *e = step->e;
    bool ahead = v.unwritten && is_ahead(a, other, e);
    if (ahead) { /* of its generation that write is the first, unless another one is lost */
        an_whole_rank(a, e->rank, INT64_MIN, e->time);
        an_only_by(a, AN_MOVES | AN_KIND(WRITE_BEGIN));
        an_only_between(a, XSR_NONE, 0, e->writer, e->sequence);
    } else {
        an_whole_order(a, step->agent, other->since, e->time); /* what orders the two lies between them */
    }
    if (v.told && !(ahead && has_not_told(a, e))) { /* another wait behind its guard, which told it more */
        an_whole_records(a, v.told->writer, v.told->guard.any ? v.told->guard.record : 0, v.told->record);
        an_only_by(a, AN_KIND(PASS) | AN_KIND(WAIT_END));
        if (v.told->guard.unsure)
            an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX);
    }
    if (v.of_before) { /* unless the record that began this one is lost */
        an_whole_rank(a, a->model->writers[v.victim].rank, INT64_MIN, e->time);
        an_only_by(a, AN_ENTERS);
    }
    xsa_finding f = an_like(v.detector, XSA_ERROR, XSA_HIGH);
    an_culprit(a, &f, XSR_NONE, v.culprit);
    an_victim(a, &f, XSR_NONE, v.victim);
    f.begin = f.end = e->time;
    f.slot = v.slot != XSR_NONE ? v.slot : v.culprit == XSR_NONE ? XSR_NONE : a->writers[v.culprit].signal_slot;
    f.cure = v.cure;
    uint64_t key = an_key(v.detector, an_number(a, e->rank), other->writer == XSR_NONE ? XSR_NONE : a->model->writers[other->writer].rank, e->object);
    an_finding *out = an_find(a, &f, key, "%s %s %s %llu of generation %llu %s %s (generation %llu), %s", an_who(a, e->rank, e->writer),
                              e->kind == XS_EV_WRITE_BEGIN ? "writes" : "reads", e->object == XSR_NONE ? "payload" : a->model->names[e->object].text,
                              (unsigned long long)e->value, (unsigned long long)e->detail, what, an_who(a, XSR_NONE, other->writer),
                              (unsigned long long)other_generation, an_since(a, e->time));
    if (out)
        out->named = v.named, out->unasked = v.cure == cure_wait;
    TRY(an_evidence(a, out, other->event, "the other access"));
    TRY(an_evidence(a, out, e->id, "access"));
    return 0;
}

#define CURE_ORDER "let the signal come behind the last write, with a release, and the read behind the wait, with an acquire"
#define CURE_CREDIT "wait for a credit of every reader before a buffer is written again, or make the ring deeper"

/* The reader passed a counter, and the writer had arrived there in the round of its write: it has told of it. NULL: no, or not known. */
static const an_arriver *arrival_heard(const an *a, const access *reads, const access *writes) {
    uint32_t slot = reads->guard.any ? reads->guard.slot : XSR_NONE, counter = slot == XSR_NONE || a->slots[slot].arrivals ? slot : a->slots[slot].counter;
    uint32_t at = counter == XSR_NONE || writes->writer == XSR_NONE ? XSR_NONE : rd_map_get(&a->arriver_of, (uint64_t)counter << 32 | writes->writer);
    if (at == XSR_NONE || reads->guard.agent == writes->agent)
        return NULL;
    const an_arriver *r = &a->slots[counter].arrivers[at];
    return writes->epoch && r->epoch == writes->epoch && r->event <= reads->guard.signal ? r : NULL;
}

/* A read and a write of one generation that nothing orders. If the reader was told by the writer's block that the generation is there, the
 * writer told it too early, or too weakly; else the reader did not ask. usual: the slot that this place was waited for at before, + 1; 0: not known. */
static verdict blame(const an *a, const access *reads, const access *writes, uint64_t generation, uint32_t usual) {
    const an_arriver *arrival = arrival_heard(a, reads, writes);
    if (arrival && arrival->event < writes->event && arrival->count == arrival->epochs) /* once a round: not for another part */
        return (verdict){XSA_PARTIAL_PUBLISH, writes->writer, reads->writer, reads->guard.slot, "arrive behind the last write, and behind the end of asynchronous ones", .told = reads};
    if (arrival && arrival->event > writes->last)
        return (verdict){XSA_PAYLOAD_RACE, writes->writer, reads->writer, reads->guard.slot, CURE_ORDER, XSA_ORDER_SCOPE, reads};
    bool of_before = reads->guard.epoch && writes->epoch && reads->guard.epoch < writes->epoch; /* that signal told of an earlier round */
    bool told = reads->guard.any && reads->guard.agent == writes->agent && reads->guard.value >= generation && !of_before &&
                (usual == 0 || usual - 1 == reads->guard.slot);
    if (told && (writes->active || writes->last > reads->guard.signal))
        return (verdict){XSA_PARTIAL_PUBLISH, writes->writer, reads->writer, reads->guard.slot, "signal behind the last write, and behind the end of asynchronous ones", .told = reads};
    /* It signalled behind its last write and was heard: only its release or the other's acquire can be too weak, also where they look
     * strong enough, as a relaxed store behind the fence of the round before. */
    if (told)
        return (verdict){XSA_PAYLOAD_RACE, writes->writer, reads->writer, reads->guard.slot, CURE_ORDER, XSA_ORDER_SCOPE, reads};
    return (verdict){XSA_PAYLOAD_RACE, reads->writer, writes->writer, reads->guard.any ? reads->guard.slot : XSR_NONE, cure_wait, .told = reads, .of_before = of_before};
}

static int take_early(an *a, races *r, const an_step *step, uint32_t src, uint32_t dst, uint32_t usual) {
    const xsr_event *e = step->e;
    uint32_t at = rd_map_get(&r->early_of, key_of(src, dst, e->value, XSR_NONE));
    bool active;
    if (at == XSR_NONE || r->earlies[at].generation != e->detail || is_of_another_name(r, r->earlies[at].name, e->object))
        return 0;
    early *x = &r->earlies[at];
    bool race = unordered(a, &x->reads, step->agent, &active);
    if (!race && x->reads.agent == step->agent) /* its own buffer, which it looks at before it fills it */
        return 0;
    access write = {.event = e->id, .last = e->id, .epoch = e->epoch, .writer = e->writer, .agent = step->agent, .active = 1, .since = e->time};
    verdict v = blame(a, &x->reads, &write, e->detail, usual);
    v.unwritten = !is_shared(r, e->object); /* else another rank may have written it */
    /* Nobody had written that generation: it was read too early, also where what the reader did next came round to the writer. */
    if (!race && !(v.unwritten && is_ahead(a, &x->reads, e)))
        an_whole_rank(a, e->rank, INT64_MIN, e->time); /* another block's write of it */
    return say(a, v, step, &x->reads, e->detail, "only after it was read by");
}

static int take_write(an *a, races *r, const an_step *step, uint32_t chunk_index) {
    const xsr_event *e = step->e;
    chunk *c = &r->chunks[chunk_index];
    uint32_t dst = peer_of(e), src = is_shared(r, e->object) && dst != ANY ? dst : an_number(a, e->rank); /* shared: early reads name themselves */
    bool active;
    for (uint32_t i = 0; i < a->model->rank_count; i++) /* whoever may have read it already */
        if (r->early_count && (dst == ANY || dst == an_number(a, i)))
            TRY(take_early(a, r, step, src, an_number(a, i), c->usual));
    if (c->written && e->detail != c->generation) {
        if (unordered(a, &c->reads, step->agent, &active))
            TRY(say(a, (verdict){XSA_LAPPING, e->writer, c->reads.writer, XSR_NONE, CURE_CREDIT}, step, &c->reads, c->read_generation,
                    active ? "while it is read by" : "though nothing orders it behind the read by"));
        if (unordered(a, &c->writes, step->agent, &active))
            TRY(say(a, (verdict){XSA_PAYLOAD_RACE, e->writer, c->writes.writer, XSR_NONE, CURE_ORDER}, step, &c->writes, c->generation,
                    "though nothing orders it behind the write by"));
        clear(&c->writes);
        if (c->read_generation != e->detail)
            clear(&c->reads);
    } else if (c->read_generation == e->detail && c->reads.stamps && unordered(a, &c->reads, step->agent, &active)) {
        access write = {.event = e->id, .last = e->id, .epoch = e->epoch, .writer = e->writer, .agent = step->agent, .active = 1, .since = e->time};
        TRY(say(a, blame(a, &c->reads, &write, e->detail, c->usual), step, &c->reads, c->read_generation, "only after it was read by"));
    }
    c->generation = e->detail;
    c->written = true;
    c->writes.active++;
    return add(r, &c->writes, step);
}

static int take_read(an *a, const races *r, const an_step *step, chunk *c) {
    const xsr_event *e = step->e;
    bool active;
    access read = {.event = e->id, .record = e->sequence, .writer = e->writer, .agent = step->agent, .guard = step->agent < r->guard_room ? r->guards[step->agent] : (guard){0}};
    if (c->written && e->detail < c->generation)
        TRY(say(a, (verdict){XSA_LAPPING, c->writes.writer, e->writer, XSR_NONE, CURE_CREDIT}, step, &c->writes, c->generation, "which is overwritten already by"));
    else if (c->written && e->detail == c->generation && unordered(a, &c->writes, step->agent, &active))
        TRY(say(a, blame(a, &read, &c->writes, e->detail, c->usual), step, &c->writes, c->generation,
                active ? "while it is written by" : "though nothing orders it behind the write by"));
    else if (read.guard.any && read.guard.agent == c->writes.agent)
        c->usual = read.guard.slot + 1;
    c->read_generation = e->detail;
    c->reads.active++;
    return add(r, &c->reads, step);
}

static int note_early(an *a, races *r, const an_step *step) {
    const xsr_event *e = step->e;
    uint32_t self = an_number(a, e->rank), from = peer_of(e) == ANY ? self : peer_of(e);
    uint64_t key = key_of(from, self, e->value, XSR_NONE);
    uint32_t at = rd_map_get(&r->early_of, key);
    if (at == XSR_NONE) {
        at = r->early_count;
        if (RD_ROOM(r->earlies, r->early_room, at + 1) < 0 || rd_map_put(&r->early_of, key, at) < 0)
            return XS_E_MEMORY;
        r->earlies[r->early_count++] = (early){0};
    }
    if (r->earlies[at].generation != e->detail)
        clear(&r->earlies[at].reads);
    r->earlies[at].generation = e->detail;
    r->earlies[at].name = e->object;
    return add(r, &r->earlies[at].reads, step);
}

static int note_guard(races *r, const an_step *step) {
    if (!step->w || step->w->result != XS_RESULT_OK || (!step->from && !step->guessed))
        return 0;
    TRY(RD_ROWS(r->guards, r->guard_room, step->agent + 1));
    if (step->guessed)
        r->guards[step->agent].unsure = true;
    else
        r->guards[step->agent] = (guard){step->from->event, step->w->observed, step->e->sequence, step->from->epoch, step->from->stamp.agent, step->e->slot, true, false};
    return 0;
}

static int note_begun(an *a, races *r, const xsr_event *e, uint32_t chunk_index) {
    TRY(RD_ROWS(r->writers, r->writer_room, a->writer_count));
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
    x->last = e->id;
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

/* Also told by its place alone, for readers that name no peer. */
static uint32_t written_chunk(const an *a, races *r, const xsr_event *e) {
    uint32_t self = an_number(a, e->rank), dst = peer_of(e);
    uint64_t place = key_of(ALL, dst, e->value, e->object);
    if (dst == ANY || dst == self)
        return chunk_at(r, key_of(self, dst, e->value, e->object), e->object);
    uint32_t at = is_shared(r, e->object) ? rd_map_get(&r->of, place) : XSR_NONE;
    if (at == XSR_NONE)
        at = chunk_at(r, key_of(self, dst, e->value, e->object), e->object);
    return at == XSR_NONE || rd_map_put(&r->of, place, at) < 0 ? XSR_NONE : at;
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
        at = written_chunk(a, r, e);
        if (at == XSR_NONE)
            return XS_E_MEMORY;
        TRY(take_write(a, r, step, at));
        return note_begun(a, r, e, at);
    case XS_EV_READ_BEGIN:
        at = read_chunk(a, r, e);
        if (at == XSR_NONE && peer_of(e) == ANY)
            at = shared_chunk(a, r, e);
        TRY(at != XSR_NONE && r->chunks[at].generation >= e->detail ? take_read(a, r, step, &r->chunks[at]) : note_early(a, r, step));
        return note_begun(a, r, e, at);
    case XS_EV_PASS:
    case XS_EV_WAIT_END: return note_guard(r, step);
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
    for (uint32_t i = 0; i < r->early_count; i++)
        an_vector_drop(r->earlies[i].reads.stamps);
    rd_map_free(&r->of);
    rd_map_free(&r->early_of);
    free(r->earlies);
    free(r->guards);
    free(r->chunks);
    free(r->writers);
}

const an_ops an_payload_race = {.id = XSA_PAYLOAD_RACE, .needs = AN_PAYLOAD, .state = sizeof(races), .on_step = on_step, .release = release,
                                .cannot = "threads of one block, parts of one chunk, and accesses that note nothing"};
