#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "hang.h"

void require(int holds) {
    if (!holds)
        abort();
}

static int see_event(xsr_sink *sink, const xsr_event *e) {
    const xsr_model *m = sink->model;
    require(e->ring < m->ring_count && e->rank < m->rank_count && e->kind > 0 && e->kind < XS_EV_COUNT);
    require(e->writer == XSR_NONE || e->writer < m->writer_count);
    require(e->role == XSR_NONE || e->role < m->name_count);
    require(e->slot == XSR_NONE || e->slot < m->slot_count);
    return 0;
}

static int see_wait(xsr_sink *sink, const xsr_wait *w) {
    const xsr_model *m = sink->model;
    require(w->slot < m->slot_count && w->rank < m->rank_count && (w->open == (w->end == INT64_MIN)));
    require(w->reads_from.reason < XSR_REASON_COUNT && w->released_by.reason < XSR_REASON_COUNT);
    require(w->released_by.event == XSR_NO_ID || w->released_by.rank < m->rank_count);
    return 0;
}

static int see_activity(xsr_sink *sink, const xsr_activity *a) {
    const xsr_model *m = sink->model;
    require(a->process < m->process_count && a->end >= a->begin && (a->name == XSR_NONE || a->name < m->name_count));
    require(a->kind >= XS_ACTIVITY_KERNEL && a->kind <= XS_ACTIVITY_CALL);
    require(a->call == XSR_NONE || (a->call < m->activity_count && m->activities[a->call].kind == XS_ACTIVITY_CALL));
    require((a->launch == XSR_NONE || a->launch < m->launch_count) && a->writers <= m->writer_count);
    require(a == m->activities || a[-1].begin <= a->begin);
    return 0;
}

static void check_model(const xsr_model *m) {
    for (uint32_t i = 0; i < m->ring_count; i++)
        require(m->rings[i].kept + m->rings[i].lost == m->rings[i].emitted && m->rings[i].torn <= m->rings[i].kept);
    for (uint32_t i = 0; i < m->writer_count; i++)
        require(m->writers[i].kernel == XSR_NONE || m->activities[m->writers[i].kernel].kind == XS_ACTIVITY_KERNEL);
    for (uint32_t i = 0; i < m->process_count; i++)
        require(m->processes[i].cupti.state < XS_CUPTI_STATE_COUNT);
}

uint32_t check_capture(const char *path, int whole) {
    xsr_reader *reader = NULL;
    const char *why = NULL;
    xsr_sink sink = {.name = "check", .event = see_event, .wait = see_wait, .activity = see_activity}, *sinks[] = {&sink, NULL};
    uint32_t errors = 0;
    require(xsa_open(NULL, &sinks[1]) == 0);
    int rc = xsr_open(&path, 1, NULL, &reader, &why);
    require(rc == 0 || (why != NULL && !whole));
    if (rc == 0)
        rc = xsr_run(reader, sinks, 2);
    require(rc == 0 || !whole);
    const xsr_model *m = xsr_model_of(reader);
    require(!whole || (m->closed && !m->cut && !m->damaged_frames && !m->missing_frames));
    if (rc == 0) {
        check_model(m);
        errors = check_verdicts(xsa_result_of(sinks[1]), m);
    }
    xsa_close(sinks[1]);
    xsr_close(reader);
    return errors;
}

void check_hang(const char *path) {
    hang_report report = {.paths = &path, .path_count = 1};
    int code = hang_is_image(path) ? hang_image_open(&path, 1, &report) : hang_capture_open(&path, 1, &report);
    FILE *nowhere = code ? NULL : fopen("/dev/null", "w");
    require(code || (nowhere != NULL && report.world_count > 0));
    if (nowhere) {
        hang_print_text(&report, 10, nowhere);
        hang_print_json(&report, nowhere);
        fclose(nowhere);
    }
    hang_free(&report);
}
