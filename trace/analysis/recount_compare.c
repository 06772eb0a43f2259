/* The recounted plan against the declared and reported one: signals and arrivals of an epoch, and the blocks of a
 * role. A number that is wrong at every slot that an entry speaks of is one mistake, in the plan or in all who
 * follow it; else each slot is told. Who signals: multi_writer.c. */
#include "recount.h"

typedef struct differences {
    an_difference *list;
    uint32_t count, room;
    rd_map judged, differ; /* by group: slots */
} differences;

#define TOLD_MOST 256u /* slots of which differences are kept: findings are quadratic in them */

static int one_more(rd_map *map, uint32_t group) {
    uint32_t so_far = rd_map_get(map, group);
    return rd_map_put(map, group, so_far == XSR_NONE ? 1 : so_far + 1);
}

static int look_at(an *a, uint32_t slot, uint32_t tallied, differences *out) {
    an_difference d = {.slot = slot, .tallied = tallied, .rank = XSR_NONE, .role = XSR_NONE, .leading = true};
    bool differs = an_differs(a, &d);
    if (d.judged)
        TRY(one_more(&out->judged, d.group));
    if (!differs)
        return 0;
    TRY(one_more(&out->differ, d.group));
    if (out->count == TOLD_MOST)
        return 0;
    if (RD_ROOM(out->list, out->room, out->count + 1) < 0)
        return XS_E_MEMORY;
    out->list[out->count++] = d;
    return 0;
}

/* ---- findings ---- */

static const char *does(an *a, const an_difference *d) {
    const an_tally *t = an_tally_of(a, d->slot, d->tallied);
    const char *who = t && t->rank != XSR_NONE ? an_who(a, t->rank, t->writer)
                      : d->rank == XSR_NONE    ? "all ranks together"
                                               : an_who(a, d->rank, XSR_NONE);
    const char *what = d->tallied == AN_ARRIVALS ? "arrival" : "signal";
    return d->count
               ? an_print(a, "%s made %llu %s%s", who, (unsigned long long)d->count, what, d->count == 1 ? "" : "s")
               : an_print(a, "%s made no %s", who, what);
}

/* A lost record is one signal, or the begin of an epoch in which there were as many as are promised. */
static bool could_be_lost(const an *a, const an_difference *d, uint64_t lost) {
    uint64_t off = d->planned > d->counted ? d->planned - d->counted : d->counted - d->planned;
    return lost && (!an_loss_is_counted(a) || off <= lost * (d->promised ? d->promised : 1));
}

/* More than promised, by records of one writer: only an epoch that it entered between them could tell otherwise. */
static bool is_beyond(const an *a, const an_difference *d) {
    const an_tally *t = an_tally_of(a, d->slot, d->tallied);
    return t && t->last && d->count > d->promised && t->most_epoch == d->epoch && t->most == d->count;
}

static int say(an *a, const an_difference *d, uint32_t alike) {
    if (a->model->trimmed || a->model->triggered) {
        an_unknown(a, XSA_COUNT_MISMATCH, 0,
                   "the oldest records are not in the capture: signals and arrivals of an epoch are not known to be "
                   "all there");
        return 0;
    }
    uint64_t lost = an_lost(a, d->rank, INT64_MIN, INT64_MAX);
    if (lost && is_beyond(a, d)) {
        const an_tally *all = an_tally_of(a, d->slot, d->tallied);
        an_whole_records(a, all->writer, all->first, all->last);
        an_only_by(a, AN_ENTERS);
    } else if (could_be_lost(a, d, lost) && d->rank == XSR_NONE)
        an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX);
    else if (could_be_lost(a, d, lost))
        an_whole_rank(a, d->rank, INT64_MIN, INT64_MAX);
    const an_tally *t = an_tally_of(a, d->slot, d->tallied);
    const an_slot *s = &a->slots[d->slot];
    const an_touch *last = d->tallied == AN_SIGNALS ? &s->signal : &s->arrival;
    bool more = d->count > d->promised, together = d->rank == XSR_NONE && d->tallied == AN_ARRIVALS;
    const an_arriver *odd = together && more ? an_added_more(a, d->slot) : NULL;
    xsa_finding f = an_like(XSA_COUNT_MISMATCH, d->severity, an_confidence(d->origin, lost));
    f.lost = lost;
    f.slot = d->slot;
    an_culprit(a, &f, d->rank, more && t ? t->writer : last->writer);
    if (together &&
        (odd ||
         (s->is_reported &&
          d->origin ==
              XS_PLAN_REPORTED))) /* of several who arrive any could be wrong: who says how many they are is one */
        an_culprit(a, &f, XSR_NONE, odd ? odd->writer : s->reported_by);
    f.rank = a->model->slots[d->slot].owner;
    f.begin = last->time;
    f.end = last->time;
    f.cure = alike > 1
                 ? "correct what this entry of the plan says of an epoch, or do as often as it says"
                 : "do it on every path as often as the plan says, or correct the plan: recount it by a plain loop";
    const char *where = alike > 1 ? an_print(a, ", and so at all %u slots that this entry speaks of", alike) : "";
    an_finding *out = an_find(
        a, &f, an_key(XSA_COUNT_MISMATCH, d->slot, 5, d->tallied),
        "%s at %s of rank %u in epoch %llu, where %s %llu (%llu of %llu epochs differ: %llu in all, %llu planned)%s",
        does(a, d), an_slot_name(a, d->slot), f.rank, (unsigned long long)d->epoch,
        d->origin == XS_PLAN_DECLARED ? "the plan declares" : "the kernel reported", (unsigned long long)d->promised,
        (unsigned long long)d->differing, (unsigned long long)d->judged, (unsigned long long)d->counted,
        (unsigned long long)d->planned, where);
    if (more && t)
        TRY(an_evidence(a, out, t->event, "one more than before"));
    TRY(an_evidence(a, out, last->event, d->tallied == AN_SIGNALS ? "last signal" : "last arrival"));
    return an_evidence(a, out, s->wait.event, "wait");
}

