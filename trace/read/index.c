/* What flows: RECORDS frames are indexed (32 bytes each); looks, owners, losses and the newest status lines are kept.
 * Then everything is sorted by ring and sequence, and each ring gets its ranges. */
#include "internal.h"

#define SEQUENCE_MAX (1ull << 62) /* beyond it a sequence is nonsense */

static uint32_t ring_row(xsr_reader *reader, uint32_t process, uint32_t ring) {
    xsr_model *m = &reader->model;
    uint64_t key = (uint64_t)process << 32 | ring;
    uint32_t at = rd_map_get(&reader->ring_of, key);
    if (at != XSR_NONE)
        return at;
    at = m->ring_count;
    if (RD_ROOM(m->rings, reader->room.rings, at + 1) < 0 || RD_ROOM(reader->rings, reader->room.ring, at + 1) < 0 ||
        rd_map_put(&reader->ring_of, key, at) < 0)
        return XSR_NONE;
    m->rings[at] = (xsr_ring){.process = process, .ring = ring};
    memset(&reader->rings[at], 0, sizeof reader->rings[at]);
    reader->rings[at].device = RD_NO_DEVICE;
    m->ring_count++;
    return at;
}

int rd_take_records(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    xs_frame_records head;
    if (frame->payload_bytes < sizeof head)
        return 0;
    memcpy(&head, payload, sizeof head);
    uint64_t bytes = frame->payload_bytes - sizeof head;
    if (head.first == 0 || head.count == 0 || head.count != bytes / sizeof(xs_record) || bytes % sizeof(xs_record) ||
        head.first > SEQUENCE_MAX || frame->ring == UINT32_MAX)
        return 0;
    uint32_t p = rd_process_of(reader, frame), ring = p == XSR_NONE ? p : ring_row(reader, p, frame->ring);
    if (ring == XSR_NONE || RD_ROOM(reader->spans, reader->room.spans, reader->span_count + 1) < 0)
        return XS_E_MEMORY;
    reader->rings[ring].device = frame->device;
    reader->spans[reader->span_count++] =
        (rd_span){.first = head.first, .payload = payload, .count = head.count, .ring = ring};
    reader->model.records += head.count;
    return 1;
}

static int take_look(xsr_reader *reader, uint32_t process, const unsigned char *row) {
    xs_frame_look look;
    memcpy(&look, row, sizeof look);
    if (look.newest > SEQUENCE_MAX)
        return 0;
    uint32_t ring = ring_row(reader, process, look.ring);
    if (ring == XSR_NONE || RD_ROOM(reader->looks, reader->room.looks, reader->look_count + 1) < 0)
        return XS_E_MEMORY;
    if (look.newest > reader->rings[ring].newest)
        reader->rings[ring].newest = look.newest;
    reader->looks[reader->look_count++] = (rd_look){.newest = look.newest, .time = look.time, .ring = ring};
    return 0;
}

static int take_owner(xsr_reader *reader, uint32_t process, const unsigned char *row) {
    xs_frame_owner owner;
    memcpy(&owner, row, sizeof owner);
    uint32_t ring = ring_row(reader, process, owner.ring);
    if (ring == XSR_NONE || RD_ROOM(reader->owners, reader->room.owners, reader->owner_count + 1) < 0)
        return XS_E_MEMORY;
    reader->owners[reader->owner_count++] = (rd_owner){ring, owner.ordinal, owner.owner};
    return 0;
}

static int take_loss(xsr_reader *reader, uint32_t process, const unsigned char *row) {
    xs_frame_loss loss;
    memcpy(&loss, row, sizeof loss);
    if (loss.first == 0 || loss.last < loss.first || loss.last > SEQUENCE_MAX)
        return 0;
    uint32_t ring = ring_row(reader, process, loss.ring);
    if (ring == XSR_NONE || RD_ROOM(reader->losses, reader->room.losses, reader->loss_count + 1) < 0)
        return XS_E_MEMORY;
    if (loss.last > reader->rings[ring].newest)
        reader->rings[ring].newest = loss.last;
    reader->losses[reader->loss_count++] = (rd_loss){loss.first, loss.last, ring, loss.cause, loss.at_least != 0};
    return 0;
}

/* A half-new line (parts of several generations) says nothing. */
static bool line_is_whole(const xs_status_line *line) {
    uint32_t words[32];
    memcpy(words, line, sizeof words);
    for (uint32_t i = 4; i < 32; i += 4)
        if (words[i] != words[0])
            return false;
    return words[0] != 0;
}

static int take_status(xsr_reader *reader, uint32_t process, const unsigned char *row) {
    xs_frame_status s;
    memcpy(&s, row, sizeof s);
    if (!line_is_whole(&s.status))
        return 0;
    uint32_t ring = ring_row(reader, process, s.ring);
    if (ring == XSR_NONE)
        return XS_E_MEMORY;
    uint64_t key = (uint64_t)ring << 32 | s.line;
    uint32_t at = rd_map_get(&reader->status_of, key);
    if (at == XSR_NONE) {
        at = reader->status_count;
        if (RD_ROOM(reader->statuses, reader->room.statuses, at + 1) < 0 || rd_map_put(&reader->status_of, key, at) < 0)
            return XS_E_MEMORY;
        reader->status_count++;
        reader->statuses[at].time = 0;
    }
    if (s.time >= reader->statuses[at].time)
        reader->statuses[at] = (rd_status){ring, s.line, s.time, s.status};
    return 0;
}

