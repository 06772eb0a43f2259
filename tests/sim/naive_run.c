#include "naive_run.h"

#include <stdlib.h>

static int on_event(xsr_sink *sink, const xsr_event *e) {
    naive_run *run = (naive_run *)sink;
    run->events = realloc(run->events, (run->event_count + 1) * sizeof *e);
    run->events[run->event_count++] = *e;
    return 0;
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    naive_run *run = (naive_run *)sink;
    run->waits = realloc(run->waits, (run->wait_count + 1) * sizeof *w);
    run->waits[run->wait_count++] = *w;
    return 0;
}

const xsr_sink naive_sink = {.name = "naive", .event = on_event, .wait = on_wait};

void naive_run_free(naive_run *run) {
    free(run->events);
    free(run->waits);
}

bool naive_is_signal(const xsr_event *e) {
    return e->slot != XSR_NONE && (e->kind == XS_EV_SIGNAL || e->kind == XS_EV_WATERMARK || e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE);
}
bool naive_is_wait(const xsr_event *e) { return e->slot != XSR_NONE && (e->kind == XS_EV_WAIT_END || e->kind == XS_EV_PASS); }

static bool any(const naive_run *run, uint32_t writer, bool (*is)(const xsr_event *)) {
    for (size_t i = 0; i < run->event_count; i++)
        if (run->events[i].writer == writer && is(&run->events[i]))
            return true;
    return false;
}

bool naive_joined(const naive_run *run, uint32_t writer, uint32_t with) {
    const xsr_writer *x = &run->model->writers[writer], *y = &run->model->writers[with];
    return x->launch != XSR_NONE && x->launch == y->launch && x->rank == y->rank && x->block == y->block && !any(run, writer, naive_is_wait) &&
           (x->role == y->role || !any(run, writer, naive_is_signal));
}
