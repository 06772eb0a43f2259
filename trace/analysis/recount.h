/* The plan, recounted by plain loops from what happened, without a look at what was declared or reported (article
 * 000, section 7): how often each slot was signalled and how much arrived at it in each epoch, by which rank in
 * which role, and which epochs each rank went through. recount_compare.c holds it against the plan. */
#ifndef XS_ANALYSIS_RECOUNT_H
#define XS_ANALYSIS_RECOUNT_H

#include "analysis.h"
#include "runs.h"

typedef struct an_tally { /* of a slot: signals, or arrivals */
    an_runs runs;
    uint32_t rank, role;  /* of all of them: index in ranks, in names; XSR_NONE: they differ, or none is known */
    uint64_t most, most_epoch, event; /* the event with which an epoch had more than any before it */
    uint32_t writer;      /* of it */
    /* records of the writer between which all of that epoch lies; last 0: of several writers or launches */
    uint64_t first, last;
    struct { uint64_t epoch, first, count; uint32_t writer; bool one; } now; /* the epoch that is being counted */
    bool any;
} an_tally;

typedef struct an_recount an_recount;

int an_recount_begin(an *a);
int an_recount_event(an *a, const xsr_event *e); /* every event, before the state takes it in */
void an_recount_free(an *a);

enum an_tallied { AN_SIGNALS = 0, AN_ARRIVALS = 1, AN_TALLIED = 2 };
/* the first who added more in an epoch than in those before; NULL: nobody, or not known */
const an_arriver *an_added_more(const an *a, uint32_t counter);
const an_tally *an_tally_of(const an *a, uint32_t slot, uint32_t tallied); /* NULL: nothing was counted */
/* Epochs that writers of the rank in that role entered, and in how many launches; XSR_NONE: of any rank, in any
 * role. NULL: none. */
const an_runs *an_entered(const an *a, uint32_t rank, uint32_t role);
/* At the end. All that the rank (XSR_NONE: that any) does in epochs below this one is done, and by its own will:
 * nothing had failed yet. */
int an_recount_close(an *a);
uint64_t an_closed_below(const an *a, uint32_t rank);
/* Waits that stand still at the slot. OTHERWISE: and why is known, and it is not a number. 0: none. */
enum an_hang { AN_HANGS = 1, AN_HANGS_OTHERWISE = 2 };
uint32_t an_hang_at(const an *a, uint32_t slot);

typedef struct an_difference {
    uint32_t slot, tallied;
    uint32_t group;                               /* slots whose numbers have one source: a row of the plan, or a pad */
    /* who did it or was to: index in ranks, in names; XSR_NONE: several */
    uint32_t rank, role, severity;
    uint8_t origin;                               /* of the promise: xs_plan_origin */
    uint64_t judged, differing, planned, counted; /* epochs; sums over them */
    uint64_t epoch, count, promised, last;        /* the first epoch that differs; the last one judged */
    /* some epoch is right; all that differ come before those, and have nothing */
    bool right, leading;
} an_difference;

/* recount_difference.c: slot and tallied are given. d->judged 0: the plan says nothing of it, or nothing is known to
 * be over. */
bool an_differs(an *a, an_difference *d);

/* recount_untouched.c: slots that the plan promises signals of and no event names. */
int an_recount_untouched(an *a);
int an_recount_compare(an *a); /* recount_compare.c: findings of count-mismatch */

#endif
