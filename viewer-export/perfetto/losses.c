/* Lost records: slices on `lost records` of their rank, spans in `trace health`, and the trace's own statistics. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

#define DROPPED_PRESENT 1u
#define DROPPED_READ_GAP 2u
#define DROPPED_OVERWRITE 64u
#define DROPPED_WRITER_ABORT 128u
#define DROPPED_BUFFER_FULL 256u
#define CLOCK_BOOT 6u

typedef struct gap {
    xsr_loss loss;
    uint32_t rank;
    int64_t begin, end;
} gap;

struct losses {
    gap *list;
    uint32_t count, room;
    uint64_t records;
    uint32_t span_track;
};

static uint64_t lost_in(const xsr_loss *l) { return l->last - l->first + 1; }

int losses_add(drawing *d, const xsr_loss *loss) {
    if (!d->losses)
        d->losses = calloc(1, sizeof *d->losses);
    struct losses *l = d->losses;
    if (!l || xsv_room(&l->list, &l->room, l->count, sizeof *l->list, 0))
        return XS_E_MEMORY;
    l->list[l->count++] = (gap){.loss = *loss, .rank = d->model->rings[loss->ring].rank};
    l->records += lost_in(loss);
    return XS_OK;
}

uint64_t losses_records(const drawing *d) { return d->losses ? d->losses->records : 0; }

static int by_begin(const void *a, const void *b) {
    const gap *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->loss.ring != y->loss.ring ? (x->loss.ring < y->loss.ring ? -1 : 1)
                                        : (x->loss.first > y->loss.first) - (x->loss.first < y->loss.first);
}

static void place_gaps(const drawing *d, struct losses *l) {
    for (uint32_t i = 0; i < l->count; i++) {
        gap *g = &l->list[i];
        g->begin = g->loss.before == INT64_MIN ? drawing_begin(d) : g->loss.before;
        g->end = g->loss.after == INT64_MAX ? drawing_end(d) : g->loss.after;
        if (g->end <= g->begin)
            g->end = g->begin + 1;
    }
    qsort(l->list, l->count, sizeof *l->list, by_begin);
}

/* ---- slices, in the fewest rows where none overlaps another ---- */

typedef struct row {
    uint32_t track;
    int64_t free_from;
} row;

static uint32_t row_track(drawing *d, uint32_t rank, uint32_t number) {
    track_info t = {.parent = d->ranks[rank].process};
    t.name =
        number ? strings_format(&d->texts, "lost records (%u)", number + 1) : strings_id(&d->texts, "lost records");
    t.description =
        strings_id(&d->texts, "Where records are missing, from the last one before to the first one after.");
    return track_add(d, &t);
}

