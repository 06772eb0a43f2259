/* Inside the Perfetto export: one drawing, the trace files that it fills and what it knows of ranks, roles and slots.
 * Indices named rank, slot, writer and role are those of the model unless a comment says "number". */
#ifndef XSV_DRAW_H
#define XSV_DRAW_H

#include <xs/perfetto.h>

#include "encoder.h"
#include "room.h"
#include "suppliers.h"
#include "map.h"

/* Keys of arguments, in no order; X(NAME). They become debug.name. */
#define DRAW_KEYS(X)                                                                                             \
    X(supplier) X(need) X(observed) X(result) X(lag_ns) X(polls) X(slept_ns) X(slot) X(slot_id) X(writer)       \
    X(epoch) X(clamped_ns) X(released_by) X(last_poll_ts_ns) X(value) X(dst) X(scope) X(fence) X(counter)       \
    X(old) X(expected) X(gate) X(add) X(src) X(chunk) X(rows) X(bytes) X(grid) X(block) X(launch_id) X(owed_by) \
    X(waits) X(lost) X(ring) X(mode) X(records) X(clock_residual_ns) X(clock_bound_ns) X(cupti) X(id) X(count)  \
    X(total_ns) X(max_ns) X(passes_left_out) X(waits_folded) X(waits_without_writer) X(at_least) X(damaged_frames) \
    X(window) X(arguments_reduced) X(word) X(slots) X(reason) X(slots_left_out) X(detector) X(severity) X(confidence) \
    X(owes) X(victim) X(evidence) X(cure) X(file) X(line) X(explains) \
    X(stream) X(registers) X(correlation) X(graph_node) X(rank) X(share_pct) X(part) X(owed_to_rank)
#define DRAW_KEY_ENUM(name) KEY_##name,
enum draw_key { DRAW_KEYS(DRAW_KEY_ENUM) KEY_COUNT };

#define DRAW_CATEGORIES(X)                                                                                    \
    X(wait) X(pass) X(signal) X(elect) X(gate) X(control) X(kernel) X(epoch) X(scope) X(mark) X(blame) X(loss) \
    X(health) X(block) X(slot) X(finding) \
    X(copy) X(call) X(path)
#define DRAW_CATEGORY_ENUM(name) CATEGORY_##name,
enum draw_category { DRAW_CATEGORIES(DRAW_CATEGORY_ENUM) CATEGORY_COUNT };

enum { ORDER_LEXICOGRAPHIC = 1, ORDER_EXPLICIT = 3 };

typedef struct track_info { /* its uuid is its index, from 1; 0 is the root */
    uint32_t parent;
    uint32_t name, description; /* strings */
    uint32_t unit, share;       /* strings: a counter */
    int32_t pid;                /* not 0: a process */
    int32_t order;              /* among siblings of an EXPLICIT parent */
    uint32_t labels[2];         /* strings, below the name of a process */
    uint32_t merge_key;         /* string: one row set with all siblings of the same key */
    uint8_t child_ordering;
    bool ordered, merged_by_name, states;
} track_info;

typedef struct trace_file {
    encoder enc;
    int64_t start;       /* of the window */
    uint8_t *declared;   /* per track */
    uint32_t declared_room;
    bool gpus; /* the sequence of GPU events has begun */
} trace_file;

typedef struct role_group { /* one role of one rank */
    uint32_t role;
    uint32_t group, passes; /* tracks */
} role_group;

struct lane; /* lane.h: the track of one writer */
struct blame;
struct epochs;
struct watermarks;
struct losses;
struct thin;
struct slots;
struct evidence;

typedef struct rank_state {
    uint32_t number;
    uint32_t process; /* track */
    int64_t step;     /* ns of its clock */
    role_group *roles;
    uint32_t role_count;
    uint64_t drawn_waits_open;
} rank_state;

typedef struct arrival { /* the newest at a counter, kept until the next: an open wait may point to it */
    uint64_t id;         /* 0: none */
    int64_t time;
    uint32_t writer, rank, role;
    uint8_t kind;
    uint64_t old, expected, add, epoch;
} arrival;

typedef struct slot_state {
    uint32_t name, label, signal, pass, arrive; /* strings, made at the first use */
    uint32_t supplier, supplier_rank, supplier_role; /* string for this rank number and role */
    uint32_t elects_by; /* counter (slot) whose election published this slot; XSR_NONE */
    arrival last;
} slot_state;

