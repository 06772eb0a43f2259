/* xs hang: what is known of hanging processes, and what is concluded from it. Three sources fill the same tables
 * (live regions, images of regions, captures); one piece of code concludes, and says it. */
#ifndef XS_HANG_H
#define XS_HANG_H

#include <stdio.h>

#include <attach.h>
#include <attach_read.h>
#include <catalog_view.h>
#include <xs/read.h>

#include "../../trace/read/table.h"

#define HANG_SAMPLE_NS 200000000u /* between the two samples; the end of a capture that counts as one */
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

/* X(NAME, "json name"): how a process stands when the answer is given. */
#define HANG_PROCESS_STATES(X) \
    X(RUNS, "runs")            \
    X(STOPPED, "stopped")      \
    X(GONE, "gone")            \
    X(LEFT, "left")            \
    X(UNTOLD, "unknown")
#define HANG_PROCESS_ENUM(name, text) HANG_PROCESS_##name,
enum hang_process_state { HANG_PROCESS_STATES(HANG_PROCESS_ENUM) HANG_PROCESS_COUNT };
#undef HANG_PROCESS_ENUM

/* A process of a world, and what its memory, or the capture, says of it. */
typedef struct hang_region {
    int32_t pid;    /* the process that is meant */
    int32_t holder; /* who has its memory; else the same */
    enum hang_process_state state;
    uint32_t first_rank, ranks, world_ranks;
    xs_catalog_view catalog;
    hang_launch *launches; /* in order */
    uint32_t launch_count;
    xs_view_counts counts;
    uint32_t torn;   /* status lines that were half new */
    uint32_t unsure; /* waits whose end may be among the records that are lost */
    uint64_t now;    /* the moment of the answer, on the clock of the host's events */
    int no_now;      /* times cannot be compared with it (virtual ones, live) */
    /* live regions and images */
    const xs_attached *at;
    xs_journal_entry *journal;
    uint32_t journal_count;
    hang_sample samples[2];
    /* captures */
    uint32_t process; /* index in the model */
    int ended, over;  /* its end was seen; it came with that of the run, not before */
    int32_t status;   /* as a shell gives it; -1: unknown */
    const char *call; /* the last CUDA call of its host program; NULL: not told of */
    uint64_t call_begin, call_end;
} hang_region;

/* A writer that holds a ring. */
typedef struct hang_writer {
    uint32_t region, ring, rank, block, warp, sm, role, launch;
    uint32_t moved; /* records between the samples that are no heartbeats; of one look: 1 */
    uint64_t last;  /* time of the newest record that is no heartbeat, where it is known; 0: none */
    uint32_t waits; /* open */
    uint32_t index; /* of a capture: in the model */
    int has_signalled;
    xs_catalog_place signal; /* the last slot that it signalled, as far as its status lines say */
    uint64_t signal_value; /* live its low 32 bits, where its ring still holds the signal */
    int has_value;
} hang_writer;

enum hang_supplier { HANG_SUPPLIER_UNKNOWN, HANG_SUPPLIER_PLAN, HANG_SUPPLIER_HOST, HANG_SUPPLIER_SEEN };
enum hang_wait_state { HANG_STUCK, HANG_MOVING, HANG_YOUNG /* one look: open for less than two looks lie apart */ };

typedef struct hang_wait {
    uint32_t writer; /* index */
    uint32_t rank;
    uint32_t file, line, user, cmp, slow; /* file: id of its name, 0: not known; line: in it; slow: it has backed off */
    uint32_t object; /* of a capture: the slot's index */
    uint64_t epoch;
    int is_slot;
    xs_catalog_place slot;
    uint64_t need, observed, polls, age; /* age: ns */
    enum hang_wait_state state;
    /* between the samples it polled, or at least wrote its line again (polls of a loop of the user's are not
     * counted) */
    int polling;
    enum hang_supplier how;
    uint32_t supplier, supplier_role; /* rank; role id of the waiter's process, 0: any */
    int answered; /* what it needs was signalled, as far as status lines say; it has not seen that yet */
} hang_wait;

