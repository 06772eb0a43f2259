/* Inside libxs: the world, and the operations that a backend brings. */
#ifndef XS_WORLD_INTERNAL_H
#define XS_WORLD_INTERNAL_H

#include <pthread.h>
#include <xs/host_thread.h>
#include <xs/xs.h>

struct xs_launch_order; /* one launch: kernel, configuration, copied args, handle, id, result */

/* Slots slot .. slot + slots - 1 of rings ring .. ring + rings - 1 (index in the region) of one rank. */
typedef struct xs_ring_span {
    uint32_t ring, rings, slot, slots;
} xs_ring_span;

/* One per backend. Every member is required, unless it says otherwise. */
typedef struct xs_backend {
    const char *name;
    int (*available)(void); /* 1, or a negative error */
    int (*open)(struct xs_world *world);
    void (*close)(struct xs_world *world);
    /* Memory of a pad or buffer: fills base[rank] for every rank of the world; shared between processes by name. */
    int (*shared_memory)(struct xs_world *world, const char *name, uint64_t bytes_per_rank, void **base);
    /* Makes the region readable by kernels (CUDA: cudaHostRegister); host: nothing. */
    int (*map_region)(struct xs_world *world);
    int (*launch)(struct xs_world *world, struct xs_launch_order *order);
    int (*sync)(struct xs_world *world);
    /* Slot access from the host side. */
    int (*slot_read)(struct xs_world *world, const void *address, uint32_t width, uint64_t *value);
    int (*slot_write)(struct xs_world *world, void *address, uint32_t width, uint64_t value);
    /* Between host memory and a buffer, either way. */
    int (*copy)(struct xs_world *world, void *to, const void *from, uint64_t bytes);
    /* Records outside the region (placement.h). rings_open: memory for those of every local rank, zeroed, laid out
     * as in the region: base[i] is the address, for kernels, of local rank i's first ring; NULL: they stay in the
     * region. rings_copy: copies spans of rings into the region; all of it is there when it returns. The copier's
     * thread; XS_E_TIMEOUT and errors of the device mean that nothing more can be copied. */
    int (*rings_open)(struct xs_world *world, void **base);
    int (*rings_copy)(struct xs_world *world, const xs_ring_span *spans, uint32_t count);
    /* Where kernels cannot read the host's array of base pointers: their copy of it, and back. NULL: they can. */
    int (*bases_make)(struct xs_world *world, void *const *host, void *const **kernels);
    void *const *(*bases_host)(const struct xs_world *world, void *const *kernels);
    void (*bases_drop)(struct xs_world *world, void *const *host); /* the object could not be made after all */
    /* Before a launch, a handle and the host's access to slots: memory of other processes is there. Lock held. NULL:
     * always. */
    int (*ready)(struct xs_world *world);
    /* Before a handle is given out: the caller's launch goes to where the rank lives, and rings of the rank that
     * were left behind can be taken again. Lock held. NULL: nothing to do. */
    int (*handle_ready)(struct xs_world *world, uint32_t rank);
    /* NULL: nothing to add. Lock held; of the `count` entries that are checked and to be added (plan.c). */
    int (*plan_check)(struct xs_world *world, uint32_t count);
} xs_backend;

extern const xs_backend xs_backend_host;
extern const xs_backend xs_backend_cuda;

typedef struct xs_launch_order {
    const xs_kernel *kernel;
    xs_launch_config config;
    xs_handle handle;
    void *args;
    uint32_t id;
    int result; /* first error of its parts */
    uint32_t parts; /* that still run: 1, unless the backend splits it */
    struct xs_launch_order *whole; /* this is a part of that one, made by xs_launch_part */
    struct xs_launch_order *next; /* the scheduler's queue */
    struct xs_world *world;
    xs_launch_room room;          /* of the part that has the least */
    uint32_t begun, ended, kernel_name;    /* launch.c */
    struct xs_launch_order *next_of_world; /* launch.c */
} xs_launch_order;

/* launch.c: a scheduler says when the first block of an order starts, and when all its blocks are over (result set):
 * the journal is written and rings that writers did not give back are freed. After `ended` the order may be gone:
 * launch.c owns it. Any thread, no lock needed. */
void xs_launch_begun(xs_launch_order *order);
void xs_launch_ended(xs_launch_order *order);
/* The share of an order that some of its ranks have, for a scheduler of their own. Gone when it has ended, or by
 * xs_launch_part_drop if it never starts. It ends one of the order's parts. NULL: no memory. */
xs_launch_order *xs_launch_part(xs_launch_order *order, uint32_t first_rank, uint32_t ranks);
void xs_launch_part_drop(xs_launch_order *part);
void xs_launch_fail(xs_launch_order *order, int error); /* keeps the first */

