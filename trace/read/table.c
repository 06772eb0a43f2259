/* Growing arrays, a map from numbers to rows, and an arena for strings. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

/* With the address sanitizer small arrays move each time that they grow: it then sees a pointer that was kept over
 * that. */
#ifdef __SANITIZE_ADDRESS__
enum { MOVES_UP_TO = 64, CIRCLE_FIRST = 1 };
#else
enum { MOVES_UP_TO = 0, CIRCLE_FIRST = 4 };
#endif

int rd_room(void **array, uint32_t *room, uint32_t need, size_t width) {
    if (need <= *room)
        return 0;
    uint64_t next = *room ? (uint64_t)*room * 2 : width < 16 ? 16 : 4; /* there may be one a slot */
    if (need <= MOVES_UP_TO)
        next = need;
    while (next < need)
        next *= 2;
    if (next > UINT32_MAX - 1)
        return XS_E_MEMORY;
    void *bigger = realloc(*array, next * width);
    if (!bigger)
        return XS_E_MEMORY;
    *array = bigger;
    *room = (uint32_t)next;
    return 0;
}

int rd_rows(void **array, uint32_t *room, uint32_t need, size_t width) {
    uint32_t had = *room;
    if (rd_room(array, room, need, width) < 0)
        return XS_E_MEMORY;
    if (*room > had)
        memset((char *)*array + had * width, 0, (*room - had) * width);
    return 0;
}

int rd_circle(void **array, uint32_t *room, uint32_t *first, uint32_t count, size_t width) {
    if (count < *room)
        return 0;
    if (*room > UINT32_MAX / 2)
        return XS_E_MEMORY;
    /* all are taken: from the oldest to the end, then from the begin */
    uint32_t more = *room ? *room * 2 : CIRCLE_FIRST, behind = *room - *first;
    char *bigger = malloc(more * width);
    if (!bigger)
        return XS_E_MEMORY;
    if (*room) {
        memcpy(bigger, (char *)*array + *first * width, behind * width);
        memcpy(bigger + behind * width, *array, *first * width);
    }
    free(*array);
    *array = bigger;
    *room = more;
    *first = 0;
    return 0;
}

static uint64_t mix(uint64_t key) {
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
}

static uint32_t place(const rd_map *map, uint64_t key) {
    uint32_t at = (uint32_t)mix(key) & (map->size - 1);
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & (map->size - 1);
    return at;
}

uint32_t rd_map_get(const rd_map *map, uint64_t key) {
    if (map->size == 0)
        return XSR_NONE;
    uint32_t at = place(map, key);
    return map->values[at] ? map->values[at] - 1 : XSR_NONE;
}

static int rehash(rd_map *map) {
    rd_map next = {.size = map->size ? map->size * 2 : 64, .used = map->used};
    next.keys = calloc(next.size, sizeof *next.keys);
    next.values = calloc(next.size, sizeof *next.values);
    if (!next.keys || !next.values || next.size < map->size) {
        rd_map_free(&next);
        return XS_E_MEMORY;
    }
    for (uint32_t i = 0; i < map->size; i++) {
        if (!map->values[i])
            continue;
        uint32_t at = place(&next, map->keys[i]);
        next.keys[at] = map->keys[i];
        next.values[at] = map->values[i];
    }
    rd_map_free(map);
    *map = next;
    return 0;
}

int rd_map_put(rd_map *map, uint64_t key, uint32_t value) {
    if (map->used * 2 >= map->size && rehash(map) < 0)
        return XS_E_MEMORY;
    uint32_t at = place(map, key);
    map->used += map->values[at] == 0;
    map->keys[at] = key;
    map->values[at] = value + 1;
    return 0;
}

void rd_map_free(rd_map *map) {
    free(map->keys);
    free(map->values);
    memset(map, 0, sizeof *map);
}

struct rd_chunk { struct rd_chunk *next; char bytes[]; };

static char *take(rd_arena *arena, size_t bytes) {
    if (bytes > arena->left) {
        size_t size = bytes > 65536 ? bytes : 65536;
        struct rd_chunk *chunk = malloc(sizeof *chunk + size);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->at = chunk->bytes;
        arena->left = size;
    }
    char *text = arena->at;
    arena->at += bytes;
    arena->left -= bytes;
    return text;
}

const char *rd_arena_text(rd_arena *arena, const char *text, size_t bytes) {
    char *copy = take(arena, bytes + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return copy;
}

const char *rd_arena_print(rd_arena *arena, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n < 0)
        return NULL;
    return rd_arena_text(arena, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void rd_arena_free(rd_arena *arena) {
    while (arena->chunks) {
        struct rd_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    memset(arena, 0, sizeof *arena);
}
