/* Inside the analysis. The driver (driver.c) is a sink of the reader; it keeps the state that several detectors need and
 * hands events on. One file a detector, each with one ops table. Functions that cross files start with an_.
 *
 *   events in merged order     -> on_event (state as before the event), then the state takes it in
 *   waits, once ended or open  -> on_wait
 *   events in causal order     -> on_step, with the clocks of happens-before (hb.h)
 *   first writer in an epoch   -> on_epoch
 *   end of the pass            -> finish, in the order of the table in detectors.c */
#ifndef XS_ANALYSIS_H
#define XS_ANALYSIS_H

#include <stdlib.h>
#include <string.h>
#include <xs/analyse.h>

#include "../read/planned.h"
#include "../read/table.h"

#define NO_TIME INT64_MIN
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int rc_ = (call);                                                                                              \
        if (rc_)                                                                                                       \
            return rc_;                                                                                                \
    } while (0)

typedef struct an an;
struct an_step; /* hb.h */

/* What a detector needs in the capture to be able to say anything: any of these. X(NAME, "one of them") */
#define AN_NEEDS(X)                                                                                                    \
    X(WAITS, "wait")                                                                                                   \
    X(SIGNALS, "signal")                                                                                               \
    X(EPOCHS, "signal in an epoch")                                                                                    \
    X(ARRIVALS, "arrival") /* or how many of them are expected */                                                      \
    X(RESETS, "reset")                                                                                                 \
    X(RINGS, "channel or ring of a declared depth")                                                                    \
    X(PAYLOAD, "payload")                                                                                              \
    X(BARRIERS, "barrier")                                                                                             \
    X(BLOCK_BARRIERS, "named barrier")
#define AN_NEED_BIT(name, text) AN_BIT_##name,
enum an_need_bit { AN_NEEDS(AN_NEED_BIT) AN_NEED_COUNT };
#undef AN_NEED_BIT
#define AN_NEED(name, text) AN_NEED_##name = 1u << AN_BIT_##name,
enum an_needs { AN_NEEDS(AN_NEED) };
#undef AN_NEED

#define AN_KIND(name) (1ull << XS_EV_##name)

typedef struct an_ops {
    uint32_t id;        /* xsa_detector */
    uint32_t needs;     /* an_needs; without any: the verdict is NOT_RUN. 0: whatever there is */
    uint64_t kinds;     /* events that on_event wants: AN_KIND(..) | .. */
    const char *cannot; /* what it cannot know */
    size_t state;       /* bytes, zeroed before the pass */
    int (*on_event)(an *a, void *state, const xsr_event *e);
    int (*on_wait)(an *a, void *state, const xsr_wait *w);
    int (*on_step)(an *a, void *state, const struct an_step *step);
    int (*on_epoch)(an *a, void *state, const xsr_event *e);
    int (*finish)(an *a, void *state);
    void (*release)(void *state);
} an_ops;
extern const an_ops *const an_detectors[]; /* ends with NULL; trace health first */
void an_needs_words(uint32_t needs, char *text, size_t size); /* "wait, signal or arrival" */

/* ---- shared state ---- */

/* in the source: of a wait, or a fence */
typedef struct an_where { xsr_source source; uint32_t writer; bool fence; } an_where;

typedef struct an_writer { /* beside xsr_writer */
    uint64_t events, last_event, epoch, signals, passes; /* passes: waits that ended well */
    int64_t first_time, last_time;
    int64_t epoch_time; /* of its last EPOCH, or its first event */
    /* waits that had ended well by then, and what was lost of its ring */
    uint64_t epoch_record, epoch_passes, epoch_lost;
    uint8_t last_kind;
    bool begun;                /* its WRITER_BEGIN was seen */
    uint32_t role;
    uint32_t signal_slot;      /* last signal or watermark; XSR_NONE */
    uint64_t signal_value, signal_event, signal_most; /* most: the highest value of all */
    int64_t signal_time;
    uint64_t elected_by;       /* arrival that elected it and that no signal has followed; XSR_NO_ID */
    uint32_t elected_counter;  /* slot of it */
    int64_t elected_time;
    uint32_t agent;            /* of happens-before, + 1; 0: none yet */
    xsr_source abort;          /* of its check that failed, if that was its last event; line 0: none */
    an_where where;            /* of its last wait or fence that has one */
} an_writer;

