/* Launches that time alone does not tell apart: two nodes of a CUDA graph that begin and end together lie in each
 * other's kernels in every replay, within what the clock may be off. What stays equal over the replays tells them
 * apart. A kernel begins ahead of its writers, and ends behind them, by the same time again and again; against the
 * other kernel that distance changes as the two nodes begin a little earlier or later than each other. What the
 * clock is off by is in all distances of a replay alike and is taken out. Where the nodes never change places
 * either, those of one function begin equally far ahead of their writers, so the order of begins decides, if they
 * are far enough apart. Else the launches stay untold: none is put where it may not have been. A node that has its
 * launch is out of the question for others. */
#include "internal.h"

#define MOST 6          /* launches that are tied with each other */
#define LEAST 8u        /* replays */
#define CLEARLY 2.0     /* the next best explanation has so many times the spread */
#define ORDER_CLEARLY 3.0
#define APART_NS 150.0  /* begins that differ by less are not told apart by their order */

typedef struct ordered {
    uint64_t key; /* place of a kernel, launch of a writer */
    int64_t begin, end;
    uint32_t at;
} ordered;

typedef struct tables {
    const xsr_model *model;
    ordered *kernels, *writers;
    uint32_t kernel_count, writer_count;
} tables;

/* What is tied: launches and places, as many of one as of the other. */
typedef struct knot {
    uint32_t n, replays;
    uint32_t launch[MOST];
    uint64_t place[MOST];
    const ordered *kernels[MOST];
    int64_t *begin, *end; /* of each launch in each replay */
    bool same_function;
    double spread[MOST][MOST], offset[MOST][MOST]; /* of launch and place */
} knot;

static int by_key(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_launch(const void *a, const void *b) {
    const rd_tie *x = a, *y = b;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static const ordered *range(const ordered *list, uint32_t count, uint64_t key, uint32_t *found) {
    uint32_t at;
    RD_SEARCH(at, 0, count, list[at].key < key);
    for (*found = 0; at + *found < count && list[at + *found].key == key;)
        ++*found;
    return &list[at];
}

static int make_tables(tables *t, const rd_ties *in) {
    const xsr_model *m = t->model = in->model;
    t->kernels = malloc((in->kernel_count + 1) * sizeof *t->kernels);
    t->writers = malloc((in->writer_count + 1) * sizeof *t->writers);
    if (!t->kernels || !t->writers)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < in->kernel_count; i++) {
        const xsr_activity *k = &m->activities[in->kernels[i]];
        t->kernels[t->kernel_count++] = (ordered){rd_place_of(k), k->begin, k->end, in->kernels[i]};
    }
    for (uint32_t i = 0; i < in->writer_count; i++) {
        const xsr_writer *w = &m->writers[in->writers[i]];
        t->writers[t->writer_count++] = (ordered){w->launch, w->begin, w->end, in->writers[i]};
    }
    qsort(t->kernels, t->kernel_count, sizeof *t->kernels, by_key);
    qsort(t->writers, t->writer_count, sizeof *t->writers, by_key);
    return 0;
}

/* All that is tied has been replayed equally often, and every replay has all of its writers. */
static int fill(knot *k, const tables *t) {
    uint32_t name = XSR_NONE, found;
    k->same_function = true;
    for (uint32_t j = 0; j < k->n; j++) {
        k->kernels[j] = range(t->kernels, t->kernel_count, k->place[j], &found);
        if (found < LEAST || (j && found != k->replays))
            return 0;
        k->replays = found;
        uint32_t own = t->model->activities[k->kernels[j]->at].name;
        k->same_function &= !j || own == name;
        name = own;
    }
    k->begin = malloc((size_t)k->n * k->replays * sizeof *k->begin);
    k->end = malloc((size_t)k->n * k->replays * sizeof *k->end);
    if (!k->begin || !k->end)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < k->n; i++) {
        const ordered *w = range(t->writers, t->writer_count, k->launch[i], &found);
        uint32_t each = found / k->replays;
        if (!each || found % k->replays)
            return 0;
        for (uint32_t r = 0; r < k->replays; r++) {
            int64_t end = NO_TIME;
            for (uint32_t x = 0; x < each; x++) {
                if (w[r * each + x].end == NO_TIME)
                    return 0;
                end = w[r * each + x].end > end ? w[r * each + x].end : end;
            }
            k->begin[i * k->replays + r] = w[r * each].begin;
            k->end[i * k->replays + r] = end;
        }
    }
    return 1;
}

/* How far a launch begins behind a place's kernel, or ends ahead of it, less what is common to all of this replay. */
static double distance(const knot *k, uint32_t i, uint32_t j, uint32_t r, bool ends) {
    const int64_t *times = ends ? k->end : k->begin;
    double common = 0;
    for (uint32_t x = 0; x < k->n; x++) {
        const ordered *kernel = &k->kernels[x][r];
        common += (double)(times[x * k->replays + r] - (ends ? kernel->end : kernel->begin));
    }
    const ordered *kernel = &k->kernels[j][r];
    return (double)(times[i * k->replays + r] - (ends ? kernel->end : kernel->begin)) - common / k->n;
}

static double mean_of(const knot *k, uint32_t i, uint32_t j, bool ends) {
    double sum = 0;
    for (uint32_t r = 0; r < k->replays; r++)
        sum += distance(k, i, j, r, ends);
    return sum / k->replays;
}

