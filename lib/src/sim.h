/* The sim scheduler of the host backend: kernels as fibres, one at a time, in the thread that calls xs_sync.
 *
 * What it promises
 * - Same seed, same program, same run: every choice comes from a seeded generator (sim_random.h). No real time, no address
 *   (addresses are compared for equality only) and no hash order enters a decision.
 * - Time is virtual nanoseconds, starts at SIM_TIME_START, never goes back and goes on across launches. Every primitive call costs some
 *   tens of ns, work and back-off what they say; ranks overlap. Reading the clock is free, so a signal's stamp is never later than
 *   the stamp of the end of a wait that it satisfied.
 * - A choice of who runs next happens at every primitive call, failed poll, work, block barrier and release: mostly whoever is
 *   ready first, sometimes another who is ready within SIM_WINDOW ns.
 * - A deadlock is found and reported, not timed out (sim_watch.c). It is found only where every waiting fibre says through
 *   xs_host_poll_failed that it waits, unbounded.
 * - Plain payload stores may be held back until a release of enough scope (sim_held.c); plain payload loads may be old until an
 *   acquire of enough scope (sim_stale.c).
 * What it does not
 * - A loop that neither polls through xs_host_poll_failed nor ends runs for ever, unless the world's wait_ns bounds it.
 * - Slots (atomics) are sequentially consistent; only payload is weak.
 * - Worlds of several processes: refused when the world is created. A slot that the host is to write must be written before xs_sync.
 * - One thread at a time may launch and sync. Kernels must not jump out (longjmp, exceptions, thread exit) nor block.
 *
 * Files: sim.c the operations; sim_run.c choice, clock and main loop; sim_launch.c orders, residency, blocks; sim_block.c block barrier and
 * shared memory; sim_held.c held stores; sim_stale.c old loads; sim_watch.c deadlock; sim_context.c switching; sim_stacks.c
 * their stacks. */
#ifndef XS_SIM_H
#define XS_SIM_H

#include "sim_context.h"
#include "sim_heap.h"
#include "sim_random.h"
#include "world.h"

#define SIM_TIME_START 1000000000ull
#define SIM_WINDOW 400u           /* ns: fibres ready within it may overtake each other */
#define SIM_PASS_NS 50000u        /* virtual time between two passes of the collector */
#define SIM_IDLE_PASS_NS 500000000ull /* the same while nothing runs; under half the range of 32-bit times */
#define SIM_BARRIERS 16u
#define SIM_CLOCK_READS 64u       /* so many looks at the clock in a row count as a step: a loop on the clock ends */

typedef struct xs_sim xs_sim;
typedef struct xs_sim_block xs_sim_block;
typedef struct xs_sim_fibre xs_sim_fibre;

/* Stores held back, oldest first; each lies within one cache line. */
typedef struct xs_sim_held_store {
    char *to;
    uint32_t bytes;
    uint32_t rank, block, warp; /* whose: index in the process, in the grid, in the block */
    uint32_t level; /* held by: 0 the fibre, 1 its block, 2 its rank */
    char data[64];
} xs_sim_held_store;

typedef struct xs_sim_held {
    xs_sim_held_store *at; /* NULL until first used */
    uint32_t count, room;
} xs_sim_held;

/* How many of the payload stores that reached memory were seen, as far as they are of the own block, of the rank's
 * other blocks, of other ranks. */
typedef struct xs_sim_seen {
    uint64_t count[3];
} xs_sim_seen;
typedef struct xs_sim_past xs_sim_past; /* sim_stale.c */

/* What the watch knows of a fibre's failed polls: see sim_watch.c. */
typedef struct xs_sim_poll {
    const void *address;
    uint64_t word; /* seen there last */
    uint32_t ops;  /* the most operations seen since the poll before */
} xs_sim_poll;

typedef struct xs_sim_polls {
    xs_sim_poll *at;
    uint32_t count, room, cursor;
    uint32_t quiet; /* polls in this round that showed nothing new */
    uint64_t round; /* it belongs to */
} xs_sim_polls;

struct xs_sim_fibre {
    xs_host_thread self; /* .scheduler = this fibre */
    xs_sim *sim;
    xs_sim_block *block;
    uint64_t ready;
    uint64_t serial;
    uint32_t ops;   /* since its last failed poll */
    uint32_t reads; /* of the clock since its last scheduling point */
    int broken;     /* left in the middle of a kernel: the stack cannot be used again */
    int waiting;    /* in a block barrier */
    int barrier_result;
    xs_sim_fibre *next; /* free list, or those who wait at the same barrier */
    xs_sim_polls polls;
    xs_sim_held held;
    xs_sim_seen seen;
    xs_sim_context context;
};

typedef struct xs_sim_barrier {
    uint32_t arrived, expected; /* expected: as the first to arrive said */
    xs_sim_fibre *waiting;
} xs_sim_barrier;

typedef struct xs_sim_shared {
    struct xs_sim_shared *next;
    const void *key;
} xs_sim_shared;

/* One order on one rank: its blocks run after those of earlier orders on that rank. */
typedef struct xs_sim_part {
    struct xs_sim_part *next;
    struct xs_sim_order *order;
    uint32_t rank;   /* index in the process */
    uint32_t first;  /* index in the grid of its first block */
    uint32_t blocks, started, live;
} xs_sim_part;

typedef struct xs_sim_order {
    struct xs_sim_order *next; /* orders that are not over, oldest first */
    xs_launch_order *order;
    uint64_t begin; /* virtual; 0: not begun */
    uint32_t parts_left, parts;
    int result;
    xs_sim_part part[];
} xs_sim_order;