typedef struct an_touch { /* the last one to do something */
    uint64_t event, value, epoch, record; /* record: sequence in the ring of its writer */
    int64_t time;
    uint32_t writer, rank; /* index in ranks; XSR_NONE: nobody */
    uint8_t order, scope, fence, kind;
} an_touch;

typedef struct an_list { uint32_t *items; uint32_t count, room; } an_list;
int an_list_add(an_list *list, uint32_t item);

/* Its last arrival. first: its first epoch; epochs: in how many it arrived; now, before: what it added in the last
 * of them and in the one before; steady: for how many in a row that was the same; more: the event by which it added
 * more than in those, 0: none; left: the count behind its last one; from: the count that its first one found, found:
 * that record, entered: the one that entered its round; reach: most waits of an epoch that it had passed when it
 * arrived, passed: in the last, passed_before: in the one before, even: so often the same as before; whole: so often
 * with none lost. */
typedef struct an_arriver {
    uint32_t writer;
    uint64_t epoch, event, count, record;
    int64_t time;
    uint64_t first, epochs, now, before, steady, more, left, from, found, entered, reach, whole, passed, passed_before,
        even;
} an_arriver;
void an_arriver_take(an_arriver *r, const xsr_event *e); /* one more */

typedef struct an_slot { /* beside xsr_slot */
    uint64_t signals, arrivals, resets, waits;
    uint64_t max_value, max_need;
    an_touch signal, arrival, reset, wait; /* the last of each; wait: the last that ended */
    uint64_t arrived_weight;   /* sum of all arrivals recorded */
    uint64_t old, weight, expected, target; /* of the last arrival (target 0: not known) */
    uint64_t post;             /* highest value that an arrival left */
    uint32_t counter;          /* slot of the counter whose election publishes this slot; XSR_NONE */
    uint32_t publishes;        /* a counter: slot that its election published last; XSR_NONE */
    an_arriver *arrivers; uint32_t arriver_count, arriver_room; /* each writer once */
    uint64_t least_old;        /* lowest value that an arrival found; UINT64_MAX: none */
    an_touch before_signal;    /* the signal before the last */
    /* the wait that ended well on the highest value: by values, not by clocks, whoever came last */
    an_touch entered;
    int64_t first_signal;      /* time of the first signal, INT64_MAX: none */
    /* times of the newest signal or reset, and of the last two that came behind all before them and before all behind
     * them whatever clocks say, the older one first; NO_TIME: none */
    int64_t newest, certain[2];
    bool alone;                /* the newest came behind all before it */
    uint64_t passers;          /* a bit for each writer that has passed a wait for it */
    /* epochs between a wait and the signal that it needs, and how often it was the same again */
    uint64_t lag, lag_steady;
    int64_t lag_lead;          /* by how many waits more it was above 0 than it was 0 */
    /* epochs of its writer from one signal of it to the next, and how often it was the same again; 0: not known */
    uint64_t gap, gap_steady;
    uint64_t waiters;          /* a bit for each writer that waits for it, by its index modulo 64 */
    uint64_t step, step_lead;  /* by which its values rise as a rule, and how clear that is; lead 0: not known */
    /* of the last wait; by how much they rise from one epoch to the next, 0: not known */
    uint64_t need, need_epoch, need_step;
    bool needs_odd;            /* they do not rise evenly */
    bool needs_fall;           /* one who waits there has needed less than the time before */
    uint64_t need_last, need_wait; uint32_t need_writer; /* of the last wait, which, and whose + 1; 0: none yet */
    /* waits that its writer had passed when it signalled last, most and as a rule between two signals (lead: how clear
     * that is), how many such pairs */
    uint64_t passes, passes_most, passes_usual, passes_lead, repeats;
    /* what was lost of its ring by then; of those pairs, how many with nothing lost between */
    uint64_t passes_lost, whole;
    uint64_t reported_epoch, reported; /* last EXPECT */
    uint64_t reported_event;
    uint32_t reported_by;      /* writer */
    /* is_state: waited for by equality; comes_again: its values fall, as those of a flag that flips */
    bool is_reported, is_channel, is_barrier, is_state, comes_again;
    uint8_t width;             /* 32 or 64 */
    an_where where;            /* of the last wait for it that has one */
} an_slot;

