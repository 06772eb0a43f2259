/* Which kernel of CUPTI each writer ran in. A launch's number cannot say it: a CUDA graph replays the same handle. Time
 * does: a kernel encloses what its writers stamped. Where several kernels that ran at the same time do, the launches
 * tell them apart: all writers of one launch come from one node of a graph, or one kernel of one stream, and over its
 * replays only the right one encloses all; where several do, what stays equal over the replays decides (ties.c). */
#include "internal.h"

typedef struct kernels {
    const xsr_model *model;
    uint32_t *at;
    int64_t *end_before;
    uint32_t count;
    int64_t slack;
} kernels;
/* at: indices in activities, by begin; end_before: the latest end up to there */

typedef struct found {
    uint32_t kernel;
    int64_t margin;
} found;
#define MOST_FOUND 64

/* What a launch's writers have in common over its replays. */
uint64_t rd_place_of(const xsr_activity *k) {
    uint64_t h = xs_mixed(xs_mixed(1, k->process), (uint32_t)k->device);
    h = k->graph_node ? xs_mixed(h, k->graph_node)
                      : xs_mixed(xs_mixed(h, k->name), (uint64_t)k->stream << 32 | k->context);
    return h ^ h >> 29;
}

static uint64_t blocks_of(const xsr_activity *k) { return (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]; }

/* Several ranks may be one kernel: their blocks follow each other. */
static bool shape_fits(const xsr_activity *k, const xsr_launch *l) {
    uint64_t threads = (uint64_t)k->block[0] * k->block[1] * k->block[2], blocks = blocks_of(k);
    return !l->grid || (threads == l->block && blocks >= l->grid && blocks % l->grid == 0);
}

static int64_t end_of(const xsr_writer *w) { return w->end == NO_TIME ? w->begin : w->end; }

/* Kernels around a writer; margin: how far inside it lies. */
static uint32_t find(const kernels *ks, const xsr_writer *w, found *out) {
    const xsr_model *m = ks->model;
    uint32_t at, count = 0;
    /* the first that begins behind it */
    RD_SEARCH(at, 0, ks->count, m->activities[ks->at[at]].begin <= w->begin + ks->slack);
    while (at-- > 0 && ks->end_before[at] >= end_of(w) - ks->slack && count < MOST_FOUND) {
        const xsr_activity *k = &m->activities[ks->at[at]];
        if (k->process != w->process || k->end < end_of(w) - ks->slack ||
            (w->launch != XSR_NONE && !shape_fits(k, &m->launches[w->launch])))
            continue;
        int64_t before = w->begin - k->begin, behind = k->end - end_of(w);
        out[count++] = (found){ks->at[at], before < behind ? before : behind};
    }
    return count;
}

/* Of found ones at the wanted place (0: any), the one that it lies in best. A writer that lies inside one (margin at
 * least 0) is not in those that it lies outside of. several: two or more hold it well. */
static uint32_t best_of(const xsr_model *m, const found *f, uint32_t count, uint64_t place, bool *several) {
    uint32_t best = XSR_NONE, inside = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (place && rd_place_of(&m->activities[f[i].kernel]) != place)
            continue;
        inside += f[i].margin >= 0;
        if (best == XSR_NONE || f[i].margin > f[best].margin)
            best = i;
    }
    *several = inside > 1;
    return best == XSR_NONE ? XSR_NONE : f[best].kernel;
}

/* ---- launches: at which place their writers are ---- */

typedef struct vote {
    uint64_t place;
    uint32_t launch, covers, alone;
} vote;
typedef struct votes {
    vote *list;
    uint32_t count, room;
    rd_map index;
} votes;

static int cast(votes *v, uint32_t launch, uint64_t place, bool alone) {
    uint64_t key = xs_mixed(place, launch);
    uint32_t at = rd_map_get(&v->index, key);
    if (at == XSR_NONE) {
        at = v->count;
        if (RD_ROOM(v->list, v->room, at + 1) < 0 || rd_map_put(&v->index, key, at) < 0)
            return XS_E_MEMORY;
        v->list[v->count++] = (vote){place, launch, 0, 0};
    }
    v->list[at].covers++;
    v->list[at].alone += alone;
    return 0;
}

