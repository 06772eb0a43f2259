/* Windows: what is recorded, switched in the control block that writers read at writer-begin, epochs and back-off
 * stages. */
#include "trace.h"

#include <stdlib.h>

#include "config.h"

static xs_window window_of(const xs_control *control) {
    return (xs_window){.started = __atomic_load_n(&control->started, __ATOMIC_RELAXED),
                       .rank_first = control->rank_first,
                       .rank_last = control->rank_last,
                       .block_first = control->block_first,
                       .block_last = control->block_last,
                       .epoch_first = control->epoch_first,
                       .epoch_last = control->epoch_last};
}

static void narrow(xs_window *w, const xs_filter *f) {
    w->rank_first = f->rank_first, w->rank_last = f->rank_last;
    w->block_first = f->block_first, w->block_last = f->block_last;
    w->epoch_first = f->epoch_first, w->epoch_last = f->epoch_last;
}

/* filter NULL: as it is. What of `started` is not in `kept` becomes `bits`. Filters and windows are set by different
 * threads perhaps. */
static void change(xs_world *world, const xs_filter *filter, uint32_t kept, uint32_t bits) {
    pthread_mutex_lock(&world->lock);
    for (uint32_t i = 0; i < xs_region(world)->ranks; i++) {
        xs_window window = window_of(xs_region_control(xs_region(world)) + i);
        if (filter) narrow(&window, filter);
        window.started = (window.started & kept) | bits;
        xs_region_set_window(xs_region(world), i, &window);
    }
    pthread_mutex_unlock(&world->lock);
}

/* For readers: what a window or a filter leaves out is missing without a gap. */
static void tell(xs_world *world) {
    uint32_t bits = __atomic_load_n(&xs_region_control(xs_region(world))->started, __ATOMIC_RELAXED);
    xs_journal(world, XS_JOURNAL_TRACE_STATE, bits, 0, xs_world_now(world), 0, 0, 0, 0);
}

static void switch_to(xs_world *world, uint32_t bits) {
    change(world, NULL, XS_STARTED_FILTERED, bits);
    tell(world);
}

static uint32_t started_bits(const xs_world *world) {
    return XS_STARTED | (world->config.payload > 0 ? (uint32_t)XS_STARTED_PAYLOAD : 0);
}

int xs_trace_start(xs_world *world) {
    int rc = xs_world_check(world);
    if (!rc) switch_to(world, started_bits(world));
    return rc;
}

int xs_trace_stop(xs_world *world) {
    int rc = xs_world_check(world);
    if (!rc) switch_to(world, 0);
    return rc;
}

static int is_narrow(const xs_filter *f) {
    return f->rank_first || f->rank_last != UINT32_MAX || f->block_first || f->block_last != UINT32_MAX ||
           f->epoch_first || f->epoch_last != UINT64_MAX;
}

static void apply(xs_world *world, const xs_filter *filter) {
    change(world, filter, ~(uint32_t)XS_STARTED_FILTERED, is_narrow(filter) ? XS_STARTED_FILTERED : 0);
}

int xs_trace_filter(xs_world *world, const xs_filter *filter) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!filter || filter->size < sizeof *filter) return xs_fail(XS_E_ARGUMENT, "xs_filter.size is not set");
    if (filter->rank_first > filter->rank_last || filter->block_first > filter->block_last ||
        filter->epoch_first > filter->epoch_last)
        return xs_fail(XS_E_ARGUMENT, "a filter's first is beyond its last");
    apply(world, filter);
    if (is_narrow(filter)) tell(world);
    return 0;
}

int xs_trace_dump(xs_world *world, const char *why) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!world->collect_state)
        return xs_fail(XS_E_UNSUPPORTED, "nothing collects in this world");
    return xs_collect.dump(world->collect_state, why ? why : "asked for");
}

static int range(const char *variable, uint64_t high, uint64_t *first, uint64_t *last) {
    const char *text = getenv(variable);
    if (!text || !*text || !xs_parse_range(text, high, first, last)) return 0;
    return xs_fail(XS_E_ARGUMENT, "%s=%s: expected FIRST-LAST", variable, text);
}

int xs_trace_configure(xs_world *world) {
    uint64_t ranks[2] = {0, UINT32_MAX}, blocks[2] = {0, UINT32_MAX}, epochs[2] = {0, UINT64_MAX};
    int rc = range("XS_FILTER_RANKS", UINT32_MAX, &ranks[0], &ranks[1]);
    if (!rc) rc = range("XS_FILTER_BLOCKS", UINT32_MAX, &blocks[0], &blocks[1]);
    if (!rc) rc = range("XS_FILTER_EPOCHS", UINT64_MAX, &epochs[0], &epochs[1]);
    if (rc) return rc;
    xs_filter filter = {sizeof filter,       (uint32_t)ranks[0], (uint32_t)ranks[1], (uint32_t)blocks[0],
                        (uint32_t)blocks[1], epochs[0],          epochs[1]};
    apply(world, &filter);
    switch_to(world, world->config.trace_start > 0 ? started_bits(world) : 0);
    return 0;
}
