/* D15, and D16 where payload tells: reads and writes of one chunk that nothing orders. Of a generation, several blocks
 * may write parts. */
#include "payload_race.h"
#include "class.h"

/* A write that begins now. */
access payload_begins(const an *a, const races *r, const an_step *step) {
    const xsr_event *e = step->e;
    return (access){.event = e->id,
                    .last = e->id,
                    .record = e->sequence,
                    .epoch = e->epoch,
                    .signalled = e->writer == XSR_NONE ? 0 : a->writers[e->writer].signal_most,
                    .writer = e->writer,
                    .agent = step->agent,
                    .active = 1,
                    .since = e->time,
                    .guard = payload_guard(r, step->agent)};
}

/* The write as it stands to those reads: by what its block has heard of who read, of several waits. */
static access behind_reads(const an *a, const races *r, const access *write, const access *reads) {
    access w = *write;
    const guard *h = NULL;
    if (w.guard.unsure || (w.guard.any && (hearing_is_count(a, &w.guard) || w.guard.agent == reads->agent)))
        return w;
    if (!(h = hearing_of(a, &r->heard, w.agent, reads->agent, XSR_NONE, 0, reads->last)))
        h = hearing_of(a, &r->heard, w.agent, reads->agent, XSR_NONE, 0, 0);
    if (h)
        w.guard = *h;
    return w;
}

/* The read began before the write did, by more than clocks are apart: nothing can have told it of that write. */
bool payload_is_ahead(const an *a, const access *reads, const xsr_event *write) {
    return write->time - reads->since > an_clock_bound(a, a->model->writers[reads->writer].rank, write->rank);
}

/* The rank of the writer has signalled nothing yet that tells of that generation: the reader cannot have been told
 * too early. A count others may have filled. */
static bool has_not_told(const an *a, const xsr_event *write) {
    if (a->arrivals)
        return false;
    for (uint32_t i = 0; i < a->writer_count; i++)
        if (a->model->writers[i].rank == write->rank && a->writers[i].signal_most >= write->detail)
            return false;
    return true;
}

int payload_say(an *a, verdict v, const an_step *step, const access *other, uint64_t other_generation,
               const char *what) {
    const xsr_event *e = step->e;
    bool ahead = v.unwritten && payload_is_ahead(a, other, e);
    if (ahead) { /* of its generation that write is the first, unless another one is lost */
        an_whole_rank(a, e->rank, INT64_MIN, e->time);
        an_only_by(a, AN_MOVES | AN_KIND(WRITE_BEGIN));
        an_only_between(a, XSR_NONE, 0, e->writer, e->sequence);
    } else {
        an_whole_order(a, other->agent, other->since, step->agent, e->time); /* what orders the two lies between them */
    }
    if (v.told && !(ahead && has_not_told(a, e))) { /* another wait behind its guard, which told it more */
        /* who waits for several: any before */
        an_whole_records(a, v.told->writer, v.told->guard.any && !v.unasked ? v.told->guard.record : 0, v.told->record);
        an_only_by(a, AN_KIND(PASS) | AN_KIND(WAIT_END));
        if (v.told->guard.unsure || v.of_habits)
            an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX);
        else if (v.untaught) /* what would have taught it is lost */
            an_whole(a, XSR_NONE, INT64_MIN, e->time);
        if (v.unasked && v.victim != XSR_NONE) { /* a wait whose signal is lost has told nothing, as far as is known */
            an_whole(a, v.victim, INT64_MIN, e->time);
            an_only_by(a, AN_MOVES);
        }
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
    if (v.detector == XSA_COUNT_MISMATCH)
        f.explains = xsa_detector_name(XSA_PAYLOAD_RACE);
    an_source(a, &f, v.source);
    uint64_t key = an_key(v.named ? v.detector + XSA_DETECTOR_END * v.named : v.detector, an_number(a, e->rank),
                          other->writer == XSR_NONE ? XSR_NONE : a->model->writers[other->writer].rank, e->object);
    an_finding *out = an_find(a, &f, key, "%s %s %s %llu of generation %llu %s %s (generation %llu), %s%s%s",
                              an_who(a, e->rank, e->writer), e->kind == XS_EV_WRITE_BEGIN ? "writes" : "reads",
                              e->object == XSR_NONE ? "payload" : a->model->names[e->object].text,
                              (unsigned long long)e->value, (unsigned long long)e->detail, what,
                              an_who(a, XSR_NONE, other->writer), (unsigned long long)other_generation,
                              an_since(a, e->time), v.why ? v.why : "", an_site(a, e->writer, v.source));
    if (out)
        out->named = v.named, out->unasked = v.unasked, out->by_stamps = ahead;
    TRY(an_evidence(a, out, other->event, "the other access"));
    TRY(an_evidence(a, out, e->id, "access"));
    return 0;
}