typedef struct drawing {
    xsr_sink sink; /* first: a sink is a drawing */
    const xsr_model *model;
    xsv_perfetto_options options;
    xsv_perfetto_summary summary;
    char *path; /* final name */
    char *stem; /* without .perfetto */
    strings texts;
    uint32_t key[KEY_COUNT], category[CATEGORY_COUNT];
    uint32_t *correlation; /* per rank number, one more for unknown */
    uint32_t correlation_count;
    track_info *tracks;
    uint32_t track_count, track_room;
    trace_file **windows; /* one if the trace is whole */
    uint32_t window_count;
    trace_file *overview; /* NULL if the trace is whole */
    bool split, without_passes, reduced;
    uint64_t events, window_begun, epoch_begun; /* events so far, at the window's and at the epoch's start */
    int64_t short_wait;
    rank_state *ranks;
    slot_state *slots;
    uint32_t slot_room;
    xsv_suppliers suppliers;
    struct lane **lanes;
    uint32_t lane_count, lane_room;
    xsv_map lane_index; /* (rank, role, block, warp) -> lane + 1 */
    uint32_t *writer_lane; /* lane + 1 */
    uint32_t writer_room;
    xsv_map signals; /* event id -> what the signal callback must know, see lane.h */
    struct xsr_wait *open; /* open waits, for the end */
    uint32_t open_count, open_room;
    struct blame *blame;
    struct epochs *epochs;
    struct watermarks *watermarks;
    struct losses *losses;
    struct slots *state_rows;
    struct evidence *evidence; /* evidence.c */
    struct thin **thin; /* per track: its counter in the overview */
    uint32_t thin_room;
    output startup;
    int64_t first_time, last_time;
    int64_t begin, end; /* known when the pass is over */
    uint64_t newest_epoch;
    uint32_t median_of; /* launches that short_wait was made from */
    bool finished;
} drawing;

#define DRAW(sink_pointer) ((drawing *)(sink_pointer))
#define TRY(call)                   \
    do {                            \
        int try_rc = (call);        \
        if (try_rc)                 \
            return try_rc;          \
    } while (0)

/* ---- files.c: where packets go ---- */
enum where {
    AT_TIME = 0, /* the window of the event's time (of a slice: of its end) */
    SPAN = 1,    /* every window that the slice touches */
    TO_OVERVIEW = 2
};
typedef struct slice {
    uint32_t track;
    int64_t begin, end; /* end INT64_MIN: never */
    uint32_t name, category, correlation;
    const char *text;
    const event_arg *args;
    uint32_t arg_count;
    /* started at its begin, ended at its begin, ended at its end */
    const uint64_t *flows, *begin_flow_ends, *flow_ends;
    uint32_t flow_count, begin_flow_end_count, flow_end_count;
} slice;
int files_begin(drawing *d);
int files_next_window(drawing *d, int64_t start);
trace_file *files_window(const drawing *d, int64_t time);
int files_finish(drawing *d);
void files_free(drawing *d);
int draw_event(drawing *d, unsigned where, const event *event);
int draw_slice(drawing *d, unsigned where, const slice *slice);
/* The files that a slice touches: the first and last window of [begin, end]. */
void files_touched(const drawing *d, int64_t begin, int64_t end, uint32_t *first, uint32_t *last);
int file_start(drawing *d, trace_file *file, int64_t time);

/* ---- tracks.c ---- */
/* A track's number, 0 where memory ran out. Its descriptor is written into each file that has an event on it. */
uint32_t track_add(drawing *d, const track_info *track);
int track_declare(drawing *d, trace_file *file, uint32_t track);
uint32_t track_root(drawing *d, const char *name, const char *description);
role_group *track_role(drawing *d, uint32_t rank, uint32_t role);
uint32_t track_passes(drawing *d, role_group *group);
int tracks_begin(drawing *d);
/* its descriptor once more, in all files that have it: what it says has changed */
int tracks_again(drawing *d, uint32_t track);
const char *role_name(const drawing *d, uint32_t role);
/* "rank 07 waits for" where there are ten ranks or more. */
uint32_t rank_text(drawing *d, const char *format, uint32_t rank);

/* ---- args.c ---- */
typedef struct args {
    event_arg list[ENCODER_ARGS];
    uint32_t count;
} args;
void arg_uint(const drawing *d, args *a, enum draw_key key, uint64_t value);
void arg_int(const drawing *d, args *a, enum draw_key key, int64_t value);
void arg_text(const drawing *d, args *a, enum draw_key key, uint32_t text);
void arg_chars(const drawing *d, args *a, enum draw_key key, const char *chars);
uint32_t correlation_of(const drawing *d, uint32_t rank_number);
slot_state *slot_of(drawing *d, uint32_t slot); /* NULL: out of memory */
uint32_t slot_name(drawing *d, uint32_t slot);
uint32_t slot_label(drawing *d, uint32_t slot);
uint32_t slot_supplier(drawing *d, uint32_t slot, uint32_t rank_number, uint32_t role);
bool is_counter(const drawing *d, uint32_t slot); /* arrivals release waits here */
/* Rank number that released or owes the wait, as far as is known now; XSR_NONE. */
uint32_t wait_owes(const drawing *d, const xsr_wait *wait);

