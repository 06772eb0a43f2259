/* The pass: merges the rings by time, decodes, attributes, pairs. */
#include "internal.h"

static bool before(const rd_node *a, const rd_node *b) {
    return a->key != b->key ? a->key < b->key : a->ring < b->ring;
}

static void sink_down(rd_node *heap, uint32_t count, uint32_t at) {
    rd_node node = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &node))
            break;
        heap[at] = heap[child];
    }
    heap[at] = node;
}

void rd_heap_put(xsr_reader *reader, rd_node node) {
    uint32_t at = reader->heap_count++; /* rings that were in it before: there is room */
    for (uint32_t above; at && before(&node, &reader->heap[above = (at - 1) / 2]); at = above)
        reader->heap[at] = reader->heap[above];
    reader->heap[at] = node;
}

void rd_heap_drop(xsr_reader *reader) {
    reader->heap[0] = reader->heap[--reader->heap_count];
    if (reader->heap_count)
        sink_down(reader->heap, reader->heap_count, 0);
}

/* A ring's next event waits for its turn in the merge: time to fetch what it will touch. */
static void prepare(xsr_reader *reader, uint32_t ring) {
    rd_ring *r = &reader->rings[ring];
    r->slot = XSR_NONE;
    if (rd_event_info_of(r->raw.kind)->object != XS_OBJECT_SLOT)
        return;
    r->slot = rd_map_get(&reader->slot_of, (uint64_t)reader->model.rings[ring].process << 32 | r->raw.object);
    if (r->slot != XSR_NONE)
        rd_history_prefetch(&reader->slots[r->slot], r->raw.kind);
}

static int64_t key_of(xsr_reader *reader, uint32_t ring) {
    return rd_host_time(&reader->rings[ring], reader->rings[ring].key);
}

static int end_ring(xsr_reader *reader, uint32_t ring) {
    const xsr_ring *row = &reader->model.rings[ring];
    const rd_ring *r = &reader->rings[ring];
    reader->model.rings[ring].tail_unknown =
        reader->model.processes[row->process].tail_unknown && (r->writing || r->writer == XSR_NONE);
    return rd_deliver_holes(reader, ring, r->expected);
}

/* Every ring's first event; the model's begin. */
static int start_rings(xsr_reader *reader) {
    uint32_t rings = reader->model.ring_count;
    reader->heap_count = 0;
    rd_turn_reset(reader);
    if (RD_ROOM(reader->heap, reader->room.heap, rings) < 0)
        return XS_E_MEMORY;
    for (uint32_t ring = 0; ring < rings; ring++) {
        rd_cursor_start(reader, ring);
        int rc = rd_cursor_next(reader, ring);
        if (rc < 0)
            return rc;
        reader->rings[ring].silent = rc == 0;
        reader->rings[ring].slot = XSR_NONE;
        if (rc == 1)
            reader->heap[reader->heap_count++] = (rd_node){key_of(reader, ring), ring};
    }
    for (uint32_t i = reader->heap_count / 2; i-- > 0;)
        sink_down(reader->heap, reader->heap_count, i);
    return 0;
}

static int deliver_event(xsr_reader *reader, uint32_t ring) {
    xsr_event event;
    xsr_wait wait;
    int rc = rd_decode(reader, ring, &event);
    int over = rc < 0 ? rc : rd_wait_event(reader, &event, &wait);
    if (over < 0)
        return over;
    reader->rings[ring].heard = event.time;
    reader->rings[ring].after = event.sequence + reader->rings[ring].raw.records;
    if (event.time > reader->model.end)
        reader->model.end = event.time;
    if (event.slot != XSR_NONE && (event.kind == XS_EV_SIGNAL || event.kind == XS_EV_WATERMARK))
        rd_infer(reader, &event);
    rc = event.kind == XS_EV_EXPECT ? rd_expect(reader, &event) : 0;
    if (rc == 0)
        rc = rd_sink_event(reader, &event);
    if (rc == 0)
        rc = rd_pair_event(reader, &event);
    if (rc == 0 && over)
        rc = rd_pair_wait(reader, &wait);
    return rc;
}