typedef struct an_rank {
    int64_t first_begin, last_time; /* NO_TIME: nothing */
    uint64_t first_event, last_event, epoch;
    uint64_t beats, last_beat_event;
    int64_t last_beat;
    uint64_t writers, ended;
    int64_t unnamed;           /* time of its last event of a writer that is not known; NO_TIME: there is none */
    uint64_t lost;             /* records, up to now */
    int64_t lost_from, lost_to; /* span that all of them lie in */
    bool ends_in_loss;         /* its newest records are missing */
    /* a block had several writers at once: what one hears is known to all, and noted for one alone */
    bool crowded;
    uint32_t device_key;       /* ranks of one key share a device: gpu scope covers them */
} an_rank;

/* Why a wait stands still: the rung of the ladder on which it ended (ladder.c). */
enum an_why {
    AN_WHY_UNKNOWN,     /* nobody is known to owe it */
    AN_WHY_HOST,        /* the host owes it: the program of the slot's owner */
    AN_WHY_SIGNALLED,   /* the signal was made */
    AN_WHY_PASSED_BY,   /* an equality that the value jumped over */
    AN_WHY_DEAD,        /* the process of who owes it died */
    AN_WHY_NO_RANK,     /* the rank has started nothing */
    AN_WHY_NO_BLOCK,    /* the block was never started, and the started ones all wait */
    AN_WHY_COUNT,       /* an election or gate lacks arrivals that nobody will make */
    AN_WHY_ELECTED,     /* the election was won, and no signal followed */
    AN_WHY_WAITS,       /* who owes it waits: next */
    AN_WHY_MOVED_ON,    /* who owes it is in a later epoch, or behind the place where it signals */
    AN_WHY_ENDED,       /* who owes it ended */
    AN_WHY_SILENT,      /* it said nothing for long */
    AN_WHY_RUNNING,     /* it goes on: slow */
    AN_WHY_LOST         /* lost records could tell another story */
};

/* A wait that never ended or gave up. */
typedef struct an_stuck {
    xsr_wait w;
    bool certain;      /* no lost record can hide its end */
    bool late;         /* it gave up, and the same wait ended well later */
    uint8_t why;       /* an_why */
    /* epoch in which what it needs is signalled: its own, or an earlier one, as of a credit; 0: not known */
    uint64_t round;
    uint32_t supplier; /* index in ranks of who owes it; XSR_NONE */
    uint32_t supplier_number; /* its number: also of a rank that is in no capture */
    uint32_t role;     /* of it, index in names or XSR_NONE */
    uint32_t owes;     /* writer; XSR_NONE where it is not one */
    uint32_t owes_block; /* where no writer is known: AN_WHY_NO_BLOCK */
    uint32_t counter;  /* slot of the counter that it hangs on; XSR_NONE */
    uint32_t next;     /* WAITS: index of the stuck wait that holds it up */
    uint32_t cycle;    /* number of the circle it is in, + 1; 0: none */
    uint32_t root;     /* stuck wait at the end of its chain: its own index where it waits for nobody that waits */
    uint8_t origin;    /* of the knowledge of who owes it: xs_plan_origin */
    /* a counter: how many of its rounds the only one who arrives there has gone past without doing so */
    uint64_t left_out;
    bool counted;      /* left_out is told by values, whatever records are lost, also where it is 0 */
    /* a counter: who owes it, and arrived in every round before, stands behind the place where it does */
    bool beyond;
    /* a counter: who have arrived before and not in this epoch, of how many; several of whom none does so in every
     * epoch */
    uint32_t absent, arrivers;
} an_stuck;

/* What the plan says of a slot, from wherever it is known. */
typedef struct an_plan {
    uint32_t writer, writer_role; /* rank number, index in names; XSR_NONE */
    uint8_t writer_origin, host_origin, arrivals_origin, signals_origin; /* xs_plan_origin */
    bool host, has_arrivals, has_signals;
    uint64_t arrivals, signals; /* an epoch */
    uint64_t depth;             /* 0: not said */
    uint64_t participants;      /* 0: not said */
    uint32_t without_arrivals;  /* rank number that publishes where nothing is expected; XSR_NONE */
} an_plan;