static double spread_of(const knot *k, uint32_t i, uint32_t j, bool ends) {
    double mean = mean_of(k, i, j, ends), sum = 0;
    for (uint32_t r = 0; r < k->replays; r++) {
        double off = distance(k, i, j, r, ends) - mean;
        sum += off < 0 ? -off : off;
    }
    return sum / k->replays;
}

static void measure(knot *k) {
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j < k->n; j++) {
            double mean = mean_of(k, i, j, false);
            k->offset[i][j] = mean < 0 ? -mean : mean;
            k->spread[i][j] = spread_of(k, i, j, false) + spread_of(k, i, j, true);
        }
}

typedef struct best_two {
    double least, next;
    uint32_t of[MOST]; /* place of each launch */
} best_two;

/* Every way to give each launch a place of its own. */
static void permute(double cost[MOST][MOST], uint32_t n, uint32_t i, uint32_t used, double sum, uint32_t *of,
                    best_two *out) {
    if (i == n) {
        if (sum < out->least) {
            out->next = out->least;
            out->least = sum;
            memcpy(out->of, of, n * sizeof *of);
        } else if (sum < out->next) {
            out->next = sum;
        }
        return;
    }
    for (uint32_t j = 0; j < n; j++)
        if (!(used >> j & 1)) {
            of[i] = j;
            permute(cost, n, i + 1, used | 1u << j, sum + cost[i][j], of, out);
        }
}

static best_two best_of(double cost[MOST][MOST], uint32_t n) {
    best_two b = {.least = 1e300, .next = 1e300};
    uint32_t of[MOST];
    permute(cost, n, 0, 0, 0, of, &b);
    return b;
}

static void decide(knot *k, uint64_t *place) {
    measure(k);
    best_two by = best_of(k->spread, k->n);
    bool clear = by.next >= CLEARLY * by.least + k->n; /* ns: no decision by less than a clock's step */
    if (!clear && k->same_function) {
        by = best_of(k->offset, k->n);
        clear = by.next >= ORDER_CLEARLY * by.least && by.next >= APART_NS * 2;
    }
    for (uint32_t i = 0; i < k->n && clear; i++)
        place[k->launch[i]] = k->place[by.of[i]];
}

static uint32_t run_of(const rd_tie *ties, uint32_t count, uint32_t from) {
    uint32_t end = from;
    while (end < count && ties[end].launch == ties[from].launch)
        end++;
    return end - from;
}

static bool same_places(const rd_tie *a, const rd_tie *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (a[i].place != b[i].place)
            return false;
    return true;
}

/* The launches from `first` on that are tied for the places that it is tied for. They follow each other closely in
 * number: handles of one graph are made together. */
static void gather(knot *k, const rd_ties *in, uint32_t first, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        k->place[i] = in->ties[first + i].place;
    for (uint32_t at = first, looked = 0; at < in->tie_count && k->n < n && looked < 64; looked++) {
        uint32_t run = run_of(in->ties, in->tie_count, at);
        if (run == n && same_places(&in->ties[at], &in->ties[first], n))
            k->launch[k->n++] = in->ties[at].launch;
        at += run;
    }
}

static int by_number(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A node of a graph has one handle: where a launch is known to be there, no other is. A stream may have any. */
static int drop_taken(const rd_ties *in, const tables *t, const uint64_t *place, uint32_t *left) {
    uint32_t launches = in->model->launch_count, taken = 0, kept = 0, found;
    uint64_t *list = malloc((launches + 1) * sizeof *list);
    if (!list)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < launches; i++)
        if (place[i])
            list[taken++] = place[i];
    qsort(list, taken, sizeof *list, by_number);
    for (uint32_t i = 0; i < *left; i++) {
        const rd_tie *tie = &in->ties[i];
        const ordered *k = range(t->kernels, t->kernel_count, tie->place, &found);
        bool node = found && in->model->activities[k->at].graph_node;
        if (!place[tie->launch] && !(node && bsearch(&tie->place, list, taken, sizeof *list, by_number)))
            in->ties[kept++] = *tie;
    }
    free(list);
    *left = kept;
    return 0;
}

static int break_knot(const rd_ties *in, const tables *t, uint32_t at, uint32_t n, uint64_t *place) {
    knot k = {0};
    gather(&k, in, at, n);
    int rc = k.n == n ? fill(&k, t) : 0;
    if (rc > 0)
        decide(&k, place);
    free(k.begin);
    free(k.end);
    return rc;
}

/* What is decided leaves fewer places for the others: until nothing more is. */
int rd_ties_break(rd_ties *in, uint64_t *place) {
    tables t = {0};
    int rc = make_tables(&t, in);
    uint32_t before = in->tie_count + 1;
    qsort(in->ties, in->tie_count, sizeof *in->ties, by_launch);
    while (rc >= 0 && (rc = drop_taken(in, &t, place, &in->tie_count)) >= 0 && in->tie_count &&
           in->tie_count < before) {
        before = in->tie_count;
        for (uint32_t at = 0, n; at < in->tie_count && rc >= 0; at += n) {
            n = run_of(in->ties, in->tie_count, at);
            if (n == 1)
                place[in->ties[at].launch] = in->ties[at].place;
            else if (n <= MOST && !place[in->ties[at].launch])
                rc = break_knot(in, &t, at, n, place);
        }
    }
    free(t.kernels);
    free(t.writers);
    return rc < 0 ? rc : 0;
}
