/* A capture as a source: one pass, then the tables of hang_model.c. What counts as the second look is its end; as the
 * first, what was 200 ms before. */
#include "hang_capture.h"

#include <inttypes.h>
#include <room.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static hang_facts *facts_of(xsr_sink *sink) { return (hang_facts *)(void *)sink; }

static int changes(uint32_t kind) {
    return kind == XS_EV_SIGNAL || kind == XS_EV_WATERMARK || kind == XS_EV_ARRIVE || kind == XS_EV_GATE_ARRIVE ||
           kind == XS_EV_RESET;
}

static int see_slot(hang_facts *f, const xsr_event *e) {
    if (xsv_room(&f->slots, &f->slot_room, e->slot, sizeof *f->slots, 0))
        return XS_E_MEMORY;
    hang_seen_slot *s = &f->slots[e->slot];
    uint32_t rank = f->model->ranks[e->rank].rank;
    s->changed = e->time;
    if (e->kind == XS_EV_RESET) {
        s->signalled = 0;
        return 0;
    }
    s->several |= s->seen && s->rank != rank;
    s->rank = rank;
    s->seen = 1;
    s->signalled = e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK;
    s->value = e->value;
    return 0;
}

/* How many waits a writer passes from one signal of the slot to the next. */
static void see_habit(hang_facts *f, const xsr_event *e) {
    hang_seen_slot *s = &f->slots[e->slot];
    hang_seen_writer *w = &f->writers[e->writer];
    if ((e->kind == XS_EV_PASS || e->kind == XS_EV_WAIT_END) && e->result == XS_RESULT_OK) {
        w->passes++;
        s->waiter = e->writer + 1;
    } else if (e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK) {
        int same = s->signaller == e->writer + 1;
        uint64_t between = w->passes - s->passes;
        s->signals = same ? s->signals + 1 : 1;
        s->most = same ? between > s->most ? between : s->most : 0;
        s->signaller = e->writer + 1;
        s->passes = w->passes;
    }
}

static int see_writer(hang_facts *f, const xsr_event *e) {
    if (xsv_room(&f->writers, &f->writer_room, e->writer, sizeof *f->writers, 0))
        return XS_E_MEMORY;
    hang_seen_writer *w = &f->writers[e->writer];
    if (!w->seen)
        w->slot = XSR_NONE;
    w->seen = 1;
    w->last = e->time;
    w->epoch = e->epoch;
    w->role = e->role;
    if (e->slot != XSR_NONE && (e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK)) {
        w->slot = e->slot;
        w->value = e->value;
    }
    return 0;
}

static int on_event(xsr_sink *sink, const xsr_event *e) {
    hang_facts *f = facts_of(sink);
    if (e->kind == XS_EV_HEARTBEAT || e->rank >= f->model->rank_count)
        return 0;
    uint32_t p = f->model->ranks[e->rank].process;
    if (xsv_room(&f->processes, &f->process_room, p, sizeof *f->processes, 0))
        return XS_E_MEMORY;
    f->processes[p].seen = 1;
    f->processes[p].last = e->time;
    f->processes[p].given_up += e->kind == XS_EV_WAIT_END && e->result != XS_OK;
    int rc = e->slot != XSR_NONE && changes(e->kind) ? see_slot(f, e) : 0;
    rc = rc || e->writer == XSR_NONE ? rc : see_writer(f, e);
    if (rc || e->writer == XSR_NONE || e->slot == XSR_NONE)
        return rc;
    if (xsv_room(&f->slots, &f->slot_room, e->slot, sizeof *f->slots, 0))
        return XS_E_MEMORY;
    see_habit(f, e);
    return 0;
}

static int on_wait(xsr_sink *sink, const xsr_wait *wait) {
    hang_facts *f = facts_of(sink);
    if (!wait->open)
        return 0;
    if (xsv_room(&f->open, &f->open_room, f->open_count, sizeof *f->open, 0))
        return XS_E_MEMORY;
    f->open[f->open_count++] = *wait;
    return 0;
}

/* ---- what the answer does not rest on ---- */

