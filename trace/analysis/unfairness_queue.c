/* Where several ranks wait for one slot: waits that others overtake, and hand-overs that go to others. */
#include "unfairness.h"

#define BYPASS 16u   /* overtaken so often by those who wait */
#define PASSED_BY 8u /* hand-overs that would have been enough, and went to others */
#define MOST_CONTENDERS 4096u

static contended *contended_of(fairness *s, uint32_t slot, uint32_t rank) {
    uint32_t at = an_class(&s->shared, slot, rank, 0);
    return at == XSR_NONE || RD_ROWS(s->shared_rows, s->shared_room, at + 1) ? NULL : &s->shared_rows[at];
}

static int note_passed(fairness *s, const contender *c) {
    contended *row = contended_of(s, c->slot, c->rank);
    if (row && c->passed > row->passed)
        row->passed = c->passed;
    return row ? 0 : XS_E_MEMORY;
}

/* A wait that ends has overtaken those for the same slot that began before it and go on. */
static int overtake(fairness *s, const xsr_event *e) {
    int rc = 0;
    int64_t begin = INT64_MAX;
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].writer == e->writer) {
            begin = s->now[i].begin;
            rc = note_passed(s, &s->now[i]);
            if (s->now[i].bypass > s->worst.bypass)
                s->worst = (overtaken){s->now[i].bypass, s->now[i].wait, e->id, e->slot, e->rank,
                                       e->writer,        XSR_NONE,       begin, e->time};
            s->now[i] = s->now[--s->now_count];
            break;
        }
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].begin < (begin == INT64_MAX ? e->time : begin) &&
            s->now[i].rank != e->rank) {
            s->now[i].bypass++;
            s->now[i].passed++;
            if (s->now[i].bypass > s->worst.bypass)
                s->worst = (overtaken){s->now[i].bypass, s->now[i].wait, e->id,           e->slot, s->now[i].rank,
                                       s->now[i].writer, e->rank,        s->now[i].begin, e->time};
        }
    return rc;
}

/* A hand-over that is enough for a wait, made while it goes on. */
void unfairness_hand_over(fairness *s, const xsr_event *e) {
    for (uint32_t i = 0; i < s->now_count; i++) {
        contender *c = &s->now[i];
        if (c->slot != e->slot || c->rank == e->rank || e->value < c->need)
            continue;
        c->bypass += BYPASS / PASSED_BY;
        c->passed++;
        if (c->bypass > s->worst.bypass)
            s->worst = (overtaken){c->bypass, c->wait, e->id, e->slot, c->rank, c->writer, e->rank, c->begin, e->time};
    }
}

static int begin_wait(fairness *s, const xsr_event *e) {
    contender now = {e->id, 0, e->need, 0, e->slot, e->rank, e->writer, e->time};
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].writer == e->writer) { /* the end of an older wait is lost */
            s->now[i] = now;
            return 0;
        }
    if (s->now_count == MOST_CONTENDERS)
        return 0;
    if (RD_ROOM(s->now, s->now_room, s->now_count + 1) < 0)
        return XS_E_MEMORY;
    s->now[s->now_count++] = now;
    return 0;
}

int unfairness_contend(fairness *s, const xsr_event *e) {
    return e->kind == XS_EV_WAIT_START ? begin_wait(s, e) : overtake(s, e);
}

int unfairness_waited(fairness *s, const xsr_wait *w) {
    contended *row = contended_of(s, w->slot, w->rank);
    if (!row)
        return XS_E_MEMORY;
    an_spread_add(&row->spread, w->end - w->begin);
    return 0;
}

int unfairness_still_waiting(fairness *s) {
    for (uint32_t i = 0; i < s->now_count; i++)
        TRY(note_passed(s, &s->now[i]));
    return 0;
}

int unfairness_overtaken(an *a, const overtaken *o) {
    if (o->bypass < BYPASS)
        return 0;
    xsa_finding f = an_like(XSA_UNFAIRNESS, XSA_WARNING, XSA_HIGH);
    f.slot = o->slot;
    an_victim(a, &f, o->rank, o->writer);
    f.owes_rank = o->by == XSR_NONE ? a->model->slots[o->slot].owner : an_number(a, o->by);
    f.begin = o->begin;
    f.end = o->end;
    f.cure = "hand over in the order of arrival: a ticket, or a slot for each who waits";
    an_finding *out = an_find(
        a, &f, an_key(XSA_UNFAIRNESS, o->slot, 1, 1), "%s waits for %s since %s and was passed by %llu times by others",
        an_who(a, o->rank, o->writer), an_slot_name(a, o->slot), an_since(a, o->begin), (unsigned long long)o->bypass);
    TRY(an_evidence(a, out, o->wait, "wait"));
    return an_evidence(a, out, o->event, "end of a later one");
}
