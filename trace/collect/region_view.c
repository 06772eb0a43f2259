#include "region_view.h"

#include <string.h>
#include <xs/errors.h>
#include <xs/record_access.h>

/* More than any machine has; keeps the products below from overflowing. */
#define MOST_RANKS 65536u
#define MOST_RINGS 65536u
#define MOST_RECORDS (1u << 24)
#define MOST_LINES 65536u
#define MOST_STRIDE (1u << 30)

#define LINE_TRIES 16 /* a line that is being written is looked at so often */

/* Parts follow each other (region.h): what the reader writes, ring positions, must not stand in another part. */
static int follows(const xs_region_header *h, uint64_t *end, uint64_t offset, uint64_t count, uint64_t stride,
                   uint64_t align) {
    if (offset % align || stride % align || offset < *end || offset > h->total_bytes ||
        (count && stride > (h->total_bytes - offset) / count))
        return 0;
    *end = offset + count * stride;
    return 1;
}

static int power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

static int counts_fit(const xs_region_header *h) {
    return h->header_bytes == sizeof *h && h->record_bytes == sizeof(xs_record) && h->ranks && h->ranks <= MOST_RANKS &&
           h->rings_per_rank && h->rings_per_rank <= MOST_RINGS &&
           h->rings_per_rank <= h->groups_per_rank * (uint64_t)64 && h->groups_per_rank <= MOST_RINGS &&
           power_of_two(h->ring_records) && h->ring_records <= MOST_RECORDS && h->lines_per_ring <= MOST_LINES &&
           power_of_two(h->journal_entries) && h->journal_entries <= MOST_RECORDS &&
           (!h->activity_entries || power_of_two(h->activity_entries)) && h->activity_entries <= MOST_RECORDS;
}

static int ranks_fit(const xs_region_header *h) {
    return h->world_ranks <= MOST_RANKS && h->ranks <= h->world_ranks && h->first_rank <= h->world_ranks - h->ranks;
}

static int activity_fits(const xs_region_header *h, uint64_t end) {
    return !h->activity_entries || (follows(h, &end, h->activity_offset, 1, sizeof(xs_activity_head), 64) &&
                                    follows(h, &end, end, h->activity_entries, sizeof(xs_activity_entry), 64));
}

static int sections_fit(const xs_region_header *h) {
    uint64_t rings = (uint64_t)h->ranks * h->rings_per_rank, end = sizeof *h;
    return rings <= UINT32_MAX && h->ring_header_stride >= sizeof(xs_ring_header) &&
           h->ring_header_stride <= MOST_STRIDE && h->status_stride >= sizeof(xs_status_line) &&
           h->status_stride <= MOST_STRIDE && h->records_stride / sizeof(xs_record) >= h->ring_records &&
           follows(h, &end, h->control_offset, h->ranks, sizeof(xs_control), 64) &&
           follows(h, &end, h->groups_offset, (uint64_t)h->ranks * h->groups_per_rank, sizeof(uint64_t), 8) &&
           follows(h, &end, h->ring_headers_offset, rings, h->ring_header_stride, 64) &&
           follows(h, &end, h->status_offset, rings * h->lines_per_ring, h->status_stride, 16) &&
           follows(h, &end, h->records_offset, rings, h->records_stride, 16) &&
           follows(h, &end, h->catalog_offset, 1, h->catalog_bytes & ~(uint64_t)15, 16) &&
           follows(h, &end, h->journal_offset, h->journal_entries, sizeof(xs_journal_entry), 64) &&
           activity_fits(h, end);
}

int xs_region_view_open(xs_region_view *view, void *base, uint64_t bytes) {
    xs_region_header *h = &view->head;
    if (!base || (uintptr_t)base % 64 || bytes < sizeof *h)
        return XS_E_FORMAT;
    memcpy(h, base, sizeof *h);
    if (h->magic != XS_REGION_MAGIC)
        return XS_E_FORMAT;
    if (h->version != XS_REGION_VERSION || (h->record_words && h->record_words != 2))
        return XS_E_VERSION;
    if (!XS_WHOLE_ACCESS && h->record_words != 2)
        return XS_E_UNSUPPORTED;
    if (h->total_bytes > bytes || h->sequence_bits != XS_SEQUENCE_BITS || !ranks_fit(h) || !counts_fit(h) ||
        !sections_fit(h))
        return XS_E_FORMAT;
    h->catalog_bytes &= ~(uint64_t)15;
    view->base = base;
    view->bytes = bytes;
    view->rings = h->ranks * h->rings_per_rank;
    return 0;
}

int xs_view_copy_line(const xs_region_view *view, uint32_t ring, uint32_t line, xs_status_line *copy) {
    const xs_record *parts = (const xs_record *)(const void *)xs_view_line(view, ring, line);
    xs_record out[sizeof *copy / sizeof(xs_record)]; /* aligned, as a copy need not be */
    for (int tries = 0; tries < LINE_TRIES; tries++) {
        int whole = 1, used = 0;
        for (uint32_t i = 0; i < sizeof *copy / sizeof *parts; i++) {
            whole &= xs_part_load(view->head.record_words, &parts[i], &out[i]) && out[i].sequence &&
                     out[i].sequence == out[0].sequence;
            used |= out[i].sequence != 0;
        }
        if (whole) {
            memcpy(copy, out, sizeof out);
            return 1;
        }
        if (!used)
            return 0;
    }
    return -1;
}

int xs_view_await_line(const xs_region_view *view, uint32_t ring, uint32_t line, xs_status_line *copy,
                       xs_view_patience *patience) {
    int whole;
    while ((whole = xs_view_copy_line(view, ring, line, copy)) < 0 && patience->rests) {
        patience->rests--;
        patience->rest(patience->user);
    }
    return whole;
}

xs_view_counts xs_view_counters(const xs_region_view *view) {
    xs_view_counts sum = {0, 0, 0};
    for (uint32_t i = 0; i < view->head.ranks; i++) {
        const xs_control *c = xs_view_control(view) + i;
        sum.no_ring += __atomic_load_n(&c->no_ring, __ATOMIC_RELAXED);
        sum.foreign += __atomic_load_n(&c->foreign, __ATOMIC_RELAXED);
        sum.no_line += __atomic_load_n(&c->no_line, __ATOMIC_RELAXED);
    }
    return sum;
}
