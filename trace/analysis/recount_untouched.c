/* Slots that the plan promises signals of, that nobody ever signalled and nobody waited for: no event names them, so
 * that they are looked up from the plan's side. An entry for many slots may well cover some that its author never
 * meant (a rank's own, or all but the neighbours): of such an entry they are told where they are few among those
 * that are in use, or all of it. */
#include "recount.h"

#define SLOTS_MOST (1u << 16) /* of one entry that are looked at */
#define LOOKS_MOST (1u << 22) /* in all: many entries may speak of the same slots. Of those beyond it nothing is told */

typedef struct place { uint32_t owner, row, column; } place;
/* Of one entry for many slots, or of all entries for one slot of a pad: one piece of code makes them. */
typedef struct untouched {
    uint64_t slots, unused, epochs, planned; /* it speaks of; epochs and planned: of the first that is unused */
    place first;
    uint32_t rank, row;                      /* that owes it, index, XSR_NONE: none is declared; of the plan */
} untouched;

static uint64_t key_of(const xsr_pad *pad, place p) {
    return ((uint64_t)p.owner * pad->rows + p.row) * pad->columns + p.column;
}

/* Of a pad: those that an event names. */
static int touched_of(const an *a, uint32_t pad, rd_map *out) {
    for (uint32_t i = 0; i < a->model->slot_count; i++) {
        const xsr_slot *s = &a->model->slots[i];
        const an_slot *own = i < a->slot_count ? &a->slots[i] : NULL;
        bool used =
            own && (own->signals || own->waits || own->arrivals || own->resets || own->is_channel || own->is_barrier);
        if (s->pad == pad && (used || an_hang_at(a, i)))
            TRY(rd_map_put(out, key_of(&a->model->pads[pad], (place){s->owner, s->row, s->column}), 1));
    }
    return 0;
}

static bool is_exact(const xs_plan_entry *e) {
    return e->owner != XS_PLAN_ANY && e->row != XS_PLAN_ANY && e->column != XS_PLAN_ANY;
}

static uint32_t row_of(const an *a, uint32_t pad, uint32_t kind, place p, uint64_t epoch) {
    xsr_slot at = {.pad = pad, .owner = p.owner, .row = p.row, .column = p.column};
    return an_plan_row_at(a, &at, kind, epoch);
}

static uint32_t rank_named(uint64_t rank, place p) {
    return rank == XS_PLAN_ROW      ? p.row
           : rank == XS_PLAN_COLUMN ? p.column
           : rank == XS_PLAN_OWNER  ? p.owner
                                    : (uint32_t)rank;
}

/* Epochs of that rank that are over, and that the entry speaks of. */
static uint64_t epochs_of(const an *a, uint32_t rank, uint64_t only) {
    const an_runs *entered = an_entered(a, rank, XSR_NONE);
    uint64_t below = an_closed_below(a, rank), n = 0;
    for (uint32_t i = 0; entered && i < entered->count; i++) {
        const an_run *run = &entered->list[i];
        uint64_t last = run->last < below ? run->last : below - 1;
        if (only != UINT64_MAX)
            n += only >= run->first && only <= run->last && only < below;
        else if (run->first < below)
            n += last - run->first + 1;
    }
    return n;
}

static void look_at(const an *a, uint32_t row, place p, const rd_map *touched, untouched *out) {
    const xs_plan_entry *e = &a->model->plan[row].entry, *writer;
    uint32_t pad = a->model->plan[row].pad, writers = row_of(a, pad, XS_PLAN_WRITER, p, e->epoch);
    writer = writers == XSR_NONE ? NULL : &a->model->plan[writers].entry;
    uint32_t number = writer ? rank_named(writer->a, p) : XSR_NONE, rank = writer ? an_rank_of(a, number) : XSR_NONE;
    bool meant = is_exact(e) || (writer && number != p.owner);
    if (!meant || (writer && rank == XSR_NONE) ||
        (!writer && a->model->rank_count != a->model->processes[0].world_ranks) ||
        row_of(a, pad, XS_PLAN_HOST_SUPPLIER, p, e->epoch) != XSR_NONE ||
        row_of(a, pad, XS_PLAN_SIGNALS, p, e->epoch) != row)
        return;
    uint64_t epochs = epochs_of(a, rank, e->epoch);
    out->slots++;
    if (rd_map_get(touched, key_of(&a->model->pads[pad], p)) != XSR_NONE || !epochs)
        return;
    if (!out->unused++)
        out->first = p, out->rank = rank, out->epochs = epochs, out->planned = epochs * e->a, out->row = row;
}

