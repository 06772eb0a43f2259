#include "naive_blame.h"
#include "naive_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sum { uint32_t part, owes, slot; int64_t ns; } sum;
typedef struct naive {
    naive_run run;
    sum *sums; size_t sum_count;
    /* where the walk is */
    uint32_t writer, slot;
    uint64_t before; /* events of smaller id */
    int64_t at, came;
} naive;

static bool is_arrival(const xsr_event *e) { return e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE; }
static bool matters(const xsr_event *e) {
    return naive_is_signal(e) || naive_is_wait(e) || e->kind == XS_EV_WRITER_BEGIN || e->kind == XS_EV_WRITER_END;
}

/* The newest event of the writer before `id`, of those that matter or of all. */
static const xsr_event *newest(const naive *n, uint32_t writer, uint64_t id, bool all) {
    const xsr_event *best = NULL;
    for (size_t i = 0; i < n->run.event_count; i++) {
        const xsr_event *e = &n->run.events[i];
        if (e->writer == writer && e->id < id && (all || matters(e)) && (!best || e->id > best->id))
            best = e;
    }
    return best;
}

static const xsr_wait *wait_of(const naive *n, uint64_t id) {
    for (size_t i = 0; i < n->run.wait_count; i++)
        if (n->run.waits[i].id == id && !n->run.waits[i].open)
            return &n->run.waits[i];
    return NULL;
}

static const xsr_event *event_of(const naive *n, uint64_t id) {
    for (size_t i = 0; i < n->run.event_count; i++)
        if (n->run.events[i].id == id)
            return &n->run.events[i];
    return NULL;
}

/* Did somebody already wait for it? */
static bool awaited(const naive *n, const xsr_event *e) {
    for (size_t i = 0; i < n->run.wait_count; i++) {
        const xsr_wait *w = &n->run.waits[i];
        if (!w->open && !w->passed && w->result == XS_RESULT_OK && w->released_by.event == e->id && w->begin < e->time)
            return true;
    }
    return false;
}

static void add(naive *n, uint32_t part, uint32_t owes, uint32_t slot, int64_t ns) {
    for (size_t i = 0; i < n->sum_count; i++)
        if (n->sums[i].part == part && n->sums[i].owes == owes && n->sums[i].slot == slot) {
            n->sums[i].ns += ns;
            return;
        }
    n->sums = realloc(n->sums, (n->sum_count + 1) * sizeof *n->sums);
    n->sums[n->sum_count++] = (sum){part, owes, slot, ns};
}

static void take(naive *n, int64_t from, uint32_t part, uint32_t rank, uint32_t slot) {
    if (from < n->at)
        add(n, part, n->run.model->ranks[rank].rank, slot, n->at - from);
    n->at = from < n->at ? from : n->at;
}

static uint32_t own_rank(const naive *n) { return n->run.model->writers[n->writer].rank; }

static int64_t published_since(const naive *n, const xsr_event *signal) {
    int64_t since = signal->time;
    for (const xsr_event *e = newest(n, signal->writer, signal->id, true); e; e = newest(n, signal->writer, e->id, true)) {
        if (e->kind == XS_EV_PAYLOAD_END)
            return e->time;
        if (e->kind != XS_EV_FENCE && e->kind != XS_EV_BUS_FLUSH && !is_arrival(e))
            return since;
        since = e->time;
    }
    return since;
}

/* The writer's first signal behind `time`, before the path left it; awaited: that somebody already waited for. */
static const xsr_event *next_signal(const naive *n, uint32_t writer, int64_t time, bool is_awaited) {
    for (size_t i = 0; i < n->run.event_count; i++) { /* ids rise with their place */
        const xsr_event *e = &n->run.events[i];
        if (e->writer == writer && naive_is_signal(e) && e->time > time && e->time <= n->came && (!is_awaited || awaited(n, e)))
            return e;
    }
    return NULL;
}

/* Work behind `wait` on what was ready while it lasted is not compute: from the wait on, in the order in which it was done. The
 * path left this writer at n->came. Each stretch of compute is owed to the next awaited signal behind it. */
