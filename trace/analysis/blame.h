/* The critical path: what the run's end had to wait for, one thing after the other, walked back from its end. On a writer the walk goes back
 * along what that writer did; at a wait that had to wait for a signal it goes over to the one who signalled.
 *
 * Whoever walks back has to know what was. A log keeps signals, arrivals, waits and lives of writers, the newest BLAME_ENTRIES of them. When
 * it is full the walk is made from the newest entry, its older half is counted and its entries are forgotten: ways back from different ends
 * of a run run into each other soon. Where the next walk comes back to another writer than this one left from, that is a cut, and counted.
 *
 *   events, waits, losses  -> blame_log.c   entries, each with the writer's entry before it
 *   log full, end of pass  -> blame_walk.c  pieces of the path, newest first; blame_line.c: what could have been done before
 *                             blame_block.c which waits held up the warps beside the one that waited
 *                             blame_sum.c   sums by who, what and slot; spans to look at
 *                             blame_slack.c how much later signals could have come
 *   end of pass            -> blame.c       where the walk begins, the result; blame_rank.c: ranks that work slower than others */
#ifndef XS_ANALYSIS_BLAME_H
#define XS_ANALYSIS_BLAME_H

#include "analysis.h"
#include "class.h"

#define BLAME_ENTRIES (1u << 18) /* 20 MiB */
#define BLAME_SPANS 65536u       /* above, short ones are joined */
#define NO_SLACK INT64_MAX

enum blame_kind { BLAME_BEGIN, BLAME_END, BLAME_SIGNAL, BLAME_ARRIVAL, BLAME_WAIT, BLAME_GAP };

/* Entries have numbers, from 1; 0 is none. */
typedef struct blame_entry {
    uint64_t id;       /* event */
    int64_t time;      /* a wait: its end; GAP: of the first record behind it */
    /* a wait: its begin; SIGNAL, ARRIVAL: since when its writer published; GAP: of the last record before it */
    int64_t from;
    uint64_t before;   /* the writer's entry before */
    /* a wait: entry of the signal that released it; BEGIN: END of who ran before on that rank; ARRIVAL: the one
     * before */
    uint64_t link;
    int64_t released;  /* a wait: time of that signal; NO_TIME: none known */
    int64_t extra;     /* a wait: last failed poll or NO_TIME; SIGNAL, ARRIVAL: slack or NO_SLACK */
    uint64_t epoch;
    uint32_t writer, slot;
    /* index in ranks, XSR_NONE: of who released (owes) a wait; of the first that waited for a signal */
    uint32_t other;
    uint8_t kind;      /* blame_kind */
    uint8_t why;       /* a wait without a signal: xsa_blame_why */
    bool passed : 1, failed : 1, elected : 1;
    uint8_t walked;    /* the walk that passed it: the path is no circle, whatever clocks and values say */
} blame_entry;
_Static_assert(sizeof(blame_entry) == 80, "the log is 262 144 of them");

typedef struct blame_writer {
    uint64_t last;       /* its newest entry */
    /* since when: the end of its last payload or work, or its first fence or arrival; NO_TIME: it does not */
    int64_t publishes;
    int64_t waited;      /* end of its last wait; NO_TIME: none */
    int64_t ran;         /* from its begin to its end; 0: one of them is not known */
    int64_t slack;       /* of a pass over the log */
    uint64_t slack_pass; /* the pass that slack belongs to */
    uint64_t cursor, cursor_walk; /* a wait of its own, and the walk that looked for it */
    uint32_t block, next; /* class in block_of or XSR_NONE; the writer of that block before it + 1, 0: none */
    bool waits, talks;   /* it waits itself, or its records are missing; or it signals, arrives */
} blame_writer;

typedef struct blame_rank {
    uint64_t ended;    /* entry of the writer that ended last */
    int64_t first;     /* begin of its first writer; NO_TIME: none seen */
} blame_rank;

typedef struct blame_slot {
    uint64_t arrival;  /* entry of the newest */
    int64_t slack;     /* least of its signals that somebody waited for; NO_SLACK: none */
    uint64_t awaited;  /* signals that somebody already waited for */
} blame_slot;

