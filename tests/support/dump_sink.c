#include "dump_sink.h"

#include <inttypes.h>

static FILE *out_of(xsr_sink *sink) { return ((dump_sink *)sink)->out; }
static const char *name_of(const xsr_model *m, uint32_t name) { return name == XSR_NONE ? "-" : m->names[name].text; }
static const char *writer_of(const xsr_model *m, uint32_t writer) { return writer == XSR_NONE ? "?" : m->writers[writer].name; }

static void put_time(FILE *out, const char *label, int64_t time) {
    if (time == INT64_MIN || time == INT64_MAX)
        fprintf(out, " %s=-", label);
    else
        fprintf(out, " %s=%" PRId64, label, time);
}

static int on_event(xsr_sink *sink, const xsr_event *e) {
    static const char *const cmps[] = {"ge", "eq", "ne", "lt", "gt", "?", "?", "?"};
    const xsr_model *m = sink->model;
    FILE *out = out_of(sink);
    fprintf(out, "event %" PRIu64 " t=%" PRId64 "%s seq=%" PRIu64 " rank=%u writer=\"%s\" role=%s epoch=%" PRIu64 " %s", e->id, e->time,
            e->time_modulo ? "~" : "", e->sequence, m->ranks[e->rank].rank, writer_of(m, e->writer), name_of(m, e->role), e->epoch,
            xsr_event_name(e->kind));
    if (e->slot != XSR_NONE)
        fprintf(out, " slot=\"%s\"", m->slots[e->slot].label);
    else
        fprintf(out, " object=%" PRId64, e->object == XSR_NONE ? (int64_t)-1 : (int64_t)e->object);
    fprintf(out, " value=%" PRIu64 " need=%" PRIu64 " detail=%" PRIu64 " further=%" PRIu64 ",%" PRIu64 ",%" PRIu64, e->value, e->need,
            e->detail, e->further[0], e->further[1], e->further[2]);
    fprintf(out, " order=%s scope=%s fence=%u cmp=%s result=%s\n", xsr_order_name(e->order), xsr_scope_name(e->scope), e->fence,
            cmps[e->cmp & 7], xsr_result_name(e->result));
    return 0;
}

static void put_edge(FILE *out, const xsr_model *m, const char *label, const xsr_edge *e) {
    fprintf(out, " %s=%s", label, xsr_reason_name(e->reason));
    if (e->event != XSR_NO_ID)
        fprintf(out, "(%" PRIu64 " rank=%u value=%" PRIu64 " t=%" PRId64 ")", e->event, m->ranks[e->rank].rank, e->value, e->time);
}

static int on_wait(xsr_sink *sink, const xsr_wait *w) {
    const xsr_model *m = sink->model;
    FILE *out = out_of(sink);
    fprintf(out, "wait %" PRIu64 " start=%" PRId64, w->id, w->start_event == XSR_NO_ID ? (int64_t)-1 : (int64_t)w->start_event);
    put_time(out, "begin", w->begin);
    put_time(out, "end", w->end);
    put_time(out, "last_fail", w->last_fail);
    fprintf(out, " rank=%u writer=\"%s\" slot=\"%s\" need=%" PRIu64 " observed=%" PRIu64 " polls=%" PRIu64 " slept=%" PRIu64 " line=%u stage=%u %s",
            m->ranks[w->rank].rank, writer_of(m, w->writer), m->slots[w->slot].label, w->need, w->observed, w->polls, w->slept_ns, w->source.line,
            w->stage, xsr_result_name(w->result));
    fprintf(out, "%s%s%s%s", w->passed ? " passed" : "", w->open ? " open" : "", w->start_lost ? " start_lost" : "",
            w->end_lost ? " end_lost" : "");
    put_edge(out, m, "reads_from", &w->reads_from);
    put_edge(out, m, "released_by", &w->released_by);
    fprintf(out, " lag=%" PRId64 " supplier=%" PRId64 "\n", w->lag_ns, w->supplier_rank == XSR_NONE ? (int64_t)-1 : (int64_t)w->supplier_rank);
    return 0;
}

static int on_signal(xsr_sink *sink, const xsr_signal *s) {
    FILE *out = out_of(sink);
    fprintf(out, "signal %" PRIu64 " value=%" PRIu64, s->event.id, s->event.value);
    if (s->elected_by != XSR_NO_ID)
        fprintf(out, " elected_by=%" PRIu64 "@%" PRId64, s->elected_by, s->elect_time);
    fprintf(out, " released=");
    for (uint32_t i = 0; i < s->released_count; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "", s->released[i]);
    fprintf(out, "\n");
    return 0;
}