/* Each place counts once a writer. */
static int vote_writer(votes *v, const xsr_model *m, const xsr_writer *w, const found *f, uint32_t count) {
    uint32_t inside = 0;
    for (uint32_t i = 0; i < count; i++)
        inside += f[i].margin >= 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t place = rd_place_of(&m->activities[f[i].kernel]);
        bool again = inside && f[i].margin < 0;
        for (uint32_t k = 0; k < i && !again; k++)
            again = rd_place_of(&m->activities[f[k].kernel]) == place && (f[k].margin >= 0 || !inside);
        if (!again && cast(v, w->launch, place, inside == 1 || count == 1) < 0)
            return XS_E_MEMORY;
    }
    return 0;
}

/* The place of each launch: the one that covers most of its writers, then the one that most writers know for sure; 0:
 * no one. */
static void count_votes(const votes *v, uint64_t *place, vote *best) {
    for (uint32_t i = 0; i < v->count; i++) {
        const vote *x = &v->list[i];
        vote *b = &best[x->launch];
        if (x->covers > b->covers || (x->covers == b->covers && x->alone > b->alone)) {
            *b = *x;
            place[x->launch] = x->place;
        } else if (x->covers == b->covers && x->alone == b->alone) {
            place[x->launch] = 0;
        }
    }
}

/* Launches for which several places stand equally well, and these. */
static int list_ties(const votes *v, const uint64_t *place, const vote *best, rd_ties *ties) {
    ties->ties = malloc((v->count + 1) * sizeof *ties->ties);
    if (!ties->ties)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < v->count; i++) {
        const vote *x = &v->list[i], *b = &best[x->launch];
        if (!place[x->launch] && x->covers == b->covers && x->alone == b->alone)
            ties->ties[ties->tie_count++] = (rd_tie){x->launch, x->place};
    }
    return 0;
}

/* ---- one device ---- */

static int list_kernels(const xsr_reader *reader, const rd_device *d, kernels *ks) {
    const xsr_model *m = &reader->model;
    ks->model = m;
    ks->at = malloc((m->activity_count + 1) * sizeof *ks->at);
    ks->end_before = malloc((m->activity_count + 1) * sizeof *ks->end_before);
    if (!ks->at || !ks->end_before)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        const xsr_activity *a = &m->activities[i];
        if (a->kind != XS_ACTIVITY_KERNEL || a->process != d->process || a->device != d->device)
            continue;
        int64_t before = ks->count ? ks->end_before[ks->count - 1] : NO_TIME;
        ks->end_before[ks->count] = a->end > before ? a->end : before;
        ks->at[ks->count++] = i;
    }
    int64_t bound = m->clocks[d->row].bound_ns;
    ks->slack = bound < 0 ? 0 : bound;
    return 0;
}

static bool runs_on(const xsr_reader *reader, const rd_device *d, const xsr_writer *w) {
    return reader->rings[w->ring].gpu != XSR_NONE && &reader->devices[reader->rings[w->ring].gpu] == d;
}

static void put(xsr_model *m, xsr_writer *w, uint32_t kernel) {
    xsr_activity *k = &m->activities[kernel];
    w->kernel = kernel;
    k->writers++;
    if (k->launch == XSR_NONE)
        k->launch = w->launch;
}

static int note_rest(xsr_reader *reader, const rd_device *d, uint32_t nowhere, uint32_t unclear) {
    int pid = reader->model.processes[d->process].pid, rc = 0;
    if (nowhere)
        rc = rd_note(reader, "GPU %d of process %d: %u writers ran in no kernel that CUPTI told of", d->device, pid,
                     nowhere);
    if (rc == 0 && unclear)
        rc = rd_note(reader,
                     "GPU %d of process %d: %u writers may have run in either of several kernels at the same time",
                     d->device, pid, unclear);
    return rc;
}

static bool told(const xsr_cupti *c, const xsr_writer *w) {
    return c->since != NO_TIME && w->begin >= c->since && end_of(w) <= c->until;
}

