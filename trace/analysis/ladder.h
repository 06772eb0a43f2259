/* Between the files of the ladder: see ladder.c for the order of its rungs. Answers are an_why. */
#ifndef XS_ANALYSIS_LADDER_H
#define XS_ANALYSIS_LADDER_H

#include "class.h"

static inline bool ladder_ended_by(const an *a, uint32_t writer, int64_t time) {
    return a->model->writers[writer].end != NO_TIME && a->model->writers[writer].end <= time;
}

/* ladder_counter.c: the one counter of that rank whose round has begun and is not full; XSR_NONE: none, or several. */
uint32_t ladder_open_counter(const an *a, uint32_t rank, uint64_t epoch);

#define STANDS_NS 200000000 /* a wait stands still for as long, or does not hang */

/* ladder_who.c */
void ladder_find_supplier(an *a, an_stuck *s);
bool ladder_is_of_host(const an *a, const an_stuck *s);
bool ladder_is_candidate(const an *a, const an_stuck *s, uint32_t writer, bool by_role);
/* it has the turn, and waits for another one without having given it on */
bool ladder_asks_again(const an *a, const an_stuck *s, uint32_t writer, uint32_t waits);
uint32_t ladder_known_writer(const an *a, const an_stuck *s);

/* ladder_does.c */
uint8_t ladder_writer(an *a, an_stuck *s, uint32_t writer);
uint8_t ladder_candidates(an *a, an_stuck *s);
uint8_t ladder_counter(an *a, an_stuck *s);

/* ladder_rounds.c: 0: none, or not known. Sets s->counted. */
uint64_t ladder_rounds_left_out(const an *a, an_stuck *s);

/* ladder_start.c */
bool ladder_supplier_died(const an *a, const an_stuck *s);
bool ladder_lacks_block(const an *a, an_stuck *s);
bool ladder_had_begun(const an *a, const an_stuck *s, uint32_t writer); /* when the wait stood still */
/* its supplier, a rank that is known, when all stood still */
bool ladder_had_not_begun(const an *a, const an_stuck *s);
bool ladder_began_late(const an *a, const an_stuck *s, uint32_t writer); /* only when waits had given up */
uint8_t ladder_late_starter(an *a, an_stuck *s, uint32_t writer);
uint8_t ladder_rank_without_start(an *a, an_stuck *s);

#endif