static void note(hang_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(hang_report *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (r->note_count < sizeof r->notes / sizeof *r->notes && vasprintf(&r->notes[r->note_count], format, list) >= 0)
        r->note_count++;
    va_end(list);
}

/* Is it the process of the capture that has this pid now? */
static int runs(const xsr_process *p) {
    xs_attach_set set;
    int found = 0;
    if (!xs_attach_find(&p->pid, 1, &set))
        for (uint32_t i = 0; i < set.count; i++)
            found |= set.regions[i].view.head.process == p->process && set.regions[i].view.head.host == p->host;
    xs_attach_free(&set);
    return found;
}

static void note_what_is_not_whole(hang_report *r, const xsr_model *m) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < m->ring_count; i++)
        lost += m->rings[i].lost;
    if (m->cut)
        note(r, "the capture is cut off in mid-frame: the answer is that of its last whole one");
    if (m->damaged_frames || m->missing_frames)
        note(r, "%" PRIu64 " frames of the capture are damaged and %" PRIu64 " missing", m->damaged_frames,
             m->missing_frames);
    if (m->trimmed)
        note(r, "the capture was bounded: what was signalled before its first record is not known");
    if (m->triggered)
        note(r, "the rings were dumped by a trigger: the answer is that of the last dump");
    if (lost)
        note(r, "%" PRIu64 " records are lost: signals among them are not known", lost);
    for (uint32_t i = 0; i < m->process_count; i++)
        if (!m->closed && !m->processes[i].ended && m->processes[i].pid > 0 && runs(&m->processes[i]))
            note(r, "process %d still runs, and the capture may still be written: xs hang %d looks at it as it is now",
                 m->processes[i].pid, m->processes[i].pid);
        else if (!m->closed && !m->processes[i].ended)
            note(r, "the capture has no end for process %d: killed with its recorder, or both still run elsewhere",
                 m->processes[i].pid);
}

/* ---- as a source ---- */

static void look_for_signals(const hang_world *world, hang_wait *wait) {
    const hang_facts *f = world->facts;
    const hang_seen_slot *s = wait->object < f->slot_room ? &f->slots[wait->object] : NULL;
    if (s && s->seen)
        hang_saw(wait, s->rank);
    if (s && s->several)
        wait->supplier = HANG_NONE;
}

#define HABIT 3u /* signals that make one */

/* A matter of counts, which only a whole capture has. */
static int left_out(const hang_world *world, const hang_wait *wait, const hang_wait *other) {
    const hang_facts *f = world->facts;
    uint32_t writer = world->writers[other->writer].index;
    if (wait->object >= f->slot_room || other->object >= f->slot_room || f->model->trimmed || f->model->triggered ||
        f->model->windowed)
        return 0;
    for (uint32_t i = 0; i < f->model->ring_count; i++)
        if (f->model->rings[i].lost)
            return 0;
    const hang_seen_slot *s = &f->slots[wait->object];
    return s->signaller == writer + 1 && f->slots[other->object].waiter == writer + 1 && s->signals >= HABIT &&
           s->most && f->writers[writer].passes - s->passes > s->most;
}

static int had_writers(const hang_world *world, uint32_t region, uint32_t rank, uint32_t launch) {
    const hang_facts *f = world->facts;
    const xsr_model *m = f->model;
    for (uint32_t i = 0; i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->process == world->regions[region].process && w->launch != XSR_NONE &&
            m->launches[w->launch].id == launch && m->ranks[w->rank].rank == rank)
            return 1;
    }
    return 0;
}

const hang_source hang_capture = {"capture",        1,        "Hung at the end: ", " before the end",
                                  look_for_signals, left_out, had_writers};

int hang_capture_open(const char *const *paths, uint32_t count, hang_report *r) {
    const char *error = NULL;
    int rc = xsr_open(paths, count, NULL, &r->reader, &error);
    if (rc)
        return complain(exit_code_input(rc), "%s", error ? error : xs_strerror(rc));
    hang_facts *f = calloc(1, sizeof *f);
    if (!f)
        return complain(EX_SOFTWARE, "out of memory");
    r->facts = f;
    f->sink = (xsr_sink){.name = "hang", .event = on_event, .wait = on_wait};
    f->model = xsr_model_of(r->reader);
    xsr_sink *sink = &f->sink;
    rc = xsr_run(r->reader, &sink, 1);
    if (!rc)
        rc = hang_model_worlds(r, f);
    if (!rc)
        rc = hang_conclude(r);
    if (rc)
        return complain(exit_code_input(rc), "%s: %s", paths[0], xs_strerror(rc));
    note_what_is_not_whole(r, f->model);
    return r->world_count ? EX_OK : complain(EX_NOINPUT, "%s: no process is in it", paths[0]);
}

void hang_capture_close(hang_report *r) {
    hang_facts *f = r->facts;
    if (f) {
        free(f->writers);
        free(f->slots);
        free(f->processes);
        free(f->open);
        free(f->newest);
        free(f->at);
        free(f);
    }
    xsr_close(r->reader);
}
