/* Which slot tells of a place, as a rule: learned where all was in order. A place that is new is told of as the others
 * of its buffer between those two, where one slot tells of all of them. */
#include "payload_race.h"

#define SEVERAL (XSR_NONE - 1)

guard payload_guard(const races *r, uint32_t agent) { return agent < r->guard_room ? r->guards[agent] : (guard){0}; }

static uint64_t between(uint32_t name, uint32_t writes, uint32_t reads) {
    return an_key(XSA_PAYLOAD_RACE, name, writes, reads);
}

/* slot + 1; 0: not known. What is known of the place may be of another reader, who has a slot of its own. */
static uint32_t usual_of(const races *r, const chunk *c, uint32_t reads) {
    uint32_t slot = rd_map_get(&r->usual_of, between(c->name, c->writes.agent, reads));
    return slot == XSR_NONE || slot == SEVERAL ? c->usual : slot + 1;
}

/* Who waits for several, and then reads of each, was told by each: not only by the last. By the slot that tells of
 * that place as a rule. */
guard payload_guard_of_read(const an *a, const races *r, const an_step *step, const chunk *c) {
    guard g = payload_guard(r, step->agent);
    const guard *h = NULL;
    uint32_t usual = c && c->written ? usual_of(r, c, step->agent) : 0;
    if (usual && !g.unsure &&
        !(g.any && (hearing_is_count(a, &g) || (g.agent == c->writes.agent && g.value >= step->e->detail))))
        h = hearing_of(a, &r->heard, step->agent, c->writes.agent, usual - 1, step->e->detail, 0);
    g = h ? *h : g;
    g.as_ever = hearing_as_ever(&r->heard, step->agent);
    return g;
}

/* Which slot told of the place, where all was in order. */
int payload_learn_usual(const an *a, races *r, chunk *c, const access *read, uint64_t generation) {
    const guard *g = &read->guard;
    if (!(g->any && g->agent == c->writes.agent))
        g = c->written && !(g->any && hearing_is_count(a, g)) && !g->unsure
                ? hearing_of(a, &r->heard, read->agent, c->writes.agent, XSR_NONE, generation, 0)
                : NULL;
    c->ahead |= c->writes.signalled >= generation;
    if (!g)
        return 0;
    c->usual = g->slot + 1;
    uint64_t key = between(c->name, c->writes.agent, read->agent);
    uint32_t so_far = rd_map_get(&r->usual_of, key);
    if (so_far == g->slot || so_far == SEVERAL)
        return 0;
    return rd_map_put(&r->usual_of, key, so_far == XSR_NONE ? g->slot : SEVERAL);
}

/* Which slot tells of that place is not known, and the reader had heard of it at one: it may be that one. Where
 * nothing is lost, the place has not been read in order yet. */
verdict payload_of_read(an *a, const races *r, const access *reads, const access *writes, uint64_t generation,
                        const chunk *c) {
    verdict v = payload_blame_read(a, &r->told, reads, writes, generation, c->usual, c->ahead || !c->matched);
    v.untaught = v.unasked && !c->usual &&
                 hearing_of(a, &r->heard, reads->agent, writes->agent, XSR_NONE, generation, 0) != NULL;
    return v;
}
