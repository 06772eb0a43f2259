/* Whose turn it is, where clocks disagree. Rings are merged by their stamps, and stamps of two clocks are right to
 * within what the clocks are known to. So a wait can come first though it saw what another ring has yet to write:
 * that ring is asked first. All rings of the wait's clock, whose order among each other is right, are held: they
 * leave the merge until somebody writes the value that it saw, or as long as clocks may disagree; nothing is stored,
 * since what comes behind stays where it is. What a program orders by what it waits for is then in that order
 * whatever the clocks say, and values that come again (flags that are reset) are read from the signal that they were
 * read from. */
#include "internal.h"

static uint32_t rank_at(const xsr_model *m, uint32_t number) {
    uint32_t at;
    RD_SEARCH(at, 0, m->rank_count, m->ranks[at].rank < number);
    return at < m->rank_count && m->ranks[at].rank == number ? at : XSR_NONE;
}

/* May somebody write it whose clock is another one? The host, which notes nothing, is not waited for. */
static bool is_foreign(const xsr_reader *reader, const rd_ring *r, uint32_t slot) {
    const rd_slot *s = &reader->slots[slot];
    uint32_t supplier = reader->model.slots[slot].supplier_rank,
             rank = supplier == XSR_NONE ? XSR_NONE : rank_at(&reader->model, supplier);
    if (s->host_supplier && !s->signalled)
        return false;
    return rank == XSR_NONE || s->has_reset || reader->rank_clock[rank] != r->clock;
}

/* The ring's next event ends a wait that saw what nobody has written yet. 1: so it is, and *slot is which. */
static int is_early(xsr_reader *reader, uint32_t ring, uint32_t *slot) {
    rd_ring *r = &reader->rings[ring];
    uint64_t value;
    if (r->let_go || (r->raw.kind != XS_EV_PASS && r->raw.kind != XS_EV_WAIT_END))
        return 0;
    *slot = r->slot != XSR_NONE ? r->slot : rd_slot_of(reader, reader->model.rings[ring].process, r->raw.object);
    if (*slot == RD_NO_MEMORY)
        return XS_E_MEMORY;
    if (*slot == XSR_NONE || !is_foreign(reader, r, *slot) || !rd_observed(reader, ring, *slot, &value))
        return 0;
    return !rd_history_shows(reader, &reader->slots[*slot], value, r->writer,
                             r->raw.kind == XS_EV_WAIT_END && r->raw.result == XS_RESULT_OK);
}

static int park(rd_clock *c, rd_node node) {
    if (RD_ROOM(c->parked, c->parked_room, c->parked_count + 1) < 0)
        return XS_E_MEMORY;
    c->parked[c->parked_count++] = node;
    return 0;
}

int rd_turn_hold(xsr_reader *reader) {
    rd_node node = reader->heap[0];
    rd_ring *r = &reader->rings[node.ring];
    rd_clock *c = &reader->clocks[r->clock];
    uint32_t slot;
    int rc = !reader->hold || c->held ? c->held : is_early(reader, node.ring, &slot);
    r->let_go = false;
    if (rc != 1)
        return rc;
    if (park(c, node) < 0)
        return XS_E_MEMORY;
    rd_heap_drop(reader);
    if (c->held)
        return 1;
    c->held = true;
    c->held_for = slot;
    reader->slots[slot].held++;
    reader->held_count++;
    return 1;
}

static void go_on(xsr_reader *reader, rd_clock *c) {
    c->held = false;
    reader->slots[c->held_for].held--;
    reader->held_count--;
    while (c->parked_count)
        rd_heap_put(reader, c->parked[--c->parked_count]);
}

void rd_turn_written(xsr_reader *reader) {
    uint32_t slot;
    reader->awaited = false;
    for (uint32_t i = 0; i < reader->model.clock_count && reader->held_count; i++)
        if (reader->clocks[i].held && is_early(reader, reader->clocks[i].parked[0].ring, &slot) == 0)
            /* its slot is known: no memory is asked for */
            go_on(reader, &reader->clocks[i]);
}

/* What comes again is the kernels' own, not the host's: where nothing is lost it must come yet. The first of those
 * that wait for it is the one that tells most. */
static void note_overdue(xsr_reader *reader, const rd_clock *c) {
    rd_slot *s = &reader->slots[c->held_for];
    uint32_t ring = c->parked[0].ring;
    if (s->overdue == NO_TIME && (s->has_reset || s->rising < s->fresh) &&
        rd_observed(reader, ring, c->held_for, &s->overdue_value)) {
        if (rd_history_before_reset(reader, s, s->overdue_value)) /* then nothing is to come */
            return;
        s->overdue = c->parked[0].key;
        s->overdue_clock = reader->rings[ring].clock;
    }
}

int rd_turn_overdue(xsr_reader *reader, const xsr_event *e, uint64_t post) {
    rd_slot *s = &reader->slots[e->slot];
    int64_t since = s->overdue;
    if (since == NO_TIME || post != s->overdue_value || e->kind == XS_EV_RESET)
        return 0;
    s->overdue = NO_TIME;
    return reader->rank_gaps[e->rank] || e->time_modulo
               ? 0
               : rd_causal_slack(reader, reader->rings[e->ring].clock, s->overdue_clock, since - e->time);
}

/* What was to come before is not there: seeded by the host, or lost. */
static void count_from_here(xsr_reader *reader, const rd_clock *c) {
    rd_slot *s = &reader->slots[c->held_for];
    uint64_t value;
    if (rd_observed(reader, c->parked[0].ring, c->held_for, &value) && value > s->reached)
        s->reached = value;
    s->ahead = 0;
}

/* The oldest first: what others are held for may stand behind it. */
void rd_turn_old(xsr_reader *reader) {
    rd_clock *oldest = NULL;
    for (uint32_t i = 0; i < reader->model.clock_count && reader->held_count; i++) {
        rd_clock *c = &reader->clocks[i];
        if (c->held && (!oldest || c->parked[0].key < oldest->parked[0].key))
            oldest = c;
    }
    if (!oldest || (reader->heap_count && reader->heap[0].key - oldest->parked[0].key <= reader->hold))
        return;
    note_overdue(reader, oldest);
    count_from_here(reader, oldest);
    reader->rings[oldest->parked[0].ring].let_go = true;
    go_on(reader, oldest);
}

void rd_turn_reset(xsr_reader *reader) {
    reader->held_count = 0;
    reader->awaited = false;
    for (uint32_t i = 0; i < reader->model.clock_count; i++) {
        reader->clocks[i].held = false;
        reader->clocks[i].parked_count = 0;
    }
}

/* What one signal shows of clocks that are farther apart than they say, others may exceed. */
void rd_turn_widen(xsr_reader *reader, int64_t early) {
    if (reader->hold && early > reader->hold)
        reader->hold = 2 * early;
}
