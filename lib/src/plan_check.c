/* What a plan may not say: slots that do not exist, two writers of one slot, a waiter that nobody will ever signal. */
#include <string.h>

#include "objects.h"

#define WHO "plan entry %u: "

static int covers(uint32_t wide, uint32_t narrow) { return wide == XS_PLAN_ANY || wide == narrow; }

/* `a` says something of every slot and epoch that `b` speaks of. */
static int entry_covers(const xs_plan_entry *a, const xs_plan_entry *b) {
    return a->pad_first == b->pad_first && covers(a->owner, b->owner) && covers(a->row, b->row) &&
           covers(a->column, b->column) && (a->epoch == UINT64_MAX || a->epoch == b->epoch);
}

/* Bounds of an intersection: 0 if empty; *only is the one index in common, or XS_PLAN_ANY for all `count`. */
static int meet(uint32_t a, uint32_t b, uint32_t count, uint32_t *only) {
    if (a != XS_PLAN_ANY && b != XS_PLAN_ANY && a != b) return 0;
    *only = a != XS_PLAN_ANY ? a : b;
    if (*only == XS_PLAN_ANY && count == 1) *only = 0;
    return 1;
}

static int epochs_meet(uint64_t a, uint64_t b) { return a == b || a == UINT64_MAX || b == UINT64_MAX; }

/* The writer that entry `e` names, inside the given part of the pad: a rank, or XS_PLAN_ROW / COLUMN / OWNER where it
 * still varies. */
static uint64_t writer_within(const xs_plan_entry *e, uint32_t owner, uint32_t row, uint32_t column) {
    if (e->a == XS_PLAN_OWNER && owner != XS_PLAN_ANY) return owner;
    if (e->a == XS_PLAN_ROW && row != XS_PLAN_ANY) return row;
    if (e->a == XS_PLAN_COLUMN && column != XS_PLAN_ANY) return column;
    return e->a;
}

int xs_plan_writers(const xs_pad *pad, uint32_t ranks, const xs_plan_entry *a, const xs_plan_entry *b,
                    uint64_t writer[2]) {
    uint32_t owner, row, column;
    if (a->pad_first != b->pad_first) return 0;
    if (!meet(a->owner, b->owner, ranks, &owner) || !meet(a->row, b->row, pad->rows, &row)) return 0;
    if (!meet(a->column, b->column, pad->columns, &column)) return 0;
    writer[0] = writer_within(a, owner, row, column);
    writer[1] = writer_within(b, owner, row, column);
    return 1;
}

static int writers_contradict(const xs_pad *pad, uint32_t ranks, const xs_plan_entry *a, const xs_plan_entry *b) {
    uint64_t writer[2];
    if (pad->flags & XS_PAD_SHARED || !epochs_meet(a->epoch, b->epoch)) return 0;
    return xs_plan_writers(pad, ranks, a, b, writer) && writer[0] != writer[1];
}

static int check_place(const xs_world *world, const xs_plan_entry *e, uint32_t i, const xs_pad *pad) {
    if (e->owner != XS_PLAN_ANY && e->owner >= world->config.ranks)
        return xs_fail(XS_E_PLAN, WHO "owner %u of %u ranks", i, e->owner, world->config.ranks);
    if (e->row != XS_PLAN_ANY && e->row >= pad->rows)
        return xs_fail(XS_E_PLAN, WHO "row %u of %u", i, e->row, pad->rows);
    if (e->column != XS_PLAN_ANY && e->column >= pad->columns)
        return xs_fail(XS_E_PLAN, WHO "column %u of %u", i, e->column, pad->columns);
    return 0;
}

