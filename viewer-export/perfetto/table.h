/* A hash table from 64-bit keys to 64-bit values that a caller packs or points with. Key 0 is not used. */
#ifndef XSV_TABLE_H
#define XSV_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct table {
    uint64_t *keys, *values;
    uint64_t used, size; /* size: power of two or 0 */
} table;

uint64_t *table_get(const table *t, uint64_t key);      /* NULL: not there */
uint64_t *table_put(table *t, uint64_t key);            /* there or new with value 0; NULL: out of memory */
void table_remove(table *t, uint64_t key);
void table_free(table *t);

#endif