static int say(an *a, const untouched *u) {
    const xsr_plan *plan = &a->model->plan[u->row];
    const xsr_pad *pad = &a->model->pads[plan->pad];
    if (u->rank == XSR_NONE)
        an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX);
    else
        an_whole_rank(a, u->rank, INT64_MIN, INT64_MAX);
    an_only_by(a, AN_MOVES);
    an_only_beyond(a, u->planned - 1);
    xsa_finding f = an_like(XSA_COUNT_MISMATCH, XSA_WARNING, is_exact(&plan->entry) ? XSA_HIGH : XSA_MEDIUM);
    an_culprit(a, &f, u->rank, XSR_NONE);
    f.begin = a->model->begin;
    f.end = a->last_time;
    f.cure = "take the entry out of the plan, or let the rank that it names signal the slot";
    const char *more = u->unused > 1 ? an_print(a, " (and %llu more of the %llu slots that are declared like it)",
                                                (unsigned long long)(u->unused - 1), (unsigned long long)u->slots)
                                     : "";
    an_finding *out =
        an_find(a, &f, an_key(XSA_COUNT_MISMATCH, u->row, 7, 0),
                "%s never signalled row %u, column %u of %s at rank %u, where the plan declares %llu an epoch (%llu "
                "epochs), and nobody waited for it%s",
                u->rank == XSR_NONE ? "nobody" : an_who(a, u->rank, XSR_NONE), u->first.row, u->first.column, pad->name,
                u->first.owner, (unsigned long long)plan->entry.a, (unsigned long long)u->epochs, more);
    return out ? 0 : XS_E_MEMORY;
}

static uint32_t from_of(uint32_t named) { return named == XS_PLAN_ANY ? 0 : named; }
static uint32_t to_of(uint32_t named, uint32_t count) {
    return named == XS_PLAN_ANY ? count : named < count ? named + 1 : 0;
}

static int look_at_entry(an *a, uint32_t row, const rd_map *touched, untouched *exact, uint64_t *looks) {
    const xsr_plan *plan = &a->model->plan[row];
    const xs_plan_entry *e = &plan->entry;
    const xsr_pad *pad = &a->model->pads[plan->pad];
    uint32_t ranks = a->model->processes[0].world_ranks;
    untouched u = {.rank = XSR_NONE};
    if (is_exact(e)) {
        look_at(a, row, (place){e->owner, e->row, e->column}, touched, exact);
        return 0;
    }
    uint64_t all = (uint64_t)(to_of(e->owner, ranks) - from_of(e->owner)) *
                   (to_of(e->row, pad->rows) - from_of(e->row)) * (to_of(e->column, pad->columns) - from_of(e->column));
    if (all > SLOTS_MOST || *looks < all)
        return 0;
    *looks -= all;
    for (uint32_t o = from_of(e->owner); o < to_of(e->owner, ranks); o++)
        for (uint32_t r = from_of(e->row); r < to_of(e->row, pad->rows); r++)
            for (uint32_t c = from_of(e->column); c < to_of(e->column, pad->columns); c++)
                look_at(a, row, (place){o, r, c}, touched, &u);
    return u.unused && (u.unused == u.slots || u.unused * 4 <= u.slots) ? say(a, &u) : 0;
}

static int look_at_pad(an *a, uint32_t pad, const uint32_t *rows, uint32_t count, uint64_t *looks) {
    rd_map touched = {0};
    untouched exact = {.rank = XSR_NONE};
    int rc = touched_of(a, pad, &touched);
    for (uint32_t i = 0; i < count && rc == 0; i++)
        if (a->model->plan[rows[i]].pad == pad)
            rc = look_at_entry(a, rows[i], &touched, &exact, looks);
    if (rc == 0 && exact.unused)
        rc = say(a, &exact);
    rd_map_free(&touched);
    return rc;
}

int an_recount_untouched(an *a) {
    const xsr_model *m = a->model;
    an_list rows = {0}, pads = {0};
    uint64_t looks = LOOKS_MOST;
    int rc = 0;
    if (m->trimmed || m->triggered || !m->process_count)
        return 0;
    for (uint32_t i = 0; i < m->plan_count && rc == 0; i++) {
        const xsr_plan *p = &m->plan[i];
        bool known = p->pad == XSR_NONE || p->entry.kind != XS_PLAN_SIGNALS || p->entry.a == 0;
        if (!known)
            rc = an_list_add(&rows, i);
        for (uint32_t k = 0; k < pads.count && !known; k++)
            known = pads.items[k] == p->pad;
        if (!known && rc == 0)
            rc = an_list_add(&pads, p->pad);
    }
    for (uint32_t k = 0; k < pads.count && rc == 0; k++)
        rc = look_at_pad(a, pads.items[k], rows.items, rows.count, &looks);
    free(rows.items);
    free(pads.items);
    return rc;
}