struct xs_sim_block {
    xs_sim_block *next, **link; /* live blocks */
    xs_sim_part *part;
    uint32_t live, warps;
    xs_sim_shared *shared; /* in order of first use; the memory follows each */
    void *dynamic;
    xs_sim_held held; /* released at CTA scope, not yet further */
    xs_sim_seen seen; /* handed on by releases */
    xs_sim_barrier barrier[SIM_BARRIERS];
    xs_sim_fibre *fibre[]; /* NULL: ended */
};

typedef struct xs_sim_rank {
    xs_sim_part *head, **tail; /* the head runs */
    xs_sim_held held; /* released at GPU scope, not yet further */
    xs_sim_seen seen; /* handed on by releases */
} xs_sim_rank;

struct xs_sim {
    xs_world *world;
    xs_sim_random random;
    uint64_t now;
    uint64_t next_event; /* the collector's next pass, or a deadline */
    uint64_t next_pass;
    uint64_t points; /* scheduling points so far */
    uint64_t trace;  /* hash over who ran when */
    uint64_t serials;
    sim_heap heap;
    xs_sim_fibre *running; /* NULL: the main loop */
    xs_sim_fibre *chosen;  /* left to the main loop to start, behind events */
    xs_sim_fibre *ended;
    xs_sim_fibre *pool;
    xs_sim_stacks stacks;
    xs_sim_context main;
    xs_sim_order *orders;
    xs_sim_rank *ranks;
    xs_sim_block *blocks;
    uint32_t local_ranks;
    uint32_t resident; /* live blocks */
    uint32_t live;     /* fibres */
    uint32_t waiting;  /* of them in block barriers */
    uint32_t hold;     /* probability that a store is held, of 2^16 */
    uint32_t held;     /* stores held anywhere */
    uint32_t stale;    /* probability that a load is old where it may be, of 2^16 */
    xs_sim_past *past; /* NULL: no load is ever old */
    int attention;     /* the main loop must look: stuck */
    int aborted;       /* the abort was seen and barriers were left */
    int syncing;
    int result; /* of this sync */
    /* watch: rounds of failed polls */
    uint64_t round;
    uint32_t round_done, quiet;
};

/* sim_run.c */
/* A scheduling point of the running fibre: others may run, then it goes on at `cost` ns or more from now. */
void xs_sim_point(xs_sim_fibre *f, uint64_t cost, uint64_t bits);
/* The running fibre waits in a barrier until somebody puts it back into the heap. */
void xs_sim_block_fibre(xs_sim_fibre *f);
/* Makes a fibre that is in no queue ready `delay` ns from now. */
void xs_sim_ready(xs_sim_fibre *f, uint64_t delay);
/* Ends the running fibre in the middle of its kernel; does not return. */
void xs_sim_leave(xs_sim_fibre *f) __attribute__((noreturn));
int xs_sim_run(xs_sim *sim);
/* Sets the world's abort word, if it is not set. */
void xs_sim_abort(xs_sim *sim, int error);
static inline uint32_t sim_cost(uint64_t bits) { return 20u + ((uint32_t)bits & 63u); } /* of a primitive call, ns */

/* sim_launch.c */
int xs_sim_queue(xs_sim *sim, xs_launch_order *order);
/* Starts blocks while there is room; orders without blocks left are ended. */
void xs_sim_start_blocks(xs_sim *sim);
void xs_sim_fibre_ended(xs_sim_fibre *f);
/* Every fibre is given up where it stands. */
void xs_sim_abandon(xs_sim *sim);
/* The earliest time at which an order that runs reaches the world's wait_ns; UINT64_MAX: none. */
uint64_t xs_sim_deadline(const xs_sim *sim);
void xs_sim_orders_result(xs_sim *sim, int result); /* of all that have begun and have none */
void xs_sim_free_fibres(xs_sim *sim);

/* sim_block.c */
int xs_sim_barrier_join(xs_sim_fibre *f, uint32_t id, uint32_t count);
void xs_sim_barriers_abort(xs_sim_block *block);
void *xs_sim_shared_get(xs_sim_fibre *f, const void *key, size_t bytes);
void *xs_sim_shared_dynamic(xs_sim_fibre *f);
void xs_sim_shared_free(xs_sim_block *block);

/* sim_held.c */
void xs_sim_store(xs_sim_fibre *f, void *to, const void *from, size_t bytes);
void xs_sim_load(xs_sim_fibre *f, void *to, const void *from, size_t bytes);
void xs_sim_release(xs_sim_fibre *f, uint32_t scope);
/* Lets one store go that f, its block or its rank holds. */
void xs_sim_held_drain(xs_sim_fibre *f, uint64_t bits);
void xs_sim_held_block_ended(xs_sim_block *block, xs_sim *sim);
void xs_sim_held_flush(xs_sim *sim, xs_sim_held *held);
void xs_sim_held_flush_all(xs_sim *sim);

/* sim_stale.c: loads of payload that leave out what was not acquired */
int xs_sim_stale_open(xs_sim *sim, uint64_t seed);
void xs_sim_stale_close(xs_sim *sim);
void xs_sim_stale_start(xs_sim_fibre *f); /* all that there is has been seen */
void xs_sim_stale_keep(xs_sim *sim, const xs_sim_held_store *store); /* before it is written */
void xs_sim_stale_load(xs_sim_fibre *f, void *to, const void *from, size_t bytes); /* to holds what memory holds */
void xs_sim_stale_release(xs_sim_fibre *f, uint32_t scope);
void xs_sim_acquire(xs_sim_fibre *f, uint32_t scope);

/* sim_watch.c */
/* An unbounded poll failed. 1: everybody is stuck. */
int xs_sim_watch_poll(xs_sim_fibre *f, const void *address);
void xs_sim_watch_progress(xs_sim *sim);

#endif
