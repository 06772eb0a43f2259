/* Slots: made when first seen in an event, named by pad, labels and place. */
#include "internal.h"

#include <stdio.h>

static const rd_pad_at *pad_of(const rd_process *p, uint32_t object) {
    uint32_t at;
    RD_SEARCH(at, 0, p->pad_count, p->pads[at].first <= object);
    const rd_pad_at *pad = at ? &p->pads[at - 1] : NULL;
    return pad && object - pad->first < pad->objects ? pad : NULL;
}

static int name_slot(xsr_reader *reader, xsr_slot *s) {
    const xsr_pad *pad = &reader->model.pads[s->pad];
    const char *row = *pad->row_label ? pad->row_label : "row",
               *column = *pad->column_label ? pad->column_label : "col";
    rd_arena *a = &reader->run_text;
    if (pad->rows > 1 && pad->columns > 1)
        s->name = rd_arena_print(a, "%s[%s=%u,%s=%u]", pad->name, row, s->row, column, s->column);
    else if (pad->rows > 1)
        s->name = rd_arena_print(a, "%s[%s=%u]", pad->name, row, s->row);
    else if (pad->columns > 1)
        s->name = rd_arena_print(a, "%s[%s=%u]", pad->name, column, s->column);
    else
        s->name = pad->name;
    s->label = s->name ? rd_arena_print(a, "rank %u %s", s->owner, s->name) : NULL;
    return s->label ? 0 : XS_E_MEMORY;
}

static uint32_t make_slot(xsr_reader *reader, uint32_t pad, uint32_t place) {
    xsr_model *m = &reader->model;
    uint32_t at = m->slot_count, per_owner = m->pads[pad].rows * m->pads[pad].columns;
    if (RD_ROOM(m->slots, reader->room.slots, at + 1) < 0 || RD_ROOM(reader->slots, reader->room.slot, at + 1) < 0)
        return RD_NO_MEMORY;
    xsr_slot *s = &m->slots[at];
    *s = (xsr_slot){.pad = pad,
                    .owner = place / per_owner,
                    .row = place % per_owner / m->pads[pad].columns,
                    .column = place % m->pads[pad].columns,
                    .supplier_rank = XSR_NONE,
                    .supplier_origin = XS_PLAN_INFERRED,
                    .supplier_role = XSR_NONE};
    memset(&reader->slots[at], 0, sizeof reader->slots[at]);
    reader->slots[at].narrow = m->pads[pad].flags & XS_PAD_32;
    reader->slots[at].is_shared = m->pads[pad].flags & XS_PAD_SHARED;
    reader->slots[at].overdue = NO_TIME;
    reader->slots[at].inferred_rank = reader->slots[at].inferred_role = XSR_NONE;
    if (name_slot(reader, s) < 0)
        return RD_NO_MEMORY;
    m->slot_count++;
    rd_plan_slot(reader, at);
    rd_feed_slot(reader, at);
    return at;
}

uint32_t rd_slot_of(xsr_reader *reader, uint32_t process, uint32_t object) {
    uint64_t key = (uint64_t)process << 32 | object;
    uint32_t slot = rd_map_get(&reader->slot_of, key);
    if (slot != XSR_NONE)
        return slot;
    const rd_pad_at *pad = pad_of(&reader->processes[process], object);
    if (!pad)
        return XSR_NONE;
    uint64_t place = (uint64_t)pad->pad << 32 | (object - pad->first);
    slot = rd_map_get(&reader->slot_at, place);
    if (slot == XSR_NONE) {
        slot = make_slot(reader, pad->pad, object - pad->first);
        if (slot == RD_NO_MEMORY || rd_map_put(&reader->slot_at, place, slot) < 0)
            return RD_NO_MEMORY;
    }
    return rd_map_put(&reader->slot_of, key, slot) < 0 ? RD_NO_MEMORY : slot;
}

/* The 64-bit value with this low word that is nearest to the last one known. */
uint64_t rd_unwrap(uint64_t last, uint32_t low) {
    int64_t step = (int32_t)(low - (uint32_t)last);
    if (step < 0 && last < (uint64_t)-step)
        return low;
    return last + (uint64_t)step;
}
