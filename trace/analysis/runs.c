/* Runs of epochs. The last run is looked at first: epochs come nearly in order. */
#include "runs.h"

#include "analysis.h"

/* The first run that ends at `epoch` or behind it; runs->count: none. */
static uint32_t at_or_behind(const an_runs *r, uint64_t epoch) {
    uint32_t i = r->count;
    while (i > 0 && r->list[i - 1].last >= epoch)
        i--;
    return i;
}

static void put(an_runs *r, uint32_t at, an_run run) {
    memmove(&r->list[at + 1], &r->list[at], (r->count - at) * sizeof *r->list);
    r->list[at] = run;
    r->count++;
}

static void take_out(an_runs *r, uint32_t at) {
    r->count--;
    memmove(&r->list[at], &r->list[at + 1], (r->count - at) * sizeof *r->list);
}

/* With the one before it, if they follow each other and are alike. */
static void join(an_runs *r, uint32_t at) {
    if (at == 0 || at >= r->count || r->list[at - 1].last + 1 != r->list[at].first ||
        r->list[at - 1].count != r->list[at].count)
        return;
    r->list[at - 1].last = r->list[at].last;
    take_out(r, at);
}

/* Makes `epoch` a run of its own; its index. */
static uint32_t single_out(an_runs *r, uint64_t epoch) {
    uint32_t at = at_or_behind(r, epoch);
    if (at == r->count || r->list[at].first > epoch) {
        put(r, at, (an_run){epoch, epoch, 0});
        return at;
    }
    an_run whole = r->list[at];
    r->list[at] = (an_run){epoch, epoch, whole.count};
    if (epoch < whole.last)
        put(r, at + 1, (an_run){epoch + 1, whole.last, whole.count});
    if (epoch > whole.first)
        put(r, at++, (an_run){whole.first, epoch - 1, whole.count});
    return at;
}

int an_runs_add(an_runs *r, uint64_t epoch, uint64_t n) {
    if (epoch < r->from || n == 0)
        return 0;
    if (RD_ROOM(r->list, r->room, r->count + 2) < 0)
        return XS_E_MEMORY;
    uint32_t at = single_out(r, epoch);
    r->list[at].count += n;
    join(r, at + 1);
    join(r, at);
    while (r->count > RUNS_MOST) {
        r->from = r->list[0].last + 1;
        take_out(r, 0);
    }
    return 0;
}

an_run an_runs_at(const an_runs *r, uint64_t epoch, uint64_t last) {
    uint32_t at = at_or_behind(r, epoch);
    if (at == r->count)
        return (an_run){epoch, last, 0};
    const an_run *run = &r->list[at];
    if (run->first > epoch)
        return (an_run){epoch, run->first - 1 < last ? run->first - 1 : last, 0};
    return (an_run){epoch, run->last < last ? run->last : last, run->count};
}

uint64_t an_runs_count(const an_runs *r, uint64_t epoch) { return an_runs_at(r, epoch, epoch).count; }
