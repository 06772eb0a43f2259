/* Reading what writers keep in a region that may be written at the same moment. Nothing is ordered, nothing is changed.
 */
#ifndef XS_ATTACH_READ_H
#define XS_ATTACH_READ_H

#include "region_view.h"

/* Whole entries in the order in which they were made; *entries is the caller's to free. 0 or XS_E_MEMORY. */
int xs_attach_journal(const xs_region_view *view, xs_journal_entry **entries, uint32_t *count);
/* How far a ring has come: the newest record's sequence, dropped ones included, cut to xs_view_known; 0: empty.
 * Sequences below are compared in these bits. */
uint32_t xs_attach_newest(const xs_region_view *view, uint32_t ring);
/* 1: *owner took the ring last. 0: nobody has had it. */
int xs_attach_owner(const xs_region_view *view, uint32_t ring, xs_ring_owner *owner);
/* 1: the ring's last owners include one of that launch. */
int xs_attach_had_owner(const xs_region_view *view, uint32_t ring, uint32_t launch);
/* 1: *record is that of that sequence. 0: it is not there (any more). */
int xs_attach_record(const xs_region_view *view, uint32_t ring, uint32_t sequence, xs_record *record);
/* Code of the record of that sequence, 0: it is not there (any more). */
uint32_t xs_attach_code(const xs_region_view *view, uint32_t ring, uint32_t sequence);
/* 1: the ring still holds a signal (or watermark) to the object, or an arrival at it; *value: the low 32 bits of the
 * newest one's value. Reads the whole ring. */
int xs_attach_signalled(const xs_region_view *view, uint32_t ring, uint32_t object, uint32_t *value);
/* What a writer's ring holds of its way from one signal of an object to the next. */
typedef struct xs_attach_habit {
    uint32_t signals;     /* to the object */
    uint32_t most, since; /* waits that it passed between two of them, at most; since the last one */
    int passed;           /* it has passed a wait for the other object */
} xs_attach_habit;
/* 1: *habit is that of the writer that has the ring, as far back as the ring holds its records. 0: some in between
 * are not there. Reads the whole ring. */
int xs_attach_habit_of(const xs_region_view *view, uint32_t ring, uint32_t object, uint32_t other,
                       xs_attach_habit *habit);

#endif
