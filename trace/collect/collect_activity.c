/* What CUPTI tells: entries as they come, and how it fares where that changed. */
#include <stdlib.h>
#include <string.h>

#include "collector_internal.h"
#include "stamped.h"

/* Segments of bounded captures repeat the names. */
static void keep_name(xs_collected *r, const xs_activity_entry *entry) {
    activity_state *a = &r->activity;
    if (entry->kind != XS_ACTIVITY_NAME)
        return;
    if (a->name_count == a->name_room) {
        uint32_t room = a->name_room ? 2 * a->name_room : 64;
        xs_activity_entry *bigger = realloc(a->names, room * sizeof *bigger);
        if (!bigger)
            return;
        a->names = bigger;
        a->name_room = room;
    }
    a->names[a->name_count++] = *entry;
}

static void take_entries(xs_collector *c, xs_collected *r, xs_activity_head *head, int last) {
    frame_array array;
    xs_activity_entry entry;
    xs_stamped ring = xs_stamped_activity(&r->view);
    uint64_t *read = &r->activity.read, before = *read;
    xs_array_begin(&array, c, r, XS_FRAME_ACTIVITY, sizeof entry);
    for (uint64_t budget = ring.entries; budget; budget--) {
        if (xs_stamped_copy(&ring, *read + 1, &entry)) {
            xs_array_add(&array, &entry);
            keep_name(r, &entry);
            ++*read;
            continue;
        }
        uint64_t gone = xs_stamped_gone(&ring, *read + 1, last);
        if (!gone)
            break;
        r->activity.lost += gone;
        *read += gone;
    }
    if (xs_array_end(&array)) /* no space: at most these */
        r->activity.lost += *read - before;
    __atomic_store_n(&head->consumed, *read, __ATOMIC_RELEASE);
}

/* 1: *health is whole, and its writer was not in the middle of it. */
static int copy_health(const xs_activity_head *head, xs_cupti_health *health) {
    for (int tries = 0; tries < 16; tries++) {
        uint32_t generation = __atomic_load_n(&head->generation, __ATOMIC_ACQUIRE);
        if (!generation)
            return 0;
        const uint64_t *words = (const uint64_t *)(const void *)&head->health;
        uint64_t *out = (uint64_t *)(void *)health;
        for (size_t i = 0; i < sizeof *health / 8; i++)
            out[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(generation & 1) && __atomic_load_n(&head->generation, __ATOMIC_RELAXED) == generation)
            return 1;
    }
    return 0;
}

static void put_health(xs_collector *c, xs_collected *r, const xs_cupti_health *health) {
    xs_collect_put(c, r, XS_FRAME_CUPTI, UINT32_MAX, health, sizeof *health);
}

void xs_collect_activity(xs_collector *c, xs_collected *r, int last) {
    xs_activity_head *head = xs_view_activity(&r->view);
    xs_cupti_health now;
    if (!head)
        return;
    take_entries(c, r, head, last);
    if (!copy_health(head, &now))
        return;
    now.lost += r->activity.lost;
    now.why[sizeof now.why - 1] = 0;
    if (!memcmp(&now, &r->activity.told, sizeof now))
        return;
    r->activity.told = now;
    put_health(c, r, &now);
}

/* Nobody takes entries for now: their writer must not wait. */
void xs_collect_activity_left_alone(xs_collected *r) {
    xs_activity_head *head = xs_view_activity(&r->view);
    if (head)
        __atomic_store_n(&head->consumed, UINT64_MAX, __ATOMIC_RELAXED);
}

void xs_collect_activity_again(xs_collector *c, xs_collected *r) {
    const activity_state *a = &r->activity;
    frame_array array;
    if (!xs_view_activity(&r->view))
        return;
    xs_array_begin(&array, c, r, XS_FRAME_ACTIVITY, sizeof *a->names);
    for (uint32_t i = 0; i < a->name_count; i++)
        xs_array_add(&array, &a->names[i]);
    xs_array_end(&array);
    if (a->told.state != XS_CUPTI_NONE)
        put_health(c, r, &a->told);
}
