#include "catalog_view.h"

#include <stdlib.h>
#include <string.h>
#include <xs/frame.h>

#include "plan_index.h"

static int room(void **array, uint32_t *size, uint32_t need, size_t width) {
    if (need <= *size)
        return 0;
    void *larger = realloc(*array, 2 * (size_t)need * width);
    if (!larger)
        return XS_E_MEMORY;
    *array = larger;
    *size = 2 * need;
    return 0;
}

/* The next zero-terminated string of [*at, end); "" where none is left. */
static const char *next_string(const char **at, const char *end) {
    const char *text = *at, *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
    if (!zero)
        return "";
    *at = zero + 1;
    return text;
}

static int take_process(xs_catalog_view *c, const char *at, const char *end) {
    at += sizeof(xs_frame_process);
    c->host_name = next_string(&at, end);
    c->command = next_string(&at, end);
    return 0;
}

static int take_name(xs_catalog_view *c, const char *at, const char *end) {
    xs_frame_name head;
    if (room((void **)&c->names, &c->name_room, c->name_count + 1, sizeof *c->names))
        return XS_E_MEMORY;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    c->names[c->name_count++] = (xs_catalog_name){head.kind, head.id, next_string(&at, end)};
    return 0;
}

static int fits(const xs_frame_pad *pad) {
    uint64_t objects = (uint64_t)pad->rows * pad->columns;
    return pad->rows && pad->columns && pad->owners && objects <= XS_OBJECT_MASK &&
           objects * pad->owners + pad->first <= (uint64_t)XS_OBJECT_MASK + 1;
}

/* A pad may come a second time, with labels: the later one counts. */
static int take_pad(xs_catalog_view *c, const char *at, const char *end) {
    xs_catalog_pad pad;
    memcpy(&pad.shape, at, sizeof pad.shape);
    at += sizeof pad.shape;
    pad.name = next_string(&at, end);
    pad.row_label = next_string(&at, end);
    pad.column_label = next_string(&at, end);
    if (!fits(&pad.shape))
        return 0;
    for (uint32_t i = 0; i < c->pad_count; i++)
        if (c->pads[i].shape.first == pad.shape.first) {
            c->pads[i] = pad;
            return 0;
        }
    if (room((void **)&c->pads, &c->pad_room, c->pad_count + 1, sizeof *c->pads))
        return XS_E_MEMORY;
    c->pads[c->pad_count++] = pad;
    return 0;
}

static int take_plan(xs_catalog_view *c, const char *at, const char *end) {
    uint32_t n = (uint32_t)((size_t)(end - at) / sizeof(xs_plan_entry));
    if (room((void **)&c->plan, &c->plan_room, c->plan_count + n, sizeof *c->plan))
        return XS_E_MEMORY;
    if (n)
        memcpy(&c->plan[c->plan_count], at, n * sizeof *c->plan);
    c->plan_count += n;
    return 0;
}

static int take(xs_catalog_view *c, const xs_frame *frame, const char *payload) {
    static const struct {
        uint16_t type, least;
        int (*take)(xs_catalog_view *, const char *, const char *);
    } kinds[] = {{XS_FRAME_PROCESS, sizeof(xs_frame_process), take_process},
                 {XS_FRAME_NAME, sizeof(xs_frame_name), take_name},
                 {XS_FRAME_PAD, sizeof(xs_frame_pad), take_pad},
                 {XS_FRAME_PLAN, 0, take_plan}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == frame->type && frame->payload_bytes >= kinds[i].least)
            return kinds[i].take(c, payload, payload + frame->payload_bytes);
    return 0;
}

/* 1: *frame is the whole frame at `at`, of which `left` bytes are there. */
static int frame_at(const char *at, uint64_t left, xs_frame *frame) {
    if (left < sizeof *frame)
        return 0;
    memcpy(frame, at, sizeof *frame);
    left -= sizeof *frame;
    return frame->magic == XS_FRAME_MAGIC && frame->header_bytes == sizeof *frame && frame->payload_bytes <= left &&
           xs_frame_padded(frame->payload_bytes) <= left &&
           xs_frame_checksum(frame, at + sizeof *frame) == frame->checksum;
}

int xs_catalog_view_read(const xs_region_view *view, xs_catalog_view *c) {
    memset(c, 0, sizeof *c);
    c->host_name = c->command = "";
    uint64_t used = xs_view_catalog_used(view), at = 0;
    c->bytes = malloc(used + 1);
    if (!c->bytes)
        return XS_E_MEMORY;
    memcpy(c->bytes, view->base + view->head.catalog_offset, used);
    xs_frame frame;
    for (; frame_at(c->bytes + at, used - at, &frame); at += sizeof frame + xs_frame_padded(frame.payload_bytes)) {
        int rc = take(c, &frame, c->bytes + at + sizeof frame);
        if (rc)
            return rc;
    }
    c->damaged = at != used;
    return xs_catalog_view_index(c);
}

void xs_catalog_view_free(xs_catalog_view *c) {
    free(c->bytes);
    free(c->names);
    free(c->pads);
    free(c->plan);
    if (c->suppliers)
        xs_plan_index_free(c->suppliers);
    free(c->suppliers);
    memset(c, 0, sizeof *c);
}

const char *xs_catalog_view_name(const xs_catalog_view *c, uint32_t kind, uint32_t id) {
    for (uint32_t i = c->name_count; i-- > 0;) /* the latest: that of a file may have grown (files.c) */
        if (c->names[i].kind == kind && c->names[i].id == id)
            return c->names[i].text;
    return NULL;
}