/* One per host scheduler: "threads", "sim". Runs orders of the host backend. */
typedef struct xs_scheduler {
    const char *name;
    int (*open)(struct xs_world *world, void **state);
    void (*close)(void *state);
    int (*launch)(void *state, xs_launch_order *order); /* threads: starts it; sim: queues it */
    int (*sync)(void *state);                           /* threads: joins; sim: runs the queue to its end */
    /* behind host_thread.h; called only on the scheduler's own threads */
    uint64_t (*now)(xs_host_thread *self);
    void (*step)(xs_host_thread *self);
    void (*poll_failed)(xs_host_thread *self, const void *address, uint32_t ns, int bounded);
    void (*work)(xs_host_thread *self, uint64_t ns);
    int (*block_barrier)(xs_host_thread *self, uint32_t id, uint32_t count);
    void *(*shared)(xs_host_thread *self, const void *key, size_t bytes);
    void *(*shared_dynamic)(xs_host_thread *self);
    void (*store)(xs_host_thread *self, void *to, const void *from, size_t bytes);
    void (*load)(xs_host_thread *self, void *to, const void *from, size_t bytes);
    void (*release)(xs_host_thread *self, uint32_t scope);
    void (*acquire)(xs_host_thread *self, uint32_t scope);
    /* time outside kernels (host thread of the world): threads CLOCK_BOOTTIME, sim its virtual clock */
    uint64_t (*host_now)(void *state);
} xs_scheduler;

extern const xs_scheduler xs_scheduler_threads;
extern const xs_scheduler xs_scheduler_sim;

/* Set by a scheduler around each kernel thread it runs. */
void xs_host_set_self(xs_host_thread *self, const xs_scheduler *scheduler);

/* The collector side, behind a table, so that lib/ needs nothing to its right. */
typedef struct xs_collect_ops {
    /* Called once the region exists. Connects to a recorder (XS_RECORD) or starts a thread, as the config asks; on
     * sim the thread is a fibre: pass() is called by the scheduler instead. *state NULL: nobody collects. */
    int (*start)(struct xs_world *world, void **state);
    void (*pass)(void *state);                      /* sim: one pass of the collector */
    int (*dump)(void *state, const char *why);      /* trigger */
    int (*stop)(void *state, int clean);            /* final drain; returns the first error of the capture */
    /* In a forked child, in the fork handler: what threads of the parent held is free again, and (for each world)
     * descriptors go; the file stays as it is. Only what a signal handler may do: neither calls the allocator. */
    void (*forked)(void);
    void (*forget)(void *state);
    void (*probe)(xs_probe *probe);                 /* fills in what it knows: CUPTI */
} xs_collect_ops;
extern const xs_collect_ops xs_collect; /* defined by trace/collect, const and without a constructor */

typedef struct xs_near {
    xs_lookout *lookout; /* two; NULL for a CPU rank */
    uint64_t *waits;     /* one a status line */
} xs_near;

struct xs_world {
    xs_config config; /* resolved: environment applied, defaults filled in, strings owned */
    const xs_backend *backend;
    const xs_scheduler *scheduler; /* host backend only */
    void *scheduler_state;
    void *backend_state;
    void *collect_state;
    char *region; /* xs_region_header at its start */
    uint64_t region_bytes;  /* of it, what kernels reach: up to the catalog */
    uint64_t region_total;  /* all of it, most of the catalog without pages yet */
    uint64_t catalog_ready; /* bytes of the catalog that have pages (memfd) */
    int region_fd; /* memfd; -1 on sim (anonymous memory) */
    struct xs_placement *placement; /* NULL: records are in the region */
    /* a local rank: where kernels claim its rings, as groups_per_rank words. NULL: in the region */
    uint64_t **claims;
    xs_near *near;        /* a local rank: what its kernels keep in their GPU's memory. NULL: in the region */
    /* a word of the region's bitmap: rings reclaimed, whose bit in `claims` is still to be cleared. Atomic */
    uint64_t *given_back;
    uint32_t *abort_word; /* shared by all processes of the world */
    pthread_mutex_t lock; /* catalog, journal, names, launches */
    uint32_t next_object; /* first free slot object */
    uint32_t next_launch;
    uint64_t launches_over; /* any thread, relaxed */
    int32_t owner_pid;
    /* what the processes of this world alone have in common: their segment; "": there is this process alone */
    char shared[48];
    void *objects; /* world.c: pads, names */
    xs_pad heartbeat; /* built-in pad "heartbeat": [owner][0][rank] */
    uint64_t journal_next; /* last sequence given to a journal entry */
    uint64_t clock_time;   /* when the last clock pair was journalled */
    struct xs_world *next_world; /* worlds.c */
};

