/* Inside the reader. One struct per concern; functions that cross files start with rd_. */
#ifndef XS_READ_INTERNAL_H
#define XS_READ_INTERNAL_H

#include <stdlib.h>
#include <string.h>
#include <xs/read.h>

#include "planned.h"
#include "table.h"

#define NO_TIME INT64_MIN
#define SECOND 1000000000ll

/* ---- names.c: tables made from the X-macros ---- */
typedef struct rd_event_info {
    uint8_t shape, object;
    bool unwrap; /* the value word is the low half of a rising sequence of the slot */
} rd_event_info;
typedef struct rd_code_info { uint8_t kind, order, scope, fence; } rd_code_info;
void rd_names_ready(void);
const rd_event_info *rd_event_info_of(uint32_t kind); /* kind < XS_EV_COUNT */
extern const rd_code_info rd_codes[256];              /* kind 0: not a code */

/* ---- input ---- */
/* closed: in order; given: of which of the paths */
typedef struct rd_file { char *path; const unsigned char *bytes; uint64_t size; bool closed; uint32_t given; } rd_file;

typedef struct rd_span { /* one RECORDS frame */
    uint64_t first;
    const unsigned char *payload; /* xs_frame_records */
    uint64_t count;
    uint32_t ring;
    uint32_t reserved0;
} rd_span;
XS_STATIC_ASSERT(sizeof(rd_span) == 32, "32 bytes a RECORDS frame");
typedef struct rd_loss { uint64_t first, last; uint32_t ring, cause; bool at_least; } rd_loss;
typedef struct rd_owner { uint32_t ring, ordinal; xs_ring_owner owner; } rd_owner;
typedef struct rd_look { uint64_t newest, time; uint32_t ring, reserved0; } rd_look;
/* newest of a line */
typedef struct rd_status { uint32_t ring, line; uint64_t time; xs_status_line status; } rd_status;

/* ---- device clocks: fit.c, device.c ---- */
#define RD_TIME_MAX (1ll << 61) /* times beyond it are nonsense; sums of two below it fit */
#define RD_UPTIME_MAX (1ll << 58) /* nine years of CLOCK_BOOTTIME: samples beyond it are nonsense */
/* No two clocks are further apart: sums of bounds that kept growing would overflow. */
static inline int64_t rd_bound(int64_t ns) { return ns < RD_UPTIME_MAX ? ns : RD_UPTIME_MAX; }
typedef struct rd_sample { /* an answer, or a kernel of CUPTI */
    int64_t host, device, bracket; /* host: where it is taken to lie, first the middle of the bracket */
    bool kernel;
    int64_t middle;        /* of its bracket */
    int64_t excess;        /* so much is its bracket off what is usual */
    double sigma;          /* how far it may lie from the clock; 0: by its bracket alone */
} rd_sample;
/* drift up to the next knot: d host / d device - 1 */
typedef struct rd_knot { int64_t device, host; double drift; } rd_knot;
typedef struct rd_fit { rd_knot *knots; uint32_t count, room; } rd_fit;
/* A kernel of CUPTI around stamps: begin <= time of first, time of last <= end, each give or take `half`. */
typedef struct rd_bracket {
    int64_t first, last, begin, end, half;
    uint32_t name;    /* index in names */
    bool left_out;    /* no sample */
} rd_bracket;
/* CUPTI's times from..to, on the first host's clock, are late by value + slope * (time - from). */
typedef struct rd_error_line {
    int64_t from, to;
    double value, slope;
} rd_error_line;
typedef struct rd_device { /* one GPU as one process sees it */
    uint32_t process; int32_t device;
    uint32_t row; /* in the model's clocks */
    /* by device time; after brackets.c kernels are among them */
    rd_sample *samples; uint32_t sample_count, sample_room;
    uint32_t answers;  /* samples that are the device's own answers */
    int64_t told_step; /* measured on the device; 0: not told */
    rd_bracket *brackets; uint32_t bracket_count, bracket_room;
    rd_error_line *lines; uint32_t line_count, line_room; /* of CUPTI's times; none: as told */
    int64_t cupti_error; /* the largest that was taken out of them */
    rd_fit fit;
    int64_t centred; /* the fit lies so far behind its samples: in the middle of what all brackets leave */
    int64_t first, last; /* device times of its records; NO_TIME: none */
    uint32_t ring_begin, ring_end; /* in device_rings */
} rd_device;
typedef struct rd_node { int64_t key; uint32_t ring; } rd_node;
typedef struct rd_clock { /* beside xsr_clock: as samples say */
    xsr_clock row;
    int64_t widened; /* part of bound_ns for times far from samples */
    /* its rings are out of the merge, for a write to that slot: turn.c */
    bool held; uint32_t held_for;
    /* those that had their turn: the first is the one that waits */
    rd_node *parked; uint32_t parked_count, parked_room;
} rd_clock;
/* clocks; least wait end - signal */
typedef struct rd_pair { uint32_t from, to; int64_t slack; uint64_t count; } rd_pair;