static int draw_gap(drawing *d, const gap *g, uint32_t track) {
    char text[256];
    args a = {.count = 0};
    const xsr_loss *loss = &g->loss;
    const char *writer = loss->writer != XSR_NONE ? d->model->writers[loss->writer].name : "owner unknown";
    snprintf(text, sizeof text, "%s%llu record%s lost (%.180s)", loss->at_least ? "at least " : "",
             (unsigned long long)lost_in(loss), lost_in(loss) == 1 ? "" : "s", writer);
    arg_uint(d, &a, KEY_lost, lost_in(loss));
    arg_uint(d, &a, KEY_ring, d->model->rings[loss->ring].ring);
    arg_chars(d, &a, KEY_mode, xsr_loss_name(loss->cause));
    if (loss->at_least)
        arg_uint(d, &a, KEY_at_least, 1);
    slice s = {.track = track, .begin = g->begin, .end = g->end, .text = text, .category = d->category[CATEGORY_loss]};
    s.args = a.list;
    s.arg_count = a.count;
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static int draw_rank(drawing *d, const struct losses *l, uint32_t rank) {
    row *rows = NULL;
    uint32_t count = 0, room = 0;
    int rc = XS_OK;
    for (uint32_t i = 0; i < l->count && !rc; i++) {
        const gap *g = &l->list[i];
        uint32_t at = 0;
        if (g->rank != rank)
            continue;
        while (at < count && rows[at].free_from > g->begin)
            at++;
        rc = xsv_room(&rows, &room, at, sizeof *rows, 0);
        if (rc)
            break;
        if (at == count)
            rows[count++].track = row_track(d, rank, at);
        rows[at].free_from = g->end;
        rc = draw_gap(d, g, rows[at].track);
    }
    free(rows);
    return rc;
}

/* ---- `trace health`: all gaps, those that overlap as one ---- */

static int draw_span(drawing *d, int64_t begin, int64_t end, uint64_t lost) {
    char text[64];
    args a = {.count = 0};
    snprintf(text, sizeof text, "%llu record%s lost", (unsigned long long)lost, lost == 1 ? "" : "s");
    arg_uint(d, &a, KEY_records, lost);
    slice s = {.track = d->losses->span_track,
               .begin = begin,
               .end = end,
               .text = text,
               .category = d->category[CATEGORY_health]};
    s.args = a.list;
    s.arg_count = a.count;
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

int losses_health(drawing *d, uint32_t track) {
    struct losses *l = d->losses;
    if (!l)
        return XS_OK;
    l->span_track = track;
    for (uint32_t i = 0, next; i < l->count; i = next) {
        int64_t end = l->list[i].end;
        uint64_t lost = 0;
        for (next = i; next < l->count && (next == i || l->list[next].begin < end); next++) {
            end = l->list[next].end > end ? l->list[next].end : end;
            lost += lost_in(&l->list[next].loss);
        }
        TRY(draw_span(d, l->list[i].begin, end < drawing_end(d) ? end : drawing_end(d), lost));
    }
    return XS_OK;
}

/* ---- the trace's own statistics ---- */

static uint32_t cause_bits(uint32_t cause) {
    switch (cause) {
    case XS_LOSS_OVERWRITTEN: return DROPPED_PRESENT | DROPPED_OVERWRITE;
    case XS_LOSS_DISCARDED: return DROPPED_PRESENT | DROPPED_BUFFER_FULL;
    case XS_LOSS_NEVER_ARRIVED: return DROPPED_PRESENT | DROPPED_WRITER_ABORT;
    default: return DROPPED_PRESENT | DROPPED_READ_GAP;
    }
}

static int write_mark(trace_file *file, uint32_t rank, int64_t time, uint32_t dropped) {
    TracePacket packet = TRACE_PACKET__INIT;
    packet.has_timestamp = packet.has_timestamp_clock_id = packet.has_trusted_packet_sequence_id =
        packet.has_sequence_flags = 1;
    packet.timestamp = time < 0 ? 0 : (uint64_t)time;
    packet.timestamp_clock_id = CLOCK_BOOT;
    packet.trusted_packet_sequence_id = SEQUENCE_LOSS + rank;
    packet.sequence_flags = 1;
    packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = dropped == 0;
    packet.has_previous_packet_dropped = dropped != 0;
    packet.previous_packet_dropped = dropped;
    return encoder_packet(&file->enc, &packet, 0);
}

/* A sequence of its own for each rank, so that a gap costs no interned text. Its first packet only opens it. */
static int write_marks(trace_file *file, const struct losses *l, uint32_t rank) {
    bool begun = false;
    for (uint32_t i = 0; i < l->count; i++) {
        const gap *g = &l->list[i];
        if (g->rank != rank)
            continue;
        if (!begun)
            TRY(write_mark(file, rank, g->begin, 0));
        begun = true;
        TRY(write_mark(file, rank, g->end, cause_bits(g->loss.cause)));
    }
    return XS_OK;
}

static int write_stats(drawing *d, trace_file *file) {
    uint32_t n = d->model->rank_count;
    BufferStats *buffers = calloc(n, sizeof *buffers);
    WriterStats *writers = calloc(n, sizeof *writers);
    void **pointers = calloc(2 * (size_t)n, sizeof *pointers);
    int rc = buffers && writers && pointers ? XS_OK : XS_E_MEMORY;
    for (uint32_t r = 0; r < n && !rc; r++) {
        buffer_stats__init(&buffers[r]);
        writer_stats__init(&writers[r]);
        buffers[r].has_trace_writer_packet_loss = 1;
        for (uint32_t i = 0; i < d->losses->count; i++)
            buffers[r].trace_writer_packet_loss += d->losses->list[i].rank == r ? lost_in(&d->losses->list[i].loss) : 0;
        writers[r].has_sequence_id = writers[r].has_buffer = 1;
        writers[r].sequence_id = SEQUENCE_LOSS + r;
        writers[r].buffer = r;
        pointers[r] = &buffers[r];
        pointers[n + r] = &writers[r];
    }
    if (!rc) {
        TraceStats stats = TRACE_STATS__INIT;
        stats.n_buffer_stats = stats.n_writer_stats = n;
        stats.buffer_stats = (BufferStats **)pointers;
        stats.writer_stats = (WriterStats **)(pointers + n);
        TracePacket packet = TRACE_PACKET__INIT;
        packet.trace_stats = &stats;
        rc = encoder_packet(&file->enc, &packet, 64u * n);
    }
    free(buffers);
    free(writers);
    free(pointers);
    return rc;
}

/* Each file tells the loss of the whole run: its windows overlap the gaps anyhow. */
int losses_finish(drawing *d) {
    struct losses *l = d->losses;
    if (!l)
        return XS_OK;
    place_gaps(d, l);
    for (uint32_t r = 0; r < d->model->rank_count; r++)
        TRY(draw_rank(d, l, r));
    for (uint32_t i = 0; i <= d->window_count; i++) {
        trace_file *file = i < d->window_count ? d->windows[i] : d->overview;
        for (uint32_t r = 0; file && r < d->model->rank_count; r++)
            TRY(write_marks(file, l, r));
        if (file)
            TRY(write_stats(d, file));
    }
    return XS_OK;
}

void losses_free(drawing *d) {
    if (!d->losses)
        return;
    free(d->losses->list);
    free(d->losses);
}