/* Where lost records would undo a finding: in that writer's ring (XSR_NONE: in any), between those times. */
typedef struct an_window { /* rank: index, instead of a writer; XSR_NONE. order: what is said rests on happens-before */
    uint32_t writer, rank;
    int64_t from, to;
    bool order;
    /* order: nobody can have told the later one of the earlier, if values rise and blocks have one writer */
    bool known;
    int64_t least; /* gaps of less than this cannot hide what matters */
    uint64_t most; /* nor can so many records in all */
    /* events that matter: AN_KIND(..) | ..; 0: all. Of a gap that hides another one it is known (xsr_loss) */
    uint64_t kinds;
    uint64_t first, last; /* records of the writer's ring, instead of times; last 0: times */
    /* `from` and `to` are the times of records of these rings, by sequence: what is lost before the one or behind */
    uint32_t from_ring, to_ring;
    uint64_t from_record, to_record; /* the other lies outside; XSR_NONE: of none */
    uint32_t comes_again; /* a slot, + 1: only if its values come again, which may show only later; 0: none */
    bool own_ends; /* the same: both are of the writer itself, the first and the last of their times */
} an_window;
#define AN_WINDOWS 4u

typedef struct an_finding { /* being made */
    xsa_finding f;
    uint64_t key;
    xsa_evidence *evidence; uint32_t evidence_room;
    uint32_t cause;   /* index of the finding that explains it; XSR_NONE */
    /* a slot that the signal went to by mistake, + 1: what is wrong there follows from this; 0: none */
    uint32_t beside;
    bool by_stamps;   /* which came first is told by stamps, farther apart than their clocks may be */
    bool unasked;     /* a payload race of who reads without having waited for it */
    uint32_t named;   /* the detector whose cause it shows, should nothing else explain it; 0: its own */
    an_window windows[AN_WINDOWS]; uint32_t window_count;
    bool withdrawn;
    /* lost records, or clocks that contradict each other, could undo it: it is a verdict that is unknown */
    bool undone;
    int64_t at;       /* order among equals */
    an_where where;   /* of what the culprit, or the victim, had done last when it was made */
} an_finding;

struct an {
    xsr_sink sink; /* first */
    xsa_options options;
    const xsr_model *model;
    an_writer *writers; uint32_t writer_count, writer_room;
    an_slot *slots; uint32_t slot_count, slot_room;
    an_rank *ranks;
    an_stuck *stuck; uint32_t stuck_count, stuck_room;
    struct an_losses *losses; /* per rank; NULL: none */
    uint32_t losses_count;
    rd_map arriver_of;  /* (slot, writer) -> index in its arrivers */
    rd_map stuck_of;    /* (writer, slot) -> index in stuck */
    int64_t failed_at;  /* first wait that gave up, or abort; INT64_MAX: none */
    int64_t aborted_at; /* INT64_MAX: none */
    uint64_t abort_event;
    an_touch abort;
    uint64_t events, waits, arrivals, lost_records;
    uint64_t lost_by[XS_LOSS_COUNT]; /* of these, by cause */
    uint64_t falls;     /* resets, and signals that do not rise: a value tells of more than one round */
    uint32_t seen;      /* an_needs that the capture has */
    int64_t first_time, last_time;
    struct an_hb *hb;
    struct an_blame *blame;
    struct { xsa_starved *list; uint32_t count, room; } starving; /* starvation.h */
    struct an_plans *plans;
    struct an_recount *recount;
    void *states[XSA_DETECTOR_END]; /* by xsa_detector */
    an_finding *findings; uint32_t finding_count, finding_room;
    rd_map finding_of;  /* key -> index */
    an_window windows[AN_WINDOWS]; uint32_t window_count, windows_told; /* of the finding that is made next */
    xsa_verdict verdicts[XSA_DETECTOR_END];
    rd_arena text;
    xsa_finding *listed;
    xsa_result result;
    bool finished;
};

/* ---- state.c ---- */
int an_state_begin(an *a);
int an_state_event(an *a, const xsr_event *e); /* takes it in */
int an_state_wait(an *a, const xsr_wait *w);
int an_state_room(an *a);                      /* tables as long as the model's */
void an_state_free(an *a);
/* A block of a rank: what "who" means where several launches and warps follow each other. */
static inline uint64_t an_place(uint32_t rank, uint32_t block) { return (uint64_t)rank << 32 | block; }

/* ---- loss.c: what is missing, and whether it could matter ---- */
int an_loss_add(an *a, const xsr_loss *loss);
/* Records that `rank` (index; XSR_NONE: any) may have lost between two times; 0: none. A process whose end is not in
 * the capture counts as 1, at times that its rings are not known to be whole. */