/* CUPTI's clock, between two readings of the process's */
typedef struct rd_tick { int64_t before, after, time; } rd_tick;
/* from this time of CUPTI's clock on: add offset */
typedef struct rd_cupti_piece { int64_t from, offset, half; } rd_cupti_piece;

typedef struct rd_pad_at { uint32_t first, objects, pad; } rd_pad_at; /* objects of one process */

typedef struct rd_process {
    xs_region_header region;
    bool known;       /* a PROCESS frame was read */
    int64_t offset;   /* added to its times: to the clock of the first host */
    /* times of the collector's last two passes over its rings: the one before the last is whole */
    int64_t pass, pass_before;
    uint32_t file;    /* the last one that has something of it */
    uint32_t first_file;
    int64_t clock_low, clock_high, bracket; /* realtime - boottime over its clock pairs; smallest bracket */
    bool clock_seen;
    bool names_files; /* its catalog does */
    bool off;         /* tracing is switched off, as the journal goes */
    rd_pad_at *pads; uint32_t pad_count, pad_room;
    rd_tick *ticks; uint32_t tick_count, tick_room;
    rd_cupti_piece *pieces; uint32_t piece_count, piece_room;
    /* of the activity name that is being put together, and its number */
    char *name_text; uint32_t name_bytes, name_room, name_open;
    uint32_t rank_first; /* index in ranks of its first rank */
} rd_process;

typedef struct rd_raw { /* one event as its records say */
    uint64_t sequence;
    int64_t time;
    uint32_t object, value, detail, further[6];
    uint8_t kind, order, scope, fence, cmp, result, furthers, records;
    bool full, modulo;
    bool named; /* a WAIT_END that holds a file in the place of what was slept */
    bool yields; /* of a writer whose back-off sleeps for no time: it lets other threads run */
} rd_raw;

/* kind: see xsr_loss */
typedef struct rd_hole { uint64_t first, last; int64_t before, after; uint8_t kind, result; } rd_hole;

typedef struct rd_open_wait { /* a WAIT_START whose end has not come */
    uint32_t slot;
    uint64_t missing; /* records of the ring lost since it began */
    int64_t went_on;  /* time of the writer's next event that is no wait; NO_TIME: none yet */
    xsr_wait wait;
} rd_open_wait;

typedef struct rd_ring { /* beside xsr_ring */
    uint32_t span_begin, span_end, loss_begin, loss_end, owner_begin, owner_end, look_begin, look_end,
        status_begin, status_end;
    uint64_t newest;     /* highest sequence that a LOOK or a WRITER_END told of */
    uint32_t mask;       /* of the sequence word */
    int32_t device;      /* as its RECORDS frames say: -1 host; RD_NO_DEVICE: no frame */
    uint32_t gpu;        /* in devices; XSR_NONE: the host's clock */
    uint32_t clock;      /* in the model's clocks */
    const rd_fit *fit;   /* of its times, which are kept as recorded in here; NULL: the host's clock */
    uint32_t knot;       /* of the fit: where to look first */
    int64_t offset;      /* of its process */
    /* cursor */
    uint32_t span;
    const xs_record *at;
    uint64_t left;       /* records in this span */
    uint64_t sequence;   /* of *at */
    uint64_t expected;
    int64_t last_time;   /* of the last event decoded; NO_TIME: none */
    int64_t key;         /* merge key: times as rising */
    uint32_t look;
    int64_t born, taken, looked; /* on its own clock: start of its process; its span was taken, and looked for before */
    uint64_t exact_sequence; int64_t exact_time; /* next record whose time is known in full, looked up ahead */
    rd_raw raw;
    uint32_t slot;       /* of raw, where it is known already; else XSR_NONE */
    rd_hole *holes; uint32_t hole_count, hole_room; /* before raw */
    uint64_t told;       /* sequence behind the last event whose kind is known */
    /* owner */
    uint32_t writer, role, ordinal, owner;
    uint64_t epoch;
    bool writing;
    bool silent;         /* it has no whole event */
    int64_t heard;       /* time of the last event delivered */
    uint64_t after;      /* sequence behind its records */
    bool let_go;         /* its next event has been held: turn.c */
    /* pairing */
    rd_open_wait *open; uint32_t open_count, open_room;
    uint64_t elected_by; int64_t elect_time;
} rd_ring;

