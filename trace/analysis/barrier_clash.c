/* D26: a named barrier of a block used with two counts at a time, or one that not all come to. */
#include "detectors.h"

/* a writer that is inside */
typedef struct user { uint32_t count, writer; uint64_t event; int64_t time; struct user *next; } user;
typedef struct place { uint32_t launch, rank, block, id; user *inside; } place;
typedef struct clash { rd_map of; place *list; uint32_t count, room; } clash;

static place *place_of(an *a, clash *c, const xsr_event *e) {
    const xsr_writer *w = &a->model->writers[e->writer];
    uint64_t key = an_key(XSA_BARRIER_CLASH, an_place(w->rank, w->block), w->launch, e->object);
    uint32_t at = rd_map_get(&c->of, key);
    if (at != XSR_NONE)
        return &c->list[at];
    at = c->count;
    if (RD_ROOM(c->list, c->room, at + 1) < 0 || rd_map_put(&c->of, key, at) < 0)
        return NULL;
    c->list[at] = (place){w->launch, w->rank, w->block, e->object, NULL};
    c->count++;
    return &c->list[at];
}

static int say(an *a, const xsr_event *e, const user *u) {
    xsa_finding f = an_like(XSA_BARRIER_CLASH, XSA_ERROR, XSA_HIGH);
    an_culprit(a, &f, e->rank, e->writer);
    an_victim(a, &f, e->rank, u->writer);
    f.begin = u->time;
    f.end = e->time;
    f.cure = "an id of its own for each group of threads: list who uses which id before a block changes its role";
    an_finding *out = an_find(a, &f, an_key(XSA_BARRIER_CLASH, e->rank, an_block(a, e->writer), e->object),
                              "%s enters named barrier %u for %llu threads while %s is in it for %u, %s: undefined",
                              an_who(a, e->rank, e->writer), e->object, (unsigned long long)e->value,
                              an_who(a, e->rank, u->writer), u->count, an_since(a, e->time));
    TRY(an_evidence(a, out, u->event, "other use"));
    return an_evidence(a, out, e->id, "enters");
}

static void leave(place *p, uint32_t writer) {
    for (user **u = &p->inside; *u; u = &(*u)->next)
        if ((*u)->writer == writer) {
            user *gone = *u;
            *u = gone->next;
            free(gone);
            return;
        }
}

static int on_event(an *a, void *state, const xsr_event *e) {
    if (e->writer == XSR_NONE)
        return 0;
    place *p = place_of(a, state, e);
    if (!p)
        return XS_E_MEMORY;
    leave(p, e->writer);
    if (e->kind == XS_EV_BLOCK_LEAVE)
        return 0;
    for (const user *u = p->inside; u; u = u->next)
        if (u->count != e->value) {
            an_whole(a, u->writer, u->time, e->time); /* its leave */
            TRY(say(a, e, u));
            break;
        }
    user *n = malloc(sizeof *n);
    if (!n)
        return XS_E_MEMORY;
    *n = (user){(uint32_t)e->value, e->writer, e->id, e->time, p->inside};
    p->inside = n;
    return 0;
}

/* Somebody stands in it at the end, though nothing was lost and the world went on or was aborted. */
static int finish(an *a, void *state) {
    clash *c = state;
    for (uint32_t i = 0; i < c->count; i++) {
        const user *u = c->list[i].inside;
        if (!u)
            continue;
        const char *gone = a->model->writers[u->writer].end != NO_TIME ? " until it ended" : "";
        if (an_tail_unknown(a, c->list[i].rank)) {
            an_unknown(a, XSA_BARRIER_CLASH, 1, "a named barrier may have been left in the unknown tail of a process");
            continue;
        }
        an_whole(a, u->writer, u->time, *gone ? a->model->writers[u->writer].end : INT64_MAX);
        uint32_t inside = 0;
        for (const user *k = u; k; k = k->next)
            inside++;
        xsa_finding f = an_like(XSA_BARRIER_CLASH, XSA_ERROR, XSA_MEDIUM);
        an_culprit(a, &f, c->list[i].rank, u->writer);
        f.begin = u->time;
        f.cure = "all threads that the count names must come to the barrier: look for a branch around it";
        an_finding *out = an_find(
            a, &f, an_key(XSA_BARRIER_CLASH, c->list[i].rank, c->list[i].block, c->list[i].id),
            "%s stands in named barrier %u for %u threads since %s%s, with %u writers inside: others do not come",
            an_who(a, c->list[i].rank, u->writer), c->list[i].id, u->count, an_since(a, u->time), gone, inside);
        TRY(an_evidence(a, out, u->event, "enters"));
    }
    return 0;
}

static void release(void *state) {
    clash *c = state;
    for (uint32_t i = 0; i < c->count; i++)
        for (user *u = c->list[i].inside, *next; u; u = next) {
            next = u->next;
            free(u);
        }
    free(c->list);
    rd_map_free(&c->of);
}

const an_ops an_barrier_clash = {.id = XSA_BARRIER_CLASH,
                                 .needs = AN_NEED_BLOCK_BARRIERS,
                                 .kinds = AN_KIND(BLOCK_ENTER) | AN_KIND(BLOCK_LEAVE),
                                 .state = sizeof(clash),
                                 .on_event = on_event,
                                 .finish = finish,
                                 .release = release,
                                 .cannot = "__syncthreads and barriers of other libraries, which note nothing"};
