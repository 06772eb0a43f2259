/* Holes in a ring's sequences: told to the sinks where they are, split by what LOSS frames say of their cause. */
#include "internal.h"

static int64_t moved(rd_ring *r, int64_t time) {
    return time == NO_TIME || time == INT64_MAX ? time : rd_host_time(r, time);
}

static int deliver(xsr_reader *reader, uint32_t ring, const rd_hole *hole, uint64_t first, uint64_t last,
                   const rd_loss *told) {
    rd_ring *r = &reader->rings[ring];
    xsr_loss loss = {.ring = ring,
                     .writer = r->writer,
                     .first = first,
                     .last = last,
                     .cause = told ? told->cause : 0,
                     .at_least = told && told->at_least,
                     .before = moved(r, hole->before),
                     .after = moved(r, hole->after),
                     .kind = hole->kind};
    if (!told && reader->trimmed && hole->before == NO_TIME)
        loss.cause = XS_LOSS_BOUNDED;
    else if (!told && reader->triggered && hole->before == NO_TIME)
        loss.cause = XS_LOSS_OVERWRITTEN;
    reader->model.rings[ring].lost += last - first + 1;
    reader->model.rings[ring].at_least |= loss.at_least;
    return rd_sink_lost(reader, &loss);
}

/* All up to `last` is gone, of a capture whose oldest segments were removed: under its bound, or since the disk was
 * full. */
static bool is_cumulative(const xsr_reader *reader, const rd_loss *row) {
    return row->cause == XS_LOSS_BOUNDED || (reader->trimmed && row->cause == XS_LOSS_NO_SPACE && row->first == 1);
}

/* Rows [begin, end) are those of one ring. Returns where the next ring's go. */
static uint32_t settle_ring(const xsr_reader *reader, rd_loss *rows, uint32_t begin, uint32_t end, uint32_t kept) {
    rd_loss gone = {.first = 1, .ring = rows[begin].ring, .cause = XS_LOSS_BOUNDED};
    uint32_t any = end;
    for (uint32_t i = end; i-- > begin;)
        if (is_cumulative(reader, &rows[i])) {
            if (rows[i].last > gone.last) {
                gone.last = rows[i].last;
                gone.cause = rows[i].cause;
            }
            any = i;
        }
    if (any < end) /* its row stands first: there is room for the new one */
        memmove(&rows[begin + 1], &rows[begin], (any - begin) * sizeof *rows);
    uint32_t place = kept;
    kept += any < end;
    for (uint32_t i = begin + (any < end); i < end; i++) {
        rd_loss row = rows[i];
        if (is_cumulative(reader, &row) || row.last <= gone.last) {
            gone.at_least |= row.at_least;
            continue;
        }
        row.first = row.first > gone.last ? row.first : gone.last + 1;
        rows[kept++] = row;
    }
    if (any < end)
        rows[place] = gone;
    return kept;
}

void rd_settle_losses(xsr_reader *reader) {
    uint32_t kept = 0, end;
    for (uint32_t i = 0; i < reader->loss_count; i = end) {
        for (end = i + 1; end < reader->loss_count && reader->losses[end].ring == reader->losses[i].ring;)
            end++;
        kept = settle_ring(reader, reader->losses, i, end, kept);
    }
    reader->loss_count = kept;
}

/* The first LOSS row that ends at or after `sequence`. */
static uint32_t told_from(const xsr_reader *reader, const rd_ring *r, uint64_t sequence) {
    uint32_t at;
    RD_SEARCH(at, r->loss_begin, r->loss_end, reader->losses[at].last < sequence);
    return at;
}

static int deliver_hole(xsr_reader *reader, uint32_t ring, const rd_hole *hole) {
    const rd_ring *r = &reader->rings[ring];
    uint32_t at = told_from(reader, r, hole->first);
    for (uint64_t from = hole->first; from <= hole->last;) {
        while (at < r->loss_end && reader->losses[at].last < from)
            at++;
        const rd_loss *told = at < r->loss_end && reader->losses[at].first <= hole->last ? &reader->losses[at] : NULL;
        bool inside = told && told->first <= from;
        uint64_t to = inside ? told->last : told ? told->first - 1 : hole->last;
        to = to < hole->last ? to : hole->last;
        int rc = deliver(reader, ring, hole, from, to, inside ? told : NULL);
        if (rc)
            return rc;
        from = to + 1;
    }
    return 0;
}

/* next: sequence of the event that follows (or would, at the ring's end). What lies between it and the event before is
 * lost, or torn: kept records of events whose other records are lost. */
int rd_deliver_holes(xsr_reader *reader, uint32_t ring, uint64_t next) {
    rd_ring *r = &reader->rings[ring];
    int rc = 0;
    if (next > r->after) {
        if (r->hole_count && r->holes[0].first == r->after && r->holes[0].kind == XS_EV_WAIT_END)
            rd_wait_gave_up(reader, ring, r->holes[0].result);
        rd_wait_gap(reader, ring, next - r->after);
        rc = rd_attribute_gap(reader, ring, next - r->after, next);
        reader->rank_gaps[reader->model.rings[ring].rank]++;
    }
    for (uint32_t i = 0; i < r->hole_count && rc == 0; i++)
        rc = deliver_hole(reader, ring, &r->holes[i]);
    r->hole_count = 0;
    return rc;
}

static bool hole_before(const xsr_reader *reader, uint32_t ring, int64_t until) {
    rd_ring *r = &reader->rings[ring];
    for (uint32_t i = 0; i < r->hole_count; i++)
        if (moved(r, r->holes[i].before) <= until)
            return true;
    return false;
}

/* Whether a record that this rank (XSR_NONE: any) wrote up to `until` may be missing from the capture. */
bool rd_may_be_lost(const xsr_reader *reader, uint32_t rank, int64_t until) {
    const xsr_model *m = &reader->model;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        const xsr_process *p = &m->processes[m->ranks[i].process];
        if ((rank == XSR_NONE || m->ranks[i].rank == rank) &&
            (reader->rank_gaps[i] || p->no_ring || p->foreign || p->tail_unknown))
            return true;
    }
    for (uint32_t i = 0; i < m->ring_count; i++)
        if ((rank == XSR_NONE || m->ranks[m->rings[i].rank].rank == rank) &&
            (m->rings[i].torn || hole_before(reader, i, until)))
            return true;
    return reader->windowed || m->damaged_frames || m->missing_frames || m->cut;
}
