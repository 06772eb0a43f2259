#include "cupti_feed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAP_NS 100000
#define NAPS 500u /* a round waits at most 50 ms for room, then overwrites: the collector counts what it missed */

void xs_feed_open(xs_cupti_feed *feed, char *region) {
    const xs_region_header *h = (const xs_region_header *)(const void *)region;
    memset(feed, 0, sizeof *feed);
    feed->next = 1;
    if (!h->activity_entries)
        return;
    feed->head = (xs_activity_head *)(void *)(region + h->activity_offset);
    feed->entries = (xs_activity_entry *)(void *)(feed->head + 1);
    feed->count = h->activity_entries;
}

void xs_feed_close(xs_cupti_feed *feed) {
    for (uint32_t i = 0; i < feed->name_room; i++)
        free(feed->names[i].text);
    free(feed->names);
    memset(feed, 0, sizeof *feed);
}

void xs_feed_round(xs_cupti_feed *feed) { feed->patience = NAPS; }

static void wait_for_room(xs_cupti_feed *feed) {
    static const struct timespec nap = {0, NAP_NS};
    while (feed->patience && feed->next > feed->count) {
        uint64_t consumed = __atomic_load_n(&feed->head->consumed, __ATOMIC_ACQUIRE);
        if (consumed >= feed->next - feed->count)
            return;
        nanosleep(&nap, NULL);
        feed->patience--;
    }
}

/* As the journal does it: nobody sees new words under an old stamp. */
void xs_feed_put(xs_cupti_feed *feed, const xs_activity_entry *entry) {
    uint64_t words[sizeof *entry / 8];
    if (!feed->head)
        return;
    wait_for_room(feed);
    uint64_t *to = (uint64_t *)(void *)&feed->entries[(feed->next - 1) & (feed->count - 1)];
    memcpy(words, entry, sizeof words);
    __atomic_exchange_n(&to[0], 0, __ATOMIC_ACQ_REL);
    for (size_t i = 1; i < sizeof *entry / 8; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&to[0], feed->next, __ATOMIC_RELEASE);
    feed->next++;
}

static uint64_t hash(const char *text, size_t bytes) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return h;
}

static xs_feed_name *place_of(const xs_cupti_feed *feed, const char *text, size_t bytes) {
    uint32_t at = (uint32_t)hash(text, bytes) & (feed->name_room - 1);
    while (feed->names[at].id && (strncmp(feed->names[at].text, text, bytes) != 0 || feed->names[at].text[bytes]))
        at = (at + 1) & (feed->name_room - 1);
    return &feed->names[at];
}

static int grow(xs_cupti_feed *feed) {
    uint32_t old_room = feed->name_room;
    xs_feed_name *old = feed->names, *names = calloc(old_room ? 2 * (size_t)old_room : 64, sizeof *names);
    if (!names)
        return 0;
    feed->names = names;
    feed->name_room = old_room ? 2 * old_room : 64;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].id)
            *place_of(feed, old[i].text, strlen(old[i].text)) = old[i];
    free(old);
    return 1;
}

static void tell_name(xs_cupti_feed *feed, uint32_t id, const char *text) {
    size_t bytes = strnlen(text, XS_ACTIVITY_NAME_MOST);
    for (size_t offset = 0; offset < bytes;) {
        xs_activity_name part = {
            .kind = XS_ACTIVITY_NAME, .name = id, .offset = (uint32_t)offset, .bytes = (uint32_t)bytes};
        xs_activity_entry entry;
        size_t n = bytes - offset < sizeof part.text ? bytes - offset : sizeof part.text;
        memcpy(part.text, text + offset, n);
        memcpy(&entry, &part, sizeof entry);
        xs_feed_put(feed, &entry);
        offset += n;
    }
}

uint32_t xs_feed_name_of(xs_cupti_feed *feed, const char *name, xs_feed_spell *spell) {
    char buffer[XS_ACTIVITY_NAME_MOST + 1];
    size_t bytes = name ? strlen(name) : 0;
    if (!bytes || (2 * feed->name_count >= feed->name_room && !grow(feed)))
        return 0;
    xs_feed_name *known = place_of(feed, name, bytes);
    if (known->id)
        return known->id;
    known->text = strdup(name);
    if (!known->text)
        return 0;
    known->id = ++feed->name_count;
    tell_name(feed, known->id, spell ? spell(name, buffer, sizeof buffer) : name);
    return known->id;
}

void xs_feed_tell(xs_cupti_feed *feed) {
    if (!feed->head)
        return;
    uint64_t words[sizeof feed->health / 8], *to = (uint64_t *)(void *)&feed->head->health;
    uint32_t generation = feed->head->generation;
    memcpy(words, &feed->health, sizeof words);
    __atomic_exchange_n(&feed->head->generation, generation | 1, __ATOMIC_ACQ_REL);
    for (size_t i = 0; i < sizeof words / 8; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&feed->head->generation, (generation | 1) + 1, __ATOMIC_RELEASE);
}

void xs_feed_why(xs_cupti_feed *feed, uint32_t state, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(feed->health.why, sizeof feed->health.why, format, list);
    va_end(list);
    feed->health.state = state;
    xs_feed_tell(feed);
}
