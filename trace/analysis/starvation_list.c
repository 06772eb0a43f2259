/* The rows of starvation: all that the unfairness detector saw, whether it is a finding or not. Groups are
 * neighbours in sorted order. */
#include "unfairness.h"

typedef struct place { uint32_t key[3], at; } place; /* a class and its row */

static int by_key(const void *left, const void *right) {
    const place *x = left, *y = right;
    for (uint32_t i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static place *sorted(const an_classes *c) {
    place *all = malloc((c->count + 1u) * sizeof *all);
    for (uint32_t i = 0; all && i < c->count; i++)
        all[i] = (place){{c->keys[i][0], c->keys[i][1], c->keys[i][2]}, i};
    if (all)
        qsort(all, c->count, sizeof *all, by_key);
    return all;
}

/* ---- signals that were not looked at, by (pad, index of the owner, index of who signalled) ---- */

/* never: nothing of it was ever looked at */
typedef struct unseen { uint64_t worst; int64_t since; bool never; } unseen;
typedef struct all_unseen { an_classes of; unseen *rows; uint32_t room; } all_unseen;

static int gather(const an *a, const fairness *s, all_unseen *u) {
    for (uint32_t i = 0; i < a->slot_count && i < s->slot_room; i++) {
        const request *q = &s->slots[i];
        const xsr_slot *slot = &a->model->slots[i];
        uint32_t owner = q->time ? an_rank_of(a, slot->owner) : XSR_NONE;
        if (owner == XSR_NONE || q->rank == owner)
            continue;
        uint32_t at = an_class(&u->of, slot->pad, owner, q->rank);
        if (at == XSR_NONE || RD_ROWS(u->rows, u->room, at + 1))
            return XS_E_MEMORY;
        unseen *row = &u->rows[at];
        row->never = (row->since == 0 || row->never) && q->pending && !q->served;
        row->since = row->since == 0 || q->time < row->since ? q->time : row->since;
        row->worst = q->worst > row->worst ? q->worst : row->worst;
    }
    return 0;
}

static const unseen *unseen_of(const all_unseen *u, const uint32_t key[3]) {
    uint32_t at = rd_map_get(&u->of.of, an_key(0, key[0], key[1], key[2]));
    return at == XSR_NONE ? NULL : &u->rows[at];
}

static xsa_starved row_of_peer(const an *a, const uint32_t key[3], const unseen *u) {
    return (xsa_starved){.pad = key[0],
                         .slot = XSR_NONE,
                         .rank = an_number(a, key[1]),
                         .peer = an_number(a, key[2]),
                         .longest_bypass = u ? u->worst : 0};
}

/* Peers of whom nothing was ever looked at; all are those of `group`, from `*next` on in sorted order. */
static int add_unserved(an *a, const place *group, const all_unseen *u, const place *all, uint32_t *next) {
    static const an_spread never;
    for (; *next < u->of.count && (all[*next].key[0] < group->key[0] ||
                                   (all[*next].key[0] == group->key[0] && all[*next].key[1] <= group->key[1]));
         ++*next) {
        const unseen *row = &u->rows[all[*next].at];
        if (!row->never || all[*next].key[0] != group->key[0] || all[*next].key[1] != group->key[1])
            continue;
        xsa_starved told = row_of_peer(a, all[*next].key, row);
        TRY(an_starving_add(a, &told, &never));
        a->starving.list[a->starving.count - 1].max_ns = a->last_time - row->since;
    }
    return 0;
}

static int list_peers(an *a, const fairness *s, const all_unseen *u, const place *peers, const place *all,
                      double *means) {
    for (uint32_t i = 0, next = 0, end; i < s->peers.count; i = end) {
        uint32_t from = a->starving.count;
        for (end = i;
             end < s->peers.count && peers[end].key[0] == peers[i].key[0] && peers[end].key[1] == peers[i].key[1];
             end++) {
            const served *r = &s->rows[peers[end].at];
            xsa_starved told = row_of_peer(a, peers[end].key, unseen_of(u, peers[end].key));
            means[end - i] = r->delay / (double)r->waits;
            TRY(an_starving_add(a, &told, &r->spread));
        }
        TRY(add_unserved(a, &peers[i], u, all, &next));
        uint32_t count = end - i;
        while (count < a->starving.count - from) /* those that are not served at all */
            means[count++] = 1e300;
        an_starving_group(a, from, an_jain(means, count));
    }
    return 0;
}

static int list_contenders(an *a, const fairness *s, const place *shared, double *means) {
    for (uint32_t i = 0, end; i < s->shared.count; i = end) {
        uint32_t from = a->starving.count;
        for (end = i; end < s->shared.count && shared[end].key[0] == shared[i].key[0]; end++) {
            const contended *c = &s->shared_rows[shared[end].at];
            uint32_t slot = shared[end].key[0];
            xsa_starved told = {.pad = a->model->slots[slot].pad,
                                .slot = slot,
                                .rank = an_number(a, shared[end].key[1]),
                                .peer = XSR_NONE,
                                .longest_bypass = c->passed};
            means[end - i] = c->spread.count ? c->spread.sum / (double)c->spread.count : 0;
            TRY(an_starving_add(a, &told, &c->spread));
        }
        an_starving_group(a, from, an_jain(means, end - i));
    }
    return 0;
}

int unfairness_list(an *a, const fairness *s) {
    all_unseen u = {.room = 0};
    int rc = gather(a, s, &u);
    uint32_t most = s->peers.count > s->shared.count ? s->peers.count : s->shared.count;
    place *peers = sorted(&s->peers), *shared = sorted(&s->shared), *all = sorted(&u.of);
    double *means = calloc((size_t)most + u.of.count + 1u, sizeof *means);
    if (!peers || !shared || !all || !means)
        rc = XS_E_MEMORY;
    rc = rc ? rc : list_peers(a, s, &u, peers, all, means);
    rc = rc ? rc : list_contenders(a, s, shared, means);
    an_classes_free(&u.of);
    free(u.rows);
    free(peers);
    free(shared);
    free(all);
    free(means);
    return rc;
}
