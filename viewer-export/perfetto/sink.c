/* The sink: what the reader tells goes to the rows that draw it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

#define PASS_LIMIT 2000000u
#define FOLD_LIMIT 5000000u
#define SPLIT_LIMIT 10000000u
#define WINDOW_EVENTS 2000000u
#define WINDOWS_MAX 400u /* each keeps a file open to the end: signals are told late */
#define FOLD_SHARE 100   /* of the median kernel */

/* ---- begin ---- */

static int ranks_begin(drawing *d) {
    const xsr_model *m = d->model;
    uint32_t highest = 0;
    d->ranks = calloc(m->rank_count + 1, sizeof *d->ranks);
    if (!d->ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        d->ranks[i].number = m->ranks[i].rank;
        d->ranks[i].step = 1;
        highest = m->ranks[i].rank > highest ? m->ranks[i].rank : highest;
        if (m->ranks[i].process < m->process_count && m->processes[m->ranks[i].process].world_ranks > highest + 1)
            highest = m->processes[m->ranks[i].process].world_ranks - 1;
        for (uint32_t c = 0; c < m->clock_count; c++)
            if (m->clocks[c].process == m->ranks[i].process && m->clocks[c].device == m->ranks[i].device &&
                m->clocks[c].step_ns > 1)
                d->ranks[i].step = m->clocks[c].step_ns;
    }
    d->correlation_count = highest + 1;
    d->correlation = calloc(d->correlation_count + 1, sizeof *d->correlation);
    if (!d->correlation)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < d->correlation_count; i++)
        d->correlation[i] = strings_format(&d->texts, "rank=%u (writer)", i);
    d->correlation[d->correlation_count] = strings_id(&d->texts, "rank=? (writer)");
    return XS_OK;
}

static void texts_begin(drawing *d) {
#define KEY_TEXT(name) d->key[KEY_##name] = strings_id(&d->texts, #name);
    DRAW_KEYS(KEY_TEXT)
#define CATEGORY_TEXT(name) d->category[CATEGORY_##name] = strings_id(&d->texts, #name);
    DRAW_CATEGORIES(CATEGORY_TEXT)
    /* a name with a space in it */
    d->category[CATEGORY_path] = strings_id(&d->texts, "critical path");
}

static uint64_t limit(uint64_t wanted, uint64_t usual) { return wanted ? wanted : usual; }

static void choose_size(drawing *d) {
    uint64_t events = d->options.events ? d->options.events : d->model->records; /* an event is one record at least */
    d->without_passes = events > limit(d->options.pass_limit, PASS_LIMIT);
    d->reduced = events > limit(d->options.fold_limit, FOLD_LIMIT);
    d->split = d->options.split_limit == 1 || events >= limit(d->options.split_limit, SPLIT_LIMIT);
    d->short_wait = (int64_t)d->options.short_wait_ns;
}

static int begin(xsr_sink *sink, const xsr_model *model) {
    drawing *d = DRAW(sink);
    d->model = d->suppliers.model = model;
    texts_begin(d);
    TRY(ranks_begin(d));
    TRY(evidence_begin(d));
    choose_size(d);
    TRY(tracks_begin(d));
    TRY(files_begin(d));
    TRY(epochs_begin(d));
    TRY(blame_begin(d));
    return d->texts.failed ? XS_E_MEMORY : XS_OK;
}

/* ---- events ---- */

/* Windows hold whole epochs: a new one begins with an epoch that might not fit any more, if it is as large as the
 * last. */
static int maybe_next_window(drawing *d, const xsr_event *ev) {
    if (!d->split || ev->kind != XS_EV_EPOCH || (d->events > 1 && ev->value <= d->newest_epoch))
        return XS_OK;
    uint64_t in_window = d->events - d->window_begun, in_epoch = d->events - d->epoch_begun;
    d->newest_epoch = ev->value;
    d->epoch_begun = d->events;
    if (in_window + in_epoch < limit(d->options.window_events, WINDOW_EVENTS) || d->window_count == WINDOWS_MAX ||
        ev->time <= d->windows[d->window_count - 1]->start)
        return XS_OK;
    d->window_begun = d->events;
    TRY(files_next_window(d, ev->time));
    return slots_next_window(d, ev->time);
}

static int note_slot(drawing *d, const xsr_event *ev) {
    if (ev->slot != XSR_NONE && !slot_of(d, ev->slot))
        return XS_E_MEMORY;
    return xsv_suppliers_event(&d->suppliers, ev);
}

