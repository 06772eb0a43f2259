/* From the pass to its sinks: by calls, or, where several sinks look at many records, through a belt to a thread a
 * sink. There items lie in batches, and what changes the model lies among them, so that every sink sees the tables as
 * they were at its place in the stream: what it says does not depend on threads. */
#include "belt.h"
#include "view.h"

#define BATCH_BYTES 65536u /* several hundred events: small enough for caches, large enough that threads rarely meet \
                            */
#define BATCHES 32u
#define ITEM_MOST (BATCH_BYTES / 4)
#define MANY_RECORDS 20000u /* below, threads cost more than they bring */

enum item_kind { ITEM_EVENT, ITEM_WAIT, ITEM_SIGNAL, ITEM_LOST, ITEM_SLOT, ITEM_WRITER, ITEM_RANK, ITEM_END };

typedef struct item {
    uint32_t kind, bytes; /* with this head; a multiple of 8 */
} item;
typedef struct batch {
    uint64_t used;
    unsigned char bytes[BATCH_BYTES];
} batch;
typedef struct slot_item {
    uint64_t index;
    xsr_slot row;
} slot_item;
typedef struct writer_item {
    uint64_t index;
    xsr_writer row;
} writer_item;
typedef struct rank_item {
    uint64_t index;
    xsr_rank row;
} rank_item;

typedef struct lane {
    xsr_sink *sink;
    rd_view view;
} lane;

struct rd_feed {
    rd_belt *belt;
    batch *open;
    uint32_t count;
    lane lanes[];
};

#define TELL(sink, member, item) ((sink)->member ? (sink)->member(sink, item) : 0)

/* ---- in a sink's thread ---- */

static int tell_signal(xsr_sink *sink, const void *body) {
    xsr_signal signal = *(const xsr_signal *)body;
    signal.released = (const void *)((const xsr_signal *)body + 1);
    return TELL(sink, signal, &signal);
}

static int tell(lane *l, uint32_t kind, const void *body) {
    const slot_item *slot = body;
    const writer_item *writer = body;
    const rank_item *rank = body;
    switch (kind) {
    case ITEM_EVENT:
        return TELL(l->sink, event, (const xsr_event *)body);
    case ITEM_WAIT:
        return TELL(l->sink, wait, (const xsr_wait *)body);
    case ITEM_SIGNAL:
        return tell_signal(l->sink, body);
    case ITEM_LOST:
        return TELL(l->sink, lost, (const xsr_loss *)body);
    case ITEM_SLOT:
        return rd_view_slot(&l->view, (uint32_t)slot->index, &slot->row);
    case ITEM_WRITER:
        return rd_view_writer(&l->view, (uint32_t)writer->index, &writer->row);
    case ITEM_RANK:
        return rd_view_rank(&l->view, (uint32_t)rank->index, &rank->row);
    default:
        l->view.model.end = *(const int64_t *)body;
        return 0;
    }
}

static int use_batch(void *user, const void *bytes) {
    const batch *b = bytes;
    int rc = 0;
    for (uint64_t at = 0; at < b->used && rc == 0;) {
        const item *i = (const void *)(b->bytes + at);
        rc = tell(user, i->kind, i + 1);
        at += i->bytes;
    }
    return rc;
}

/* ---- in the thread of the pass ---- */

static bool is_apart(const xsr_reader *reader) { return reader->feed && reader->feed->belt; }

static void send(rd_feed *f) {
    if (f->open)
        rd_belt_send(f->belt, f->open);
    f->open = NULL;
}

/* Room for an item; its body is to be filled in. */
static void *add(rd_feed *f, uint32_t kind, size_t bytes) {
    size_t whole = sizeof(item) + ((bytes + 7) & ~(size_t)7);
    if (f->open && f->open->used + whole > BATCH_BYTES)
        send(f);
    if (!f->open) {
        f->open = rd_belt_take(f->belt);
        f->open->used = 0;
    }
    item *i = (void *)(f->open->bytes + f->open->used);
    *i = (item){kind, (uint32_t)whole};
    f->open->used += whole;
    return i + 1;
}

/* What a sink answered is known a while later. */
static int answer(rd_feed *f) { return rd_belt_failed(f->belt) ? rd_belt_stop(f->belt) : 0; }

static int put(rd_feed *f, uint32_t kind, const void *body, size_t bytes) {
    memcpy(add(f, kind, bytes), body, bytes);
    return answer(f);
}

#define FEED(reader, member, ...)                               \
    for (uint32_t i = 0; i < (reader)->sink_count; i++) {       \
        xsr_sink *sink = (reader)->sinks[i];                    \
        int rc_ = sink->member ? sink->member(__VA_ARGS__) : 0; \
        if (rc_)                                                \
            return rc_;                                         \
    }                                                           \
    return 0

int rd_sink_event(xsr_reader *reader, const xsr_event *event) {
    if (is_apart(reader))
        return put(reader->feed, ITEM_EVENT, event, sizeof *event);
    FEED(reader, event, sink, event);
}

int rd_sink_wait(xsr_reader *reader, const xsr_wait *wait) {
    if (is_apart(reader))
        return put(reader->feed, ITEM_WAIT, wait, sizeof *wait);
    FEED(reader, wait, sink, wait);
}

