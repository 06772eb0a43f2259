/* The plan: kept for checks, and written into the catalog. All entries of a call count, or none. */
#include <stdlib.h>
#include <string.h>

#include "objects.h"

#define MOST_ENTRIES (UINT32_MAX / 2) /* numbers of entries are 32 bits */

/* Behind plan_count, where they do not count yet. */
static int put(xs_objects *o, const xs_plan_entry *entries, uint32_t count) {
    if (count > MOST_ENTRIES - o->plan_count)
        return xs_fail(XS_E_TOO_MANY, "a plan has at most %u entries", MOST_ENTRIES);
    if (count > o->plan_room - o->plan_count) {
        uint64_t room = o->plan_count + (uint64_t)count + o->plan_room / 2;
        xs_plan_entry *plan = realloc(o->plan, room * sizeof *plan);
        if (!plan) return XS_E_MEMORY;
        o->plan = plan;
        o->plan_room = (uint32_t)room;
    }
    memcpy(o->plan + o->plan_count, entries, (size_t)count * sizeof *entries);
    return 0;
}

int xs_plan_append(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    int rc = put(xs_objects_of(world), entries, count);
    if (!rc) rc = xs_catalog_plan(world, entries, count);
    if (!rc) xs_objects_of(world)->plan_count += count;
    return rc;
}

static int add(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    xs_objects *o = xs_objects_of(world);
    int rc = put(o, entries, count);
    if (rc) return rc;
    rc = xs_plan_check(world, count);
    if (!rc && world->backend->plan_check) rc = world->backend->plan_check(world, count);
    if (!rc) rc = xs_catalog_plan(world, entries, count);
    if (rc) xs_plan_index_rewind(&o->plan_index, o->plan_count);
    if (!rc) o->plan_count += count;
    return rc;
}

int xs_plan_add(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!entries || !count) return xs_fail(XS_E_ARGUMENT, "no plan entries given");
    pthread_mutex_lock(&world->lock);
    rc = add(world, entries, count);
    pthread_mutex_unlock(&world->lock);
    return rc;
}