uint64_t an_lost(const an *a, uint32_t rank, int64_t from, int64_t to);
bool an_loss_is_counted(const an *a); /* what an_lost says are records, and not more */
bool an_capture_is_whole(const an *a); /* from its start, nothing windowed, trimmed, damaged or lost */
/* The same of one writer's ring; XSR_NONE: of all. */
uint64_t an_lost_by(const an *a, uint32_t writer, int64_t from, int64_t to);
uint64_t an_lost_so_far(const an *a, uint32_t writer); /* of its ring, ahead of the event that is being taken */
uint64_t an_lost_in(const an *a, const an_window *w); /* no window of order, nor of records */
/* The same, where one block's records may tell of what lies in another ring: of ranks whose blocks have several
 * writers, and of rings of which nothing is left. */
uint64_t an_lost_beside(const an *a, const an_window *w);
/* Lost between two records of that writer, that could be of these kinds (0: of any). */
uint64_t an_lost_records(const an *a, uint32_t writer, uint64_t first, uint64_t last, uint64_t kinds);
bool an_never_reset(const an *a, uint32_t slot); /* also not by a record that is lost, by all odds */
bool an_tail_unknown(const an *a, uint32_t rank);
void an_loss_free(an *a);

/* ---- plan.c ---- */
int an_plan_begin(an *a);
int an_plan_expect(an *a, const xsr_event *e);
an_plan an_plan_of(const an *a, uint32_t slot, uint64_t epoch);
void an_plan_free(an *a);
/* The declared row of that kind that speaks of the slot in that epoch; XSR_NONE. */
uint32_t an_plan_row(const an *a, uint32_t slot, uint32_t kind, uint64_t epoch);
/* pad, owner, row and column of it: also of a slot that no event names */
uint32_t an_plan_row_at(const an *a, const xsr_slot *place, uint32_t kind, uint64_t epoch);
bool an_plan_has(const an *a, uint32_t slot, uint32_t kind);   /* of any slot of its pad */
bool an_plan_dated(const an *a, uint32_t slot, uint32_t kind); /* with an epoch */
/* Blocks that the plan says play a role; false: it does not say. */
bool an_plan_declares_writer(const an *a, uint32_t slot, uint64_t epoch, uint32_t *rank);
bool an_plan_role_blocks(const an *a, uint32_t role, uint32_t *first, uint32_t *count);

/* ---- findings.c ---- */
/* A finding, or the one made before with this key (then its count rises, *again is set if wanted, and only its end
 * moves on). The text is a format. key 0: made from detector, slot and culprit. NULL: out of memory. */
