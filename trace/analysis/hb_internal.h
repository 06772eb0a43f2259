/* Between hb*.c (whose turn it is) and edges.c (what an event orders). */
#ifndef XS_ANALYSIS_HB_INTERNAL_H
#define XS_ANALYSIS_HB_INTERNAL_H

#include "hb.h"

typedef struct hb_slot {
    an_release *releases; uint32_t room; /* a ring, up to RELEASES */
    uint32_t first, count;
    uint64_t newest; /* event id of the last signal that had its turn */
    uint64_t post;   /* arrivals: what the last one that had its turn left */
    bool chained; /* an arrival had its turn */
    /* counts that nobody had left yet when somebody went on as if they had, at skipped_at: beyond the first, up to
     * the second */
    uint64_t skipped[2];
    int64_t skipped_at;
    int64_t heard; /* the latest of all releases, those not kept included; 0: of none */
} hb_slot;

typedef struct hb_span { int64_t from, to; } hb_span;

typedef struct an_item { xsr_event e; xsr_wait w; bool has_wait; } an_item;

typedef struct an_hb {
    an_agent *agents; uint32_t agent_count, agent_room;
    rd_map agent_at;    /* (rank, block) -> newest agent */
    hb_slot *slots; uint32_t slot_count, slot_room;
    uint32_t *blocked; uint32_t blocked_count, blocked_room; /* agents whose next event waits for another one */
    /* agents with events behind a wait that the reader has not told of yet */
    uint32_t *unsettled; uint32_t unsettled_count, unsettled_room;
    uint64_t queued;
    hb_span *forced; uint32_t forced_count, forced_room; /* when events went on before what they waited for */
    /* the same where that came after all: by more than clocks allow, or than a thread is set aside for */
    hb_span *late; uint32_t late_count, late_room;
    /* how long an event may wait for another; what stamps may be off by; and those of the ranks alone, not of their
     * hosts */
    int64_t grace, clocks, stamps;
    /* merged time at which somebody last went on though what it waited for may have been held up */
    int64_t last_forced;
    bool *gap; uint32_t gap_room; /* per ring: records before its next event are lost */
    uint64_t older; /* waits whose signal was not kept any more */
    uint32_t tick;
    an_vector **done;   /* per process, then per rank: what ended writers knew */
    uint32_t done_count;
} an_hb;

void hb_hear(an_agent *g, int64_t until); /* see heard */
int hb_process(an *a, uint32_t agent, const xsr_event *e, const xsr_wait *w, bool guessed);
const an_release *hb_find(const hb_slot *s, uint64_t event);
const an_release *hb_find_value(const hb_slot *s, uint64_t value);
int hb_launch_begins(an *a, uint32_t agent, uint32_t launch);
int hb_writer_ends(an *a, uint32_t agent);

/* hb_queue.c. blocked: the head waits for an event; unsettled: for the reader to tell of its wait. */
static inline an_item *hb_item(const an_agent *g, uint32_t i) { return &g->items[(g->first + i) & (g->room - 1)]; }
int hb_push(an *a, uint32_t agent, const xsr_event *e);
void hb_pop(an *a, uint32_t agent);
void hb_move_to_head(an_agent *g, uint32_t at);
int hb_set_blocked(an_hb *hb, uint32_t agent);
int hb_set_unsettled(an_hb *hb, uint32_t agent);
void hb_set_free(an_hb *hb, uint32_t agent);

/* hb_turn.c */
static inline bool hb_is_wait(uint32_t kind) { return kind == XS_EV_PASS || kind == XS_EV_WAIT_END; }
bool hb_is_ready(const an *a, const an_item *item);
int hb_take_head(an *a, uint32_t agent, bool guessed); /* ready or not */
int hb_drain(an *a, uint32_t agent);                   /* all that are ready */
int hb_wake(an *a);                                    /* of all agents, those whose event has come */

/* hb_force.c */
int hb_note_forced(an_hb *hb, int64_t time, int64_t now);
int hb_note_late(an_hb *hb, int64_t time, int64_t now);
bool hb_is_full(const an_hb *hb);
int hb_force_old(an *a, int64_t now); /* what has waited for longer than the grace, or for which there is no room */
int hb_force_all(an *a);

#endif
