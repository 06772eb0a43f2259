/* Slack: how much later a signal, alone, could have come without moving the end. Back over the log; per writer the
 * least slack of all that came of what it did, which grows where it had to wait anyway. Of a log whose end is not
 * the run's, all that is open counts as urgent: what is found is then at most too small. */
#include "blame.h"

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

static int64_t plus(int64_t slack, int64_t more) {
    return slack == NO_SLACK ? NO_SLACK : more > 0 ? slack + more : slack;
}

typedef struct look { an *a; int64_t end; bool is_end; } look;

static int64_t *of_writer(const look *l, const blame_entry *e) {
    blame_writer *w = &l->a->blame->writers[e->writer];
    if (w->slack_pass != l->a->blame->passes) {
        w->slack_pass = l->a->blame->passes;
        w->slack = !l->is_end ? 0 : l->end > e->time ? l->end - e->time : 0;
    }
    return &w->slack;
}

static void lower(an_blame *b, uint64_t number, int64_t slack) {
    if (!blame_has(b, number))
        return;
    blame_entry *e = blame_at(b, number);
    if (e->kind == BLAME_SIGNAL || e->kind == BLAME_ARRIVAL)
        e->extra = least(e->extra, slack);
    else if (e->kind == BLAME_END)
        e->released = e->released == NO_TIME ? slack : least(e->released, slack); /* an END has no other use for it */
}

static void on_signal(an_blame *b, blame_entry *e, int64_t *slack, bool final) {
    *slack = least(*slack, e->extra);
    if (final && e->extra != NO_SLACK)
        b->slots[e->slot].slack = least(b->slots[e->slot].slack, e->extra);
    if (e->kind != BLAME_ARRIVAL || !blame_has(b, e->link))
        return;
    /* the one before it could have been the last: this much later */
    int64_t here = e->elected ? *slack : e->extra;
    if (here != NO_SLACK)
        lower(b, e->link, plus(here, e->time - blame_at(b, e->link)->time));
}

static void on_wait(an_blame *b, const blame_entry *e, int64_t *slack) {
    if (e->failed || e->released == NO_TIME)
        return;
    bool waited = !e->passed && e->released > e->from;
    lower(b, e->link, waited ? *slack : plus(*slack, e->from - e->released));
    if (waited)
        *slack = plus(*slack, e->released - e->from);
}

/* Those beside it that never wait went on when it did. */
static void on_wait_of_block(const look *l, const blame_entry *e, int64_t *slack) {
    an_blame *b = l->a->blame;
    for (int after = 0; after < 2; after++) {
        for (uint32_t s = blame_first(b, e->writer); s; s = b->writers[s - 1].next) {
            blame_writer *w = &b->writers[s - 1];
            if (w->slack_pass != b->passes || !blame_joined(l->a, s - 1, e->writer))
                continue;
            if (after)
                w->slack = *slack;
            else
                *slack = least(*slack, w->slack);
        }
        if (!after)
            on_wait(b, e, slack);
    }
}

static void forget(an_blame *b) {
    for (uint64_t n = b->first; n < b->next; n++) {
        blame_entry *e = blame_at(b, n);
        if (e->kind == BLAME_SIGNAL || e->kind == BLAME_ARRIVAL)
            e->extra = NO_SLACK;
        else if (e->kind == BLAME_END)
            e->released = NO_TIME;
    }
}

int blame_slack(an *a, uint64_t until, int64_t end, bool is_end) {
    an_blame *b = a->blame;
    look l = {a, end, is_end};
    TRY(blame_blocks(a));
    b->passes++;
    forget(b);
    for (uint64_t n = b->next; n-- > b->first;) {
        blame_entry *e = blame_at(b, n);
        int64_t *slack = of_writer(&l, e);
        switch (e->kind) {
        case BLAME_SIGNAL:
        case BLAME_ARRIVAL: on_signal(b, e, slack, n < until); break;
        case BLAME_WAIT: on_wait_of_block(&l, e, slack); break;
        case BLAME_BEGIN: lower(b, e->link, *slack); break;
        case BLAME_END: *slack = e->released == NO_TIME ? *slack : least(*slack, e->released); break;
        default: break;
        }
    }
    return 0;
}