/* X(NAME, "json name", "in a column of xs top") */
#define HANG_RANK_STATES(X)                               \
    X(UNSEEN, "process_unseen", "not seen")               \
    X(GONE, "process_gone", "gone")                       \
    X(LEFT, "process_left", "left")                       \
    X(NEVER, "process_never_came", "not come yet")        \
    X(STOPPED, "process_stopped", "stopped")              \
    X(NOT_LAUNCHED, "not_launched", "no kernel yet")      \
    X(NOT_BEGUN, "no_writer_begun", "not begun")          \
    X(RUNNING, "running", "running")                      \
    X(WRITERS_ENDED, "writers_ended", "writers ended")    \
    X(KERNEL_ENDED, "kernel_ended", "kernel ended")
#define HANG_RANK_ENUM(name, text, words) HANG_RANK_##name,
enum hang_rank_state { HANG_RANK_STATES(HANG_RANK_ENUM) HANG_RANK_COUNT };
#undef HANG_RANK_ENUM

typedef struct hang_rank {
    enum hang_rank_state state;
    int32_t pid;     /* 0: unknown */
    uint32_t region; /* HANG_NONE */
    const hang_launch *launch;
    uint32_t writers, moved, waits;
    uint64_t epoch, last; /* last: as of a writer, over all of the rank's */
} hang_rank;

enum hang_end {
    HANG_END_UNKNOWN,
    HANG_END_ROOT,
    HANG_END_SELF,
    HANG_END_HOST,
    HANG_END_CYCLE,
    HANG_END_MOVING,
    HANG_END_LEFT_OUT
};

/* waits[0] is the wait asked about, each next one is open in the rank that owes the one before. */
typedef struct hang_chain {
    uint32_t *waits;
    uint32_t count;
    uint32_t cycle; /* HANG_END_CYCLE: the last wait's supplier waits in waits[cycle] */
    enum hang_end end;
    uint32_t root, root_role; /* rank that owes and does not wait, or has left its signal out */
} hang_chain;

enum hang_verdict { HANG_NOTHING_WAITS = 0, HANG_SLOW = 1, HANG_HUNG = 2 }; /* exit codes */

typedef struct hang_world hang_world;

/* What only the source knows. */
typedef struct hang_source {
    const char *name; /* "live" */
    int looks;        /* that were taken: 2, or 1 */
    const char *hung, *ago; /* how a verdict begins, and how a time before it is said */
    /* Calls hang_saw for the rank of every signal to the wait's slot (or arrival) that is still known. */
    void (*look_for_signals)(const hang_world *world, hang_wait *wait);
    /* Has the writer of `other`, which owes the wait its signal, gone past the place where it makes it? Told from
     * its habit: it has passed more waits since the last one than ever between two. 0: no, or that is not known. */
    int (*left_out)(const hang_world *world, const hang_wait *wait, const hang_wait *other);
    int (*had_writers)(const hang_world *world, uint32_t region, uint32_t rank, uint32_t launch);
} hang_source;
extern const hang_source hang_live, hang_image, hang_capture;

struct hang_world {
    const hang_source *source;
    void *facts; /* of the source */
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
    uint64_t quiet; /* one look: time since anybody's last record that is no heartbeat */
    enum hang_verdict verdict;
    hang_chain chain; /* of the wait that the verdict is about */
};

typedef struct hang_file hang_file; /* an image that is open */

typedef struct hang_report {
    xs_attach_set set;   /* live */
    hang_file *files;    /* images */
    uint32_t file_count;
    xsr_reader *reader;  /* captures */
    void *facts;
    const char *const *paths; /* of the files, as they were named; NULL: live */
    uint32_t path_count;
    uint32_t asked; /* live: processes asked for by number; 0: all */
    char *notes[16];     /* what keeps the answer from being certain */
    uint32_t note_count;
    hang_world *worlds;  /* worst first */
    uint32_t world_count;
} hang_report;

