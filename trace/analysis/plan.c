/* The plan of a slot in one form, wherever it comes from: declared by the host, reported by kernels (EXPECT) as the
 * pass goes on, or inferred by the reader (who signals). Every part says its origin. */
#include "analysis.h"

typedef struct an_plans {
    rd_planned rows;       /* of the model's plan, declared */
    an_list roles;         /* rows of role -> blocks */
    uint32_t *kinds;       /* per pad: 1 << kind of its rows, and DATED << kind of those that name an epoch */
    rd_map reported;       /* (slot, epoch) -> expected */
} an_plans;

#define DATED 16u
#define MOST_REPORTED (1u << 16) /* epochs go on for ever: older ones are forgotten together */

int an_plan_begin(an *a) {
    const xsr_model *m = a->model;
    an_plans *p = a->plans = calloc(1, sizeof *p);
    if (!p || !(p->kinds = calloc(m->pad_count + 1u, sizeof *p->kinds)) || rd_planned_open(&p->rows, m->pad_count))
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < m->plan_count; i++) {
        const xs_plan_entry *e = &m->plan[i].entry;
        if (m->plan[i].pad != XSR_NONE && e->kind < DATED)
            p->kinds[m->plan[i].pad] |= 1u << e->kind | (e->epoch != UINT64_MAX ? 1u << (DATED + e->kind) : 0);
        if (e->kind == XS_PLAN_ROLE_BLOCKS)
            TRY(an_list_add(&p->roles, i));
        else if (m->plan[i].pad != XSR_NONE && e->kind < RD_PLANNED_KINDS)
            TRY(rd_planned_add(&p->rows, &m->plan[i], e->kind, e->epoch, i));
    }
    return 0;
}

static uint64_t reported_key(uint32_t slot, uint64_t epoch) { return xs_mixed(xs_mixed(7, slot), epoch); }

int an_plan_expect(an *a, const xsr_event *e) {
    an_plans *p = a->plans;
    if (p->reported.used >= MOST_REPORTED)
        rd_map_free(&p->reported);
    uint32_t expected = e->value < XSR_NONE ? (uint32_t)e->value : XSR_NONE - 1;
    return rd_map_put(&p->reported, reported_key(e->slot, (uint32_t)e->detail), expected);
}

bool an_plan_has(const an *a, uint32_t slot, uint32_t kind) {
    return a->plans->kinds[a->model->slots[slot].pad] >> kind & 1;
}

bool an_plan_dated(const an *a, uint32_t slot, uint32_t kind) {
    return a->plans->kinds[a->model->slots[slot].pad] >> (DATED + kind) & 1;
}

uint32_t an_plan_row(const an *a, uint32_t slot, uint32_t kind, uint64_t epoch) {
    return an_plan_row_at(a, &a->model->slots[slot], kind, epoch);
}

uint32_t an_plan_row_at(const an *a, const xsr_slot *place, uint32_t kind, uint64_t epoch) {
    return rd_planned_find(&a->plans->rows, place, kind, epoch);
}

static const xs_plan_entry *find(const an *a, uint32_t slot, uint32_t kind, uint64_t epoch) {
    uint32_t row = an_plan_has(a, slot, kind) ? an_plan_row(a, slot, kind, epoch) : XSR_NONE;
    return row == XSR_NONE ? NULL : &a->model->plan[row].entry;
}

static uint32_t rank_named(const xsr_slot *s, uint64_t rank) {
    return rank == XS_PLAN_ROW      ? s->row
           : rank == XS_PLAN_COLUMN ? s->column
           : rank == XS_PLAN_OWNER  ? s->owner
                                    : (uint32_t)rank;
}

static void say_arrivals(const an *a, uint32_t slot, uint64_t epoch, an_plan *out) {
    const xs_plan_entry *e = find(a, slot, XS_PLAN_ARRIVALS, epoch);
    uint32_t reported =
        a->slots[slot].is_reported ? rd_map_get(&a->plans->reported, reported_key(slot, (uint32_t)epoch)) : XSR_NONE;
    if (e) {
        out->has_arrivals = true;
        out->arrivals = e->a;
        out->arrivals_origin = (uint8_t)e->origin;
    } else if (reported != XSR_NONE) {
        out->has_arrivals = true;
        out->arrivals = reported;
        out->arrivals_origin = XS_PLAN_REPORTED;
    }
}

an_plan an_plan_of(const an *a, uint32_t slot, uint64_t epoch) {
    const xsr_slot *s = &a->model->slots[slot];
    an_plan out = {.writer = s->supplier_rank,
                   .writer_role = s->supplier_role,
                   .writer_origin = (uint8_t)s->supplier_origin,
                   .without_arrivals = XSR_NONE};
    const xs_plan_entry *e;
    if ((e = find(a, slot, XS_PLAN_HOST_SUPPLIER, epoch))) {
        out.host = true;
        out.host_origin = (uint8_t)e->origin;
    }
    if ((e = find(a, slot, XS_PLAN_SIGNALS, epoch))) {
        out.has_signals = true;
        out.signals = e->a;
        out.signals_origin = (uint8_t)e->origin;
    }
    if ((e = find(a, slot, XS_PLAN_DEPTH, epoch)))
        out.depth = e->a;
    if ((e = find(a, slot, XS_PLAN_PARTICIPANTS, epoch)))
        out.participants = e->a;
    if ((e = find(a, slot, XS_PLAN_NO_ARRIVALS, epoch)))
        out.without_arrivals = rank_named(s, e->a);
    say_arrivals(a, slot, epoch, &out);
    return out;
}

bool an_plan_declares_writer(const an *a, uint32_t slot, uint64_t epoch, uint32_t *rank) {
    const xs_plan_entry *e = find(a, slot, XS_PLAN_WRITER, epoch);
    if (e && rank)
        *rank = rank_named(&a->model->slots[slot], e->a);
    return e != NULL;
}

bool an_plan_role_blocks(const an *a, uint32_t role, uint32_t *first, uint32_t *count) {
    for (uint32_t i = 0; i < a->plans->roles.count && role != XSR_NONE; i++) {
        const xs_plan_entry *e = &a->model->plan[a->plans->roles.items[i]].entry;
        if (e->a != (uint64_t)role + 1)
            continue;
        *first = (uint32_t)e->b;
        *count = (uint32_t)(e->b >> 32);
        return true;
    }
    return false;
}

void an_plan_free(an *a) {
    if (!a->plans)
        return;
    rd_planned_free(&a->plans->rows);
    rd_map_free(&a->plans->reported);
    free(a->plans->kinds);
    free(a->plans->roles.items);
    free(a->plans);
}