static int next_of(xsr_reader *reader, uint32_t ring) {
    int rc = rd_cursor_next(reader, ring);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        rd_heap_drop(reader);
        return end_ring(reader, ring);
    }
    prepare(reader, ring);
    reader->heap[0].key = key_of(reader, ring);
    sink_down(reader->heap, reader->heap_count, 0);
    return 0;
}

static int step(xsr_reader *reader) {
    rd_turn_old(reader);
    int rc = rd_turn_hold(reader);
    if (rc)
        return rc < 0 ? rc : 0;
    uint32_t ring = reader->heap[0].ring;
    rc = rd_pair_time(reader, reader->heap[0].key);
    if (rc == 0)
        rc = rd_deliver_holes(reader, ring, reader->rings[ring].raw.sequence);
    if (rc == 0)
        rc = deliver_event(reader, ring);
    if (rc)
        return rc;
    rc = next_of(reader, ring);
    if (reader->awaited)
        rd_turn_written(reader);
    return rc;
}

static void tell_progress(xsr_reader *reader) {
    if (!reader->options.progress)
        return;
    double share = 1;
    if (reader->heap_count && reader->model.end > reader->model.begin)
        share = (double)(reader->heap[0].key - reader->model.begin) / (double)(reader->model.end - reader->model.begin);
    reader->options.progress(reader->options.user, share < 0 ? 0 : share);
}

static int merge(xsr_reader *reader) {
    for (uint32_t ring = 0; ring < reader->model.ring_count; ring++) {
        if (reader->rings[ring].silent) {
            int rc = end_ring(reader, ring);
            if (rc)
                return rc;
        }
    }
    for (uint64_t n = 0; reader->heap_count || reader->held_count; n++) {
        int rc = step(reader);
        if (rc)
            return rc;
        if (n % 65536 == 0)
            tell_progress(reader);
    }
    tell_progress(reader);
    return 0;
}

/* Waits first, so that every signal knows all waits that it released. */
static int settle(xsr_reader *reader) {
    rd_feed_end(reader);
    int rc = rd_pair_finish(reader);
    if (rc == 0)
        rc = rd_waits_finish(reader);
    return rc ? rc : rd_history_finish(reader);
}

/* The tables that need all of it. */
static int finish(xsr_reader *reader) {
    int rc = rd_expect_finish(reader);
    if (rc == 0)
        rc = rd_infer_finish(reader);
    if (rc == 0)
        rc = rd_causal_finish(reader);
    if (rc == 0)
        rc = rd_instances_find(reader);
    rd_feed_settled(reader);
    for (uint32_t i = 0; i < reader->model.activity_count && rc == 0; i++)
        rc = rd_sink_activity(reader, &reader->model.activities[i]);
    return rc ? rc : rd_feed_finish(reader);
}

static void note_begin(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    m->begin = reader->heap_count ? reader->heap[0].key : INT64_MAX;
    for (uint32_t i = 0; i < m->launch_count && !reader->trimmed && !reader->triggered; i++)
        if (m->launches[i].begin != NO_TIME && m->launches[i].begin < m->begin)
            m->begin = m->launches[i].begin;
    if (m->begin == INT64_MAX)
        m->begin = reader->newest_frame;
    m->end = reader->newest_frame > m->begin ? reader->newest_frame : m->begin;
}

int xsr_run(xsr_reader *reader, xsr_sink *const *sinks, uint32_t count) {
    if (!reader || (count && !sinks))
        return XS_E_ARGUMENT;
    rd_pass_reset(reader);
    reader->sinks = sinks;
    reader->sink_count = count;
    free(reader->rank_gaps);
    reader->rank_gaps = calloc(reader->model.rank_count + 1, sizeof *reader->rank_gaps);
    if (!reader->rank_gaps)
        return XS_E_MEMORY;
    int rc = start_rings(reader);
    if (rc)
        return rc;
    note_begin(reader);
    rc = rd_feed_begin(reader);
    if (rc == 0)
        rc = merge(reader);
    if (rc == 0)
        rc = settle(reader);
    int refused = rd_feed_stop(reader);
    if (refused || rc)
        return refused ? refused : rc;
    return finish(reader);
}