int rd_take_ring_rows(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    static const struct {
        size_t width;
        int (*take)(xsr_reader *, uint32_t, const unsigned char *);
    } kinds[XS_FRAME_COUNT] = {
        [XS_FRAME_LOOK] = {sizeof(xs_frame_look), take_look},
        [XS_FRAME_OWNERS] = {sizeof(xs_frame_owner), take_owner},
        [XS_FRAME_STATUS] = {sizeof(xs_frame_status), take_status},
        [XS_FRAME_LOSS] = {sizeof(xs_frame_loss), take_loss},
    };
    size_t width = kinds[frame->type].width;
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes % width)
        return 0;
    for (uint64_t i = 0; i < frame->payload_bytes / width; i++) {
        int rc = kinds[frame->type].take(reader, p, payload + i * width);
        if (rc < 0)
            return rc;
    }
    return 1;
}

#define BY(field) if (x->field != y->field) return x->field < y->field ? -1 : 1
static int by_span(const void *a, const void *b) {
    const rd_span *x = a, *y = b;
    BY(ring);
    BY(first);
    BY(payload);
    return 0;
}
static int by_loss(const void *a, const void *b) {
    const rd_loss *x = a, *y = b;
    BY(ring);
    BY(first);
    BY(last);
    return 0;
}
static int by_owner(const void *a, const void *b) {
    const rd_owner *x = a, *y = b;
    BY(ring);
    BY(owner.first);
    BY(ordinal);
    return 0;
}
static int by_look(const void *a, const void *b) {
    const rd_look *x = a, *y = b;
    BY(ring);
    BY(newest);
    BY(time);
    return 0;
}

static int by_status(const void *a, const void *b) {
    const rd_status *x = a, *y = b;
    BY(ring);
    BY(line);
    return 0;
}

static bool same_look(const rd_look *a, const rd_look *b) { return a->ring == b->ring && a->newest == b->newest; }

/* Of several looks with one newest record, the first bounds that record and the last bounds the next. Owners are
 * written again by each segment. */
static void drop_repeats(xsr_reader *reader) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->look_count; i++) {
        bool middle = kept > 1 && same_look(&reader->looks[kept - 2], &reader->looks[i]);
        reader->looks[middle ? kept - 1 : kept++] = reader->looks[i];
    }
    reader->look_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < reader->owner_count; i++)
        if (kept == 0 || reader->owners[i].ring != reader->owners[kept - 1].ring ||
            reader->owners[i].owner.first != reader->owners[kept - 1].owner.first)
            reader->owners[kept++] = reader->owners[i];
    reader->owner_count = kept;
}

#define RANGES(rows, count, begin, end)                          \
    for (uint32_t i = 0; i < reader->count; i++) {               \
        rd_ring *r = &reader->rings[reader->rows[i].ring];       \
        r->begin = r->end == 0 ? i : r->begin;                   \
        r->end = i + 1;                                          \
    }

static void sort_rows(void *rows, uint32_t count, size_t width, int (*by)(const void *, const void *)) {
    if (count)
        qsort(rows, count, width, by);
}

static int make_ranks(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    for (uint32_t p = 0; p < m->process_count; p++)
        for (uint32_t i = 0; i < m->processes[p].ranks; i++) {
            if (RD_ROOM(m->ranks, reader->room.ranks, m->rank_count + 1) < 0)
                return XS_E_MEMORY;
            m->ranks[m->rank_count++] =
                (xsr_rank){.rank = m->processes[p].first_rank + i, .process = p, .device = m->processes[p].device};
        }
    return 0;
}

static int by_rank(const void *a, const void *b) {
    const xsr_rank *x = a, *y = b;
    BY(rank);
    BY(process);
    return 0;
}

/* A ring's rank follows from its number; a number beyond the process's rings is put to its last rank. */
static int rank_rings(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    rd_map at = {0};
    int rc = 0;
    for (uint32_t i = 0; i < m->rank_count && rc == 0; i++)
        rc = rd_map_put(&at, (uint64_t)m->ranks[i].process << 32 | m->ranks[i].rank, i);
    for (uint32_t i = 0; i < m->ring_count && rc == 0; i++) {
        const xsr_process *p = &m->processes[m->rings[i].process];
        const rd_process *in = &reader->processes[m->rings[i].process];
        uint32_t rank = m->rings[i].ring / in->region.rings_per_rank;
        if (rank >= p->ranks) {
            rank = p->ranks - 1;
            rc = rd_note(reader, "process %d: ring %u lies beyond its %u ranks", p->pid, m->rings[i].ring, p->ranks);
        }
        m->rings[i].rank = rd_map_get(&at, (uint64_t)m->rings[i].process << 32 | (p->first_rank + rank));
        uint32_t bits = in->region.sequence_bits;
        reader->rings[i].mask = (uint32_t)(UINT32_MAX >> (32 - bits));
    }
    rd_map_free(&at);
    return rc;
}

int rd_index_finish(xsr_reader *reader) {
    int rc = make_ranks(reader);
    if (rc < 0)
        return rc;
    sort_rows(reader->model.ranks, reader->model.rank_count, sizeof(xsr_rank), by_rank);
    sort_rows(reader->spans, reader->span_count, sizeof *reader->spans, by_span);
    sort_rows(reader->losses, reader->loss_count, sizeof *reader->losses, by_loss);
    rd_settle_losses(reader);
    sort_rows(reader->owners, reader->owner_count, sizeof *reader->owners, by_owner);
    sort_rows(reader->looks, reader->look_count, sizeof *reader->looks, by_look);
    sort_rows(reader->statuses, reader->status_count, sizeof *reader->statuses, by_status);
    drop_repeats(reader);
    RANGES(spans, span_count, span_begin, span_end)
    RANGES(losses, loss_count, loss_begin, loss_end)
    RANGES(owners, owner_count, owner_begin, owner_end)
    RANGES(looks, look_count, look_begin, look_end)
    RANGES(statuses, status_count, status_begin, status_end)
    return rank_rings(reader);
}
