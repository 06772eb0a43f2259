/* The plan: kept for checks, and written into the catalog. All entries of a call count, or none. */
#include <stdlib.h>
#include <string.h>

#include "objects.h"

int xs_plan_append(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    xs_objects *objects = xs_objects_of(world);
    if (count > UINT32_MAX / sizeof *entries - objects->plan_count)
        return xs_fail(XS_E_TOO_MANY, "too many plan entries");
    xs_plan_entry *plan = realloc(objects->plan, (objects->plan_count + (size_t)count) * sizeof *plan);
    if (!plan) return XS_E_MEMORY;
    objects->plan = plan;
    int rc = xs_catalog_plan(world, entries, count);
    if (rc) return rc;
    memcpy(plan + objects->plan_count, entries, count * sizeof *plan);
    objects->plan_count += count;
    return 0;
}

int xs_plan_add(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!entries || !count) return xs_fail(XS_E_ARGUMENT, "no plan entries given");
    pthread_mutex_lock(&world->lock);
    rc = xs_plan_check(world, entries, count);
    if (!rc && world->backend->plan_check) rc = world->backend->plan_check(world, entries, count);
    if (!rc) rc = xs_plan_append(world, entries, count);
    pthread_mutex_unlock(&world->lock);
    return rc;
}
