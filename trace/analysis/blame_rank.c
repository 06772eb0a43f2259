/* Ranks that work slower than others: the time in which their writers ran and did not wait, role by role, against
 * the median rank. Warps that go on when another one of their block has waited count with that one: held up by its
 * waits, they note none. */
#include "blame.h"

#define LEAST_RANKS 3u

int blame_busy(an *a, uint32_t writer, int64_t ns) {
    an_blame *b = a->blame;
    const xsr_writer *w = &a->model->writers[writer];
    uint32_t at = an_class(&b->busy_of, w->rank, w->role, 0);
    if (at == XSR_NONE || RD_ROWS(b->busy, b->busy_room, at + 1))
        return XS_E_MEMORY;
    b->busy[at] += ns;
    return 0;
}

static int by_size(const void *left, const void *right) {
    int64_t x = *(const int64_t *)left, y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

/* Median of the ranks that play the role; 0: too few. */
static int64_t median_of(const an_blame *b, uint32_t role, int64_t *room) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->busy_of.count; i++)
        if (b->busy_of.keys[i][1] == role)
            room[count++] = b->busy[i];
    qsort(room, count, sizeof *room, by_size);
    return count < LEAST_RANKS ? 0 : room[(count - 1) / 2];
}

/* Only at the end of the pass is it known who never waits. */
static int add_runs(an *a) {
    TRY(blame_blocks(a));
    for (uint32_t w = 0; w < a->writer_count; w++)
        if (a->blame->writers[w].ran && !blame_follows(a, w))
            TRY(blame_busy(a, w, a->blame->writers[w].ran));
    return 0;
}

int blame_slow(an *a, xsa_rank_blame *ranks) {
    const an_blame *b = a->blame;
    TRY(add_runs(a));
    uint32_t count = a->model->rank_count;
    int64_t *room = calloc(b->busy_of.count + 1u, sizeof *room);
    double *own = calloc(2u * (count + 1u), sizeof *own), *usual = own ? own + count + 1u : NULL;
    if (!room || !own) {
        free(room);
        free(own);
        return XS_E_MEMORY;
    }
    for (uint32_t i = 0; i < b->busy_of.count; i++) {
        int64_t median = median_of(b, b->busy_of.keys[i][1], room);
        if (median <= 0)
            continue;
        own[b->busy_of.keys[i][0]] += (double)b->busy[i];
        usual[b->busy_of.keys[i][0]] += (double)median;
    }
    for (uint32_t r = 0; r < count; r++)
        ranks[r].slow = usual[r] > 0 ? own[r] / usual[r] : 0;
    free(room);
    free(own);
    return 0;
}
