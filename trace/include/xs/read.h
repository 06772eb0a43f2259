/* Reading captures: one streaming pass that decodes, orders, pairs and feeds sinks. Part of libxsread.
 * Memory grows with processes, slots and writers (and 32 bytes a RECORDS frame), not with events. */
#ifndef XS_READ_H
#define XS_READ_H

#include <xs/capture.h>
#include <xs/errors.h>
#include <xs/xs.h>
#include <stdbool.h>

XS_EXTERN_C_BEGIN

#define XSR_NONE UINT32_MAX
#define XSR_NO_ID UINT64_MAX

/* ---- what stays: tables of the model. All indices are dense, from 0, and stable once given. ---- */

typedef struct xsr_cupti { /* how CUPTI fared in a process; state XS_CUPTI_NONE: the capture says nothing of it */
    uint32_t state;          /* xs_cupti_state */
    uint32_t version, built; /* of the library and of the headers that xs was built with; 0: none */
    int64_t since, until;    /* work between them was told of; INT64_MIN: none */
    uint64_t kernels, copies, calls, dropped, void_stamps, unknown, lost;
    const char *why; /* in words, "" where the state says it all */
} xsr_cupti;

typedef struct xsr_process {
    uint64_t host, process;
    const char *host_name, *command, *executable;
    int32_t pid, device;
    uint32_t first_rank, ranks, world_ranks;
    bool virtual_time;
    bool ended, clean, tail_unknown; /* PROCESS_END seen, its fields */
    uint32_t abort_reason;
    int32_t exit_status;
    int64_t end_time; /* when its end was seen; INT64_MIN: unknown */
    uint64_t no_ring, foreign, no_line, journal_lost;
    xsr_cupti cupti;
    /* one moment on CLOCK_BOOTTIME (as in xsr_event) and CLOCK_REALTIME; 0, 0: unknown */
    int64_t start_time, start_realtime;
    /* INT64_MAX: its end is in the capture. Else the capture ends before: what the process recorded from then on may be
     * missing, of some rings and not of others, and nothing counts it. INT64_MIN: from its start */
    int64_t known_until;
} xsr_process;

typedef struct xsr_rank {
    uint32_t rank; /* number over the whole world */
    uint32_t process;
    int32_t device; /* -1: host */
    uint64_t first_epoch, last_epoch; /* 0, 0 if the ranks enters none */
} xsr_rank;

typedef struct xsr_pad {
    const char *name, *row_label, *column_label; /* labels "" where not set */
    uint32_t rows, columns, owners, flags;
} xsr_pad; /* merged by name over processes */

typedef struct xsr_slot { /* made when first seen in an event */
    uint32_t pad, owner, row, column;
    uint32_t supplier_rank; /* from the plan (declared, else inferred); XSR_NONE: unknown */
    uint32_t supplier_origin; /* xs_plan_origin */
    uint32_t supplier_role; /* index in names or XSR_NONE */
    const char *name;  /* done[src=2,chunk=12] */
    const char *label; /* rank 0 done[src=2,chunk=12] */
} xsr_slot;

typedef struct xsr_name { uint32_t kind; const char *text; } xsr_name; /* xs_name_kind; merged by text */

/* Where in a kernel's source. file: index in names, XSR_NONE where it is not known; line: 0 where it is not known. */
typedef struct xsr_source { uint32_t file, line; } xsr_source;

typedef struct xsr_launch {
    uint32_t process, id, kernel; /* kernel: index in names or XSR_NONE */
    uint32_t grid, block, first_rank, ranks;
    int64_t begin, end; /* end = INT64_MIN: not seen */
    int32_t result;
    xs_launch_room room;
} xsr_launch;

typedef struct xsr_writer { /* one owner of a ring: a warp of a block in one launch */
    uint32_t process, rank /* index in ranks */, ring, ordinal;
    uint32_t launch; /* index in launches or XSR_NONE */
    uint32_t role;   /* first role: index in names or XSR_NONE */
    uint32_t block, warp, sm;
    uint64_t first_sequence, last_sequence;
    int64_t begin, end; /* end = INT64_MIN: not seen */
    /* index in activities of the kernel that it ran in; XSR_NONE: not told of, or not told apart. Known at finish */
    uint32_t kernel;
    const char *name; /* "push block 2 warp 0" */
} xsr_writer;

