/* Happens-before, after PTX's causality order. Agents are blocks: inside a block, order is taken to be that of the
 * records (joins of the block are not noted). Edges: program order; a signal that releases, to the wait that read it
 * and acquires, if both scopes reach the other side; arrivals at a counter by the value that each found; the end of a
 * launch to the next one in its stream, and to all launches that the host began after it had seen that end.
 *
 * Events reach detectors in causal order (an_step): a wait after the signal that it read, an arrival after the one that
 * it found, whatever their stamps say. What waits for an event that does not come (lost) goes on after a grace, joined
 * with all that the slot released: an edge too many hides a race, but invents none.
 *
 * What lost records could have ordered is kept beside that, as one time an agent: behind a gap of its own, behind a
 * wait whose signal is not known beyond doubt, or that had its turn late, it may have heard of all that happened up
 * to then; and so may all that hear of it afterwards, by whatever edge. Two accesses that no clock orders are a race
 * for certain if the second's agent cannot have heard that the first was made. */
#ifndef XS_ANALYSIS_HB_H
#define XS_ANALYSIS_HB_H

#include "analysis.h"
#include "vector.h"

#define RELEASES 16u /* of a slot that are kept */

enum an_level { AN_GPU = 0, AN_SYS = 1, AN_LEVELS = 2 }; /* how far an edge must reach */

typedef struct an_release { /* what a signal or arrival released; the newest of a slot are kept */
    uint64_t event, value, epoch; /* epoch: of its writer; 0: none */
    int64_t time;
    an_stamp stamp;              /* of the event */
    an_vector *clock[AN_LEVELS]; /* what is released at that level, without `self` */
    an_stamp self[AN_LEVELS];    /* epoch 0: nothing is released at that level */
    uint32_t writer, rank;
    uint8_t kind, order, scope, fence;
    bool fenced[AN_LEVELS]; /* relaxed, behind a fence event that reaches so far */
    int64_t heard;          /* of its agent */
} an_release;

/* Of an access or a fence. */
static inline bool an_releases(uint32_t order) {
    return order == XS_RELEASE || order == XS_ACQ_REL || order == XS_SEQ_CST;
}
static inline bool an_acquires(uint32_t order) {
    return order == XS_ACQUIRE || order == XS_ACQ_REL || order == XS_SEQ_CST;
}

enum an_edge {
    AN_EDGE_NONE,    /* reads no signal that is known */
    AN_EDGE_LOCAL,   /* of its own block */
    AN_EDGE_ORDERED, /* released and acquired */
    AN_EDGE_PENDING, /* released; acquired by a fence that has to come */
    AN_EDGE_WEAK     /* not released, or not acquired, as far as is needed */
};

typedef struct an_step {
    const xsr_event *e;
    const xsr_wait *w; /* PASS and WAIT_END; else NULL */
    uint32_t agent;
    uint32_t epoch;    /* of the agent at this event: its stamp is {agent, epoch} */
    const an_release *from; /* waits and arrivals: what was read (points at `read`); NULL: nothing known */
    an_release read;        /* without its clocks, which belong to the slot */
    uint8_t edge, need;     /* an_edge; an_level that it had to reach */
    bool released, acquired;
    bool guessed;      /* what it waited for did not come: joined with all that is known of the slot */
} an_step;

typedef struct an_agent {
    uint32_t rank, block, launch;
    uint32_t writers; /* of this launch that have begun and not ended, as the records come */
    uint32_t epoch; /* from 1 */
    /* it may know of all that happened up to then, though no record that was kept shows it; NO_TIME: of nothing */
    int64_t heard;
    an_vector *known;
    /* at the last fence that reaches so far; 0: none, or undone by later accesses */
    an_vector *fence[AN_LEVELS]; uint32_t fence_epoch[AN_LEVELS];
    an_vector *read[AN_LEVELS];  /* relaxed reads that a fence has yet to acquire */
    struct an_item *items; uint32_t first, count, room; /* events that have not had their turn */
    bool blocked, unsettled; /* in the list of that name */
} an_agent;

int an_hb_begin(an *a);
int an_hb_event(an *a, const xsr_event *e);
int an_hb_wait(an *a, const xsr_wait *w);
int an_hb_lost(an *a, const xsr_loss *loss);
int an_hb_finish(an *a);
void an_hb_free(an *a);
int an_step_tell(an *a, const an_step *step); /* driver.c */

/* Does that happen before what the agent does now? */
bool an_hb_before(const an *a, an_stamp stamp, uint32_t agent);
const an_agent *an_hb_agent(const an *a, uint32_t agent);
uint32_t an_hb_agent_of(const an *a, uint32_t writer); /* XSR_NONE: it has done nothing yet */
/* How far an edge between two ranks has to reach. */
static inline uint8_t an_level_between(const an *a, uint32_t x, uint32_t y) {
    return a->ranks[x].device_key == a->ranks[y].device_key ? AN_GPU : AN_SYS;
}
static inline uint8_t an_level_of_scope(uint32_t scope) {
    return scope == XS_SCOPE_SYS ? 2 : scope == XS_SCOPE_GPU ? 1 : 0;
} /* levels reached */

#endif
