/* The accesses to a chunk since another generation began: all of them as stamps, the newest in full, and of some
 * other blocks theirs. */
#include "payload.h"

static access *of_agent(const access *x, uint32_t agent) {
    for (uint32_t i = 0; i < x->others_count; i++)
        if (x->others[i].agent == agent)
            return &x->others[i];
    return NULL;
}

/* The newest becomes one of the others; more than there is room for push out the oldest. */
static int set_aside(access *x) {
    access *to = of_agent(x, x->agent);
    if (!x->others && !(x->others = calloc(PAYLOAD_OTHERS, sizeof *x->others)))
        return XS_E_MEMORY;
    if (!to) {
        if (x->others_count == PAYLOAD_OTHERS)
            memmove(x->others, x->others + 1, --x->others_count * sizeof *x->others);
        to = &x->others[x->others_count++];
    }
    *to = *x;
    to->stamps = NULL;
    to->others = NULL;
    to->others_count = 0;
    return 0;
}

int payload_add(access *x, const an_step *step, const guard *g) {
    const xsr_event *e = step->e;
    if (x->stamps && x->agent != step->agent)
        TRY(set_aside(x));
    access *before = of_agent(x, step->agent);
    if (before)
        *before = x->others[--x->others_count];
    x->since = x->stamps ? x->since : e->time;
    x->record = e->sequence;
    x->event = x->last = e->id;
    x->writer = e->writer;
    x->epoch = e->epoch;
    x->agent = step->agent;
    x->guard = *g;
    x->active++;
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

int payload_end(access *x, const an_step *step) {
    access *other = x->agent == step->agent ? NULL : of_agent(x, step->agent);
    if (!x->stamps) /* what it overlaps has begun another generation, and was told */
        return 0;
    x->active -= x->active > 0;
    *(other ? &other->last : &x->last) = step->e->id;
    return an_vector_join(&x->stamps, NULL, (an_stamp){step->agent, step->epoch});
}

void payload_clear(access *x) {
    an_vector_drop(x->stamps);
    free(x->others);
    *x = (access){.writer = XSR_NONE};
}

static bool is_unordered(const an *a, const access *x, uint32_t of, uint32_t agent) {
    uint32_t epoch = an_vector_epoch(x->stamps, of);
    return epoch && !an_hb_before(a, (an_stamp){of, epoch}, agent);
}

const access *payload_unordered(const an *a, const access *x, uint32_t agent, bool *active) {
    *active = x->active && x->agent != agent;
    if (*active || (x->stamps && is_unordered(a, x, x->agent, agent)))
        return x;
    for (uint32_t i = x->others_count; i-- > 0;)
        if (is_unordered(a, x, x->others[i].agent, agent))
            return &x->others[i];
    for (uint32_t i = 0; x->stamps && i < x->stamps->count; i++)
        if (!an_hb_before(a, x->stamps->at[i], agent))
            return x;
    return NULL;
}