static int on_lost(xsr_sink *sink, const xsr_loss *l) {
    const xsr_model *m = sink->model;
    FILE *out = out_of(sink);
    fprintf(out, "lost ring=%u writer=\"%s\" %" PRIu64 "..%" PRIu64 " %s%s", m->rings[l->ring].ring, writer_of(m, l->writer), l->first,
            l->last, xsr_loss_name(l->cause), l->at_least ? " at_least" : "");
    put_time(out, "before", l->before);
    put_time(out, "after", l->after);
    fprintf(out, "\n");
    return 0;
}

static int on_activity(xsr_sink *sink, const xsr_activity *a) {
    const xsr_model *m = sink->model;
    FILE *out = out_of(sink);
    fprintf(out, "%s %" PRId64 " \"%s\" begin=%" PRId64 " end=%" PRId64, xsr_activity_name(a->kind), (int64_t)(a - m->activities),
            a->kind == XS_ACTIVITY_COPY ? xsr_copy_name(a->copy) : name_of(m, a->name), a->begin, a->end);
    if (a->kind == XS_ACTIVITY_CALL)
        fprintf(out, " thread=%u correlation=%u\n", a->thread, a->correlation);
    else
        fprintf(out, " device=%d stream=%u correlation=%u call=%" PRId64 " node=%" PRIu64 " grid=%u block=%u bytes=%" PRIu64 " launch=%" PRId64 " writers=%u\n",
                a->device, a->stream, a->correlation, a->call == XSR_NONE ? (int64_t)-1 : (int64_t)a->call, a->graph_node, a->grid[0], a->block[0], a->bytes,
                a->launch == XSR_NONE ? (int64_t)-1 : (int64_t)m->launches[a->launch].id, a->writers);
    return 0;
}

static void put_cupti(FILE *out, const xsr_model *m) {
    for (uint32_t i = 0; i < m->process_count; i++) {
        const xsr_cupti *c = &m->processes[i].cupti;
        if (c->state == XS_CUPTI_NONE)
            continue;
        fprintf(out, "cupti %s \"%s\"", xsr_cupti_name(c->state), c->why);
        put_time(out, "since", c->since);
        put_time(out, "until", c->until);
        fprintf(out, "\n");
    }
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].kernels)
            fprintf(out, "clock GPU %d step=%" PRId64 " residual=%" PRId64 " bound=%" PRId64 " answers=%u kernels=%u fault=%" PRId64 "\n", m->clocks[i].device,
                    m->clocks[i].step_ns, m->clocks[i].residual_ns, m->clocks[i].bound_ns, m->clocks[i].samples, m->clocks[i].kernels, m->clocks[i].fault_ns);
    for (uint32_t i = 0; i < m->writer_count; i++)
        if (m->writers[i].kernel != XSR_NONE)
            fprintf(out, "writer %u \"%s\" of ring %u ran in kernel %u\n", i, m->writers[i].name, m->rings[m->writers[i].ring].ring, m->writers[i].kernel);
}

static int on_finish(xsr_sink *sink) {
    const xsr_model *m = sink->model;
    FILE *out = out_of(sink);
    for (uint32_t i = 0; i < m->ring_count; i++)
        fprintf(out, "ring %u rank=%u emitted=%" PRIu64 " kept=%" PRIu64 " lost=%" PRIu64 " torn=%" PRIu64 "%s%s\n", m->rings[i].ring,
                m->ranks[m->rings[i].rank].rank, m->rings[i].emitted, m->rings[i].kept, m->rings[i].lost, m->rings[i].torn,
                m->rings[i].at_least ? " at_least" : "", m->rings[i].tail_unknown ? " tail_unknown" : "");
    for (uint32_t i = 0; i < m->slot_count; i++)
        fprintf(out, "slot \"%s\" supplier=%" PRId64 " origin=%u\n", m->slots[i].label,
                m->slots[i].supplier_rank == XSR_NONE ? (int64_t)-1 : (int64_t)m->slots[i].supplier_rank, m->slots[i].supplier_origin);
    put_cupti(out, m);
    for (uint32_t i = 0; i < m->note_count; i++)
        fprintf(out, "note %s\n", m->notes[i]);
    fprintf(out, "capture %" PRId64 "..%" PRId64 "%s%s\n", m->begin, m->end, m->closed ? " closed" : "", m->cut ? " cut" : "");
    return 0;
}

dump_sink dump_sink_make(FILE *out) {
    return (dump_sink){.sink = {.name = "dump", .event = on_event, .wait = on_wait, .signal = on_signal, .lost = on_lost, .activity = on_activity, .finish = on_finish},
                       .out = out};
}
