/* A hash map from 64-bit keys to 64-bit values that a caller packs or points with. Key 0 is not used. */
#ifndef XSV_MAP_H
#define XSV_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xsv_map {
    uint64_t *keys, *values;
    uint64_t used, size; /* size: power of two or 0 */
} xsv_map;

uint64_t *xsv_map_get(const xsv_map *t, uint64_t key); /* NULL: not there */
uint64_t *xsv_map_put(xsv_map *t, uint64_t key);       /* there or new with value 0; NULL: out of memory */
void xsv_map_remove(xsv_map *t, uint64_t key);
void xsv_map_free(xsv_map *t);

#endif