#define RD_NO_DEVICE INT32_MIN
#define RD_FEW 2

typedef struct rd_mark { /* one entry of a slot's history: something that changed the slot */
    xsr_event event;
    uint64_t post; /* value of the slot after it */
    uint64_t elected_by; int64_t elect_time;
    uint64_t few[RD_FEW], *more; /* the waits that it released: in `more` once they are more than a few */
    uint32_t released_count, released_room;
    bool gap_before; /* records of its rank were lost since the previous entry */
} rd_mark;

/* Ids of what a writer read in a slot, and of the wait that did: its newest that was settled. sure: no other write
 * can have been meant; gaps: of its rank by then. */
typedef struct rd_read { uint64_t event, wait, gaps; uint32_t by; bool sure; } rd_read;

typedef struct rd_slot { /* beside xsr_slot */
    uint64_t last;        /* last value known */
    uint64_t reset_value, reset_event; uint32_t reset_writer; /* of the last RESET */
    rd_mark *marks; uint32_t mark_first, mark_count, mark_room;
    uint64_t evicted, evicted_max;
    uint32_t rising;      /* number of entries, from the newest back, whose values do not fall */
    uint32_t fresh;       /* number of entries behind the last RESET */
    /* waits of this slot that are not settled: number in the queue, + 1; 0: none */
    uint64_t pending_head, pending_tail;
    uint64_t gaps;        /* the rank's count of gaps at the last entry */
    rd_read read;         /* by one who waited for it, the newest unless reads_of has others; wait 0: nobody has */
    bool read_by_others;  /* values come again, and clocks disagree: reads_of */
    /* times of the newest entry, and of the last that came behind all before it and before all behind it whatever
     * clocks say; NO_TIME: none */
    int64_t newest, certain;
    bool alone;           /* the newest came behind all before it */
    bool repeats;         /* a value came that was not higher than the one before */
    uint32_t held;        /* clocks that wait for a write to it: turn.c */
    /* a wait on that clock saw that value then, and held for it in vain; NO_TIME: none did */
    uint32_t overdue_clock; int64_t overdue; uint64_t overdue_value;
    uint32_t inferred_rank, inferred_role;
    uint64_t base, base_epoch, base_arrived; uint32_t base_expected; /* elections: see arrive.c */
    uint64_t reached; uint32_t ahead; /* of a gate: all arrivals up to that count came by, and so many beyond it */
    bool narrow, is_shared, host_supplier, conflict, has_reset, signalled, arrived, elects;
} rd_slot;

/* Event ids: what lies before the one or behind the other a wait cannot have read, since its writer wrote over it or
 * read what came later; wrote over it since, or read what came before it later. Where values rise they say it
 * themselves. */
typedef struct rd_limits { uint64_t floor, ceiling; } rd_limits;
typedef struct rd_pending { xsr_wait wait; uint64_t next; rd_limits limits; bool settled; } rd_pending;



typedef struct rd_rooms {
    uint32_t processes, ranks, pads, slots, names, launches, writers, rings, clocks, plan, notes, files, spans, losses,
        owners, looks, statuses, proc, ring, slot, heap, sinks, devices, pairs, reported, activities;
} rd_rooms;

