/* xs hang: what is read from the regions of hanging processes, and what is concluded from it. */
#ifndef XS_HANG_H
#define XS_HANG_H

#include <stdio.h>

#include <attach.h>
#include <attach_read.h>
#include <catalog_view.h>

#define HANG_SAMPLE_NS 200000000u /* between the two samples */
#define HANG_NONE UINT32_MAX

typedef struct hang_line {
    uint32_t ring;
    xs_status_line status;
} hang_line;

/* One look at a region: the lines of rings that writers hold, and how far each ring has come. */
typedef struct hang_sample {
    hang_line *lines;
    uint32_t count, room;
    uint32_t torn;    /* lines that were half new whenever they were looked at */
    uint32_t *newest; /* [ring]; 0: empty, or held by nobody */
} hang_sample;

typedef struct hang_launch {
    uint32_t id, kernel; /* kernel: id of its name */
    uint32_t first_rank, ranks;
    uint64_t begin, end; /* end 0: it runs */
    int32_t result;
} hang_launch;

typedef struct hang_region {
    const xs_attached *at;
    xs_catalog_view catalog;
    hang_launch *launches; /* in order */
    uint32_t launch_count;
    xs_journal_entry *journal;
    uint32_t journal_count;
    hang_sample samples[2];
    uint64_t now; /* time of the second sample, on the clock of the host's events (virtual on sim) */
} hang_region;

/* A writer that holds a ring. */
typedef struct hang_writer {
    uint32_t region, ring, rank, block, warp, sm, role, launch;
    uint32_t moved; /* records between the samples that are no heartbeats */
    uint32_t waits; /* open */
    int has_signalled;
    xs_catalog_place signal; /* the last slot that it signalled, as far as its status lines say */
    uint32_t signal_value; /* low 32 bits, where its ring still holds the signal */
    int has_value;
} hang_writer;

enum hang_supplier { HANG_SUPPLIER_UNKNOWN, HANG_SUPPLIER_PLAN, HANG_SUPPLIER_HOST, HANG_SUPPLIER_SEEN };
enum hang_wait_state { HANG_STUCK, HANG_MOVING };

typedef struct hang_wait {
    uint32_t writer; /* index */
    uint32_t rank;
    uint32_t line, user, epoch, cmp, slow; /* line: in the kernel's source; slow: it has backed off */
    uint32_t object;
    int is_slot;
    xs_catalog_place slot;
    uint64_t need, observed, polls, age; /* age: ns */
    enum hang_wait_state state;
    int polling; /* polls moved between the samples */
    enum hang_supplier how;
    uint32_t supplier, supplier_role; /* rank; role id of the waiter's process, 0: any */
    int answered; /* what it needs was signalled, as far as status lines say; it has not seen that yet */
} hang_wait;

/* X(code, NAME, "json name") */
#define HANG_RANK_STATES(X)             \
    X(UNSEEN, "process_unseen")         \
    X(GONE, "process_gone")             \
    X(LEFT, "process_left")             \
    X(NEVER, "process_never_came")      \
    X(STOPPED, "process_stopped")       \
    X(NOT_LAUNCHED, "not_launched")     \
    X(NOT_BEGUN, "no_writer_begun")     \
    X(RUNNING, "running")               \
    X(WRITERS_ENDED, "writers_ended")   \
    X(KERNEL_ENDED, "kernel_ended")
#define HANG_RANK_ENUM(name, text) HANG_RANK_##name,
enum hang_rank_state { HANG_RANK_STATES(HANG_RANK_ENUM) HANG_RANK_COUNT };
#undef HANG_RANK_ENUM

typedef struct hang_rank {
    enum hang_rank_state state;
    int32_t pid;     /* 0: unknown */
    uint32_t region; /* HANG_NONE */
    const hang_launch *launch;
    uint32_t writers, moved, waits, epoch;
} hang_rank;

enum hang_end { HANG_END_UNKNOWN, HANG_END_ROOT, HANG_END_SELF, HANG_END_HOST, HANG_END_CYCLE, HANG_END_MOVING };

/* waits[0] is the wait asked about, each next one is open in the rank that owes the one before. */
typedef struct hang_chain {
    uint32_t *waits;
    uint32_t count;
    uint32_t cycle; /* HANG_END_CYCLE: the last wait's supplier waits in waits[cycle] */
    enum hang_end end;
    uint32_t root, root_role; /* rank that owes and does not wait */
} hang_chain;

enum hang_verdict { HANG_NOTHING_WAITS = 0, HANG_SLOW = 1, HANG_HUNG = 2 }; /* exit codes */

typedef struct hang_world {
    hang_region *regions;
    uint32_t region_count;
    hang_rank *ranks;
    uint32_t rank_count;
    hang_writer *writers;
    uint32_t writer_count, writer_room;
    hang_wait *waits; /* oldest first */
    uint32_t wait_count, wait_room;
    uint32_t ended; /* waits that ended between the samples */
    uint32_t given_up;
    enum hang_verdict verdict;
    hang_chain chain; /* of the wait that the verdict is about */
} hang_world;

typedef struct hang_report {
    xs_attach_set set;
    hang_world *worlds; /* worst first */
    uint32_t world_count;
} hang_report;

/* hang_read.c: 0 or a negative error; freed by hang_free in every case. */
int hang_read(const int32_t *pids, uint32_t count, hang_report *report);
void hang_free(hang_report *report);
int hang_room(void **array, uint32_t *size, uint32_t need, size_t width);
/* hang_sample.c */
int hang_sample_take(hang_region *region, int which);
int hang_journal_take(hang_region *region);
/* hang_waits.c: writers and waits of a world whose samples are taken. */
int hang_find_waits(hang_world *world);
/* hang_owes.c: who owes each wait. */
void hang_find_suppliers(hang_world *world);
/* hang_ranks.c */
int hang_find_ranks(hang_world *world);
const char *hang_rank_state_name(enum hang_rank_state state);
/* hang_chain.c: chain and verdict. */
int hang_judge(hang_world *world);
/* Is this open wait one of those that the supplier of `wait` must get past? */
int hang_holds_up(const hang_world *world, const hang_wait *wait, const hang_wait *other);

/* hang_words.c */
void hang_say_place(FILE *out, const xs_catalog_place *place); /* done[src=2,chunk=12] */
void hang_say_slot(FILE *out, const hang_wait *wait);
void hang_say_waiter(FILE *out, const hang_world *world, const hang_wait *wait);
void hang_say_rank(FILE *out, const hang_world *world, uint32_t rank, uint32_t role, int owes);
void hang_say_verdict(FILE *out, const hang_world *world);
const char *hang_role(const hang_world *world, uint32_t region, uint32_t role); /* "" for none */
const char *hang_kernel(const hang_world *world, const hang_rank *rank);        /* "" for none */
const char *hang_cmp(uint32_t cmp);
/* hang_text.c, hang_json.c */
void hang_print_text(const hang_report *report, uint32_t rows, FILE *out);
void hang_print_json(const hang_report *report, FILE *out);

#endif