/* journal.c: CLOCK_BOOTTIME against CLOCK_REALTIME, unless the last pair is younger than `gap` ns; nothing on sim.
 * Any thread. */
void xs_journal_clock(struct xs_world *world, uint64_t gap);

/* errors.c: keeps the words behind an error for xs_error_detail() of this thread; returns the error. */
int xs_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xs_fail_clear(void);
/* Time of the world outside kernels: CLOCK_BOOTTIME, or virtual on sim. */
uint64_t xs_world_now(const struct xs_world *world);
/* 0, or XS_E_ARGUMENT (NULL), XS_E_FORKED (the world belongs to the parent process). First line of every public
 * call. */
int xs_world_check(const struct xs_world *world);
/* The abort reason as a negative xs_error, or 0. */
int xs_world_abort_error(const struct xs_world *world);

/* region.c */
static inline xs_region_header *xs_region(const struct xs_world *w) { return (xs_region_header *)w->region; }

/* The first reason stays. The region says it too, for a recorder. */
static inline void xs_world_set_abort(struct xs_world *w, uint32_t reason) {
    uint32_t none = 0;
    __atomic_compare_exchange_n(w->abort_word, &none, reason, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (!w->region) return;
    xs_control *control = (xs_control *)(void *)(w->region + xs_region(w)->control_offset);
    __atomic_store_n(&control->aborted, __atomic_load_n(w->abort_word, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}
int xs_region_create(struct xs_world *world);
void xs_region_destroy(struct xs_world *world);
/* The catalog has pages for its first `bytes` when it returns 0: a full machine is an error here, not a fault later. */
int xs_region_catalog_grow(struct xs_world *world, uint64_t bytes);
/* One a local rank; a launch uses that of its first rank, so that the counters of each are added to on one device
 * alone. What the host and the collector say to each other is in the first. */
xs_control *xs_region_control(const struct xs_region_header *region);
/* Sizes and offsets for a configuration; returns the total. Used by tests as well. */
uint64_t xs_region_layout(xs_region_header *header);
/* Puts magic, ring headers and filters into zeroed memory laid out as `header` says. */
void xs_region_init(char *region, const xs_region_header *header);
/* What is recorded of a rank (index in this process): to its control and all its rings' headers. One caller at a
 * time. */
void xs_region_set_window(xs_region_header *h, uint32_t rank, const xs_window *window);
/* After a launch is over: frees rings that its writers did not give back, with next set behind the newest record.
 * Those whose bit is not in the region go into given_back, a word for each of the region's; NULL: there are none. */
uint32_t xs_region_reclaim(char *region, uint32_t launch, uint64_t *given_back);
/* How many blocks of a launch of traced kernels have said that they run. */
uint32_t xs_region_started(const struct xs_world *world, uint32_t first_rank, uint32_t ranks, uint32_t grid,
                           uint32_t launch);
/* Builds a handle for ranks first_rank.. of this process. */
void xs_region_handle(const struct xs_world *world, uint32_t first_rank, uint32_t blocks, uint32_t launch,
                      xs_handle *handle);
uint64_t xs_events_hash(void);

#define XS_PLACEMENT_WAIT_NS 5000000000u /* for what is in device memory, before the caller goes on without it */

/* placement.c: records in memory of the device, and who copies them into the region. */
int xs_placement_open(struct xs_world *world);   /* does nothing where records are mapped */
void xs_placement_close(struct xs_world *world); /* also in a forked child */
/* Where kernels find the records of a rank's first ring. */
char *xs_placement_records(const struct xs_world *world, uint32_t rank);
/* A launch is over: its rings are copied, then reclaimed. 0: nothing is placed, the caller reclaims. Never blocks. */
int xs_placement_launch_ended(struct xs_world *world, uint32_t launch);
/* What the rings hold is in the region when it returns; waits for at most `ns`. 0, XS_E_TIMEOUT, or why rings are
 * lost. */
int xs_placement_flush(struct xs_world *world, uint64_t ns);
/* sim: a look at the rings, before the collector's. */
void xs_placement_pass(struct xs_world *world);

/* catalog.c: frames of capture.h, written into the region. Called with world->lock held (xs_journal: any thread, no
 * lock). A PAD frame may come a second time, with labels: the later one counts. */
int xs_catalog_name(struct xs_world *world, uint32_t kind, uint32_t id, const char *name);
int xs_catalog_pad(struct xs_world *world, const xs_pad *pad, const char *name, const char *row_label,
                   const char *column_label);
int xs_catalog_plan(struct xs_world *world, const xs_plan_entry *entries, uint32_t count);
int xs_catalog_process(struct xs_world *world);
int xs_catalog_note(struct xs_world *world, const char *text);
void xs_journal(struct xs_world *world, uint32_t kind, uint32_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                uint64_t f, uint64_t g);

#endif