static void note_short_wait(drawing *d) {
    if (d->reduced && !d->options.short_wait_ns && d->median_of != d->model->launch_count) {
        d->median_of = d->model->launch_count;
        d->short_wait = kernels_median(d) / FOLD_SHARE;
    }
}

/* As itself: a slice or an instant. Others are, where they prove something, instants of their own. */
static bool is_drawn(const xsr_event *ev) {
    switch (ev->kind) {
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK:
    case XS_EV_WAIT_START:
    case XS_EV_WAIT_END:
    case XS_EV_PASS:
    case XS_EV_ARRIVE:
    case XS_EV_GATE_ARRIVE: return ev->slot != XSR_NONE;
    case XS_EV_RESET:
    case XS_EV_SKIP:
    case XS_EV_ABORT:
    case XS_EV_ROLE:
    case XS_EV_BLOCK_ENTER:
    case XS_EV_READ_BEGIN:
    case XS_EV_WRITE_BEGIN:
    case XS_EV_WORK_BEGIN: return true;
    default: return false;
    }
}

static int event_on_lane(drawing *d, const xsr_event *ev) {
    lane *l = lane_of_writer(d, ev->writer);
    if (!l)
        return d->texts.failed ? XS_E_MEMORY : XS_OK;
    if (evidence_is(d, ev->id) && !is_drawn(ev))
        TRY(control_event(d, ev));
    switch (ev->kind) {
    case XS_EV_GATE_ARRIVE: return ev->slot == XSR_NONE ? XS_OK : arrival_event(d, ev);
    case XS_EV_RESET:
    case XS_EV_SKIP:
    case XS_EV_ABORT:
    case XS_EV_ROLE: return d->without_passes && !evidence_is(d, ev->id) ? XS_OK : control_event(d, ev);
    default: return lane_event(d, l, ev);
    }
}

static int on_event(xsr_sink *sink, const xsr_event *ev) {
    drawing *d = DRAW(sink);
    if (ev->rank >= d->model->rank_count)
        return XS_OK; /* its rank is in no process of the capture */
    if (!d->events++)
        d->first_time = ev->time;
    d->last_time = ev->time > d->last_time ? ev->time : d->last_time;
    note_short_wait(d);
    TRY(maybe_next_window(d, ev));
    TRY(note_slot(d, ev));
    TRY(epochs_event(d, ev));
    TRY(blame_event(d, ev));
    TRY(watermarks_event(d, ev));
    TRY(slots_event(d, ev));
    return event_on_lane(d, ev);
}

static int keep_open(drawing *d, const xsr_wait *w) {
    TRY(xsv_room(&d->open, &d->open_room, d->open_count, sizeof *d->open, 0));
    d->open[d->open_count++] = *w;
    return XS_OK;
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    drawing *d = DRAW(sink);
    lane *l = lane_of_writer(d, w->writer);
    if (!l) {
        d->summary.waits_without_writer++;
        return d->texts.failed ? XS_E_MEMORY : XS_OK;
    }
    if (!slot_of(d, w->slot))
        return XS_E_MEMORY;
    if (w->open)
        return keep_open(d, w);
    if (w->passed)
        return draw_pass(d, w);
    l->waited += w->end > w->begin ? (uint64_t)(w->end - w->begin) : 0;
    return lane_wait(d, l, w);
}

static int on_signal(xsr_sink *sink, const xsr_signal *signal) {
    drawing *d = DRAW(sink);
    if (signal->event.kind != XS_EV_SIGNAL && signal->event.kind != XS_EV_WATERMARK)
        return XS_OK; /* arrivals are drawn as they come */
    lane *l = lane_of_writer(d, signal->event.writer);
    if (l)
        l->signals++;
    return signal->event.slot == XSR_NONE ? XS_OK : draw_signal(d, signal);
}

static int on_lost(xsr_sink *sink, const xsr_loss *loss) { return losses_add(DRAW(sink), loss); }

/* ---- finish ---- */

static bool any_virtual(const xsr_model *m) {
    for (uint32_t i = 0; i < m->process_count; i++)
        if (m->processes[i].virtual_time)
            return true;
    return false;
}

static void widen(drawing *d, int64_t begin, int64_t end) {
    d->begin = begin < d->begin ? begin : d->begin;
    d->end = end > d->end ? end : d->end;
}

/* The drawing is as long as what happened: a capture may be idle for hours before and after. Where waits are open or
 * records lost, its end counts. Its own times are of another clock than the events' where time is virtual. */
