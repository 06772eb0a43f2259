/* The names of source files that records call by number (file_id.h): known when a program or library is loaded, told
 * to each world's catalog ahead of its next launch. A list that only grows, without a lock: a child may be forked at
 * any moment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xs/capture.h>
#include <xs/file_id.h>

#include "objects.h"

/* text: the name; where others have the same number "a.h or b.h". The newest of a number counts. */
struct xs_known_file {
    const xs_known_file *next; /* older */
    uint32_t id;
    const char *name, *text;
};

static const xs_known_file *newest;

static char *text_of(const char *before, const char *name) {
    size_t bytes = (before ? strlen(before) + 4 : 0) + strlen(name) + 1;
    char *text = malloc(bytes);
    if (text) snprintf(text, bytes, "%s%s%s", before ? before : "", before ? " or " : "", name);
    return text;
}

static void drop(xs_known_file *file) {
    if (!file) return;
    free((char *)(uintptr_t)file->name);
    free((char *)(uintptr_t)file->text);
    free(file);
}

/* The newest of the number; *there: one of them is this very name. */
static const xs_known_file *find(const xs_known_file *from, uint32_t id, const char *name, int *there) {
    const xs_known_file *found = NULL;
    *there = 0;
    for (; from; from = from->next) {
        if (from->id != id) continue;
        if (!found) found = from;
        *there |= !strcmp(from->name, name);
    }
    return found;
}

static xs_known_file *make(const xs_known_file *older, uint32_t id, const char *name, const char *before) {
    xs_known_file *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    *file = (xs_known_file){older, id, strdup(name), text_of(before, name)};
    if (file->name && file->text) return file;
    drop(file);
    return NULL;
}

/* Without memory a file has no name; what is recorded in it has its line. */
static void take(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint32_t id = xs_file_id(name, (uint32_t)strlen(name));
    if (!*name) return;
    for (;;) {
        const xs_known_file *older = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
        int there;
        const xs_known_file *before = find(older, id, name, &there);
        xs_known_file *file = there ? NULL : make(older, id, name, before ? before->text : NULL);
        if (!file || __atomic_compare_exchange_n(&newest, &older, file, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
        drop(file); /* another thread was faster: look again */
    }
}

void xs_files_known(const char *first, const char *end) {
    for (const char *at = first; at && at < end;) {
        size_t left = (size_t)(end - at), length = strnlen(at, left);
        if (length && length < left) take(at);
        at += length < left ? length + 1 : left;
    }
}

/* Oldest first. What finds no room in the catalog is not told again: the catalog's other entries say so. */
static void tell(xs_world *world, const xs_known_file *file, const xs_known_file *told) {
    if (file == told) return;
    tell(world, file->next, told);
    if (xs_catalog_name(world, XS_NAME_FILE, file->id, file->text)) xs_fail_clear();
}

void xs_files_tell(xs_world *world) {
    xs_objects *objects = xs_objects_of(world);
    const xs_known_file *all = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
    tell(world, all, objects->files_told);
    objects->files_told = all;
}
