/* D6: two writers on a slot that has one. Ranks: whoever the plan does not name, or two that nothing orders. Blocks
 * of one rank: two that nothing orders, in one epoch (after an election it may be another block each epoch). Where a
 * plan's entry names a wrong rank for all of its slots, that is one mistake, and most likely the plan's. */
#include "detectors.h"
#include "hb.h"

typedef struct last { an_stamp stamp; uint64_t event, epoch, value; int64_t time; uint32_t writer, rank; } last;
typedef struct most { uint64_t who; uint32_t lead; } most;
/* which has signalled a slot more often than all others together, and by how much */
typedef struct usual { most rank, block; } usual;
/* The first to signal a slot was not the one that the plan names, and nobody else has signalled it: told when it is
 * clear whose mistake it is. */
typedef struct unplanned { last by; uint32_t slot, row, named; bool told; } unplanned;
/* two ranks that nothing orders, and it is not known whose slot it is */
typedef struct doubtful { last earlier, later; uint32_t slot; } doubtful;
typedef struct writers {
    last *slots; uint32_t room;
    usual *usuals; uint32_t usual_room;
    unplanned *list; uint32_t count, list_room;
    doubtful *doubts; uint32_t doubt_count, doubt_room;
    rd_map unplanned_of, followed; /* slot -> index in list; row of the plan -> slots that it is right about */
} writers;

static int room_for(an *a, writers *s) {
    TRY(RD_ROWS(s->slots, s->room, a->slot_count));
    TRY(RD_ROWS(s->usuals, s->usual_room, a->slot_count));
    return 0;
}

static bool rule_is_clear(const most *m) { return m->lead > 1; }
static bool is_usual(const most *m, uint64_t who) { return rule_is_clear(m) && m->who == who; }

/* By counting up for one and down for others. */
static void count_one(most *m, uint64_t who) {
    if (m->lead == 0)
        m->who = who;
    m->lead = m->who == who ? m->lead + 1 : m->lead - 1;
}
static uint64_t block_of(const an *a, const xsr_event *e) { return an_place(e->rank, an_block(a, e->writer)); }
static void count_writer(const an *a, usual *u, const xsr_event *e) {
    count_one(&u->rank, e->rank);
    count_one(&u->block, block_of(a, e));
}

#define CURE "give each writer a slot of its own, or elect one of them; a counter is declared shared"
#define CURE_PLAN "correct the entry of the plan, or who signals: recount the plan by a plain loop"

/* l: the other, who signalled it before e, or does so in all other rounds. */
static int say_beside(an *a, const xsr_event *e, const last *l, const char *when, uint32_t confidence, const char *why,
                      const char *cure) {
    xsa_finding f = an_like(XSA_MULTI_WRITER, XSA_ERROR, confidence);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[e->slot].owner;
    f.begin = f.end = e->time;
    f.cure = cure;
    an_finding *out =
        l && l->event
            ? an_find(a, &f, an_key(XSA_MULTI_WRITER, e->slot, 0, 0),
                      "%s signals %s of rank %u (%llu), which %s %s (%llu): %s, %s", an_who(a, e->rank, e->writer),
                      an_slot_name(a, e->slot), f.rank, (unsigned long long)e->value, an_who(a, l->rank, l->writer),
                      when, (unsigned long long)l->value, why, an_since(a, e->time))
            : an_find(a, &f, an_key(XSA_MULTI_WRITER, e->slot, 0, 0), "%s signals %s of rank %u (%llu): %s, %s",
                      an_who(a, e->rank, e->writer), an_slot_name(a, e->slot), f.rank, (unsigned long long)e->value,
                      why, an_since(a, e->time));
    if (l && l->event)
        TRY(an_evidence(a, out, l->event, "signal of the other"));
    return an_evidence(a, out, e->id, "signal");
}

static int say(an *a, const xsr_event *e, const last *l, uint32_t confidence, const char *why, const char *cure) {
    return say_beside(a, e, l, "signalled before", confidence, why, cure);
}

/* ---- against the plan ---- */

#define HOST UINT32_MAX

