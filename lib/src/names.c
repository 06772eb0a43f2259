/* Names with ids from 1: roles, marks, kernels, buffers. The same name gives the same id again. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "objects.h"

#define IDS_MAX 65535u /* a role has 16 bits in status lines */

int xs_name_check(const char *name, uint32_t longest) {
    if (!name || !*name) return xs_fail(XS_E_NAME, "a name is empty");
    if (strnlen(name, longest + 1) > longest)
        return xs_fail(XS_E_NAME, "name \"%.40s...\": at most %u bytes", name, longest);
    return 0;
}

static int grow(xs_name_list *list) {
    if (list->count < list->room) return 0;
    uint32_t room = list->room ? 2 * list->room : 16;
    xs_name *names = realloc(list->names, room * sizeof *names);
    if (!names) return XS_E_MEMORY;
    list->names = names;
    list->room = room;
    return 0;
}

int xs_name_get(xs_world *world, uint32_t kind, const char *name) {
    xs_name_list *list = &xs_objects_of(world)->names[kind];
    uint64_t hash = XXH3_64bits(name, strlen(name));
    for (uint32_t i = 0; i < list->count; i++)
        if (list->names[i].hash == hash && !strcmp(list->names[i].text, name)) return (int)i + 1;
    if (list->count >= IDS_MAX) return xs_fail(XS_E_TOO_MANY, "name \"%s\": at most %u names of a kind", name, IDS_MAX);
    int rc = grow(list);
    if (rc) return rc;
    char *copy = strdup(name);
    if (!copy) return XS_E_MEMORY;
    rc = xs_catalog_name(world, kind, list->count + 1, name);
    if (rc) {
        free(copy);
        return rc;
    }
    list->names[list->count++] = (xs_name){hash, copy};
    return (int)list->count;
}

static int public_name(xs_world *world, uint32_t kind, const char *name) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(name, XS_NAME_BYTES);
    if (rc) return rc;
    pthread_mutex_lock(&world->lock);
    rc = xs_name_get(world, kind, name);
    pthread_mutex_unlock(&world->lock);
    return rc;
}

int xs_role(xs_world *world, const char *name) { return public_name(world, XS_NAME_ROLE, name); }
int xs_mark_name(xs_world *world, const char *name) { return public_name(world, XS_NAME_MARK, name); }

int xs_objects_create(xs_world *world) {
    world->objects = calloc(1, sizeof(xs_objects));
    world->next_object = 1; /* 0 names no slot */
    return world->objects ? 0 : XS_E_MEMORY;
}

void xs_objects_destroy(xs_world *world) {
    xs_objects *objects = xs_objects_of(world);
    if (!objects) return;
    for (xs_named_pad *pad = objects->pads, *next; pad; pad = next) {
        next = pad->next;
        free(pad);
    }
    for (uint32_t kind = 0; kind <= XS_NAME_DEVICE; kind++) {
        for (uint32_t i = 0; i < objects->names[kind].count; i++) free(objects->names[kind].names[i].text);
        free(objects->names[kind].names);
    }
    free(objects->plan);
    xs_plan_index_free(&objects->plan_index);
    free(objects);
    world->objects = NULL;
}
