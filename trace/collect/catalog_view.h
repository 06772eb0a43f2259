/* The catalog of a region as a reader outside the process sees it: names, pads, plan. Copied and checked frame by
 * frame. */
#ifndef XS_CATALOG_VIEW_H
#define XS_CATALOG_VIEW_H

#include <xs/capture.h>
#include <xs/xs.h>

#include "region_view.h"

typedef struct xs_catalog_pad {
    xs_frame_pad shape;
    const char *name, *row_label, *column_label; /* labels "" where not set */
} xs_catalog_pad;

typedef struct xs_catalog_name {
    uint32_t kind, id;
    const char *text;
} xs_catalog_name;

typedef struct xs_catalog_view {
    char *bytes;                     /* copy of the catalog: what the pointers point into */
    const char *host_name, *command; /* "" where unknown */
    xs_catalog_name *names;
    xs_catalog_pad *pads;
    xs_plan_entry *plan;
    uint32_t name_count, pad_count, plan_count, name_room, pad_room, plan_room;
    struct xs_plan_index *suppliers; /* of the plan: xs_catalog_view_index */
    uint32_t damaged; /* 1: it ends in something that is no frame */
} xs_catalog_view;

typedef struct xs_catalog_place {
    const xs_catalog_pad *pad;
    uint32_t owner, row, column;
} xs_catalog_place;

enum xs_catalog_supplier { XS_SUPPLIER_UNKNOWN, XS_SUPPLIER_RANK, XS_SUPPLIER_HOST };

/* 0 or XS_E_MEMORY; freed by xs_catalog_view_free in every case. */
int xs_catalog_view_read(const xs_region_view *view, xs_catalog_view *catalog);
/* What the plan says of suppliers can be asked for: the last step of whoever fills in a plan. 0 or XS_E_MEMORY. */
int xs_catalog_view_index(xs_catalog_view *catalog);
void xs_catalog_view_free(xs_catalog_view *catalog);
/* NULL: no such name. */
const char *xs_catalog_view_name(const xs_catalog_view *catalog, uint32_t kind, uint32_t id);
/* 1: the object is a slot. */
int xs_catalog_view_place(const xs_catalog_view *catalog, uint32_t object, xs_catalog_place *place);
/* The object of a place that another process's catalog named; 0: this one has no such pad. */
uint32_t xs_catalog_view_object(const xs_catalog_view *catalog, const xs_catalog_place *place);
/* Are both the same slot of a world, perhaps named by two processes? */
int xs_catalog_same_place(const xs_catalog_place *a, const xs_catalog_place *b);
/* Who signals the slot, as the plan says; *role is 0 where it names none. Returns an xs_catalog_supplier. */
int xs_catalog_view_supplier(const xs_catalog_view *catalog, const xs_catalog_place *place, uint32_t *rank,
                             uint32_t *role);

#endif