static void head_of_line(naive *n, const xsr_wait *wait, uint32_t slot_at_end) {
    int64_t taken = 0;
    for (size_t i = 0; i < n->run.event_count; i++) {
        const xsr_event *e = &n->run.events[i];
        const xsr_wait *w = e->writer == wait->writer && e->id > wait->id && naive_is_wait(e) && e->time < n->came ? wait_of(n, e->id) : NULL;
        if (!w || w->released_by.event == XSR_NO_ID || w->epoch != wait->epoch || w->slot == wait->slot ||
            n->run.model->slots[w->slot].pad != n->run.model->slots[wait->slot].pad || w->released_by.time >= wait->end)
            continue;
        int64_t to = n->came, from = w->released_by.time > wait->begin ? w->released_by.time : wait->begin, fits = wait->end - from - taken;
        for (size_t k = 0; k < n->run.wait_count; k++)
            if (n->run.waits[k].writer == w->writer && !n->run.waits[k].open && n->run.waits[k].id > w->id && n->run.waits[k].begin < to)
                to = n->run.waits[k].begin;
        fits = fits < to - w->end ? fits : to - w->end;
        if (fits <= 0)
            continue;
        taken += fits;
        int64_t cursor = w->end, stop = w->end + fits; /* publishing in between stays what it is */
        while (cursor < stop) {
            const xsr_event *next = next_signal(n, w->writer, cursor, false), *owed = next_signal(n, w->writer, cursor, true);
            uint32_t slot = owed ? owed->slot : slot_at_end;
            int64_t publish = next ? published_since(n, next) : stop, until = publish < stop ? publish : stop;
            if (until > cursor) {
                add(n, XSA_PART_COMPUTE, n->run.model->ranks[own_rank(n)].rank, slot, cursor - until);
                add(n, XSA_PART_LINE, n->run.model->ranks[own_rank(n)].rank, slot, until - cursor);
            }
            cursor = next && next->time < stop ? next->time > cursor ? next->time : cursor + 1 : stop;
        }
    }
}

static int64_t bound_of(const naive *n, uint32_t x, uint32_t y) { /* every rank of the host is a device */
    int64_t bound = 0;
    for (uint32_t c = 0; c < n->run.model->clock_count && x != y; c++)
        for (int k = 0; k < 2; k++)
            if (n->run.model->clocks[c].process == n->run.model->ranks[k ? x : y].process && n->run.model->clocks[c].device == n->run.model->ranks[k ? x : y].device)
                bound += n->run.model->clocks[c].bound_ns;
    return bound;
}

static void seen_late(naive *n, const xsr_wait *w, int64_t since) {
    uint32_t from = w->released_by.rank, waits = own_rank(n);
    if (w->end - w->released_by.time <= bound_of(n, from, waits)) {
        take(n, since, XSA_PART_UNKNOWN, from, w->slot);
        return;
    }
    int64_t seen = w->last_fail > since ? w->last_fail < n->at ? w->last_fail : n->at : since;
    take(n, seen, XSA_PART_LAG, waits, w->slot);
    take(n, since, XSA_PART_LINK, from, w->slot);
}

static void on_wait_event(naive *n, const xsr_event *e) {
    const xsr_wait *w = wait_of(n, e->id);
    const xsr_event *before = newest(n, n->writer, e->id, false);
    int64_t since = before && before->time > w->begin ? before->time : w->begin;
    n->before = e->id;
    if (w->passed)
        return;
    if (w->released_by.event == XSR_NO_ID) {
        take(n, since, XSA_PART_UNKNOWN, own_rank(n), w->slot);
    } else if (w->released_by.time > since) {
        head_of_line(n, w, n->slot);
        seen_late(n, w, w->released_by.time);
        const xsr_event *signal = event_of(n, w->released_by.event);
        n->writer = signal->writer;
        n->before = signal->id + 1;
        n->slot = w->slot;
        n->came = n->at;
    } else {
        seen_late(n, w, since);
    }
}

static bool on_begin(naive *n, const xsr_event *e) {
    const xsr_event *ended = NULL;
    int64_t first = e->time;
    for (size_t i = 0; i < n->run.event_count; i++) {
        const xsr_event *x = &n->run.events[i];
        if (x->rank != e->rank)
            continue;
        if (x->kind == XS_EV_WRITER_END && x->id < e->id && (!ended || x->id > ended->id))
            ended = x;
        if (x->kind == XS_EV_WRITER_BEGIN && x->time < first)
            first = x->time;
    }
    take(n, ended ? ended->time : first, XSA_PART_START, e->rank, n->slot);
    if (ended) {
        n->writer = ended->writer;
        n->before = ended->id + 1;
        n->came = n->at;
        return true;
    }
    bool near = n->at - n->run.events[0].time <= bound_of(n, n->run.events[0].rank, e->rank);
    take(n, n->run.events[0].time, near ? XSA_PART_UNKNOWN : XSA_PART_LATE, e->rank, n->slot);
    return false;
}

