/* Of payload: accesses to chunks (payload_race.c), and who is to blame where nothing orders two of them
 * (payload_blame.c). */
#ifndef XS_ANALYSIS_PAYLOAD_H
#define XS_ANALYSIS_PAYLOAD_H

#include "hb.h"

/* The last wait of a block that passed: the signal that it read. */
typedef struct guard {
    uint64_t signal, value, need, record, epoch;
    uint32_t agent, slot, writer; /* agent, writer: who signalled */
    xsr_source source; /* of the wait; line 0: not known */
    uint8_t level;       /* an_level that the signal and the wait had to reach */
    bool any, released, acquired; /* acquired: by the wait, or a fence behind it */
    bool unsure; /* it passed another since, whose signal is not known */
    bool as_ever; /* a read: behind another wait for the same slot than the read before, for as much more as ever */
    bool spent;  /* the block has signalled that slot since: it has given back what it had got there */
} guard;

/* event, last, record, epoch, writer, agent, guard: of the newest; last: its end, or its begin while it goes on. */
typedef struct access {
    an_vector *stamps;
    uint64_t event, last, record, epoch; /* epoch: of its writer */
    uint32_t writer, agent, active;
    uint64_t signalled; /* of a write: the highest value that its writer had signalled when it began */
    int64_t since; /* of the oldest of them */
    guard guard;
    struct access *others; uint32_t others_count; /* without stamps: the newest of some other blocks */
} access;
#define PAYLOAD_OTHERS 3u

int payload_add(access *x, const an_step *step, const guard *g); /* it begins */
int payload_end(access *x, const an_step *step);
void payload_clear(access *x);
/* One of them that does not happen before what the agent does now; NULL: there is none. active: it goes on. */
const access *payload_unordered(const an *a, const access *x, uint32_t agent, bool *active);

/* How many reads a writer ends between two signals to a pad. A signal behind fewer of them than usual gives back
 * what was not read. */
/* read: ended when it signalled last; broken: event of the last such signal; 0: none */
typedef struct promise { uint64_t read, usual, lead, broken; } promise;
/* By how much who has waited for a slot raises it when it gives it on; wrong_*: the last signal of a turn that was
 * not its own, or by more. */
typedef struct turn { uint64_t usual, lead, wrong_value; int64_t wrong_time; uint32_t wrong_by; } turn;
/* How many waits a writer passes between two signals to a slot, as a rule. */
typedef struct pace { uint64_t passed, usual, lead; } pace;
/* It signalled behind fewer: it has left one out. */
typedef struct omission { an_stamp stamp; uint64_t event, epoch; int64_t time; uint32_t writer, slot; } omission;
#define PAYLOAD_OMISSIONS 16u /* the newest */
/* What was told, in causal order. */
typedef struct tellings {
    rd_map promise_of; promise *promises; uint32_t promise_count, promise_room;
    rd_map turn_of; turn *turns; uint32_t turn_count, turn_room;
    /* as those of state.c, which follow the stamps */
    rd_map arriver_of; an_arriver *arrivers; uint32_t arriver_count, arriver_room;
    uint64_t *reads; uint32_t read_room;
    uint64_t *waits; uint32_t wait_room; /* by writer */
    rd_map pace_of; pace *paces; uint32_t pace_count, pace_room;
    omission omissions[PAYLOAD_OMISSIONS]; uint64_t omission_count;
} tellings;
int tellings_read(an *a, tellings *t, uint32_t writer);                    /* a read of it has ended */
int tellings_waited(an *a, tellings *t, uint32_t writer);                  /* a wait of it has passed */
/* it signals a slot, or arrives there; g: its block's */
int tellings_told(an *a, tellings *t, const an_step *step, const guard *g);
/* The one writer that had left out a wait in those rounds, of which `agent` has heard; NULL: none, or several. */
const omission *tellings_omission(const an *a, const tellings *t, uint32_t agent, uint64_t from, uint64_t to);
const promise *tellings_promise(const an *a, const tellings *t, uint32_t slot, uint32_t writer); /* NULL: none */
const turn *tellings_turn(const tellings *t, uint32_t slot);
const an_arriver *tellings_arriver(const tellings *t, uint32_t counter, uint32_t writer);
void tellings_free(tellings *t);

/* payload_heard.c: what a block's newest waits told it, one a slot and signaller, and how it waits before it reads,
 * as a rule. */
#define PAYLOAD_HEARD 16u
typedef struct heard { guard *of; uint32_t count, room, next; } heard_by; /* most blocks wait for few */
/* behind which wait, and by how much its need rises */
typedef struct custom { uint64_t record, need, step, times; uint32_t slot; bool as_ever; } custom;
/* by agent */
typedef struct hearing { heard_by *blocks; uint32_t room; custom *customs; uint32_t custom_room; } hearing;
int hearing_note(hearing *h, uint32_t agent, const guard *g);
int hearing_read(hearing *h, uint32_t agent, const guard *last); /* a read begins; last: of its block */
bool hearing_as_ever(const hearing *h, uint32_t agent);          /* that read */
void hearing_spend(hearing *h, uint32_t agent, uint32_t slot);
void hearing_acquire(hearing *h, uint32_t agent, uint8_t level);
/* what a count tells is of all who add to it, not of the last alone */
bool hearing_is_count(const an *a, const guard *g);
/* The newest wait by which the block heard of that other one, of at least that generation by a signal behind
 * `behind`; slot: at that slot, XSR_NONE: at any. NULL: none. */
const guard *hearing_of(const an *a, const hearing *h, uint32_t agent, uint32_t other, uint32_t slot,
                        uint64_t generation, uint64_t behind);
void hearing_free(hearing *h);

typedef struct verdict {
    uint32_t detector, culprit, victim, slot;
    const char *cure;
    uint32_t named;
    const access *told;       /* who else is to blame if a wait of this access' block is lost */
    bool unwritten, of_before; /* the read came before the write; what told of it is of an earlier epoch */
    bool unasked;             /* the reader has not waited for it at all */
    bool untaught;            /* unasked, as far as is known: which slot tells of that place was not learned */
    bool of_habits;           /* it rests on what was always so: any record that is lost could undo it */
    const char *why;          /* what is added to the sentence; NULL */
    xsr_source source;        /* of the wait that is to blame; line 0 */
} verdict;

/* A read and a write of one generation that nothing orders. ahead: whoever writes there had signalled its number
 * before, or it is not known. usual: the slot that this place was waited for at before, + 1; 0: not known. */
verdict payload_blame_read(an *a, const tellings *t, const access *reads, const access *writes, uint64_t generation,
                           uint32_t usual, bool ahead);
/* `write` begins another generation, and nothing orders it behind those reads, or those writes, of the one before. */
verdict payload_blame_lapped(an *a, const tellings *t, const access *reads, const access *write);
verdict payload_blame_rewritten(an *a, const tellings *t, const access *before, const access *write);

#endif