/* ---- waits.c, signals.c, instants.c ---- */
int draw_wait(drawing *d, struct lane *lane, const xsr_wait *wait);
int draw_folded(drawing *d, struct lane *lane);
int draw_pass(drawing *d, const xsr_wait *wait);
int draw_open_waits(drawing *d);
const xsr_wait *open_root(drawing *d); /* of the open waits, the one that holds up the others; NULL: none */
int draw_signal(drawing *d, const xsr_signal *signal);
int draw_arrival(drawing *d, uint32_t slot, const arrival *arrival, const uint64_t *flows, uint32_t flow_count,
                 const uint64_t *ends, uint32_t end_count);
/* of `arrive, pass`, and counted: the trace is large, and it proves nothing */
bool left_out(drawing *d, uint64_t event);
int arrival_event(drawing *d, const xsr_event *event);
int control_event(drawing *d, const xsr_event *event);

/* ---- rows of their own; each keeps its state behind the pointer in `drawing` ---- */
int blame_begin(drawing *d);
int blame_event(drawing *d, const xsr_event *event);
int blame_finish(drawing *d);
void blame_free(drawing *d);
/* The pair that the start-up commands show: rank numbers, XSR_NONE if nobody waited. */
void blame_worst(const drawing *d, uint32_t *victim, uint32_t *supplier);
int epochs_begin(drawing *d);
int epochs_event(drawing *d, const xsr_event *event);
int epochs_finish(drawing *d);
void epochs_free(drawing *d);
int watermarks_event(drawing *d, const xsr_event *event);
void watermarks_free(drawing *d);
/* slots.c: state tracks of the slots that options.slots names */
int slots_event(drawing *d, const xsr_event *event);
int slots_next_window(drawing *d, int64_t time); /* the states go on in a new window */
uint64_t slots_left_out(const drawing *d);
void slots_free(drawing *d);
int losses_add(drawing *d, const xsr_loss *loss);
int losses_finish(drawing *d);
int losses_health(drawing *d, uint32_t track); /* spans inside the slice on this track; after losses_finish */
uint64_t losses_records(const drawing *d);
void losses_free(drawing *d);
int kernels_finish(drawing *d); /* copies and calls too */
int64_t kernels_median(const drawing *d); /* ns; 0: none has ended */
int health_finish(drawing *d);
/* path.c: row `critical path`, labels of ranks; once the findings are drawn */
int path_finish(drawing *d);
/* findings.c */
const xsa_result *findings_of(const drawing *d); /* NULL: no analysis ran */
uint32_t findings_row(drawing *d); /* the viewer merges those of one name; 0: no memory */
int findings_draw(drawing *d, uint32_t row);
/* evidence.c */
#define EVIDENCE_MOST 16u /* of one finding */
typedef struct flow_lists { /* edges that start and end at an event */
    const uint64_t *starts, *ends;
    uint32_t start_count, end_count;
    uint64_t *own; /* to be freed: where evidence_join has put both */
} flow_lists;
typedef struct evidence_ids { /* edges of a finding: started at its begin, ended there, ended at its end */
    uint64_t starts[EVIDENCE_MOST], begin_ends[EVIDENCE_MOST], ends[EVIDENCE_MOST];
    uint32_t start_count, begin_end_count, end_count;
} evidence_ids;
int evidence_begin(drawing *d);
void evidence_free(drawing *d);
bool evidence_is(const drawing *d, uint64_t event);
/* Adds the edges between the event, drawn at `time`, and the findings that it proves. open: it is a wait that never
 * ended. */
int evidence_join(drawing *d, uint64_t event, int64_t time, bool open, flow_lists *flows);
/* The edges of a finding that is drawn from begin to end; once all events are drawn. */
void evidence_of_finding(const drawing *d, uint32_t number, int64_t begin, int64_t end, evidence_ids *ids);
int attributes_begin(drawing *d, trace_file *file);
int attributes_finish(drawing *d, trace_file *file, uint32_t number);
int startup_finish(drawing *d);
/* Valid in finish. */
int64_t drawing_begin(const drawing *d);
int64_t drawing_end(const drawing *d); /* behind begin */

#endif