static int take_write(an *a, races *r, const an_step *step, uint32_t chunk_index) {
    const xsr_event *e = step->e;
    chunk *c = &r->chunks[chunk_index];
    /* shared: early reads name themselves */
    uint32_t dst = payload_peer(e),
             src = payload_is_shared(r, e->object) && dst != PAYLOAD_ANY ? dst : an_number(a, e->rank);
    access write = payload_begins(a, r, step);
    const access *race;
    bool active, everywhere = dst == PAYLOAD_ANY && payload_is_shared(r, e->object);
    bool fetched = dst == an_number(a, e->rank); /* from its own memory, by whoever looks there */
    for (uint32_t i = 0; i < a->model->rank_count; i++) /* whoever may have read it already */
        if (r->early_count && (dst == PAYLOAD_ANY || fetched || dst == an_number(a, i)))
            TRY(payload_take_early(a, r, step, everywhere ? an_number(a, i) : src, an_number(a, i), c));
    if (c->written && e->detail != c->generation) {
        if ((race = payload_unordered(a, &c->reads, step->agent, &active))) {
            access lapping = behind_reads(a, r, &write, race);
            TRY(payload_say(a, payload_blame_lapped(a, &r->told, race, &lapping), step, race, c->read_generation,
                    active ? "while it is read by" : "though nothing orders it behind the read by"));
        }
        if ((race = payload_unordered(a, &c->writes, step->agent, &active)))
            TRY(payload_say(a, payload_blame_rewritten(a, &r->told, race, &write), step, race, c->generation,
                    "though nothing orders it behind the write by"));
        payload_clear(&c->writes);
        if (c->read_generation != e->detail)
            payload_clear(&c->reads);
    } else if (c->read_generation == e->detail && c->reads.stamps &&
               (race = payload_unordered(a, &c->reads, step->agent, &active))) {
        TRY(payload_say(a, payload_of_read(a, r, race, &write, e->detail, c), step, race,
                        c->read_generation, "only after it was read by"));
    }
    if (c->written && e->detail != c->generation) {
        c->steady = c->period == e->detail - c->generation ? c->steady + 1 : 0;
        c->period = e->detail - c->generation;
    }
    c->generation = e->detail;
    c->written = true;
    return payload_add(&c->writes, step, &write.guard);
}

static int take_read(an *a, races *r, const an_step *step, chunk *c) {
    const xsr_event *e = step->e;
    const access *race;
    bool active;
    access read = {.event = e->id,
                   .last = e->id,
                   .record = e->sequence,
                   .epoch = e->epoch,
                   .writer = e->writer,
                   .agent = step->agent,
                   .since = e->time,
                   .guard = payload_guard_of_read(a, r, step, c)};
    if (c->written && e->detail < c->generation && c->steady && c->matched >= 2 &&
        payload_no_place(c, e->detail, c->generation, c->period))
        TRY(payload_say_elsewhere(a, &read, c->writes.writer, e, e->object, e->detail, c->period));
    else if (c->written && e->detail < c->generation)
        TRY(payload_say(a, payload_blame_lapped(a, &r->told, &read, &c->writes), step, &c->writes, c->generation,
                "which is overwritten already by"));
    else if (c->written && e->detail == c->generation &&
             (race = payload_unordered(a, &c->writes, step->agent, &active)))
        TRY(payload_say(a, payload_of_read(a, r, &read, race, e->detail, c), step, race, c->generation,
                        active ? "while it is written by" : "though nothing orders it behind the write by"));
    else
        TRY(payload_learn_usual(a, r, c, &read, e->detail));
    c->matched += c->written && e->detail == c->generation;
    c->read_generation = e->detail;
    return payload_add(&c->reads, step, &read.guard);
}

/* What it waited for last, it signals: a lock, or its turn, is given on. */
static int take_telling(an *a, races *r, const an_step *step) {
    guard g = payload_guard(r, step->agent);
    hearing_spend(&r->heard, step->agent, step->e->slot);
    if (g.any && g.slot == step->e->slot)
        r->guards[step->agent].spent = true;
    return step->e->kind == XS_EV_RESET ? 0 : tellings_told(a, &r->told, step, &g);
}

static int note_guard(races *r, const an_step *step) {
    if (!step->w || step->w->result != XS_RESULT_OK || (!step->from && !step->guessed))
        return 0;
    TRY(RD_ROWS(r->guards, r->guard_room, step->agent + 1));
    if (step->guessed)
        r->guards[step->agent].unsure = true;
    else
        r->guards[step->agent] = (guard){.signal = step->from->event,
                                         .value = step->w->observed,
                                         .need = step->w->need,
                                         .record = step->e->sequence,
                                         .epoch = step->from->epoch,
                                         .agent = step->from->stamp.agent,
                                         .writer = step->from->writer,
                                         .slot = step->e->slot,
                                         .source = step->w->source,
                                         .level = step->need,
                                         .any = true,
                                         .released = step->released,
                                         .acquired = step->acquired};
    return step->guessed ? 0 : hearing_note(&r->heard, step->agent, &r->guards[step->agent]);
}