#define XSR_CLOCK_KERNEL "xs_clock" /* the kernel with which xs asks a GPU's clock; it runs beside others */
/* What CUPTI tells: kernels, copies, and the calls that launched them. Sorted by begin once the catalog is read. */
typedef struct xsr_activity {
    uint8_t kind; /* XS_ACTIVITY_KERNEL, _COPY or _CALL */
    uint32_t process;
    int32_t device; /* -1: of a call */
    uint32_t context, stream, correlation;
    uint32_t name;   /* index in names or XSR_NONE */
    uint32_t call;   /* KERNEL, COPY: index of the call that launched it, or XSR_NONE */
    uint32_t launch; /* KERNEL: index in launches, or XSR_NONE: not by xs, or not known. Known at finish */
    uint32_t writers; /* KERNEL: that ran in it. Known at finish */
    uint32_t graph, thread;
    uint64_t graph_node; /* 0: not of a graph */
    uint32_t grid[3], block[3], shared_static, shared_dynamic, registers;
    uint64_t bytes;
    uint32_t copy; /* COPY: CUPTI's copy kind | source memory << 8 | destination memory << 16 */
    int32_t to_device, result;
    int64_t begin, end; /* as in xsr_event */
    int64_t moved;      /* KERNEL, COPY: what CUPTI's time was off by there: it was taken out of begin and end */
} xsr_activity;

typedef struct xsr_ring {
    uint32_t process, ring, rank;
    uint64_t emitted, kept, lost; /* kept + lost = emitted */
    uint64_t torn;      /* kept records whose event is incomplete, since its other records were lost */
    bool at_least, tail_unknown;
} xsr_ring;

typedef struct xsr_clock { /* one per device and host */
    uint32_t process; int32_t device; uint64_t host;
    /* host: residual 0; bound = step. Precision and bound: -1 where they are not known. Final at finish: signals that
     * cross clocks tighten or widen the bound */
    int64_t step_ns, residual_ns, bound_ns;
    uint32_t samples, kernels; /* brackets that it was fitted through: answers of the device, kernels of CUPTI */
    int64_t fault_ns; /* the brackets contradict each other by so much; 0: they do not */
    /* CUPTI's times of this device were off by up to so much beside all others of the run, and were moved:
     * docs/clocks.md */
    int64_t cupti_ns;
} xsr_clock;

typedef struct xsr_plan { uint32_t pad; xs_plan_entry entry; } xsr_plan; /* pad: index or XSR_NONE */

/* Rows are appended while a pass runs, and arrays move then: keep indices, not pointers into them. */
typedef struct xsr_model {
    xsr_process *processes; uint32_t process_count;
    xsr_rank *ranks; uint32_t rank_count; /* sorted by rank number once the catalog is read */
    xsr_pad *pads; uint32_t pad_count;
    xsr_slot *slots; uint32_t slot_count;
    xsr_name *names; uint32_t name_count;
    xsr_launch *launches; uint32_t launch_count;
    xsr_writer *writers; uint32_t writer_count;
    xsr_ring *rings; uint32_t ring_count;
    xsr_activity *activities; uint32_t activity_count;
    xsr_clock *clocks; uint32_t clock_count;
    xsr_plan *plan; uint32_t plan_count;
    const char **notes; uint32_t note_count; /* text for the report */
    int64_t begin, end; /* of the capture: first and last time seen */
    bool closed;        /* END frame seen */
    bool cut;           /* bytes after the last whole frame */
    uint64_t damaged_frames, damaged_bytes, missing_frames;
    bool windowed;      /* tracing was switched in mid-run or filtered, so records may be missing without a gap */
    bool trimmed;       /* older segments were removed (a bounded capture) */
    bool triggered;     /* the rings were dumped by a trigger: nothing older than what they held */
    uint64_t records;   /* in the capture's RECORDS frames; known before the first pass: no fewer than events */
} xsr_model;

/* ---- what flows: events, waits, signals, losses ---- */