struct xsr_reader {
    xsr_options options;
    xsr_model model;
    rd_rooms room;
    rd_arena text;     /* of the catalog */
    rd_arena run_text; /* of the pass */
    char error[512];
    /* input */
    rd_file *files; uint32_t file_count;
    rd_span *spans; uint32_t span_count;
    rd_loss *losses; uint32_t loss_count;
    rd_owner *owners; uint32_t owner_count;
    rd_look *looks; uint32_t look_count;
    rd_status *statuses; uint32_t status_count;
    uint64_t file_bytes, rank_budget;
    bool trimmed;      /* older segments were removed */
    bool other_events; /* a file was written with another table of events */
    bool triggered;
    bool windowed;     /* tracing was switched in mid-run */
    int64_t newest_frame;
    uint32_t file;    /* that is being scanned */
    /* catalog */
    rd_process *processes;
    rd_map process_of, ring_of, name_of, name_ids, launch_of, status_of, plan_of;
    rd_map journal_of; /* (process, sequence): entries that were taken in */
    uint32_t declared_plan; /* plan rows that the catalog gave */
    uint32_t declared_notes;
    bool opened;       /* the catalog is read: notes are the pass's now */
    rd_map activity_names; /* (process, number) -> text, index in names; of kernels, of calls */
    rd_device *devices; uint32_t device_count;
    rd_map device_of;  /* (process, device) */
    uint32_t *device_rings; /* by device */
    rd_clock *clocks;  /* beside model.clocks */
    uint32_t *rank_clock; /* in the model's clocks */
    rd_planned planned; /* who supplies */
    /* pass */
    rd_ring *rings;
    rd_slot *slots;
    rd_map slot_of;      /* (process, object) -> slot */
    rd_map slot_at;      /* (pad, place in the pad) -> slot */
    rd_map reads_of; rd_read *reads; uint32_t read_count, read_room; /* (slot, writer): of others than rd_slot.read */
    rd_node *heap; uint32_t heap_count;
    uint32_t held_count; /* clocks that are held: turn.c */
    bool awaited;        /* a slot that one is held for was written to */
    int64_t hold;        /* how long: as far as clocks may disagree; 0: there is one clock */
    uint64_t next_id;
    bool signals_wanted; /* by a sink */
    uint32_t marks;      /* entries in all histories */
    int64_t now, bound, grace; /* bound: of the worst clock; grace: how long a wait stays unsettled */
    int64_t gap_until;   /* when the newest of the gaps seen so far was over; NO_TIME: none */
    rd_pair *pairs; uint32_t pair_count; /* clocks that signals crossed */
    rd_map pair_of;
    xsr_plan *reported; uint32_t reported_count; /* by kernels, in this pass */
    rd_map reported_of;
    uint64_t reported_more; /* not kept */
    uint64_t *rank_gaps; /* per rank: gaps delivered so far */
    rd_pending *pending; uint32_t pending_room; /* a queue: number n lies at n % pending_room */
    uint64_t pending_first, pending_next;
    xsr_sink *const *sinks; uint32_t sink_count;
    struct rd_feed *feed; /* NULL: sinks are called from the pass */
};

