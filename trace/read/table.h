/* Growing arrays, a map of numbers and an arena of texts: for the reader and for the analysis. */
#ifndef XS_READ_TABLE_H
#define XS_READ_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "../../lib/src/mixed.h"
#include "search.h"

typedef struct rd_map { /* uint64_t -> uint32_t; open addressing */
    uint64_t *keys;
    uint32_t *values; /* value + 1; 0: free */
    uint32_t size, used;
} rd_map;
uint32_t rd_map_get(const rd_map *map, uint64_t key); /* XSR_NONE: not there */
int rd_map_put(rd_map *map, uint64_t key, uint32_t value);
void rd_map_free(rd_map *map);
/* Makes room for need elements in *array; keeps what is there. */
int rd_room(void **array, uint32_t *room, uint32_t need, size_t width);
#define RD_ROOM(array, room, need) rd_room((void **)&(array), &(room), (need), sizeof *(array))
/* The same, and what is new is zero up to the room. */
int rd_rows(void **array, uint32_t *room, uint32_t need, size_t width);
#define RD_ROWS(array, room, need) rd_rows((void **)&(array), &(room), (need), sizeof *(array))
/* Room for one more in a ring buffer of *room elements, a power of two (0: none yet); the oldest of its count is
 * then at 0. */
int rd_circle(void **array, uint32_t *room, uint32_t *first, uint32_t count, size_t width);
#define RD_CIRCLE(array, room, first, count) rd_circle((void **)&(array), &(room), &(first), (count), sizeof *(array))

/* Much memory at once, in large pages where the system has them: page by page its faults cost more than what is done
 * with it. Takes no room until it is used. free() frees it; NULL: out of memory. */
void *rd_large(size_t bytes);

typedef struct rd_arena { struct rd_chunk *chunks; size_t left; char *at; } rd_arena;
const char *rd_arena_text(rd_arena *arena, const char *text, size_t bytes); /* NULL: out of memory */
const char *rd_arena_print(rd_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rd_arena_free(rd_arena *arena);

#endif