static int assign(xsr_reader *reader, const rd_device *d, const kernels *ks, const uint64_t *place) {
    xsr_model *m = &reader->model;
    uint32_t nowhere = 0, unclear = 0;
    for (uint32_t i = 0; i < m->writer_count; i++) {
        xsr_writer *w = &m->writers[i];
        found f[MOST_FOUND];
        if (!runs_on(reader, d, w))
            continue;
        uint32_t count = find(ks, w, f);
        bool several;
        uint32_t kernel = best_of(m, f, count, w->launch == XSR_NONE ? 0 : place[w->launch], &several);
        if (kernel == XSR_NONE)
            nowhere += told(&m->processes[d->process].cupti, w);
        else if (several)
            unclear++;
        else
            put(m, w, kernel);
    }
    return note_rest(reader, d, nowhere, unclear);
}

static int vote_all(const xsr_reader *reader, const rd_device *d, const kernels *ks, votes *v) {
    const xsr_model *m = &reader->model;
    int rc = 0;
    for (uint32_t i = 0; i < m->writer_count && rc == 0; i++) {
        found f[MOST_FOUND];
        if (m->writers[i].launch != XSR_NONE && runs_on(reader, d, &m->writers[i]))
            rc = vote_writer(v, m, &m->writers[i], f, find(ks, &m->writers[i], f));
    }
    return rc;
}

/* After the votes. */
static int break_ties(const xsr_reader *reader, const rd_device *d, const kernels *ks, const votes *v, uint64_t *place,
                      const vote *best) {
    const xsr_model *m = &reader->model;
    rd_ties ties = {.model = m, .kernels = ks->at, .kernel_count = ks->count};
    uint32_t *writers = malloc((m->writer_count + 1) * sizeof *writers);
    int rc = writers ? list_ties(v, place, best, &ties) : XS_E_MEMORY;
    for (uint32_t i = 0; i < m->writer_count && rc == 0 && ties.tie_count; i++)
        if (m->writers[i].launch != XSR_NONE && !place[m->writers[i].launch] && runs_on(reader, d, &m->writers[i]))
            writers[ties.writer_count++] = i;
    ties.writers = writers;
    if (rc == 0 && ties.tie_count)
        rc = rd_ties_break(&ties, place);
    free(ties.ties);
    free(writers);
    return rc;
}

/* Launches without writers (nothing was recorded): the one kernel of their shape that ran between their words. */
static void find_launches(xsr_reader *reader, const rd_device *d, const kernels *ks) {
    xsr_model *m = &reader->model;
    for (uint32_t i = 0; i < m->launch_count; i++) {
        const xsr_launch *l = &m->launches[i];
        if (l->process != d->process || l->begin == NO_TIME || l->end == NO_TIME)
            continue;
        xsr_writer words = {.process = l->process, .launch = i, .begin = l->begin, .end = l->end};
        uint32_t found_one = XSR_NONE, count = 0, at;
        RD_SEARCH(at, 0, ks->count, m->activities[ks->at[at]].begin < words.begin);
        for (; at < ks->count && m->activities[ks->at[at]].begin <= l->end; at++) {
            const xsr_activity *k = &m->activities[ks->at[at]];
            if (k->launch == i) {
                count = 0;
                break;
            }
            if (k->launch != XSR_NONE || k->end > l->end || !shape_fits(k, l))
                continue;
            found_one = ks->at[at];
            count++;
        }
        if (count == 1)
            m->activities[found_one].launch = i;
    }
}

static int device(xsr_reader *reader, const rd_device *d) {
    uint32_t launches = reader->model.launch_count;
    kernels ks = {0};
    votes v = {0};
    uint64_t *place = calloc(launches + 1, sizeof *place);
    vote *best = calloc(launches + 1, sizeof *best);
    int rc = place && best ? list_kernels(reader, d, &ks) : XS_E_MEMORY;
    if (rc == 0 && ks.count) {
        rc = vote_all(reader, d, &ks, &v);
        if (rc == 0)
            count_votes(&v, place, best);
        if (rc == 0)
            rc = break_ties(reader, d, &ks, &v, place, best);
        if (rc == 0)
            rc = assign(reader, d, &ks, place);
        if (rc == 0)
            find_launches(reader, d, &ks);
    }
    rd_map_free(&v.index);
    free(v.list);
    free(ks.at);
    free(ks.end_before);
    free(place);
    free(best);
    return rc;
}

int rd_instances_find(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    int rc = 0;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        m->activities[i].launch = XSR_NONE;
        m->activities[i].writers = 0;
    }
    for (uint32_t i = 0; i < reader->device_count && rc == 0; i++)
        rc = device(reader, &reader->devices[i]);
    return rc;
}