static int check_writer(const xs_world *world, const xs_plan_entry *e, uint32_t i, const xs_pad *pad) {
    uint32_t ranks = world->config.ranks;
    uint64_t last = e->a; /* highest rank named */
    if (e->a == XS_PLAN_ROW) last = e->row == XS_PLAN_ANY ? pad->rows - 1 : e->row;
    if (e->a == XS_PLAN_COLUMN) last = e->column == XS_PLAN_ANY ? pad->columns - 1 : e->column;
    if (e->a == XS_PLAN_OWNER) last = 0;
    if (last >= ranks) return xs_fail(XS_E_PLAN, WHO "writer %llu of %u ranks", i, (unsigned long long)last, ranks);
    if (e->b > xs_objects_of(world)->names[XS_NAME_ROLE].count)
        return xs_fail(XS_E_PLAN, WHO "the writer's role is unknown", i);
    return 0;
}

static int check_kind(const xs_world *world, const xs_plan_entry *e, uint32_t i, const xs_pad *pad) {
    switch (e->kind) {
    case XS_PLAN_WRITER: return check_writer(world, e, i, pad);
    case XS_PLAN_DEPTH: return e->a ? 0 : xs_fail(XS_E_PLAN, WHO "a ring of depth 0", i);
    case XS_PLAN_PARTICIPANTS:
        if (e->a && e->a <= world->config.ranks) return 0;
        return xs_fail(XS_E_PLAN, WHO "%llu participants of %u ranks", i, (unsigned long long)e->a,
                       world->config.ranks);
    case XS_PLAN_NO_ARRIVALS:
        if (e->a < world->config.ranks) return 0;
        return xs_fail(XS_E_PLAN, WHO "publisher %llu of %u ranks", i, (unsigned long long)e->a, world->config.ranks);
    case XS_PLAN_ROLE_BLOCKS:
        if (e->a && e->a <= xs_objects_of(world)->names[XS_NAME_ROLE].count && e->b >> 32) return 0;
        return xs_fail(XS_E_PLAN, WHO "an unknown role, or no blocks", i);
    default: return 0;
    }
}

static int check_one(const xs_world *world, const xs_plan_entry *e, uint32_t i) {
    if (e->kind < XS_PLAN_WRITER || e->kind > XS_PLAN_INSIDE)
        return xs_fail(XS_E_PLAN, WHO "unknown kind %u", i, e->kind);
    if (e->origin > XS_PLAN_INFERRED) return xs_fail(XS_E_PLAN, WHO "unknown origin %u", i, e->origin);
    if (e->kind == XS_PLAN_ROLE_BLOCKS && e->pad_first == UINT32_MAX) return check_kind(world, e, i, NULL);
    const xs_named_pad *known = xs_pad_by_first(world, e->pad_first);
    if (!known) return xs_fail(XS_E_PLAN, WHO "no pad begins at object %u", i, e->pad_first);
    int rc = check_place(world, e, i, &known->pad);
    return rc ? rc : check_kind(world, e, i, &known->pad);
}

/* Nobody arrives: then the plan must name who publishes, or say that there is no signal (the wait is skipped). */
static int is_supplied(const xs_objects *o, const xs_plan_entry *arrivals) {
    const xs_plan_index *x = &o->plan_index;
    uint32_t pattern = xs_plan_pattern(arrivals);
    for (uint32_t wide = pattern; wide < XS_PLAN_PATTERNS; wide = (wide + 1) | pattern) {
        uint32_t at = xs_plan_index_find(x, XS_PLAN_AS_SUPPLIER, wide, wide, arrivals);
        for (; at != XS_PLAN_NO_NODE; at = x->nodes[at].next)
            if (entry_covers(&o->plan[x->nodes[at].entry], arrivals)) return 1;
    }
    return 0;
}

static int is_same(const xs_plan_entry *a, const xs_plan_entry *b) { return !memcmp(a, b, sizeof *a); }

/* Whoever speaks of a slot of this entry too is asked, in every pattern that there is. What was said before word by
 * word is right. */
