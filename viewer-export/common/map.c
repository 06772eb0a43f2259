#include "map.h"

#include <stdlib.h>

static uint64_t home_of(const xsv_map *t, uint64_t key) {
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return (key >> 20) & (t->size - 1);
}

static uint64_t find(const xsv_map *t, uint64_t key) {
    uint64_t at = home_of(t, key);
    while (t->keys[at] && t->keys[at] != key)
        at = (at + 1) & (t->size - 1);
    return at;
}

uint64_t *xsv_map_get(const xsv_map *t, uint64_t key) {
    if (!t->size)
        return NULL;
    uint64_t at = find(t, key);
    return t->keys[at] ? &t->values[at] : NULL;
}

static bool grow(xsv_map *t) {
    xsv_map bigger = {.size = t->size ? t->size * 2 : 64, .used = t->used};
    bigger.keys = calloc(bigger.size, sizeof *bigger.keys);
    bigger.values = calloc(bigger.size, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        xsv_map_free(&bigger);
        return false;
    }
    for (uint64_t i = 0; i < t->size; i++)
        if (t->keys[i]) {
            uint64_t at = find(&bigger, t->keys[i]);
            bigger.keys[at] = t->keys[i];
            bigger.values[at] = t->values[i];
        }
    xsv_map_free(t);
    *t = bigger;
    return true;
}

uint64_t *xsv_map_put(xsv_map *t, uint64_t key) {
    if (t->used * 4 >= t->size * 3 && !grow(t))
        return NULL;
    uint64_t at = find(t, key);
    if (!t->keys[at]) {
        t->keys[at] = key;
        t->values[at] = 0;
        t->used++;
    }
    return &t->values[at];
}

/* Backward shift: no tombstones, so a table that is filled and emptied for ever stays fast. */
void xsv_map_remove(xsv_map *t, uint64_t key) {
    if (!t->size)
        return;
    uint64_t hole = find(t, key), mask = t->size - 1;
    if (!t->keys[hole])
        return;
    for (uint64_t at = (hole + 1) & mask; t->keys[at]; at = (at + 1) & mask)
        if (((at - home_of(t, t->keys[at])) & mask) >= ((at - hole) & mask)) {
            t->keys[hole] = t->keys[at];
            t->values[hole] = t->values[at];
            hole = at;
        }
    t->keys[hole] = 0;
    t->used--;
}

void xsv_map_free(xsv_map *t) {
    free(t->keys);
    free(t->values);
    *t = (xsv_map){0};
}
