#include "view.h"

#define COPY(view, member, count, room)                                                                 \
    do {                                                                                                \
        if (RD_ROOM((view)->member, (view)->room, (view)->model.count + 1) < 0)                         \
            return XS_E_MEMORY;                                                                         \
        if ((view)->model.count)                                                                        \
            memcpy((view)->member, (view)->model.member, (view)->model.count * sizeof *(view)->member); \
        (view)->model.member = (view)->member;                                                          \
    } while (0)

int rd_view_make(rd_view *v, const xsr_model *model) {
    v->model = *model;
    COPY(v, slots, slot_count, slot_room);
    COPY(v, writers, writer_count, writer_room);
    COPY(v, ranks, rank_count, rank_room);
    COPY(v, rings, ring_count, ring_room);
    return 0;
}

#define PUT(view, member, count, room, index, row)                  \
    do {                                                            \
        if (RD_ROOM((view)->member, (view)->room, (index) + 1) < 0) \
            return XS_E_MEMORY;                                     \
        (view)->model.member = (view)->member;                      \
        (view)->member[index] = *(row);                             \
        if ((view)->model.count <= (index))                         \
            (view)->model.count = (index) + 1;                      \
        return 0;                                                   \
    } while (0)

int rd_view_slot(rd_view *v, uint32_t index, const xsr_slot *row) { PUT(v, slots, slot_count, slot_room, index, row); }
int rd_view_writer(rd_view *v, uint32_t index, const xsr_writer *row) {
    PUT(v, writers, writer_count, writer_room, index, row);
}
int rd_view_rank(rd_view *v, uint32_t index, const xsr_rank *row) { PUT(v, ranks, rank_count, rank_room, index, row); }

void rd_view_free(rd_view *v) {
    free(v->slots);
    free(v->writers);
    free(v->ranks);
    free(v->rings);
}