int xs_catalog_view_place(const xs_catalog_view *c, uint32_t object, xs_catalog_place *place) {
    for (uint32_t i = 0; i < c->pad_count; i++) {
        const xs_frame_pad *s = &c->pads[i].shape;
        uint32_t at = object - s->first, each = s->rows * s->columns;
        if (object < s->first || at >= each * s->owners)
            continue;
        *place = (xs_catalog_place){&c->pads[i], at / each, at % each / s->columns, at % s->columns};
        return 1;
    }
    return 0;
}

static int same_pad(const xs_catalog_pad *a, const xs_catalog_pad *b) {
    return a == b ||
           (a->shape.rows == b->shape.rows && a->shape.columns == b->shape.columns && !strcmp(a->name, b->name));
}

int xs_catalog_same_place(const xs_catalog_place *a, const xs_catalog_place *b) {
    return a->owner == b->owner && a->row == b->row && a->column == b->column && same_pad(a->pad, b->pad);
}

uint32_t xs_catalog_view_object(const xs_catalog_view *c, const xs_catalog_place *place) {
    for (uint32_t i = 0; i < c->pad_count; i++) {
        const xs_frame_pad *s = &c->pads[i].shape;
        if (same_pad(&c->pads[i], place->pad) && place->owner < s->owners)
            return s->first + (place->owner * s->rows + place->row) * s->columns + place->column;
    }
    return 0;
}

/* Epochs do not matter here: suppliers are indexed as adders, who meet in whatever epoch. */
#define AS XS_PLAN_AS_ADDER

int xs_catalog_view_index(xs_catalog_view *c) {
    c->suppliers = calloc(1, sizeof *c->suppliers);
    int rc = c->suppliers ? 0 : XS_E_MEMORY;
    for (uint32_t pattern = 0; pattern < XS_PLAN_PATTERNS && !rc; pattern++)
        rc = xs_plan_index_view(c->suppliers, c->plan, AS, pattern, xs_plan_left_out(AS, pattern, pattern));
    for (uint32_t i = 0; i < c->plan_count && !rc; i++) {
        uint32_t kind = c->plan[i].kind;
        if (kind == XS_PLAN_WRITER || kind == XS_PLAN_HOST_SUPPLIER || kind == XS_PLAN_NO_ARRIVALS)
            rc = xs_plan_index_add(c->suppliers, c->plan, AS, i);
    }
    return rc;
}

static int is_about(const xs_plan_entry *e, const xs_plan_entry *place, uint32_t open) {
    return e->pad_first == place->pad_first && (open & XS_PLAN_ALL_OWNERS || e->owner == place->owner) &&
           (open & XS_PLAN_ALL_ROWS || e->row == place->row) &&
           (open & XS_PLAN_ALL_COLUMNS || e->column == place->column);
}

/* The first entry of the place that leaves this open; the plan's end: none. */
static uint32_t first_of(const xs_catalog_view *c, const xs_plan_entry *place, uint32_t open) {
    uint32_t first = c->plan_count;
    for (uint32_t epochs = 0; epochs <= XS_PLAN_ALL_EPOCHS; epochs += XS_PLAN_ALL_EPOCHS) {
        uint32_t pattern = open | epochs,
                 at = xs_plan_index_find(c->suppliers, AS, pattern, xs_plan_left_out(AS, pattern, pattern), place);
        for (; at != XS_PLAN_NO_NODE; at = c->suppliers->nodes[at].next) {
            uint32_t entry = c->suppliers->nodes[at].entry;
            first = entry < first && is_about(&c->plan[entry], place, open) ? entry : first;
        }
    }
    return first;
}

static uint32_t rank_of(const xs_catalog_place *p, uint64_t rank) {
    return rank == XS_PLAN_ROW      ? p->row
           : rank == XS_PLAN_COLUMN ? p->column
           : rank == XS_PLAN_OWNER  ? p->owner
                                    : (uint32_t)rank;
}

/* The most exact entry counts, among equals the first. */
int xs_catalog_view_supplier(const xs_catalog_view *c, const xs_catalog_place *p, uint32_t *rank, uint32_t *role) {
    /* What an entry may leave open, by how much that is. */
    static const uint8_t opens[] = {0,
                                    XS_PLAN_ALL_OWNERS,
                                    XS_PLAN_ALL_ROWS,
                                    XS_PLAN_ALL_COLUMNS,
                                    XS_PLAN_ALL_OWNERS | XS_PLAN_ALL_ROWS,
                                    XS_PLAN_ALL_OWNERS | XS_PLAN_ALL_COLUMNS,
                                    XS_PLAN_ALL_ROWS | XS_PLAN_ALL_COLUMNS,
                                    XS_PLAN_ALL_OWNERS | XS_PLAN_ALL_ROWS | XS_PLAN_ALL_COLUMNS};
    const xs_plan_entry place = {
        .pad_first = p->pad->shape.first, .owner = p->owner, .row = p->row, .column = p->column};
    uint32_t first = c->plan_count, open = UINT32_MAX;
    if (!c->suppliers)
        return XS_SUPPLIER_UNKNOWN;
    for (uint32_t i = 0; i < sizeof opens; i++) {
        uint32_t size = (uint32_t)__builtin_popcount(opens[i]),
                 entry = size <= open ? first_of(c, &place, opens[i]) : c->plan_count;
        open = entry < c->plan_count ? size : open;
        first = entry < first ? entry : first;
    }
    if (first == c->plan_count)
        return XS_SUPPLIER_UNKNOWN;
    const xs_plan_entry *best = &c->plan[first];
    *rank = best->kind == XS_PLAN_HOST_SUPPLIER ? p->owner : rank_of(p, best->a);
    *role = best->kind == XS_PLAN_WRITER && best->b <= UINT32_MAX ? (uint32_t)best->b : 0;
    return best->kind == XS_PLAN_HOST_SUPPLIER ? XS_SUPPLIER_HOST : XS_SUPPLIER_RANK;
}
