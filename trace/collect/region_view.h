/* A region as a reader sees it. The region may belong to another process, so its header is checked once, copied, and
 * only the copy is used: whatever the other process writes later cannot lead a reader outside the mapping. */
#ifndef XS_REGION_VIEW_H
#define XS_REGION_VIEW_H

#include <xs/ring_access.h>

typedef struct xs_region_view {
    char *base;
    uint64_t bytes;
    uint32_t rings;         /* of all ranks */
    xs_region_header head;  /* as it was when it was checked */
} xs_region_view;

/* Takes a region of `bytes` mapped bytes (readable and writable) apart. XS_E_FORMAT: sizes or offsets that do not
 * fit into it; XS_E_VERSION: of another version, or with records of a form that is not known here; XS_E_UNSUPPORTED:
 * with records that this machine cannot load whole. The mapping stays the caller's and must outlive the view. */
int xs_region_view_open(xs_region_view *view, void *base, uint64_t bytes);

/* The first: what the collector asks of the process. */
static inline xs_control *xs_view_control(const xs_region_view *v) {
    return (xs_control *)(void *)(v->base + v->head.control_offset);
}
typedef struct xs_view_counts {
    uint64_t no_ring, foreign, no_line;
} xs_view_counts;
xs_view_counts xs_view_counters(const xs_region_view *view); /* over all ranks */
static inline xs_ring_header *xs_view_ring(const xs_region_view *v, uint32_t ring) {
    return (xs_ring_header *)(void *)(v->base + v->head.ring_headers_offset + ring * v->head.ring_header_stride);
}
static inline const xs_record *xs_view_records(const xs_region_view *v, uint32_t ring) {
    return (const xs_record *)(void *)(v->base + v->head.records_offset + ring * v->head.records_stride);
}
/* log2 of the records of a ring, and the mask of what records tell of a sequence. */
static inline uint32_t xs_view_shift(const xs_region_view *v) { return (uint32_t)__builtin_ctz(v->head.ring_records); }
static inline uint32_t xs_view_known(const xs_region_view *v) {
    return xs_sequence_known(v->head.record_words, xs_view_shift(v));
}
static inline const xs_status_line *xs_view_line(const xs_region_view *v, uint32_t ring, uint32_t line) {
    uint64_t index = (uint64_t)ring * v->head.lines_per_ring + line;
    return (const xs_status_line *)(void *)(v->base + v->head.status_offset + index * v->head.status_stride);
}
static inline const xs_journal_entry *xs_view_journal(const xs_region_view *v, uint64_t sequence) {
    uint64_t index = (sequence - 1) & (v->head.journal_entries - 1);
    return (const xs_journal_entry *)(void *)(v->base + v->head.journal_offset) + index;
}
/* NULL: the region has no such section. */
static inline xs_activity_head *xs_view_activity(const xs_region_view *v) {
    return v->head.activity_entries ? (xs_activity_head *)(void *)(v->base + v->head.activity_offset) : NULL;
}
/* Is the ring taken by a writer? As xs_ring_taken says. */
static inline int xs_view_taken(const xs_region_view *v, uint32_t ring) {
    uint32_t rank = ring / v->head.rings_per_rank, bit = ring % v->head.rings_per_rank;
    const uint64_t *groups = (const uint64_t *)(void *)(v->base + v->head.groups_offset);
    return xs_ring_taken(&groups[rank * v->head.groups_per_rank + bit / 64], bit, xs_view_ring(v, ring));
}
/* Bytes of the catalog that are whole. Acquire. */
static inline uint64_t xs_view_catalog_used(const xs_region_view *v) {
    const xs_region_header *live = (const xs_region_header *)(void *)v->base;
    uint64_t used = __atomic_load_n(&live->catalog_used, __ATOMIC_ACQUIRE);
    return used < v->head.catalog_bytes ? used : v->head.catalog_bytes;
}

/* 1: *copy is whole: all eight parts of one generation. 0: never used. -1: half new every time it was looked at. */
int xs_view_copy_line(const xs_region_view *view, uint32_t ring, uint32_t line, xs_status_line *copy);

/* A GPU takes microseconds to write a line, since it reads parts of it back over the bus: longer than a few looks
 * take. */
typedef struct xs_view_patience {
    uint32_t rests; /* that are left, for whoever shares this */
    void (*rest)(void *user);
    void *user;
} xs_view_patience;
/* The same, but rests while the line is half new. -1: it still was when no rest was left. */
int xs_view_await_line(const xs_region_view *view, uint32_t ring, uint32_t line, xs_status_line *copy,
                       xs_view_patience *patience);

#endif
