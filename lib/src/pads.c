/* Pads and buffers. Slots that xs makes are 64-bit and each alone on its 128-byte line, so that polling one never slows
 * another. Objects are numbered in order of creation, which is why every process of a world must create the same things
 * in the same order: the backend is asked for memory under a key that holds name and shape, and compares it with the
 * other processes'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

#define SLOT_BYTES  128u
#define OBJECTS_END XS_NO_PEER /* 24 bits; the last value is "nobody" elsewhere */

static xs_named_pad *find(const xs_world *world, const char *name) {
    xs_named_pad *at = xs_objects_of(world)->pads;
    while (at && strcmp(at->name, name)) at = at->next;
    return at;
}

const xs_named_pad *xs_pad_by_first(const xs_world *world, uint32_t first) {
    const xs_named_pad *at = xs_objects_of(world)->pads;
    while (at && (at->buffer_bytes || at->pad.first != first)) at = at->next;
    return at;
}

static xs_named_pad *allocate(const xs_world *world, const char *name) {
    xs_named_pad *made = calloc(1, sizeof *made + world->config.ranks * sizeof(void *));
    if (made) strcpy(made->name, name); /* length checked by xs_name_check */
    return made;
}

static int same_shape(const xs_pad *a, const xs_pad *b) {
    return a->rows == b->rows && a->columns == b->columns && a->flags == b->flags && a->row_stride == b->row_stride &&
           a->column_stride == b->column_stride;
}

/* The same name again: the same pad, if it is the same in every way. */
static int again(const xs_world *world, const xs_named_pad *old, const xs_pad *shape, xs_pad *pad) {
    if (old->buffer_bytes) return xs_fail(XS_E_NAME, "\"%s\" is a buffer already", old->name);
    if (!same_shape(&old->pad, shape)) return xs_fail(XS_E_SHAPE, "pad \"%s\" exists with another shape", old->name);
    if (shape->base && memcmp(shape->base, old->base, world->config.ranks * sizeof(void *)))
        return xs_fail(XS_E_SHAPE, "pad \"%s\" was adopted at other addresses", old->name);
    *pad = old->pad;
    return 0;
}

/* Memory for a created pad; an adopted one only takes its place in the order of creation. */
static int place(xs_world *world, xs_named_pad *made, const xs_pad *shape) {
    char key[XS_NAME_BYTES + 80];
    snprintf(key, sizeof key, "%s pad %u x %u flags %u", made->name, shape->rows, shape->columns, shape->flags);
    if (!shape->base) {
        uint64_t bytes = (uint64_t)shape->rows * shape->row_stride;
        return world->backend->shared_memory(world, key, bytes, made->base);
    }
    memcpy(made->base, shape->base, world->config.ranks * sizeof(void *));
    return world->backend->shared_memory(world, key, 0, NULL);
}

int xs_pad_make(xs_world *world, const char *name, const xs_pad *shape, xs_pad *pad) {
    const xs_named_pad *old = find(world, name);
    if (old) return again(world, old, shape, pad);
    uint64_t slots = (uint64_t)shape->rows * shape->columns;
    if (slots > OBJECTS_END || slots * world->config.ranks > OBJECTS_END - world->next_object)
        return xs_fail(XS_E_TOO_MANY, "pad \"%s\": a world has at most %u slots over all ranks", name, OBJECTS_END - 1);
    xs_named_pad *made = allocate(world, name);
    if (!made) return XS_E_MEMORY;
    int rc = place(world, made, shape);
    made->pad = *shape;
    made->pad.first = world->next_object;
    if (!rc) rc = xs_bases_for_kernels(world, made->base, &made->pad.base);
    if (!rc) rc = xs_catalog_pad(world, &made->pad, name, NULL, NULL);
    if (rc) {
        xs_bases_drop(world, made->base);
        free(made);
        return rc;
    }
    world->next_object += (uint32_t)(slots * world->config.ranks);
    made->next = xs_objects_of(world)->pads;
    xs_objects_of(world)->pads = made;
    *pad = made->pad;
    return 0;
}

static int make_locked(xs_world *world, const char *name, const xs_pad *shape, xs_pad *pad) {
    pthread_mutex_lock(&world->lock);
    int rc = xs_pad_make(world, name, shape, pad);
    pthread_mutex_unlock(&world->lock);
    return rc;
}

int xs_pad_create(xs_world *world, const char *name, uint32_t rows, uint32_t columns, uint32_t flags, xs_pad *pad) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(name, XS_NAME_BYTES);
    if (rc) return rc;
    if (!pad || !rows || !columns) return xs_fail(XS_E_ARGUMENT, "pad \"%s\": rows and columns must not be 0", name);
    if (flags & ~(uint32_t)(XS_PAD_WIDE | XS_PAD_SHARED | XS_PAD_NO_DATA | XS_PAD_UNSAFE_COUNTER))
        return xs_fail(XS_E_ARGUMENT,
                       "pad \"%s\": flags 0x%x: a created pad can be WIDE, SHARED, NO_DATA, UNSAFE_COUNTER", name,
                       flags);
    if ((uint64_t)columns * SLOT_BYTES > UINT32_MAX || (uint64_t)rows * columns > OBJECTS_END)
        return xs_fail(XS_E_TOO_MANY, "pad \"%s\": %u x %u slots are too many", name, rows, columns);
    xs_pad shape = {.rows = rows,
                    .columns = columns,
                    .flags = flags,
                    .row_stride = columns * SLOT_BYTES,
                    .column_stride = SLOT_BYTES};
    return make_locked(world, name, &shape, pad);
}