/* A relaxed wait, and the fence behind it: together they acquire. */
static void note_fence(races *r, const an_step *step) {
    guard *g = step->agent < r->guard_room ? &r->guards[step->agent] : NULL;
    if (g && g->any && an_acquires(step->e->order))
        g->acquired |= an_level_of_scope(step->e->scope) > g->level;
    if (an_acquires(step->e->order))
        hearing_acquire(&r->heard, step->agent, an_level_of_scope(step->e->scope));
}

static int note_begun(an *a, races *r, const xsr_event *e, uint32_t chunk_index) {
    TRY(RD_ROWS(r->writers, r->writer_room, a->writer_count));
    r->writers[e->writer] = (begun){chunk_index, e->kind == XS_EV_WRITE_BEGIN, chunk_index != XSR_NONE, e->detail};
    return 0;
}

static int take_end(an *a, races *r, const an_step *step) {
    const xsr_event *e = step->e;
    begun *b = e->writer < r->writer_room ? &r->writers[e->writer] : NULL;
    if (!b || !b->any)
        return 0;
    chunk *c = &r->chunks[b->chunk];
    access *x = b->write ? &c->writes : &c->reads;
    b->any = false;
    if (!b->write)
        TRY(tellings_read(a, &r->told, e->writer));
    if (b->generation != (b->write ? c->generation : c->read_generation))
        return 0; /* another generation has begun */
    return payload_end(x, step);
}

static int on_step(an *a, void *state, const an_step *step) {
    races *r = state;
    const xsr_event *e = step->e;
    uint32_t at;
    if ((e->kind == XS_EV_WRITE_BEGIN || e->kind == XS_EV_READ_BEGIN) && e->further[1] == 0 && e->further[2] == 0)
        return note_begun(a, r, e, XSR_NONE); /* no rows, no bytes: nothing is touched */
    switch (e->kind) {
    case XS_EV_WRITE_BEGIN:
        TRY(payload_know_name(r, e->object));
        at = payload_written(a, r, e);
        if (at == XSR_NONE)
            return XS_E_MEMORY;
        TRY(take_write(a, r, step, at));
        return note_begun(a, r, e, at);
    case XS_EV_READ_BEGIN:
        guard last = payload_guard(r, step->agent);
        TRY(hearing_read(&r->heard, step->agent, &last));
        at = payload_to_read(a, r, e);
        TRY(at != XSR_NONE && r->chunks[at].generation >= e->detail
                ? take_read(a, r, step, &r->chunks[at])
                : payload_note_early(a, r, step, at == XSR_NONE ? NULL : &r->chunks[at]));
        return note_begun(a, r, e, at);
    case XS_EV_PASS:
    case XS_EV_WAIT_END:
        if (step->w && step->w->result == XS_RESULT_OK)
            TRY(tellings_waited(a, &r->told, e->writer));
        return note_guard(r, step);
    case XS_EV_FENCE: note_fence(r, step); return 0;
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK:
    case XS_EV_ARRIVE:
    case XS_EV_GATE_ARRIVE:
    case XS_EV_RESET:
        if (e->slot == XSR_NONE)
            return 0;
        return take_telling(a, r, step);
    case XS_EV_WORK_BEGIN: return note_begun(a, r, e, XSR_NONE);
    case XS_EV_PAYLOAD_END: return take_end(a, r, step);
    default: return 0;
    }
}

static int finish(an *a, void *state) {
    const races *r = state;
    if (r->count && an_hb_older(a))
        an_unknown(a, XSA_PAYLOAD_RACE, 0,
                   "%llu waits read a signal that is older than the newest %u of its slot: order is not kept that far, "
                   "and a race behind them not known",
                   (unsigned long long)an_hb_older(a), RELEASES);
    return 0;
}

static void release(void *state) {
    races *r = state;
    for (uint32_t i = 0; i < r->count; i++) {
        payload_clear(&r->chunks[i].writes);
        payload_clear(&r->chunks[i].reads);
    }
    for (uint32_t i = 0; i < r->early_count; i++)
        payload_clear(&r->earlies[i].reads);
    rd_map_free(&r->of);
    rd_map_free(&r->early_of);
    rd_map_free(&r->usual_of);
    tellings_free(&r->told);
    free(r->earlies);
    free(r->guards);
    hearing_free(&r->heard);
    free(r->names);
    free(r->chunks);
    free(r->writers);
}

const an_ops an_payload_race = {
    .id = XSA_PAYLOAD_RACE, .needs = AN_NEED_PAYLOAD, .state = sizeof(races),
    .on_step = on_step, .finish = finish, .release = release,
    .cannot = "threads of one block, parts of one chunk, and accesses that note nothing; who is to blame where a reader "
              "has always given its buffer back too early, or where a third block passed on what it heard"};