/* hang_read.c: 0 or a negative error; freed by hang_free in every case. */
int hang_read(const int32_t *pids, uint32_t count, hang_report *report);
/* Images, or captures. The exit code to leave with where they cannot be read, complained. */
int hang_open(const char *const *paths, uint32_t count, hang_report *report);
void hang_free(hang_report *report);
const char *hang_nobody(const hang_report *report); /* hang.c: what to say where no world was found */
/* hang_world.c */
hang_world *hang_add_world(hang_report *report, const hang_source *source); /* NULL: no memory */
hang_region *hang_add_region(hang_world *world);                            /* NULL: no memory */
/* Of files nothing says which processes are of one world: those that fit are. */
hang_world *hang_find_world(hang_report *report, uint32_t first_rank, uint32_t ranks, uint32_t world_ranks);
int hang_conclude(hang_report *report); /* its worlds have regions with catalogs, writers and waits */
/* hang_image.c */
/* 1: an image of a region, or a core file; 0: something else, or it cannot be read */
int hang_is_image(const char *path);
int hang_image_open(const char *const *paths, uint32_t count, hang_report *report); /* exit code, complained */
void hang_image_close(hang_report *report);
/* hang_capture.c, hang_model.c */
int hang_capture_open(const char *const *paths, uint32_t count, hang_report *report); /* exit code, complained */
void hang_capture_close(hang_report *report);
/* hang_sample.c */
int hang_sample_take(hang_region *region, int which);
void hang_region_is(hang_region *region, const xs_attached *at, enum hang_process_state state);
void hang_sort_regions(hang_world *world); /* by rank */
int hang_describe(hang_world *world); /* catalogs, launches, counters; orders the regions by rank */
void hang_look_into_rings(const hang_world *world, hang_wait *wait);
int hang_ring_left_out(const hang_world *world, const hang_wait *wait, const hang_wait *other);
int hang_ring_had_writers(const hang_world *world, uint32_t region, uint32_t rank, uint32_t launch);
/* hang_waits.c: writers and waits of a world whose samples are taken; oldest first. */
int hang_find_waits(hang_world *world);
void hang_sort_waits(hang_world *world);
/* to the host's clock. 0: not known */
int hang_device_offset(const hang_region *region, int32_t device, int64_t *offset);
/* hang_owes.c: who owes each wait. */
void hang_find_suppliers(hang_world *world);
void hang_saw(hang_wait *wait, uint32_t rank);
/* hang_ranks.c */
int hang_find_ranks(hang_world *world);
const char *hang_rank_state_name(enum hang_rank_state state);
const char *hang_rank_state_words(enum hang_rank_state state);
const char *hang_process_state_name(enum hang_process_state state);
/* hang_chain.c: chain and verdict. */
int hang_judge(hang_world *world);
/* Is this open wait one of those that the supplier of `wait` must get past? */
int hang_holds_up(const hang_world *world, const hang_wait *wait, const hang_wait *other);

/* hang_words.c */
void hang_say_place(FILE *out, const xs_catalog_place *place); /* done[src=2,chunk=12] */
void hang_say_slot(FILE *out, const hang_wait *wait);
void hang_say_waiter(FILE *out, const hang_world *world, const hang_wait *wait);
void hang_say_source(FILE *out, const hang_world *world, const hang_wait *wait); /* "combine.kernel.h:34", "line 34" */
void hang_say_rank(FILE *out, const hang_world *world, uint32_t rank, uint32_t role, int owes);
void hang_say_end(FILE *out, const hang_region *region); /* killed by signal 9 (SIGKILL) */
const char *hang_role(const hang_world *world, uint32_t region, uint32_t role); /* "" for none */
const char *hang_kernel(const hang_world *world, const hang_rank *rank);        /* "" for none */
/* of the source; NULL: not known */
const char *hang_source_file(const hang_world *world, const hang_wait *wait);
const char *hang_cmp(uint32_t cmp);
/* hang_verdict.c */
void hang_say_left_out(FILE *out); /* what shows that the root of a chain has left its signal out */
void hang_say_verdict(FILE *out, const hang_world *world);
/* hang_pads.c, hang_text.c, hang_json.c */
void hang_print_pads(FILE *out, const hang_world *world, uint32_t rows);
void hang_print_text(const hang_report *report, uint32_t rows, FILE *out);
void hang_print_json(const hang_report *report, FILE *out);

#endif