static void measure(drawing *d) {
    const xsr_model *m = d->model;
    d->begin = d->events ? d->first_time : m->begin;
    d->end = d->events ? d->last_time : m->end;
    for (uint32_t i = 0; i < m->launch_count; i++)
        widen(d, m->launches[i].begin, m->launches[i].end); /* INT64_MIN: not ended */
    for (uint32_t i = 0; i < m->activity_count; i++)
        widen(d, m->activities[i].begin, m->activities[i].end);
    if ((d->open_count || d->losses) && !any_virtual(m))
        widen(d, m->begin, m->end);
    d->end = d->end > d->begin ? d->end : d->begin + 1;
}

int64_t drawing_begin(const drawing *d) { return d->begin; }

int64_t drawing_end(const drawing *d) { return d->end; }

static int draw_rest(drawing *d) {
    measure(d);
    TRY(lanes_flush(d));
    TRY(draw_open_waits(d));
    TRY(lanes_finish(d));
    TRY(blame_finish(d));
    TRY(epochs_finish(d));
    TRY(kernels_finish(d));
    TRY(losses_finish(d));
    TRY(health_finish(d));
    return path_finish(d);
}

static int finish(xsr_sink *sink) {
    drawing *d = DRAW(sink);
    TRY(draw_rest(d));
    TRY(startup_finish(d));
    TRY(files_finish(d));
    TRY(output_rename(&d->startup));
    d->finished = true;
    return XS_OK;
}

/* ---- the library's functions ---- */

static char *stem_of(const char *path) {
    char *stem = strdup(path);
    size_t length = stem ? strlen(stem) : 0;
    static const char ending[] = ".perfetto";
    if (length > sizeof ending - 1 && strcmp(stem + length - (sizeof ending - 1), ending) == 0)
        stem[length - (sizeof ending - 1)] = 0;
    return stem;
}

int xsv_perfetto_open(const char *path, const xsv_perfetto_options *options, xsr_sink **sink) {
    if (!path || !*path || !sink || (options && options->size == 0))
        return XS_E_ARGUMENT;
    drawing *d = calloc(1, sizeof *d);
    if (!d)
        return XS_E_MEMORY;
    if (options)
        memcpy(&d->options, options, options->size < sizeof *options ? options->size : sizeof *options);
    d->sink = (xsr_sink){.name = "perfetto", .begin = begin, .event = on_event, .wait = on_wait, .signal = on_signal,
                         .lost = on_lost, .finish = finish};
    d->startup.fd = -1;
    d->last_time = INT64_MIN;
    d->path = strdup(path);
    d->stem = stem_of(path);
    if (!d->path || !d->stem) {
        xsv_perfetto_close(&d->sink);
        return XS_E_MEMORY;
    }
    *sink = &d->sink;
    return XS_OK;
}

const xsv_perfetto_summary *xsv_perfetto_summary_of(const xsr_sink *sink) { return &((const drawing *)sink)->summary; }

static void ranks_free(drawing *d) {
    for (uint32_t i = 0; d->ranks && i < d->model->rank_count; i++)
        free(d->ranks[i].roles);
    free(d->ranks);
}

void xsv_perfetto_close(xsr_sink *sink) {
    drawing *d = DRAW(sink);
    if (!d)
        return;
    int kept = errno;
    files_free(d);
    output_free(&d->startup);
    lanes_free(d);
    blame_free(d);
    epochs_free(d);
    watermarks_free(d);
    losses_free(d);
    slots_free(d);
    evidence_free(d);
    xsv_suppliers_free(&d->suppliers);
    ranks_free(d);
    strings_free(&d->texts);
    free(d->correlation);
    free(d->tracks);
    free(d->slots);
    free(d->open);
    free(d->path);
    free(d->stem);
    free(d);
    errno = kept;
}

typedef struct counter {
    xsr_sink sink;
    uint64_t events;
} counter;

static int count_event(xsr_sink *sink, const xsr_event *ev) {
    (void)ev;
    ((counter *)sink)->events++;
    return XS_OK;
}

int xsv_perfetto_count(xsr_reader *reader, uint64_t *events) {
    if (!reader || !events)
        return XS_E_ARGUMENT;
    counter c = {.sink = {.name = "count", .event = count_event}};
    xsr_sink *sinks[] = {&c.sink};
    int rc = xsr_run(reader, sinks, 1);
    *events = c.events;
    return rc;
}