/* Times are nanoseconds of CLOCK_BOOTTIME of the first host (virtual on sim). */
typedef struct xsr_event {
    uint64_t id;       /* dense, from 1, in the order of the stream */
    int64_t time;
    uint64_t sequence; /* 64-bit, in its ring */
    uint32_t ring;     /* index in rings */
    uint32_t writer;   /* index in writers, XSR_NONE where the owner is unknown */
    uint32_t rank;     /* index in ranks */
    uint32_t role;     /* index in names at this moment, or XSR_NONE */
    uint64_t epoch;    /* of the writer at this moment; 0: none entered */
    uint8_t kind, order, scope, fence, cmp, result;
    bool time_modulo;  /* only known modulo 4.29 s */
    uint32_t slot;     /* index in slots, XSR_NONE if the object is no slot */
    uint32_t object;   /* the object word where it is no slot: index in names for roles and marks, else as recorded */
    /* WAIT_START, WAIT_END, FENCE, ABORT: of the source, index in names, XSR_NONE where it is not told here */
    uint32_t file;
    uint64_t value;    /* unwrapped 64-bit value of the value word: signal value, observed, need, old, ... */
    uint64_t need;     /* PASS, WAIT_START, WAIT_END: what was needed */
    uint64_t detail;   /* detail word: polls of a WAIT_END (64-bit), expected of an ARRIVE, batch, rows, ... */
    /* WAIT_END: slept ns, last_fail ns before the end, line | stage << 16; ARRIVE: weight, target (0: unknown);
     * READ/WRITE/WORK: peer rank number (XS_NO_PEER), rows, bytes; WRITER_BEGIN: rank number, warp, SM */
    uint64_t further[3];
} xsr_event;

/* Why a relation is missing. X(NAME, "text") */
#define XSR_REASONS(X)                                                         \
    X(FOUND, "found")                                                          \
    X(INITIAL, "initial value: nothing was signalled before")                  \
    X(ARRIVALS, "released by arrivals at a counter, not by one signal")        \
    X(LOST, "the signal's record is lost")                                     \
    X(AMBIGUOUS, "several signals wrote this value")                           \
    X(RESET, "the slot was set, not signalled")                                \
    X(HOST, "the host wrote the slot")                                         \
    X(OLD, "older than the reader keeps for a slot")                           \
    X(OPEN, "the wait has not ended")
#define XSR_REASON_ENUM(name, text) XSR_REASON_##name,
enum xsr_reason { XSR_REASONS(XSR_REASON_ENUM) XSR_REASON_COUNT };
#undef XSR_REASON_ENUM

typedef struct xsr_edge {
    uint8_t reason;    /* xsr_reason */
    uint64_t event;    /* event id of the signal, XSR_NO_ID if none */
    uint32_t writer, rank; /* of the signal */
    uint64_t value;
    int64_t time;
} xsr_edge;

/* One wait, passed or not: each has one reads-from and one released-by. */
typedef struct xsr_wait {
    uint64_t id;       /* event id of its end (WAIT_END or PASS); of its WAIT_START if it is open */
    uint64_t start_event; /* XSR_NO_ID for a PASS or where the start is lost */
    int64_t begin, end; /* end = INT64_MIN: open */
    int64_t last_fail; /* time of the last failed poll, INT64_MIN if unknown */
    uint32_t writer, rank, role, slot;
    uint64_t epoch, need, observed, polls;
    uint64_t slept_ns; /* asked for, at most as long as it lasted; 0 for threads of a host */
    xsr_source source;
    uint32_t stage;
    uint32_t word;     /* of an open wait: the user's, as its status line says */
    uint8_t order, scope, fence, cmp, result;
    bool passed;       /* satisfied at its first poll */
    bool open;
    bool start_lost;   /* its WAIT_START is missing: need is unknown (0), begin is its end */
    /* open, but records of its ring that are lost could hold its end, and no status line says that it waits */
    bool maybe_over;
    /* its WAIT_END is missing, but its writer went on: end is an upper bound, observed unknown, and so is result,
     * unless it gave up */
    bool end_lost;
    xsr_edge reads_from;  /* the signal whose value was observed: order */
    xsr_edge released_by; /* the first signal >= need: lag, blame, arrow */
    int64_t lag_ns;       /* end - released_by.time, if found */
    uint32_t supplier_rank; /* who owes or wrote it: released_by, else the plan; rank number, XSR_NONE */
} xsr_wait;

/* A signal when no wait can refer to it any more (or at the end): a SIGNAL, WATERMARK or counter arrival. */
typedef struct xsr_signal {
    xsr_event event;
    uint64_t elected_by;  /* event id of the ARRIVE that elected its writer just before, or XSR_NO_ID */
    int64_t elect_time;
    const uint64_t *released; /* ids of the waits that it released */
    uint32_t released_count;
} xsr_signal;

