/* Who owes a wait its signal: the plan, else who is seen to have signalled the slot before. */
#include "hang.h"

#define SEARCHES 8u /* whole rings are read for so many slots at most: it has to be quick */

/* Of several ranks that signalled it, none is picked. */
void hang_saw(hang_wait *wait, uint32_t rank) {
    if (wait->how == HANG_SUPPLIER_UNKNOWN || wait->supplier == rank) {
        wait->how = HANG_SUPPLIER_SEEN;
        wait->supplier = rank;
    } else if (wait->how == HANG_SUPPLIER_SEEN) {
        wait->supplier = HANG_NONE;
    }
}

static void look_at_last_signals(const hang_world *world, hang_wait *wait) {
    for (uint32_t i = 0; i < world->writer_count; i++) {
        const hang_writer *w = &world->writers[i];
        if (w->has_signalled && xs_catalog_same_place(&w->signal, &wait->slot))
            hang_saw(wait, w->rank);
    }
}

static void look_at_plan(const hang_world *world, hang_wait *wait) {
    const xs_catalog_view *catalog = &world->regions[world->writers[wait->writer].region].catalog;
    int found = xs_catalog_view_supplier(catalog, &wait->slot, &wait->supplier, &wait->supplier_role);
    if (found)
        wait->how = found == XS_SUPPLIER_HOST ? HANG_SUPPLIER_HOST : HANG_SUPPLIER_PLAN;
}

/* Nobody owes what was signalled: a wait that does not run (its process is stopped, its thread does not come to run)
 * has merely not looked. One that polls and does not see it has another fault, and stays a hang of its own. */
static int answered(const hang_world *world, const hang_wait *wait) {
    for (uint32_t i = 0; i < world->writer_count && wait->cmp == XS_CMP_GE; i++) {
        const hang_writer *w = &world->writers[i];
        if (w->has_signalled && w->signal_value >= wait->need && xs_catalog_same_place(&w->signal, &wait->slot))
            return 1;
    }
    return 0;
}

void hang_find_suppliers(hang_world *world) {
    uint32_t searches = 0;
    for (uint32_t i = 0; i < world->wait_count; i++) {
        hang_wait *wait = &world->waits[i];
        if (!wait->is_slot)
            continue;
        look_at_plan(world, wait);
        int seeded = wait->how == HANG_SUPPLIER_HOST && (wait->slot.pad->shape.flags & XS_PAD_SHARED);
        if (seeded) /* by the host; where kernels arrive they owe the rest */
            wait->how = HANG_SUPPLIER_UNKNOWN;
        if (!wait->how)
            look_at_last_signals(world, wait);
        if (!wait->how && searches++ < SEARCHES)
            world->source->look_for_signals(world, wait);
        if (!wait->how && seeded)
            look_at_plan(world, wait);
        if (wait->how == HANG_SUPPLIER_SEEN && wait->supplier == HANG_NONE)
            wait->how = HANG_SUPPLIER_UNKNOWN;
        wait->answered = wait->answered || answered(world, wait);
    }
}
