/* Arguments of events, and the texts that name slots, suppliers and colours. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static event_arg *next_arg(const drawing *d, args *a, enum draw_key key, uint32_t type) {
    if (a->count == ENCODER_ARGS)
        return NULL; /* no event has so many */
    event_arg *arg = &a->list[a->count++];
    arg->key = d->key[key];
    arg->type = type;
    return arg;
}

void arg_uint(const drawing *d, args *a, enum draw_key key, uint64_t value) {
    event_arg *arg = next_arg(d, a, key, ARG_UINT);
    if (arg)
        arg->number = value;
}

void arg_int(const drawing *d, args *a, enum draw_key key, int64_t value) {
    if (value >= 0) {
        arg_uint(d, a, key, (uint64_t)value);
        return;
    }
    event_arg *arg = next_arg(d, a, key, ARG_INT);
    if (arg)
        arg->integer = value;
}

void arg_text(const drawing *d, args *a, enum draw_key key, uint32_t text) {
    event_arg *arg = text ? next_arg(d, a, key, ARG_TEXT) : NULL;
    if (arg)
        arg->text = text;
}

void arg_chars(const drawing *d, args *a, enum draw_key key, const char *chars) {
    event_arg *arg = chars ? next_arg(d, a, key, ARG_CHARS) : NULL;
    if (arg)
        arg->chars = chars;
}

uint32_t correlation_of(const drawing *d, uint32_t rank_number) {
    return d->correlation[rank_number < d->correlation_count ? rank_number : d->correlation_count];
}

slot_state *slot_of(drawing *d, uint32_t slot) {
    uint32_t old = d->slot_room;
    if (xsv_room(&d->slots, &d->slot_room, slot, sizeof *d->slots, 0))
        return NULL;
    for (uint32_t i = old; i < d->slot_room; i++)
        d->slots[i].elects_by = d->slots[i].supplier_rank = d->slots[i].supplier_role = XSR_NONE;
    return &d->slots[slot];
}

uint32_t slot_name(drawing *d, uint32_t slot) {
    slot_state *s = slot_of(d, slot);
    if (s && !s->name)
        s->name = strings_id(&d->texts, d->model->slots[slot].name);
    return s ? s->name : 0;
}

uint32_t slot_label(drawing *d, uint32_t slot) {
    slot_state *s = slot_of(d, slot);
    if (s && !s->label)
        s->label = strings_id(&d->texts, d->model->slots[slot].label);
    return s ? s->label : 0;
}

uint32_t slot_supplier(drawing *d, uint32_t slot, uint32_t rank_number, uint32_t role) {
    slot_state *s = slot_of(d, slot);
    if (!s)
        return 0;
    if (s->supplier && s->supplier_rank == rank_number && s->supplier_role == role)
        return s->supplier;
    if (rank_number == XSR_NONE)
        s->supplier = strings_id(&d->texts, "unknown");
    else if (role == XSR_NONE)
        s->supplier = strings_format(&d->texts, "rank %u", rank_number);
    else
        s->supplier = strings_format(&d->texts, "rank %u %s", rank_number, role_name(d, role));
    s->supplier_rank = rank_number;
    s->supplier_role = role;
    return s->supplier;
}

bool is_counter(const drawing *d, uint32_t slot) { return xsv_supply_of(&d->suppliers, slot).arrive_role != XSR_NONE; }

uint32_t wait_owes(const drawing *d, const xsr_wait *w) {
    return w->supplier_rank != XSR_NONE ? w->supplier_rank : xsv_slot_owes(&d->suppliers, w->slot);
}
