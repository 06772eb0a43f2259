/* Every text that is interned has one number for the whole export; a file's interned ids are these numbers. */
#ifndef XSV_STRINGS_H
#define XSV_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#define STRINGS_TEXT_MAX 1000u /* longer text is cut, so that a packet's size is bounded */

typedef struct strings {
    char **text;      /* [1 .. count] */
    uint32_t *length;
    uint32_t count, room;
    uint32_t *table; /* open addressing, power of two; 0: free */
    uint32_t table_size;
    char *block; /* blocks are linked through their first pointer */
    uint32_t block_used, block_size;
    bool failed; /* out of memory: ids given since are 0 */
} strings;

/* The number of a text, from 1; 0 for NULL or where memory ran out (failed is set then). */
uint32_t strings_id(strings *s, const char *text);
uint32_t strings_format(strings *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strings_free(strings *s);

#endif
