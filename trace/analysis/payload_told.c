/* What blocks tell each other by signals, in causal order, beside the value of it: how much they have read before
 * they give it back, whose turn it was, how often they arrive. What is usual is learned by counting up for one and
 * down for others. */
#include "payload.h"

int tellings_read(an *a, tellings *t, uint32_t writer) {
    TRY(RD_ROWS(t->reads, t->read_room, a->writer_count));
    t->reads[writer]++;
    return 0;
}

int tellings_waited(an *a, tellings *t, uint32_t writer) {
    if (writer == XSR_NONE)
        return 0;
    TRY(RD_ROWS(t->waits, t->wait_room, a->writer_count));
    t->waits[writer]++;
    return 0;
}

/* The index of a zeroed element for a new key. */
static int find(rd_map *of, uint64_t key, void **list, uint32_t *count, uint32_t *room, size_t width, uint32_t *out) {
    *out = rd_map_get(of, key);
    if (*out != XSR_NONE)
        return 0;
    *out = *count;
    if (rd_rows(list, room, *count + 1, width) < 0 || rd_map_put(of, key, *out) < 0)
        return XS_E_MEMORY;
    ++*count;
    return 0;
}
#define FIND(of, key, list, count, room, out) \
    find(&(of), (key), (void **)&(list), &(count), &(room), sizeof *(list), (out))

static bool is_usual(uint64_t *usual, uint64_t *lead, uint64_t now) {
    bool odd = *lead >= 2 && now != *usual;
    if (*lead == 0)
        *usual = now;
    *lead += *usual == now ? 1 : -1;
    return !odd;
}

static uint64_t promise_key(const an *a, uint32_t slot, uint32_t writer) {
    return (uint64_t)a->model->slots[slot].pad << 32 | writer;
}

static int take_promise(an *a, tellings *t, const xsr_event *e) {
    uint32_t at;
    if (e->writer >= t->read_room || !t->reads[e->writer])
        return 0; /* it has read nothing */
    TRY(FIND(t->promise_of, promise_key(a, e->slot, e->writer), t->promises, t->promise_count, t->promise_room, &at));
    promise *x = &t->promises[at];
    uint64_t since = t->reads[e->writer] - x->read, usual = x->usual;
    if (!is_usual(&x->usual, &x->lead, since) && since < usual)
        x->broken = e->id;
    x->read = t->reads[e->writer];
    return 0;
}

/* It has waited for what it signals now. */
static int take_turn(tellings *t, const xsr_event *e, const guard *g) {
    uint32_t at;
    if (!g->any || g->slot != e->slot)
        return 0;
    TRY(FIND(t->turn_of, e->slot, t->turns, t->turn_count, t->turn_room, &at));
    turn *x = &t->turns[at];
    if (g->spent ? x->lead >= 2 : !is_usual(&x->usual, &x->lead, e->value - g->need))
        x->wrong_by = e->writer, x->wrong_value = e->value, x->wrong_time = e->time;
    return 0;
}

static int take_pace(tellings *t, const an_step *step) {
    const xsr_event *e = step->e;
    uint32_t at;
    if (e->writer >= t->wait_room)
        return 0; /* it has waited for nothing */
    TRY(FIND(t->pace_of, an_key(0, e->slot, e->writer, 0), t->paces, t->pace_count, t->pace_room, &at));
    pace *x = &t->paces[at];
    uint64_t since = t->waits[e->writer] - x->passed, usual = x->usual;
    if (!is_usual(&x->usual, &x->lead, since) && since < usual)
        t->omissions[t->omission_count++ % PAYLOAD_OMISSIONS] = (omission){
            {step->agent, step->epoch}, e->id, e->epoch, e->time, e->writer, e->slot};
    x->passed = t->waits[e->writer];
    return 0;
}

static int take_arrival(tellings *t, const xsr_event *e) {
    uint32_t at;
    TRY(FIND(t->arriver_of, (uint64_t)e->slot << 32 | e->writer, t->arrivers, t->arriver_count, t->arriver_room, &at));
    an_arriver_take(&t->arrivers[at], e);
    return 0;
}

int tellings_told(an *a, tellings *t, const an_step *step, const guard *g) {
    const xsr_event *e = step->e;
    TRY(take_promise(a, t, e));
    TRY(take_pace(t, step));
    return an_arrives(e->kind) ? take_arrival(t, e) : take_turn(t, e, g);
}

const promise *tellings_promise(const an *a, const tellings *t, uint32_t slot, uint32_t writer) {
    uint32_t at =
        slot == XSR_NONE || writer == XSR_NONE ? XSR_NONE : rd_map_get(&t->promise_of, promise_key(a, slot, writer));
    return at == XSR_NONE ? NULL : &t->promises[at];
}

const turn *tellings_turn(const tellings *t, uint32_t slot) {
    uint32_t at = slot == XSR_NONE ? XSR_NONE : rd_map_get(&t->turn_of, slot);
    return at == XSR_NONE || !t->turns[at].wrong_time ? NULL : &t->turns[at];
}

const an_arriver *tellings_arriver(const tellings *t, uint32_t counter, uint32_t writer) {
    uint32_t at = counter == XSR_NONE || writer == XSR_NONE
                      ? XSR_NONE
                      : rd_map_get(&t->arriver_of, (uint64_t)counter << 32 | writer);
    return at == XSR_NONE ? NULL : &t->arrivers[at];
}

const omission *tellings_omission(const an *a, const tellings *t, uint32_t agent, uint64_t from, uint64_t to) {
    const omission *found = NULL;
    for (uint32_t i = 0; i < PAYLOAD_OMISSIONS && i < t->omission_count && from; i++) {
        const omission *o = &t->omissions[i];
        if (o->epoch < from || o->epoch > to || !(o->stamp.agent == agent || an_hb_before(a, o->stamp, agent)))
            continue;
        if (found && found->writer != o->writer)
            return NULL;
        found = !found || o->event < found->event ? o : found;
    }
    return found;
}

void tellings_free(tellings *t) {
    rd_map_free(&t->promise_of);
    rd_map_free(&t->turn_of);
    rd_map_free(&t->arriver_of);
    free(t->promises);
    free(t->turns);
    free(t->arrivers);
    free(t->reads);
    free(t->waits);
    free(t->paces);
    rd_map_free(&t->pace_of);
}