an_finding *an_find(an *a, const xsa_finding *like, uint64_t key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool an_found(const an *a, uint32_t detector, uint64_t key);
void an_withdraw(an *a, uint64_t key); /* what came later shows that there is nothing wrong; it may be found anew */
/* another one of that finding, if there is one */
int an_accuse(an *a, uint64_t key, uint32_t rank, uint32_t writer, const char *text);
/* The next finding made is undone if records of that writer (XSR_NONE: of anybody) were lost in that time; at most
 * AN_WINDOWS. Losses are told where the stream goes on behind them, so that is judged at the end. */
void an_whole(an *a, uint32_t writer, int64_t from, int64_t to);
/* The same of a slot whose values come again: in which order they were written is told by who saw what, where clocks
 * are apart, and a record lost since stamps last told it may put every round behind into the place of the one
 * before. */
void an_whole_writes(an *a, uint32_t slot, int64_t to);
/* The same, and both times are those of records of that writer: what is lost before the one and behind the other
 * does not matter. */
void an_whole_own(an *a, uint32_t writer, int64_t from, int64_t to);
/* The same of the records between two that are kept: where no time passes, times cannot tell. */
void an_whole_records(an *a, uint32_t writer, uint64_t first, uint64_t last);
/* The same, but only by a stretch of at least `least` without records: what could be missing there takes time. */
void an_whole_long(an *a, uint32_t writer, int64_t from, int64_t to, int64_t least);
/* The same for what is said of order: that what `agent` (of happens-before; XSR_NONE: anybody) does at `to` does not
 * come behind what `other` did at `from`, nor that before it: whose turn was first tells which came first only where
 * clocks agree and nothing is lost. */
void an_whole_order(an *a, uint32_t other, int64_t from, uint32_t agent, int64_t to);
/* Everything that a wait that stands still is judged by (stuck.c). */
void an_whole_stuck(an *a, const an_stuck *s);
/* Could records that are lost order what happened at that time before what the agent (hb.h; XSR_NONE: anybody) does
 * now? */
bool an_hb_may_know(const an *a, uint32_t agent, int64_t time);
/* waits that read a signal of which order is not kept any more: all that the slot released stands in for it */
uint64_t an_hb_older(const an *a);
int64_t an_clocks_apart(const an *a); /* how far stamps of any two clocks may be apart */
/* an event of that time had its turn before what it waited for (hb.h) */
bool an_hb_forced(const an *a, int64_t from, int64_t to);
/* and that came afterwards: stamps are farther apart than is known of them */
bool an_hb_late(const an *a, int64_t from, int64_t to);
void an_whole_rank(an *a, uint32_t rank, int64_t from, int64_t to);
/* The window told last can be undone only by events of these kinds; only by more records than these; lies between
 * these two records. */
void an_only_by(an *a, uint64_t kinds);
void an_only_beyond(an *a, uint64_t records);
/* XSR_NONE: as its times say */
void an_only_between(an *a, uint32_t from_writer, uint64_t from_record, uint32_t to_writer, uint64_t to_record);
/* what changes a slot */
#define AN_MOVES \
    (AN_KIND(SIGNAL) | AN_KIND(WATERMARK) | AN_KIND(ARRIVE) | AN_KIND(GATE_ARRIVE) | AN_KIND(RESET))
#define AN_ENTERS (AN_KIND(EPOCH) | AN_KIND(WRITER_BEGIN)) /* a writer's epoch */
/* what somebody may have heard by, or, of a wait's start, what it needs */
#define AN_ORDERS \
    (AN_MOVES | AN_KIND(PASS) | AN_KIND(WAIT_START) | AN_KIND(WAIT_END) | AN_KIND(FENCE) | AN_KIND(BARRIER_ENTER) | \
     AN_KIND(BARRIER_LEAVE) | AN_KIND(BLOCK_ENTER) | AN_KIND(BLOCK_LEAVE) | AN_KIND(WRITER_BEGIN) | AN_KIND(WRITER_END))
int an_evidence(an *a, an_finding *f, uint64_t event, const char *part);
uint64_t an_key(uint32_t detector, uint64_t x, uint64_t y, uint64_t z);
int an_findings_finish(an *a); /* causes, order, result */
void an_findings_free(an *a);
xsa_finding an_like(uint32_t detector, uint32_t severity, uint32_t confidence); /* everything else: not known */
void an_culprit(const an *a, xsa_finding *f, uint32_t rank, uint32_t writer); /* indices */
void an_victim(const an *a, xsa_finding *f, uint32_t rank, uint32_t writer);
uint32_t an_confidence(uint32_t origin, uint64_t lost); /* of xs_plan_origin */

/* ---- merge.c: one cause, one finding ---- */
void an_merge(an *a);
int an_priority(uint32_t detector); /* lower: nearer to the cause */

/* ---- verdicts.c ---- */
/* Index of the next note, from that one on, in which the reader says that a wait ended before the signal that it
 * saw, by more than the clocks allow; XSR_NONE: there is none. Known at finish. */
uint32_t an_clock_fault(const an *a, uint32_t from);
void an_unknown(an *a, uint32_t detector, uint64_t lost, const char *format, ...) __attribute__((format(printf, 4, 5)));
void an_verdicts_finish(an *a);

/* ---- words.c: texts live until the analysis is closed; "?" where memory ran out ---- */
const char *an_print(an *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "rank 2 push block 1", indices; "rank 2", "an unknown writer" */
const char *an_who(an *a, uint32_t rank, uint32_t writer);
const char *an_slot_name(const an *a, uint32_t slot);
const char *an_pad_name(const an *a, uint32_t slot);
const char *an_since(an *a, int64_t time); /* "1.204 ms after the start" */
const char *an_span(an *a, int64_t ns);    /* "12.3 us" */
const char *an_site_words(an *a, uint32_t writer, xsr_source source); /* "combine.kernel.h:34 of kernel combine" */
/* ", combine.kernel.h:34 of kernel combine", ", line 34 of ..", "" */
const char *an_site(an *a, uint32_t writer, xsr_source source);
void an_source(const an *a, xsa_finding *f, xsr_source source);
const char *an_role_name(const an *a, uint32_t role);

/* ---- where.c: where in the source, for findings whose detector does not say ---- */
void an_where_wait(an *a, const xsr_wait *w);
void an_where_event(an *a, const xsr_event *e);
void an_where_now(const an *a, an_finding *f);         /* while it is made */
/* at the end: sets file and line; what is added to the sentence, or "" */
const char *an_where_say(an *a, an_finding *f);

/* ---- stuck.c: waits that never ended, and the graph of who waits for whom ---- */
int an_stuck_add(an *a, const xsr_wait *w);
bool an_broken_off(an *a, an_stuck *s); /* open because the run was ended from outside */
/* a wait that ended well: one before it that gave up was late, not lost */
int an_stuck_settled(an *a, const xsr_wait *w);
int an_stuck_graph(an *a); /* suppliers, chains, circles; before the detectors' finish */
/* "rank 0 consume block 3 waits for done[..] (has 44, needs 45) since ..." */
const char *an_stuck_words(an *a, const an_stuck *s);
uint32_t an_rank_of(const an *a, uint32_t number); /* index in ranks; XSR_NONE */
int64_t an_still(const an *a); /* when the run stood still: the first wait gave up, or its end */
int64_t an_stuck_end(const an *a, const an_stuck *s);
uint32_t an_stuck_of_writer(const an *a, uint32_t writer); /* its oldest stuck wait; XSR_NONE */
bool an_is_counter(const an *a, uint32_t slot);
uint32_t an_slot_at(const an *a, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column); /* XSR_NONE */
uint64_t an_stuck_lost(const an *a, const an_stuck *s); /* records that could change what is said of it */
xsa_finding an_stuck_like(an *a, const an_stuck *s, uint32_t detector, uint32_t severity);

/* ---- ladder*.c ---- */
void an_ladder(an *a, an_stuck *s);
/* ---- skipped.c ---- */
bool an_has_skipped(const an *a, uint32_t slot, uint64_t need, uint32_t writer, uint32_t waits);
bool an_may_have_skipped(const an *a, const an_stuck *s); /* records that are lost leave that open */
/* it stands behind the place where it arrives */
bool an_is_beyond(const an *a, const an_stuck *s, const an_arriver *r, uint32_t waits);
bool an_stands_behind(const an *a, const an_stuck *s); /* of a circle: who owes has signalled before its wait so far */
/* ---- misdirected.c ---- */
uint32_t an_misdirected(const an *a, const an_stuck *s); /* the slot that the signal went to instead; XSR_NONE */
/* ---- pattern.c ---- */
/* The rank that signals the slot, should it be as with its neighbours in the pad; XSR_NONE. */
uint32_t an_writer_by_pattern(const an *a, uint32_t slot);
uint32_t an_writer_beside(const an *a, uint32_t slot, uint32_t rank);
uint32_t an_block_by_pattern(const an *a, uint32_t slot); /* the same of the block that does it */
/* The counter whose election publishes the slot: seen, or as its neighbours in the pad have theirs; XSR_NONE. */
uint32_t an_counter_of(const an *a, uint32_t slot);
/* Arrivals of the counter's current round, and how many complete it; false: not known. */
bool an_round_of(const an *a, uint32_t counter, uint64_t epoch, uint64_t *have, uint64_t *expected);

static inline void an_windows_clear(an *a) { a->window_count = a->windows_told = 0; }
static inline uint32_t an_number(const an *a, uint32_t rank) {
    return rank == XSR_NONE ? XSR_NONE : a->model->ranks[rank].rank;
}
static inline uint32_t an_block(const an *a, uint32_t writer) {
    return writer == XSR_NONE ? XSR_NONE : a->model->writers[writer].block;
}
static inline const xsr_pad *an_pad(const an *a, uint32_t slot) { return &a->model->pads[a->model->slots[slot].pad]; }
static inline bool an_signals(uint32_t kind) { return kind == XS_EV_SIGNAL || kind == XS_EV_WATERMARK; }
static inline bool an_arrives(uint32_t kind) { return kind == XS_EV_ARRIVE || kind == XS_EV_GATE_ARRIVE; }
static inline uint64_t an_weight(const xsr_event *e) { return e->kind == XS_EV_ARRIVE ? e->further[0] : e->detail; }
static inline bool an_holds(uint32_t cmp, uint64_t seen, uint64_t need) {
    switch (cmp) {
    case XS_CMP_EQ: return seen == need;
    case XS_CMP_NE: return seen != need;
    case XS_CMP_LT: return seen < need;
    case XS_CMP_GT: return seen > need;
    default: return seen >= need;
    }
}

#endif