typedef struct an_blame {
    blame_entry *entries;   /* number n at (n - 1) & (room - 1) */
    uint32_t room;
    uint64_t first, next;   /* numbers that are there: first .. next - 1 */
    blame_writer *writers; uint32_t writer_room;
    blame_slot *slots; uint32_t slot_room;
    blame_rank *ranks;
    uint32_t newest;        /* writer of the newest event; XSR_NONE: none */
    uint32_t first_rank;    /* of the first event: lateness counts from there */
    uint64_t last_id;
    xsa_span *pieces; uint32_t piece_count, piece_room; /* of a walk, newest first */
    struct blame_item *items; uint32_t item_count, item_room; /* see blame_line.c */
    int64_t settled;        /* the path is counted up to here */
    uint32_t settled_on;    /* writer that the path went on with behind that; XSR_NONE: none yet */
    uint64_t walks, passes, cuts;
    rd_map sum_of;
    xsa_blamed *sums; uint32_t sum_count, sum_room;
    xsa_span *spans; uint32_t span_count, span_room;
    int64_t least;          /* shorter spans are joined */
    xsa_slot_blame *listed; uint32_t listed_count;
    xsa_rank_blame *listed_ranks;
    an_classes block_of;    /* (launch, rank, block) */
    uint32_t *newest_of; uint32_t newest_room; /* the newest writer of a block + 1 */
    uint32_t grouped;       /* writers that have their block */
    an_classes busy_of;     /* (rank, role, 0) */
    int64_t *busy; uint32_t busy_room; /* its writers ran and did not wait */
    xsa_blame result;
} an_blame;

/* ---- blame.c, called by the driver ---- */
int an_blame_begin(an *a);
int an_blame_finish(an *a); /* after the graph of stuck waits */
void an_blame_free(an *a);
/* ---- blame_log.c ---- */
int an_blame_event(an *a, const xsr_event *e); /* after the state has taken it in */
int an_blame_wait(an *a, const xsr_wait *w);
int an_blame_lost(an *a, const xsr_loss *loss);

/* ---- between the files ---- */
static inline blame_entry *blame_at(const an_blame *b, uint64_t number) {
    return &b->entries[(number - 1) & (b->room - 1)];
}
static inline bool blame_has(const an_blame *b, uint64_t number) { return number >= b->first && number < b->next; }
int blame_room(an *a);                           /* tables as long as the model's */
/* One walk: the path from an end back to what is settled. It ends on writer `writer` at `end`; number: that writer's
 * newest entry before it. */
typedef struct blame_end { uint32_t writer; uint64_t number; int64_t end; } blame_end;
int blame_walk(an *a, blame_end from);           /* adds pieces */
int blame_piece(an_blame *b, const xsa_span *p); /* empty ones are left out */
/* head of line in the pieces from first_piece on */
int blame_line(an *a, const blame_entry *wait, uint32_t first_piece);
int blame_line_add(an_blame *b, const blame_entry *pass, int64_t to);
int blame_settle(an *a, int64_t to);             /* the pieces up to `to` are counted */
int blame_slots(an *a, bool whole);              /* sums by slot */
int blame_slack(an *a, uint64_t until, int64_t end, bool is_end); /* signals before entry `until` are final */
int blame_blocks(an *a);                         /* writers that came since are put to their blocks */
/* The newest writer of its block + 1, 0: none is known. The others along next. */
static inline uint32_t blame_first(const an_blame *b, uint32_t writer) {
    return b->writers[writer].block == XSR_NONE ? 0 : b->newest_of[b->writers[writer].block];
}
/* `writer` goes on when `with`, of its block, has waited */
bool blame_joined(const an *a, uint32_t writer, uint32_t with);
bool blame_follows(const an *a, uint32_t writer); /* it is joined to any of its block */
/* entry of the newest such wait that ended in (from, to]; 0: none */
uint64_t blame_held_up(an *a, uint32_t writer, int64_t from, int64_t to);
int blame_busy(an *a, uint32_t writer, int64_t ns);
int blame_slow(an *a, xsa_rank_blame *ranks);
int blame_halve(an *a);

#endif