/* So many waits that no batch holds them: told from here, while the sinks' threads stand still. */
static int put_large(rd_feed *f, const xsr_signal *signal) {
    send(f);
    rd_belt_drain(f->belt);
    int rc = answer(f);
    for (uint32_t i = 0; i < f->count && rc == 0; i++)
        rc = TELL(f->lanes[i].sink, signal, signal);
    return rc;
}

static int put_signal(rd_feed *f, const xsr_signal *signal) {
    size_t ids = signal->released_count * sizeof *signal->released, bytes = sizeof *signal + ids;
    if (bytes > ITEM_MOST)
        return put_large(f, signal);
    unsigned char *body = add(f, ITEM_SIGNAL, bytes);
    memcpy(body, signal, sizeof *signal);
    if (ids)
        memcpy(body + sizeof *signal, signal->released, ids);
    return answer(f);
}

int rd_sink_signal(xsr_reader *reader, const xsr_signal *signal) {
    if (is_apart(reader))
        return put_signal(reader->feed, signal);
    FEED(reader, signal, sink, signal);
}

int rd_sink_lost(xsr_reader *reader, const xsr_loss *loss) {
    if (is_apart(reader))
        return put(reader->feed, ITEM_LOST, loss, sizeof *loss);
    FEED(reader, lost, sink, loss);
}

int rd_sink_activity(xsr_reader *reader, const xsr_activity *activity) { FEED(reader, activity, sink, activity); }

/* A sink's answer to the next item tells of failures, too: none here. */
void rd_feed_slot(xsr_reader *reader, uint32_t slot) {
    if (is_apart(reader))
        *(slot_item *)add(reader->feed, ITEM_SLOT, sizeof(slot_item)) = (slot_item){slot, reader->model.slots[slot]};
}

void rd_feed_writer(xsr_reader *reader, uint32_t writer) {
    if (is_apart(reader))
        *(writer_item *)add(reader->feed, ITEM_WRITER, sizeof(writer_item)) =
            (writer_item){writer, reader->model.writers[writer]};
}

void rd_feed_rank(xsr_reader *reader, uint32_t rank) {
    if (is_apart(reader))
        *(rank_item *)add(reader->feed, ITEM_RANK, sizeof(rank_item)) = (rank_item){rank, reader->model.ranks[rank]};
}

void rd_feed_end(xsr_reader *reader) {
    if (is_apart(reader))
        *(int64_t *)add(reader->feed, ITEM_END, sizeof(int64_t)) = reader->model.end;
}

/* ---- a pass ---- */

static bool is_worth_it(const xsr_reader *reader) {
    if (reader->options.threads == XSR_THREADS_ALWAYS)
        return reader->sink_count > 0;
    return reader->options.threads == XSR_THREADS_AUTO && reader->sink_count > 1 &&
           reader->model.records >= MANY_RECORDS;
}

static int start_belt(rd_feed *f) {
    rd_consumer *consumers = calloc(f->count, sizeof *consumers);
    if (!consumers)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < f->count; i++)
        consumers[i] = (rd_consumer){use_batch, &f->lanes[i]};
    int rc = rd_belt_start(&f->belt, BATCHES, sizeof(batch), consumers, f->count);
    free(consumers);
    return rc;
}

static int make_lanes(xsr_reader *reader) {
    rd_feed *f = reader->feed = calloc(1, sizeof *f + reader->sink_count * sizeof *f->lanes);
    if (!f)
        return XS_E_MEMORY;
    for (; f->count < reader->sink_count; f->count++) {
        f->lanes[f->count].sink = reader->sinks[f->count];
        if (rd_view_make(&f->lanes[f->count].view, &reader->model)) {
            f->count++;
            return XS_E_MEMORY;
        }
    }
    return start_belt(f);
}

int rd_feed_begin(xsr_reader *reader) {
    if (is_worth_it(reader) && make_lanes(reader))
        rd_feed_free(reader); /* no thread, or no memory for it: by calls, then */
    reader->signals_wanted = false;
    for (uint32_t i = 0; i < reader->sink_count; i++) {
        reader->sinks[i]->model = reader->feed ? &reader->feed->lanes[i].view.model : &reader->model;
        reader->signals_wanted |= reader->sinks[i]->signal != NULL;
    }
    FEED(reader, begin, sink, sink->model);
}

int rd_feed_stop(xsr_reader *reader) {
    rd_feed *f = reader->feed;
    if (!is_apart(reader))
        return 0;
    send(f);
    int rc = rd_belt_stop(f->belt);
    rd_belt_free(f->belt);
    f->belt = NULL;
    return rc;
}

void rd_feed_settled(xsr_reader *reader) {
    for (uint32_t i = 0; reader->feed && i < reader->feed->count; i++)
        reader->feed->lanes[i].view.model = reader->model;
}

int rd_feed_finish(xsr_reader *reader) { FEED(reader, finish, sink); }

void rd_feed_free(xsr_reader *reader) {
    rd_feed *f = reader->feed;
    if (!f)
        return;
    rd_belt_free(f->belt);
    for (uint32_t i = 0; i < f->count; i++)
        rd_view_free(&f->lanes[i].view);
    free(f);
    reader->feed = NULL;
}
