/* What the unfairness detector keeps; starvation_list.c tells of all of it. */
#ifndef XS_ANALYSIS_UNFAIRNESS_H
#define XS_ANALYSIS_UNFAIRNESS_H

#include "class.h"
#include "starvation.h"

/* (pad, waiter, peer) */
typedef struct served {
    uint64_t waits;
    double delay;
    int64_t worst, first, last;
    uint64_t wait;
    uint32_t slot, writer;
    an_spread spread;
} served;
/* (slot, rank): waits for a shared slot, most hand-overs to others during one */
typedef struct contended { an_spread spread; uint64_t passed; } contended;
/* waits now */
typedef struct contender { uint64_t wait, bypass, need, passed; uint32_t slot, rank, writer; int64_t begin; } contender;
typedef struct overtaken {
    uint64_t bypass, wait, event;
    uint32_t slot, rank, writer, by;
    int64_t begin, end;
} overtaken;
/* Per slot: the signal that its owner has not looked at yet, and how often the owner had served the pad's slots when
 * it came. Of all services since then, those beyond a few for each of the others are repeated ones. */
typedef struct request {
    uint64_t signal, services, served, worst, worst_signal;
    int64_t time, worst_from, worst_to;
    uint32_t rank, writer;
    bool pending;
} request;
typedef struct server { uint64_t services; uint32_t slots; } server; /* (pad, owner) */

typedef struct fairness {
    an_classes peers;
    served *rows;
    uint32_t row_room;
    contender *now;
    uint32_t now_count, now_room;
    overtaken worst;
    an_classes owners;
    server *servers;
    uint32_t server_room;
    request *slots;
    uint32_t slot_room;
    an_classes shared;
    contended *shared_rows;
    uint32_t shared_room;
} fairness;

/* unfairness_scan.c */
int unfairness_request(an *a, fairness *s, const xsr_event *e); /* a signal */
int unfairness_service(an *a, fairness *s, const xsr_wait *w);  /* its slot was looked at */
int unfairness_ignored(an *a, fairness *s);                     /* findings, at the end */

/* unfairness_queue.c: shared slots */
int unfairness_contend(fairness *s, const xsr_event *e);    /* a wait begins or ends */
/* a signal that is enough for a wait, made while it goes on */
void unfairness_hand_over(fairness *s, const xsr_event *e);
int unfairness_waited(fairness *s, const xsr_wait *w);
int unfairness_still_waiting(fairness *s);                  /* at the end */
int unfairness_overtaken(an *a, const overtaken *o);        /* finding */

int unfairness_list(an *a, const fairness *s);

#endif
