/* What kernels report of the plan (EXPECT): rows of origin REPORTED, each promise once. */
#include "internal.h"

#define MOST_REPORTED 65536u /* memory does not grow with events; these rows name epochs */

/* The record holds the epoch's low word; a writer that entered that epoch knows all of it. */
static uint64_t epoch_of(const xsr_event *e) {
    return (uint32_t)e->epoch == (uint32_t)e->detail ? e->epoch : e->detail;
}

int rd_expect(xsr_reader *reader, const xsr_event *e) {
    if (e->slot == XSR_NONE)
        return 0;
    const xsr_slot *s = &reader->model.slots[e->slot];
    xsr_plan row = {s->pad,
                    {.kind = XS_PLAN_ARRIVALS,
                     .origin = XS_PLAN_REPORTED,
                     .pad_first = rd_pad_first(reader, s->pad),
                     .owner = s->owner,
                     .row = s->row,
                     .column = s->column,
                     .epoch = epoch_of(e),
                     .a = e->value}};
    uint64_t key = xs_mixed(xs_mixed(xs_mixed(1, e->slot), row.entry.epoch), row.entry.a);
    if (rd_map_get(&reader->reported_of, key) != XSR_NONE)
        return 0;
    if (reader->reported_count == MOST_REPORTED) {
        reader->reported_more++;
        return 0;
    }
    if (RD_ROOM(reader->reported, reader->room.reported, reader->reported_count + 1) < 0 ||
        rd_map_put(&reader->reported_of, key, reader->reported_count) < 0)
        return XS_E_MEMORY;
    reader->reported[reader->reported_count++] = row;
    return 0;
}

int rd_expect_finish(xsr_reader *reader) {
    int rc = 0;
    for (uint32_t i = 0; i < reader->reported_count && rc == 0; i++)
        rc = rd_plan_append(reader, &reader->reported[i]);
    if (rc == 0 && reader->reported_more)
        rc = rd_note(
            reader, "kernels reported more of the plan than is kept: %llu further EXPECT events are not among its rows",
            (unsigned long long)reader->reported_more);
    return rc;
}
