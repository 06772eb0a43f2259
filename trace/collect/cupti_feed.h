/* Into the region goes what CUPTI tells. One thread; no lock, no CUDA call. */
#ifndef XS_CUPTI_FEED_H
#define XS_CUPTI_FEED_H

#include <xs/region.h>

typedef struct xs_feed_name {
    char *text;
    uint32_t id; /* 0: free */
} xs_feed_name;

typedef struct xs_cupti_feed {
    xs_activity_head *head; /* NULL: the region has no room for it; then nothing is told */
    xs_activity_entry *entries;
    uint64_t count, next; /* entries of the ring; sequence of the next one */
    xs_feed_name *names;  /* open addressing */
    uint32_t name_count, name_room;
    uint32_t patience; /* naps left in this round */
    xs_cupti_health health;
} xs_cupti_feed;

void xs_feed_open(xs_cupti_feed *feed, char *region);
void xs_feed_close(xs_cupti_feed *feed);
/* Once before each batch: how long the batch may wait for a collector that is behind. */
void xs_feed_round(xs_cupti_feed *feed);
/* Number of a name, told when it is new, as `spell` makes it (NULL: as it is). 0: no memory, or no text. */
typedef const char *xs_feed_spell(const char *name, char *buffer, size_t bytes);
uint32_t xs_feed_name_of(xs_cupti_feed *feed, const char *name, xs_feed_spell *spell);
/* sequence is filled in. */
void xs_feed_put(xs_cupti_feed *feed, const xs_activity_entry *entry);
/* feed->health becomes visible. */
void xs_feed_tell(xs_cupti_feed *feed);
void xs_feed_why(xs_cupti_feed *feed, uint32_t state, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