/* The newest wait of the block that ended behind `from` and held this writer up. */
static const xsr_event *held_up(const naive *n, int64_t from) {
    const xsr_event *best = NULL;
    for (size_t i = 0; i < n->run.event_count; i++) {
        const xsr_event *e = &n->run.events[i];
        if (e->writer != XSR_NONE && naive_is_wait(e) && e->time > from && e->time <= n->at && (!best || e->time >= best->time) &&
            naive_joined(&n->run, n->writer, e->writer))
            best = e;
    }
    return best;
}

static void over_to(naive *n, const xsr_event *e) {
    take(n, e->time, XSA_PART_COMPUTE, own_rank(n), n->slot);
    n->writer = e->writer;
    n->before = e->id + 1;
    n->came = n->at;
}

static void walk(naive *n) {
    const xsr_event *last = &n->run.events[n->run.event_count - 1];
    n->writer = last->writer;
    n->before = last->id + 1;
    n->at = n->came = last->time;
    n->slot = XSR_NONE;
    for (const xsr_event *e, *held; (e = newest(n, n->writer, n->before, false));) {
        if ((held = held_up(n, e->time))) {
            over_to(n, held);
            continue;
        }
        take(n, e->time, XSA_PART_COMPUTE, own_rank(n), n->slot);
        if (naive_is_wait(e)) {
            on_wait_event(n, e);
        } else if (e->kind == XS_EV_WRITER_BEGIN) {
            if (!on_begin(n, e))
                return;
        } else {
            n->before = e->id;
            if (!naive_is_signal(e))
                continue;
            n->slot = awaited(n, e) ? e->slot : n->slot;
            const xsr_event *before = newest(n, n->writer, e->id, false);
            int64_t since = published_since(n, e);
            take(n, before && before->time > since ? before->time : since, XSA_PART_PUBLISH, own_rank(n), n->slot);
        }
    }
}

static int64_t of_analysis(const xsa_blame *b, const sum *s) {
    int64_t ns = 0;
    for (uint32_t i = 0; i < b->sum_count; i++)
        if (b->sums[i].part == s->part && b->sums[i].owes_rank == s->owes && b->sums[i].slot == s->slot)
            ns += b->sums[i].ns;
    return ns;
}

static int compare(const naive *n, const xsa_blame *b) {
    int64_t all = 0;
    int differs = 0;
    for (size_t i = 0; i < n->sum_count; i++) {
        const sum *s = &n->sums[i];
        int64_t have = of_analysis(b, s);
        all += s->ns;
        if (have != s->ns)
            differs = fprintf(stderr, "  %s of rank %u for %s: %lld ns, step by step %lld\n", xsa_part_name(s->part), s->owes,
                              s->slot == XSR_NONE ? "nobody" : n->run.model->slots[s->slot].label, (long long)have, (long long)s->ns);
    }
    if (all != b->end - b->begin)
        differs = fprintf(stderr, "  the path is %lld ns long, step by step %lld\n", (long long)(b->end - b->begin), (long long)all);
    return differs;
}

int naive_blame_differs(const char *capture) {
    naive n = {.run = {.sink = naive_sink}};
    xsr_reader *reader = NULL;
    const char *text = NULL;
    xsr_sink *sinks[] = {&n.run.sink, NULL};
    int differs = xsr_open(&capture, 1, NULL, &reader, &text) || xsa_open(NULL, &sinks[1]) || xsr_run(reader, sinks, 2);
    const xsa_result *r = xsa_result_of(sinks[1]);
    if (!differs && r && n.run.event_count) {
        n.run.model = xsr_model_of(reader);
        walk(&n);
        differs = compare(&n, r->blame) | naive_slow_differs(&n.run, r);
    }
    xsa_close(sinks[1]);
    xsr_close(reader);
    naive_run_free(&n.run);
    free(n.sums);
    return differs;
}
