/* Rings of entries that start with their sequence, written last with release order: the journal, what CUPTI tells. */
#ifndef XS_STAMPED_H
#define XS_STAMPED_H

#include "region_view.h"

typedef struct xs_stamped {
    const char *base;
    uint64_t entries; /* power of two */
    uint32_t bytes;   /* of an entry; a multiple of 8 */
} xs_stamped;

static inline xs_stamped xs_stamped_journal(const xs_region_view *v) {
    return (xs_stamped){v->base + v->head.journal_offset, v->head.journal_entries, sizeof(xs_journal_entry)};
}
static inline xs_stamped xs_stamped_activity(const xs_region_view *v) {
    return (xs_stamped){v->base + v->head.activity_offset + sizeof(xs_activity_head), v->head.activity_entries,
                        sizeof(xs_activity_entry)};
}

/* 1: *copy is entry `sequence`, whole. */
int xs_stamped_copy(const xs_stamped *ring, uint64_t sequence, void *copy);
/* How many entries from `sequence` on are gone: overwritten, or (last) never finished. 0: just not here yet. */
uint64_t xs_stamped_gone(const xs_stamped *ring, uint64_t sequence, int last);

#endif