/* Whom the plan names: a rank's number, or HOST. Its row; XSR_NONE: nobody. */
static uint32_t named_by_plan(const an *a, const xsr_event *e, uint32_t *named) {
    if (an_plan_has(a, e->slot, XS_PLAN_WRITER) && an_plan_declares_writer(a, e->slot, e->epoch, named))
        return an_plan_row(a, e->slot, XS_PLAN_WRITER, e->epoch);
    *named = HOST;
    return an_plan_has(a, e->slot, XS_PLAN_HOST_SUPPLIER) ? an_plan_row(a, e->slot, XS_PLAN_HOST_SUPPLIER, e->epoch)
                                                          : XSR_NONE;
}

static const char *name_words(an *a, uint32_t named) {
    return named == HOST ? "the plan names the host" : an_print(a, "the plan names rank %u", named);
}

static xsr_event event_of(const unplanned *u) {
    return (xsr_event){.id = u->by.event,
                       .time = u->by.time,
                       .writer = u->by.writer,
                       .rank = u->by.rank,
                       .slot = u->slot,
                       .epoch = u->by.epoch,
                       .value = u->by.value};
}

static int tell(an *a, unplanned *u) {
    xsr_event e = event_of(u);
    u->told = true;
    return say(a, &e, NULL, XSA_HIGH, name_words(a, u->named), CURE);
}

static int put_off(writers *s, const last *by, uint32_t slot, uint32_t row, uint32_t named) {
    if (RD_ROOM(s->list, s->list_room, s->count + 1) < 0)
        return XS_E_MEMORY;
    s->list[s->count] = (unplanned){.by = *by, .slot = slot, .row = row, .named = named};
    return rd_map_put(&s->unplanned_of, slot, s->count++);
}

