/* The journal of a region, and what a segment repeats of it: the newest entries, and those that hold however long
 * ago they were made, since the clock alone makes an entry a second and a kernel may run for hours. */
#include <string.h>

#include "collector_internal.h"
#include "stamped.h"

#define JOURNAL_AGAIN 128u /* newest entries that a segment repeats */

static void drop(xs_collected *r, uint32_t at) {
    memmove(&r->standing[at], &r->standing[at + 1], (--r->standing_count - at) * sizeof r->standing[0]);
}

/* The same launch, or, of what tracing is switched to, whatever it was. */
static int replaces(const xs_journal_entry *e, const xs_journal_entry *standing) {
    int of_launch = e->kind == XS_JOURNAL_LAUNCH_BEGIN || e->kind == XS_JOURNAL_LAUNCH_END;
    return of_launch ? standing->kind == XS_JOURNAL_LAUNCH_BEGIN && standing->a == e->a : standing->kind == e->kind;
}

/* Launches that are not over, and what tracing is switched to. */
static void keep(xs_collected *r, const xs_journal_entry *e) {
    if (e->kind != XS_JOURNAL_LAUNCH_BEGIN && e->kind != XS_JOURNAL_LAUNCH_END && e->kind != XS_JOURNAL_TRACE_STATE)
        return;
    for (uint32_t i = r->standing_count; i-- > 0;)
        if (replaces(e, &r->standing[i]))
            drop(r, i);
    if (e->kind == XS_JOURNAL_LAUNCH_END)
        return;
    if (r->standing_count == XS_STANDING_MOST)
        drop(r, r->standing[0].kind == XS_JOURNAL_TRACE_STATE); /* the oldest launch */
    r->standing[r->standing_count++] = *e;
}

void xs_collect_journal(xs_collector *c, xs_collected *r, int last) {
    frame_array array;
    xs_journal_entry entry;
    xs_stamped ring = xs_stamped_journal(&r->view);
    xs_array_begin(&array, c, r, XS_FRAME_JOURNAL, sizeof entry);
    for (uint64_t budget = r->view.head.journal_entries; budget; budget--) {
        if (xs_stamped_copy(&ring, r->journal_read + 1, &entry)) {
            xs_array_add(&array, &entry);
            keep(r, &entry);
            r->journal_read++;
            continue;
        }
        uint64_t gone = xs_stamped_gone(&ring, r->journal_read + 1, last);
        if (!gone)
            break;
        r->journal_lost += gone;
        r->journal_read += gone;
    }
    xs_array_end(&array);
}

/* The memory of a process that is over is gone. */
void xs_collect_journal_again(xs_collector *c, xs_collected *r) {
    frame_array array;
    xs_journal_entry entry;
    uint64_t first = r->ended                          ? r->journal_read + 1
                     : r->journal_read > JOURNAL_AGAIN ? r->journal_read - JOURNAL_AGAIN + 1
                                                       : 1;
    xs_array_begin(&array, c, r, XS_FRAME_JOURNAL, sizeof entry);
    for (uint32_t i = 0; i < r->standing_count; i++)
        if (r->standing[i].sequence < first)
            xs_array_add(&array, &r->standing[i]);
    for (uint64_t s = first; s <= r->journal_read; s++) {
        xs_stamped ring = xs_stamped_journal(&r->view);
        if (xs_stamped_copy(&ring, s, &entry))
            xs_array_add(&array, &entry);
    }
    xs_array_end(&array);
}
