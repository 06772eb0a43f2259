/* One number for the event and code tables: a reader whose tables differ from the writer's says so instead of
 * guessing. */
#ifndef XS_EVENTS_HASH_H
#define XS_EVENTS_HASH_H

#define XXH_INLINE_ALL
#include <xs/events.h>
#include <xxhash.h>

#define XS_HASH_ROW(...) #__VA_ARGS__ ";"

/* XXH3-64 of the tables as text. */
static inline uint64_t xs_events_hash_value(void) {
    static const char tables[] =
        XS_OBJECTS(XS_HASH_ROW) XS_SHAPES(XS_HASH_ROW) XS_EVENTS(XS_HASH_ROW) XS_CODES(XS_HASH_ROW);
    return XXH3_64bits(tables, sizeof tables - 1);
}

#endif