/* Whoever looks for the one that owes the slot looks for that role. */
static int check_role(an *a, const xsr_event *e, uint32_t row) {
    const xs_plan_entry *p = &a->model->plan[row].entry;
    if (p->kind != XS_PLAN_WRITER || !p->b || p->b > a->model->name_count || e->role == XSR_NONE || e->role == p->b - 1)
        return 0;
    xsa_finding f = an_like(XSA_MULTI_WRITER, XSA_WARNING, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[e->slot].owner;
    f.begin = f.end = e->time;
    f.cure = CURE_PLAN;
    an_whole(a, e->writer, INT64_MIN, e->time); /* it may have changed its role */
    an_finding *out =
        an_find(a, &f, an_key(XSA_MULTI_WRITER, row, 1, 0),
                "%s signals %s of rank %u as %s, where the plan names the role %s", an_who(a, e->rank, e->writer),
                an_slot_name(a, e->slot), f.rank, an_role_name(a, e->role), an_role_name(a, (uint32_t)p->b - 1));
    return an_evidence(a, out, e->id, "signal");
}

/* *said: it is told, or will be, and needs no further look. */
static int against_plan(an *a, writers *s, const xsr_event *e, const last *before, bool *said) {
    bool first = !before->event, other_rank = !first && before->rank != e->rank;
    uint32_t named = HOST, row = first || other_rank ? named_by_plan(a, e, &named) : XSR_NONE;
    uint32_t earlier = other_rank ? rd_map_get(&s->unplanned_of, e->slot) : XSR_NONE;
    if (earlier != XSR_NONE && !s->list[earlier].told)
        TRY(tell(a, &s->list[earlier])); /* a second rank: it is not the plan alone */
    *said = row != XSR_NONE && named != an_number(a, e->rank);
    if (*said)
        return first ? put_off(s, &s->slots[e->slot], e->slot, row, named)
                     : say(a, e, before, XSA_HIGH, name_words(a, named), CURE);
    if (row == XSR_NONE)
        return 0;
    TRY(check_role(a, e, row));
    return rd_map_put(&s->followed, row, 1);
}

static int on_step(an *a, void *state, const an_step *step) {
    writers *s = state;
    const xsr_event *e = step->e;
    if (!an_signals(e->kind) || e->slot == XSR_NONE || an_pad(a, e->slot)->flags & (XS_PAD_SHARED | XS_PAD_WIDE))
        return 0;
    TRY(room_for(a, s));
    last *l = &s->slots[e->slot], before = *l;
    bool said = false;
    *l = (last){{step->agent, step->epoch}, e->id, e->epoch, e->value, e->time, e->writer, e->rank};
    usual rule = s->usuals[e->slot];
    count_writer(a, &s->usuals[e->slot], e);
    TRY(against_plan(a, s, e, &before, &said));
    if (said || !before.event || before.stamp.agent == step->agent || an_hb_before(a, before.stamp, step->agent))
        return 0;
    bool other_rank = before.rank != e->rank;
    if (!other_rank && before.epoch != e->epoch && before.value < e->value)
        return 0;
    /* what orders the two lies between them */
    an_whole_order(a, before.stamp.agent, before.time, step->agent, e->time);
    if (other_rank ? is_usual(&rule.rank, e->rank)
                   : is_usual(&rule.block, block_of(a, e))) { /* the other one is the stranger */
        unplanned stranger = {.by = before, .slot = e->slot};
        xsr_event first = event_of(&stranger);
        return say_beside(a, &first, l, "signals else", other_rank ? XSA_HIGH : XSA_MEDIUM,
                          other_rank ? "nothing orders the two" : "nothing orders the two blocks", CURE);
    }
    if (other_rank && !rule_is_clear(&rule.rank) &&
        !an_found(a, XSA_MULTI_WRITER, an_key(XSA_MULTI_WRITER, e->slot, 0, 0))) {
        if (RD_ROOM(s->doubts, s->doubt_room, s->doubt_count + 1) < 0)
            return XS_E_MEMORY;
        s->doubts[s->doubt_count++] = (doubtful){before, *l, e->slot};
    }
    if (other_rank)
        return say(a, e, &before, XSA_HIGH, "nothing orders the two", CURE);
    return say(a, e, &before, XSA_MEDIUM, "nothing orders the two blocks", CURE);
}

/* ---- whose mistake ---- */

static int say_entry(an *a, writers *s, uint32_t first) {
    const unplanned *u = &s->list[first];
    uint32_t slots = 0;
    for (uint32_t i = first; i < s->count; i++)
        if (s->list[i].row == u->row) {
            slots++;
            s->list[i].told = true;
        }
    xsr_event e = event_of(u);
    const char *all =
        slots > 1 ? an_print(a, "; it is wrong at all %u slots of this entry that were signalled", slots) : "";
    const char *never = u->named == HOST ? "" : ", which is not seen to signal it";
    return say(a, &e, NULL, XSA_HIGH, an_print(a, "%s%s%s", name_words(a, u->named), never, all), CURE_PLAN);
}

/* Whose slot it is shows in its neighbours of the pad, once all are seen: then the other one is the stranger. */
static int settle(an *a, const doubtful *d) {
    uint32_t own = an_writer_by_pattern(a, d->slot);
    if (own == XSR_NONE || own != an_number(a, d->later.rank) || own == an_number(a, d->earlier.rank))
        return 0;
    return an_accuse(
        a, an_key(XSA_MULTI_WRITER, d->slot, 0, 0), d->earlier.rank, d->earlier.writer,
        an_print(a, "%s signals %s of rank %u (%llu), which %s signals else (%llu): nothing orders the two, %s",
                 an_who(a, d->earlier.rank, d->earlier.writer), an_slot_name(a, d->slot),
                 a->model->slots[d->slot].owner, (unsigned long long)d->earlier.value,
                 an_who(a, d->later.rank, d->later.writer), (unsigned long long)d->later.value,
                 an_since(a, d->earlier.time)));
}

/* The named one may have signalled where records are lost: it is the plan's mistake all the same, or one slot's. */
static int finish(an *a, void *state) {
    writers *s = state;
    for (uint32_t i = 0; i < s->doubt_count; i++)
        TRY(settle(a, &s->doubts[i]));
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->list[i].told)
            continue;
        if (rd_map_get(&s->followed, s->list[i].row) != XSR_NONE)
            TRY(tell(a, &s->list[i]));
        else
            TRY(say_entry(a, s, i));
    }
    return 0;
}

static void release(void *state) {
    writers *s = state;
    free(s->slots);
    free(s->usuals);
    free(s->list);
    free(s->doubts);
    rd_map_free(&s->unplanned_of);
    rd_map_free(&s->followed);
}

const an_ops an_multi_writer = {.id = XSA_MULTI_WRITER,
                                .needs = AN_NEED_SIGNALS,
                                .state = sizeof(writers),
                                .on_step = on_step,
                                .finish = finish,
                                .release = release,
                                .cannot = "threads of one block, and writers that note nothing; who may signal a slot "
                                          "of a pad that is declared shared or wide"};