/* file.c: the files behind a name. Errors go to reader->error. */
int rd_fail(xsr_reader *reader, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
int rd_open_path(xsr_reader *reader, const char *path);
void rd_close_files(xsr_reader *reader);
/* frames.c: every whole frame of a file, in order. */
int rd_scan_file(xsr_reader *reader, const rd_file *file);
/* catalog.c, journal.c, index.c: what frames say. Return 1: fine, 0: the frame is nonsense, or an error. */
int rd_take_frame(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
uint32_t rd_process_of(xsr_reader *reader, const xs_frame *frame); /* XSR_NONE: out of memory */
int rd_take_process(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_name(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_pad(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_plan(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_journal(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_note(xsr_reader *reader, const char *text, size_t bytes);
/* found or added; XSR_NONE: no memory */
uint32_t rd_name_text(xsr_reader *reader, uint32_t kind, const char *text, size_t length);
int rd_note(xsr_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t rd_name(xsr_reader *reader, uint32_t process, uint32_t kind, uint32_t id); /* index in names or XSR_NONE */
int rd_take_records(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
/* LOOK OWNERS STATUS LOSS */
int rd_take_ring_rows(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_index_finish(xsr_reader *reader);
/* activity.c: what CUPTI tells; cupti_clock.c: its clock */
int rd_take_activity(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_take_cupti(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload);
int rd_activity_finish(xsr_reader *reader); /* names, times, calls; before the clocks */
int rd_activity_move(xsr_reader *reader);   /* by what CUPTI's times are off; behind the clocks of devices */
int rd_cupti_pieces(rd_process *process);
/* CUPTI's time on the process's clock; *half: how far it may be off. NO_TIME: nothing relates the two. */
int64_t rd_cupti_time(const rd_process *process, int64_t time, int64_t *half);
/* brackets.c: kernels of CUPTI as brackets of a device's clock, once there is a first fit; instances.c: which writer
 * ran in which */
int rd_brackets_find(xsr_reader *reader, rd_device *device);
/* its brackets as samples, behind its answers; not sorted */
int rd_kernel_samples(const xsr_reader *reader, rd_device *device);
/* noise.c: what is usual of noisy numbers */
int64_t rd_median(int64_t *values, uint32_t count); /* sorts them; 0 where there are none */
/* half of them lie no farther from the median; leaves the distances in them */
double rd_spread(int64_t *values, uint32_t count);
/* Two ends of brackets, and their width, whose noise is that of both: what the first end counts against the second. */
double rd_weight_of_first(double first, double second, double width);
int rd_answers_place(rd_device *device); /* answers.c: where in their brackets answers lie, once there is a first fit */
/* cupti_error.c: what CUPTI's times are off by, beside the fit. Takes it out of the brackets, and says how to out of
 * other times. */
int rd_cupti_error_find(const xsr_reader *reader, rd_device *device);
int64_t rd_cupti_error_at(const rd_device *device, int64_t time);
int rd_instances_find(xsr_reader *reader);
uint64_t rd_place_of(const xsr_activity *kernel); /* a node of a graph, or a kernel of a stream; never 0 in practice */
/* ties.c: launches for which several places stand equally well. */
typedef struct rd_tie {
    uint32_t launch;
    uint64_t place;
} rd_tie;
typedef struct rd_ties {
    const xsr_model *model;
    const uint32_t *kernels, *writers; /* of one device: all, by begin; those of tied launches */
    uint32_t kernel_count, writer_count;
    rd_tie *ties; /* is sorted, and loses what is decided */
    uint32_t tie_count;
} rd_ties;
int rd_ties_break(rd_ties *ties, uint64_t *place); /* place of each launch, 0: none yet; fills in what is clear */
/* fit.c */
int rd_fit_make(rd_fit *fit, const rd_sample *samples, uint32_t count);
int rd_fit_one(rd_fit *fit, int64_t device, int64_t host); /* one known moment, no drift */
int64_t rd_fit_host(const rd_fit *fit, uint32_t *hint, int64_t device);
int64_t rd_fit_device(const rd_fit *fit, int64_t host);
int64_t rd_best_bracket(const rd_sample *samples, uint32_t count);
/* stamps.c */
static inline const xs_frame_records *rd_span_head(const rd_span *s) {
    return (const xs_frame_records *)(const void *)s->payload;
}
bool rd_span_first(const rd_span *span, int64_t *time);
bool rd_span_last(const rd_span *span, int64_t *time);
/* Times of all writers' begins and ends on a device, unsorted; free them. */
int rd_writer_stamps(const xsr_reader *reader, const rd_device *device, int64_t **times, uint32_t *count);
int64_t rd_step_of(const xsr_reader *reader, const rd_device *device);
/* device.c: a bracketed sample of a device's clock (from the journal; CUPTI's kernel bounds would be others). 1:
 * taken */
int rd_device_sample(xsr_reader *reader, uint32_t process, int32_t device, const rd_sample *sample);
int rd_device_step(xsr_reader *reader, uint32_t process, int32_t device, int64_t step);
uint32_t rd_device_at(const xsr_reader *reader, uint32_t process, int32_t device); /* in devices, or XSR_NONE */
/* where the truth lies from the fit */
void rd_device_limits(const rd_device *device, int64_t offset, int64_t *low, int64_t *high, int64_t *fault);
void rd_device_centre(const xsr_reader *reader, rd_device *device); /* once, when the fit is made */
void rd_sort_samples(rd_device *device);
int rd_devices_find(xsr_reader *reader); /* of rings too; fits; the rings' clocks */
int rd_device_measure(xsr_reader *reader, rd_device *device, rd_clock *clock);
/* clock.c */
int rd_clocks_finish(xsr_reader *reader);
void rd_clocks_reset(xsr_reader *reader);
void rd_clocks_bound(xsr_reader *reader); /* what pairing allows for */
/* causal.c: no signal is younger than the wait that saw it */
int rd_causal_wait(xsr_reader *reader, const xsr_wait *wait);
/* clocks; a wait's end less the signal that it saw */
int rd_causal_slack(xsr_reader *reader, uint32_t from, uint32_t to, int64_t slack);
int rd_causal_finish(xsr_reader *reader);
/* expect.c */
int rd_expect(xsr_reader *reader, const xsr_event *event);
int rd_expect_finish(xsr_reader *reader);
/* cursor.c, time.c */
void rd_cursor_start(xsr_reader *reader, uint32_t ring);
int rd_cursor_next(xsr_reader *reader, uint32_t ring); /* 1: raw holds an event, 0: at the end; errors */
static inline int64_t rd_sane(uint64_t time) { return time < (uint64_t)RD_TIME_MAX ? (int64_t)time : 0; }
/* A time of a ring, as recorded, on the clock of the first host. Rises with its argument. */
static inline int64_t rd_host_time(rd_ring *r, int64_t time) {
    return (r->fit ? rd_fit_host(r->fit, &r->knot, time) : time) + r->offset;
}
static inline int64_t rd_own_time(const rd_ring *r, int64_t host) {
    return r->fit ? rd_fit_device(r->fit, host) : host;
}
void rd_time_ring(const xsr_reader *reader, rd_ring *ring); /* before its first record */
void rd_time_span(rd_ring *ring, const rd_span *span);      /* before the first record of a span */
int64_t rd_time(const xsr_reader *reader, uint32_t ring, uint64_t sequence, uint32_t low, bool *modulo);
/* slot.c */
/* XSR_NONE: no slot; XSR_NONE - 1: no memory */
uint32_t rd_slot_of(xsr_reader *reader, uint32_t process, uint32_t object);
#define RD_NO_MEMORY (XSR_NONE - 1)
uint64_t rd_unwrap(uint64_t last, uint32_t low);
/* arrive.c */
void rd_arrive_packed(rd_slot *slot, xsr_event *event, uint32_t word);
void rd_arrive_full(rd_slot *slot, const xsr_event *event);
/* writer.c */
int rd_attribute(xsr_reader *reader, uint32_t ring, xsr_event *event);
/* Of several BOUNDED rows of a ring, which are cumulative, one stays, and no other row reaches into it. Rows are
 * sorted. */
void rd_settle_losses(xsr_reader *reader);
int rd_attribute_gap(xsr_reader *reader, uint32_t ring, uint64_t missing, uint64_t next);
int rd_attribute_line(xsr_reader *reader, uint32_t ring); /* nobody recorded, but somebody waits: the newest owner */
/* turn.c: no wait has its turn before the write that it saw, as far as clocks leave that open */
int rd_turn_hold(xsr_reader *reader);     /* 1: the first of the heap is held, 0: it has its turn */
/* a slot that clocks are held for was written to: those that saw that go on */
void rd_turn_written(xsr_reader *reader);
void rd_turn_reset(xsr_reader *reader);
void rd_turn_old(xsr_reader *reader);     /* who has been held for too long goes on */
void rd_turn_widen(xsr_reader *reader, int64_t early); /* a wait ended so long before the signal that it saw */
/* what was waited for in vain comes after all */
int rd_turn_overdue(xsr_reader *reader, const xsr_event *write, uint64_t post);
/* run.c */
void rd_heap_put(xsr_reader *reader, rd_node node);
void rd_heap_drop(xsr_reader *reader); /* the first one */
/* decode.c */
/* by the wait that ends with the ring's next event */
bool rd_observed(const xsr_reader *reader, uint32_t ring, uint32_t slot, uint64_t *value);
int rd_decode(xsr_reader *reader, uint32_t ring, xsr_event *event);
/* loss.c */
int rd_deliver_holes(xsr_reader *reader, uint32_t ring, uint64_t next);
bool rd_may_be_lost(const xsr_reader *reader, uint32_t rank /* number or XSR_NONE */, int64_t until);
/* wait.c: starts and ends; pair.c: signals and what waits read */
/* before the event is delivered: fills need; 1: *wait is over */
int rd_wait_event(xsr_reader *reader, xsr_event *event, xsr_wait *wait);
void rd_wait_gap(xsr_reader *reader, uint32_t ring, uint64_t records);
/* the next that is missing is the end of a wait that gave up */
void rd_wait_gave_up(xsr_reader *reader, uint32_t ring, uint32_t result);
int rd_waits_finish(xsr_reader *reader);
int rd_pair_event(xsr_reader *reader, const xsr_event *event); /* after it was delivered */
int rd_pair_wait(xsr_reader *reader, xsr_wait *wait);          /* an ended wait: settles it now or later */
int rd_pair_time(xsr_reader *reader, int64_t now);             /* settles waits that have waited long enough */
int rd_pair_finish(xsr_reader *reader);
/* history.c: what changed a slot, oldest first, at most keep_signals entries */
int rd_history_add(xsr_reader *reader, const xsr_event *event, uint64_t post);
/* that is what the wait read, or what bounds it */
int rd_history_read(xsr_reader *reader, rd_slot *slot, const xsr_wait *wait, uint64_t event, bool sure);
int rd_history_finish(xsr_reader *reader);
/* the first, behind the last reset, that brought it to need */
rd_mark *rd_history_first(rd_slot *slot, uint64_t need);
/* The newest with this value that the wait can have read: not behind its end by more than the grace, within its
 * limits. */
rd_mark *rd_history_equal(const xsr_reader *reader, const xsr_wait *wait, const rd_limits *limits, bool *ambiguous);
/* of one that ends now */
rd_limits rd_history_limits(const xsr_reader *reader, const rd_slot *slot, const xsr_wait *wait);
/* a wait of that writer may have seen it by now; waited: at its first poll it had not */
bool rd_history_shows(const xsr_reader *reader, const rd_slot *slot, uint64_t value, uint32_t writer, bool waited);
/* That value was written so shortly before the last RESET, on another clock, that it may have been behind it. */
bool rd_history_before_reset(const xsr_reader *reader, const rd_slot *slot, uint64_t value);
/* another write of that value may have been read */
bool rd_history_unsure(const xsr_reader *reader, const rd_slot *slot, const xsr_wait *wait, const rd_mark *read);
/* its values come again: which of the equal ones was read is not told by the value */
bool rd_history_repeats(const rd_slot *slot);
/* behind rd_history_add, of arrivals at a gate */
void rd_history_arrived(rd_slot *slot, const xsr_event *event, uint64_t post);
rd_mark *rd_history_newest(rd_slot *slot, int64_t until);
int rd_history_release(rd_mark *mark, uint64_t wait);
void rd_history_prefetch(const rd_slot *slot, uint32_t kind);
bool rd_history_is_oldest(const rd_slot *slot, const rd_mark *mark);
bool rd_changes_slot(uint32_t kind);
/* infer.c */
int rd_plan_index_make(xsr_reader *reader);
void rd_plan_slot(xsr_reader *reader, uint32_t slot);
void rd_infer(xsr_reader *reader, const xsr_event *event);
int rd_infer_finish(xsr_reader *reader);
uint32_t rd_pad_first(const xsr_reader *reader, uint32_t pad); /* XS_PLAN_ANY: of no process */
int rd_plan_append(xsr_reader *reader, const xsr_plan *row);   /* for this pass */
/* feed.c: to the sinks, in their threads or in this one */
typedef struct rd_feed rd_feed;
int rd_feed_begin(xsr_reader *reader);
/* a row of the model is new or changed: a slot, a writer, a rank's epochs */
void rd_feed_slot(xsr_reader *reader, uint32_t slot);
void rd_feed_writer(xsr_reader *reader, uint32_t writer);
void rd_feed_rank(xsr_reader *reader, uint32_t rank);
void rd_feed_end(xsr_reader *reader);     /* model.end is known */
/* all that was told has been heard; the first failure of a sink, with its errno */
int rd_feed_stop(xsr_reader *reader);
void rd_feed_settled(xsr_reader *reader); /* the model is complete */
int rd_feed_finish(xsr_reader *reader);
void rd_feed_free(xsr_reader *reader);
int rd_sink_event(xsr_reader *reader, const xsr_event *event);
int rd_sink_wait(xsr_reader *reader, const xsr_wait *wait);
int rd_sink_signal(xsr_reader *reader, const xsr_signal *signal);
int rd_sink_lost(xsr_reader *reader, const xsr_loss *loss);
int rd_sink_activity(xsr_reader *reader, const xsr_activity *activity);
/* reader.c */
void rd_pass_reset(xsr_reader *reader);

#endif