typedef struct xsr_loss {
    uint32_t ring;
    uint32_t writer; /* owner at the gap's end, XSR_NONE if unknown */
    uint64_t first, last;
    uint32_t cause;
    bool at_least;
    int64_t before, after; /* times of the last record before and the first after; INT64_MIN / INT64_MAX if none */
    /* of the one event that is missing here: its first record is, and the others say what it was; 0: not known */
    uint8_t kind;
} xsr_loss;

/* One consumer of the stream. Called in this order: begin; then event, wait, signal, lost as they are settled (events
 * in merged time order; but the end of a wait comes behind the write that it saw, and with it all of its clock, where
 * clocks disagree; waits and signals a little later than their last event); activity, all of them by begin; finish.
 * NULL members are skipped. A non-zero return stops the pass and is returned by xsr_run, with its errno. The model's
 * tables grow while the pass runs; indices stay valid.
 *
 * begin, activity and finish are called from xsr_run, sink by sink in the order given. What flows between them may
 * come from a thread of the sink's own (xsr_options.threads), which runs beside the pass and beside other sinks: the
 * same calls in the same order, never two at once, and each sink has a model of its own, as it was at that moment of
 * the stream. Counts of rings, last_sequence of writers and the model's end are to be read in finish. */
typedef struct xsr_sink {
    const char *name;
    int (*begin)(struct xsr_sink *sink, const xsr_model *model);  /* catalog read, ranks and rings known */
    int (*event)(struct xsr_sink *sink, const xsr_event *event);  /* every event */
    int (*wait)(struct xsr_sink *sink, const xsr_wait *wait);     /* every wait, once, ended or (at the end) open */
    int (*signal)(struct xsr_sink *sink, const xsr_signal *signal);
    int (*lost)(struct xsr_sink *sink, const xsr_loss *loss);     /* at the gap */
    /* behind all events: launch and writers are known */
    int (*activity)(struct xsr_sink *sink, const xsr_activity *activity);
    int (*finish)(struct xsr_sink *sink);                         /* all tables complete */
    const xsr_model *model; /* set before begin; valid until the reader's next pass, or is closed */
} xsr_sink;

enum xsr_threads {
    XSR_THREADS_AUTO,  /* where there are several sinks and many records */
    XSR_THREADS_NEVER, /* for sinks that share state while the pass runs */
    XSR_THREADS_ALWAYS
};

typedef struct xsr_reader xsr_reader;
typedef struct xsr_options {
    uint32_t size;
    uint32_t keep_signals; /* per slot; 0: 1024, in captures of very many slots fewer (at least 8) */
    void (*progress)(void *user, double share); /* NULL: none */
    void *user;
    uint32_t threads; /* xsr_threads: may each sink of a pass have a thread */
    /* 1: every other kernel of a device, the second first, is no sample of its clock, so that it can judge it */
    uint32_t half_fit;
} xsr_options;

/* paths: captures (NAME, NAME.xs file or folder); several are merged. On failure *error_text (static or owned by the
 * reader, which may then still be freed) says which file and why. */
XS_API int xsr_open(const char *const *paths, uint32_t count, const xsr_options *options, xsr_reader **reader,
                    const char **error_text);
XS_API const xsr_model *xsr_model_of(const xsr_reader *reader);
/* One pass. May be called again: it starts from the front. */
XS_API int xsr_run(xsr_reader *reader, xsr_sink *const *sinks, uint32_t count);
XS_API void xsr_close(xsr_reader *reader);

/* Names of table rows, for every sink. */
XS_API const char *xsr_event_name(uint32_t kind);   /* "wait_start" */
XS_API const char *xsr_reason_name(uint32_t reason); /* "initial" */
XS_API const char *xsr_result_name(uint32_t result); /* "OK", "TIMEOUT", ... */
XS_API const char *xsr_order_name(uint32_t order);  /* "release", "acq_rel" (PTX words) */
XS_API const char *xsr_scope_name(uint32_t scope);  /* "sys" */
XS_API const char *xsr_loss_name(uint32_t cause);
XS_API const char *xsr_cupti_name(uint32_t state);  /* "held" */
XS_API const char *xsr_cupti_meaning(uint32_t state);
XS_API const char *xsr_activity_name(uint32_t kind); /* "kernel" */
XS_API const char *xsr_copy_name(uint32_t copy);    /* "host to device" */

XS_EXTERN_C_END

#endif
