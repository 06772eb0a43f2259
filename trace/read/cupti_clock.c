/* CUPTI's clock against the process's. It is CLOCK_REALTIME by default: a constant away, with a step now and then. Each
 * sample says that the offset lies between two values; as long as all agree their intersection is the offset, and where
 * one does not there was a step (or, with a clock that another tool brought, a drift: then many short pieces follow
 * it). */
#include "internal.h"

static int by_time(const void *a, const void *b) {
    const rd_tick *x = a, *y = b;
    return x->before < y->before ? -1 : x->before > y->before;
}

static int close_piece(rd_process *p, int64_t from, int64_t low, int64_t high) {
    if (RD_ROOM(p->pieces, p->piece_room, p->piece_count + 1) < 0)
        return XS_E_MEMORY;
    p->pieces[p->piece_count++] = (rd_cupti_piece){from, low + (high - low) / 2, (high - low + 1) / 2};
    return 0;
}

int rd_cupti_pieces(rd_process *p) {
    int64_t low = INT64_MIN, high = INT64_MAX, from = INT64_MIN;
    if (p->tick_count)
        qsort(p->ticks, p->tick_count, sizeof *p->ticks, by_time);
    p->piece_count = 0;
    for (uint32_t i = 0; i < p->tick_count; i++) {
        const rd_tick *t = &p->ticks[i];
        int64_t least = t->before - t->time, most = t->after - t->time;
        if (least > high || most < low) {
            if (close_piece(p, from, low, high) < 0)
                return XS_E_MEMORY;
            low = INT64_MIN;
            high = INT64_MAX;
            from = t->time;
        }
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    return p->tick_count ? close_piece(p, from, low, high) : 0;
}

int64_t rd_cupti_time(const rd_process *p, int64_t time, int64_t *half) {
    *half = 0;
    if (!p->piece_count) { /* the host's own pairs, if CUPTI kept to CLOCK_REALTIME */
        *half = p->clock_seen ? p->clock_high - p->clock_low + (p->bracket == INT64_MAX ? 0 : p->bracket) : 0;
        return p->clock_seen ? time - p->clock_low : NO_TIME;
    }
    uint32_t at = p->piece_count - 1;
    while (at > 0 && p->pieces[at].from > time)
        at--;
    *half = p->pieces[at].half;
    return time + p->pieces[at].offset;
}
