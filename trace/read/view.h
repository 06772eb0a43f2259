/* A model of a sink's own, for a sink that runs in its own thread: the tables as they were when the item that it looks
 * at was told, kept up to date by changes that travel with the items. What a pass does not change is shared. */
#ifndef XS_READ_VIEW_H
#define XS_READ_VIEW_H

#include "internal.h"

typedef struct rd_view {
    xsr_model model; /* what the sink sees */
    xsr_slot *slots;
    uint32_t slot_room;
    xsr_writer *writers;
    uint32_t writer_room;
    xsr_rank *ranks;
    uint32_t rank_room;
    xsr_ring *rings;
    uint32_t ring_room;
} rd_view;

int rd_view_make(rd_view *view, const xsr_model *model);
/* A row is new, or has changed. */
int rd_view_slot(rd_view *view, uint32_t index, const xsr_slot *row);
int rd_view_writer(rd_view *view, uint32_t index, const xsr_writer *row);
int rd_view_rank(rd_view *view, uint32_t index, const xsr_rank *row);
void rd_view_free(rd_view *view);

#endif