static int check_writers(const xs_world *world, uint32_t as, uint32_t entry, uint32_t index, int *known) {
    const xs_objects *o = xs_objects_of(world);
    const xs_plan_index *x = &o->plan_index;
    const xs_plan_entry *e = &o->plan[entry];
    const xs_pad *pad = &xs_pad_by_first(world, e->pad_first)->pad;
    uint32_t pattern = xs_plan_pattern(e), at = xs_plan_index_find(x, as, pattern, pattern, e);
    for (*known = 0; at != XS_PLAN_NO_NODE && !*known; at = x->nodes[at].next)
        *known = is_same(&o->plan[x->nodes[at].entry], e);
    for (uint32_t others = *known ? 0 : x->patterns[as]; others && as == XS_PLAN_AS_WRITER; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(others);
        for (at = xs_plan_index_find(x, as, other, xs_plan_left_out(as, other, pattern), e); at != XS_PLAN_NO_NODE;
             at = x->nodes[at].next)
            if (writers_contradict(pad, world->config.ranks, e, &o->plan[x->nodes[at].entry]))
                return xs_fail(XS_E_PLAN, WHO "another entry names another writer for the same slot", index);
    }
    return 0;
}

static int supplies(const xs_plan_entry *e) {
    return e->kind == XS_PLAN_NO_ARRIVALS || e->kind == XS_PLAN_HOST_SUPPLIER || (e->kind == XS_PLAN_SIGNALS && !e->a);
}

static uint32_t writer_as(const xs_world *world, const xs_plan_entry *e) {
    return xs_pad_by_first(world, e->pad_first)->pad.flags & XS_PAD_SHARED ? XS_PLAN_AS_ADDER : XS_PLAN_AS_WRITER;
}

/* Views of those who write, by what each pattern that there will be has in common with each other. */
static int make_views(xs_world *world, uint32_t count) {
    xs_objects *o = xs_objects_of(world);
    xs_plan_index *x = &o->plan_index;
    uint32_t had = o->plan_count, come[XS_PLAN_AS] = {0};
    for (uint32_t i = had; i < had + count; i++)
        if (o->plan[i].kind == XS_PLAN_WRITER)
            come[writer_as(world, &o->plan[i])] |= 1u << xs_plan_pattern(&o->plan[i]);
    for (uint32_t as = 0; as < XS_PLAN_AS; as++) {
        uint32_t all = come[as] | x->patterns[as];
        for (uint32_t pair = 0; come[as] && pair < XS_PLAN_PATTERNS * XS_PLAN_PATTERNS; pair++) {
            uint32_t is = pair / XS_PLAN_PATTERNS, other = pair % XS_PLAN_PATTERNS,
                     both = xs_plan_left_out(as, is, other);
            if (!(come[as] >> is & 1) || !(all >> other & 1)) continue;
            if (xs_plan_index_view(x, o->plan, as, is, both) || xs_plan_index_view(x, o->plan, as, other, both))
                return XS_E_MEMORY;
        }
    }
    return 0;
}

static int check_pairs(xs_world *world, uint32_t count) {
    xs_objects *o = xs_objects_of(world);
    uint32_t had = o->plan_count;
    int rc = make_views(world, count), known;
    for (uint32_t i = had; i < had + count && !rc; i++)
        if (supplies(&o->plan[i])) rc = xs_plan_index_add(&o->plan_index, o->plan, XS_PLAN_AS_SUPPLIER, i);
    for (uint32_t i = had; i < had + count && !rc; i++) {
        const xs_plan_entry *e = &o->plan[i];
        if (e->kind == XS_PLAN_ARRIVALS && !e->a && !is_supplied(o, e))
            rc = xs_fail(XS_E_PLAN, WHO "0 arrivals, and no XS_PLAN_NO_ARRIVALS names who publishes", i - had);
        if (rc || e->kind != XS_PLAN_WRITER) continue;
        uint32_t as = writer_as(world, e);
        rc = check_writers(world, as, i, i - had, &known);
        if (!rc && !known) rc = xs_plan_index_add(&o->plan_index, o->plan, as, i);
    }
    return rc;
}

int xs_plan_check(xs_world *world, uint32_t count) {
    const xs_objects *o = xs_objects_of(world);
    int rc = 0;
    for (uint32_t i = 0; !rc && i < count; i++) rc = check_one(world, &o->plan[o->plan_count + i], i);
    return rc ? rc : check_pairs(world, count);
}