/* A signal too many where the same rank owes one elsewhere: it went to the wrong slot, which the other finding
 * tells. */
static bool is_shown_by(const an_difference *d, const differences *all) {
    for (uint32_t i = 0; i < all->count && d->count > d->promised; i++) {
        const an_difference *other = &all->list[i];
        if (other->group == d->group && other->rank == d->rank && other->count < other->promised &&
            other->severity <= d->severity)
            return true;
    }
    return false;
}

static const an_difference *worst_of(const differences *all, uint32_t group) {
    const an_difference *worst = NULL;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].group == group && (!worst || all->list[i].severity < worst->severity))
            worst = &all->list[i];
    return worst;
}

static int say_all(an *a, const differences *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        const an_difference *d = &all->list[i];
        uint32_t alike = rd_map_get(&all->differ, d->group);
        bool everywhere = alike == rd_map_get(&all->judged, d->group);
        if (everywhere ? worst_of(all, d->group) == d : !is_shown_by(d, all))
            TRY(say(a, d, everywhere ? alike : 1));
    }
    return 0;
}

/* ---- roles ---- */

/* Whoever looks for a block that never began looks among these. One finding a role. */
static int say_blocks(an *a, uint32_t writer, uint32_t first, uint32_t count) {
    const xsr_writer *w = &a->model->writers[writer];
    xsa_finding f = an_like(XSA_COUNT_MISMATCH, XSA_WARNING, XSA_HIGH);
    an_culprit(a, &f, w->rank, writer);
    f.begin = f.end = w->begin;
    f.cure = "correct the blocks of the role in the plan, or who takes it";
    an_finding *out = an_find(a, &f, an_key(XSA_COUNT_MISMATCH, w->role, 6, 0),
                              "%s is none of the %u blocks from block %u on to which the plan gives the role %s",
                              an_who(a, w->rank, writer), count, first, an_role_name(a, w->role));
    return out ? 0 : XS_E_MEMORY;
}

static int compare_roles(an *a) {
    for (uint32_t i = 0; i < a->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        uint32_t first, count;
        if (an_plan_role_blocks(a, w->role, &first, &count) && w->block != XSR_NONE && w->block - first >= count)
            TRY(say_blocks(a, i, first, count));
    }
    return 0;
}

int an_recount_compare(an *a) {
    differences all = {0};
    int rc = 0;
    for (uint32_t i = 0; i < a->slot_count && rc == 0; i++)
        for (uint32_t tallied = 0; tallied < AN_TALLIED && rc == 0; tallied++)
            rc = look_at(a, i, tallied, &all);
    rc = rc ? rc : say_all(a, &all);
    rc = rc ? rc : compare_roles(a);
    rc = rc ? rc : an_recount_untouched(a);
    free(all.list);
    rd_map_free(&all.judged);
    rd_map_free(&all.differ);
    return rc;
}