static int adopt_check(const xs_world *world, const char *name, const xs_adopt *adopt) {
    if (!adopt || adopt->size < sizeof *adopt || !adopt->base || !adopt->rows || !adopt->columns)
        return xs_fail(XS_E_ARGUMENT, "pad \"%s\": xs_adopt is not filled in", name);
    if (adopt->width != 32 && adopt->width != 64)
        return xs_fail(XS_E_ARGUMENT, "pad \"%s\": width is 32 or 64 bits", name);
    uint32_t bytes = adopt->width / 8;
    if ((adopt->columns > 1 && adopt->column_stride < bytes) || (adopt->rows > 1 && adopt->row_stride < bytes))
        return xs_fail(XS_E_ARGUMENT, "pad \"%s\": slots overlap: strides are in bytes", name);
    if (adopt->column_stride % bytes || adopt->row_stride % bytes)
        return xs_fail(XS_E_ARGUMENT, "pad \"%s\": strides must be multiples of %u bytes", name, bytes);
    if (adopt->flags & ~(uint32_t)(XS_PAD_WIDE | XS_PAD_SHARED | XS_PAD_NO_DATA | XS_PAD_ADOPTED | XS_PAD_32 |
                                  XS_PAD_UNSAFE_COUNTER))
        return xs_fail(XS_E_ARGUMENT, "pad \"%s\": unknown flags 0x%x", name, adopt->flags);
    for (uint32_t r = 0; r < world->config.ranks; r++)
        if (!adopt->base[r] || (uintptr_t)adopt->base[r] % bytes)
            return xs_fail(XS_E_ARGUMENT, "pad \"%s\": base of rank %u is missing or not aligned", name, r);
    return 0;
}

#define INSIDE_MOST 1024u /* slots of which it is told where they lie */

/* The buffer that an address of a rank's lies in. */
static const xs_named_pad *buffer_around(const xs_world *world, uint32_t rank, const char *address) {
    const xs_named_pad *at = xs_objects_of(world)->pads;
    while (at && !(at->buffer_bytes && at->base[rank] && address >= (const char *)at->base[rank] &&
                   address < (const char *)at->base[rank] + at->buffer_bytes))
        at = at->next;
    return at;
}

/* Flags in the memory of buffers: whether they share a cache line with payload is for the analysis to say. */
static int tell_places(xs_world *world, const xs_pad *pad) {
    const xs_named_pad *made = xs_pad_by_first(world, pad->first);
    uint32_t slots = pad->rows * pad->columns;
    int rc = 0;
    for (uint32_t i = 0; made && slots <= INSIDE_MOST && i < slots * world->config.ranks && !rc; i++) {
        uint32_t owner = i / slots, row = i % slots / pad->columns, column = i % pad->columns;
        const char *at =
            (const char *)made->base[owner] + (uint64_t)row * pad->row_stride + (uint64_t)column * pad->column_stride;
        const xs_named_pad *around = buffer_around(world, owner, at);
        int name = around ? xs_name_get(world, XS_NAME_BUFFER, around->name) : 0;
        if (!around || name < 0) continue;
        xs_plan_entry entry = {XS_PLAN_INSIDE,
                               XS_PLAN_REPORTED,
                               pad->first,
                               owner,
                               row,
                               column,
                               UINT64_MAX,
                               (uint64_t)name,
                               (uint64_t)(at - (const char *)around->base[owner])};
        rc = xs_plan_append(world, &entry, 1);
    }
    return rc;
}

int xs_pad_adopt(xs_world *world, const char *name, const xs_adopt *adopt, xs_pad *pad) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(name, XS_NAME_BYTES);
    if (!rc) rc = adopt_check(world, name, adopt);
    if (rc || !pad) return rc ? rc : xs_fail(XS_E_ARGUMENT, "pad \"%s\": no place for the pad", name);
    xs_pad shape = {.base = adopt->base,
                    .rows = adopt->rows,
                    .columns = adopt->columns,
                    .row_stride = adopt->row_stride,
                    .column_stride = adopt->column_stride};
    shape.flags = (adopt->flags & ~(uint32_t)XS_PAD_32) | XS_PAD_ADOPTED | (adopt->width == 32 ? XS_PAD_32 : 0);
    pthread_mutex_lock(&world->lock);
    int fresh = !find(world, name);
    rc = xs_pad_make(world, name, &shape, pad);
    if (!rc && fresh) rc = tell_places(world, pad);
    pthread_mutex_unlock(&world->lock);
    return rc;
}

int xs_pad_labels(xs_world *world, const xs_pad *pad, const char *row_label, const char *column_label) {
    int rc = xs_world_check(world);
    if (rc || !pad) return rc ? rc : xs_fail(XS_E_ARGUMENT, "no pad given");
    if (row_label && *row_label && (rc = xs_name_check(row_label, XS_NAME_BYTES))) return rc;
    if (column_label && *column_label && (rc = xs_name_check(column_label, XS_NAME_BYTES))) return rc;
    pthread_mutex_lock(&world->lock);
    const xs_named_pad *known = xs_pad_by_first(world, pad->first);
    if (known) rc = xs_catalog_pad(world, &known->pad, known->name, row_label, column_label);
    else rc = xs_fail(XS_E_ARGUMENT, "the pad is not one of this world");
    pthread_mutex_unlock(&world->lock);
    return rc;
}
