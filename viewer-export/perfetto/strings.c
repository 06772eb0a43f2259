#include "strings.h"

#define XXH_INLINE_ALL
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BLOCK_BYTES 65536u

static uint32_t slot_of(const strings *s, const char *text, uint32_t length) {
    uint32_t mask = s->table_size - 1;
    uint32_t at = (uint32_t)XXH3_64bits(text, length) & mask;
    for (uint32_t id; (id = s->table[at]) != 0; at = (at + 1) & mask)
        if (s->length[id] == length && memcmp(s->text[id], text, length) == 0)
            return at;
    return at;
}

static bool grow(strings *s) {
    uint32_t room = s->room ? s->room * 2 : 512;
    char **text = realloc(s->text, room * sizeof *text);
    if (text)
        s->text = text;
    uint32_t *length = realloc(s->length, room * sizeof *length);
    if (length)
        s->length = length;
    uint32_t *table = calloc(room * 2, sizeof *table);
    if (!text || !length || !table) {
        free(table);
        return false;
    }
    free(s->table);
    s->table = table;
    s->table_size = room * 2;
    s->room = room;
    for (uint32_t id = 1; id <= s->count; id++)
        s->table[slot_of(s, s->text[id], s->length[id])] = id;
    return true;
}

static char *take(strings *s, uint32_t bytes) {
    if (!s->block || s->block_used + bytes > s->block_size) {
        char *block = malloc(BLOCK_BYTES);
        if (!block)
            return NULL;
        memcpy(block, &s->block, sizeof s->block);
        s->block = block;
        s->block_used = sizeof s->block;
        s->block_size = BLOCK_BYTES;
    }
    char *at = s->block + s->block_used;
    s->block_used += bytes;
    return at;
}

/* Cut at a character's start. */
static uint32_t bounded_length(const char *text) {
    uint32_t length = (uint32_t)strnlen(text, STRINGS_TEXT_MAX + 1);
    if (length <= STRINGS_TEXT_MAX)
        return length;
    length = STRINGS_TEXT_MAX;
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

uint32_t strings_id(strings *s, const char *text) {
    if (!text)
        return 0;
    uint32_t length = bounded_length(text);
    if (s->count + 2 > s->room && !grow(s)) {
        s->failed = true;
        return 0;
    }
    uint32_t at = slot_of(s, text, length);
    if (s->table[at])
        return s->table[at];
    char *copy = take(s, length + 1);
    if (!copy) {
        s->failed = true;
        return 0;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    uint32_t id = ++s->count;
    s->text[id] = copy;
    s->length[id] = length;
    s->table[at] = id;
    return id;
}

uint32_t strings_format(strings *s, const char *format, ...) {
    char text[STRINGS_TEXT_MAX + 4];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return strings_id(s, text);
}

void strings_free(strings *s) {
    for (char *block = s->block, *next; block; block = next) {
        memcpy(&next, block, sizeof next);
        free(block);
    }
    free(s->text);
    free(s->length);
    free(s->table);
    *s = (strings){0};
}
