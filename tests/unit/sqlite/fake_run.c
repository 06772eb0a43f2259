#include "fake_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void make_slots(fake_run *r) {
    static const char *const pads[FAKE_PADS] = {"done", "credit", "gate"};
    for (uint32_t i = 0; i < FAKE_PADS; i++)
        r->pads[i] = (xsr_pad){
            .name = pads[i], .row_label = "src", .column_label = "", .rows = 2, .columns = 1, .owners = FAKE_RANKS};
    for (uint32_t i = 0; i < FAKE_SLOTS; i++) {
        uint32_t pad = i % FAKE_PADS, owner = i / FAKE_PADS % FAKE_RANKS, row = i / FAKE_PADS / FAKE_RANKS;
        snprintf(r->text[i], sizeof r->text[i], "%s[src=%u]", pads[pad], row);
        snprintf(r->label[i], sizeof r->label[i], "rank %u %s", owner, r->text[i]);
        uint32_t supplier = pad == 2 ? owner : (owner + 1 + row) % FAKE_RANKS;
        if (i == 7)
            supplier = XSR_NONE;
        r->slots[i] = (xsr_slot){.pad = pad,
                                 .owner = owner,
                                 .row = row,
                                 .supplier_rank = supplier,
                                 .supplier_role = XSR_NONE,
                                 .supplier_origin = XS_PLAN_INFERRED,
                                 .name = r->text[i],
                                 .label = r->label[i]};
    }
}

static void make_writers(fake_run *r) {
    for (uint32_t i = 0; i < FAKE_WRITERS; i++) {
        char *name = r->text[FAKE_SLOTS + i];
        snprintf(name, sizeof r->text[0], "consume block %u", i / FAKE_RANKS);
        r->writers[i] = (xsr_writer){.rank = i % FAKE_RANKS,
                                     .ring = i,
                                     .launch = 0,
                                     .role = 0,
                                     .block = i / FAKE_RANKS,
                                     .first_sequence = 1,
                                     .begin = 1000,
                                     .end = INT64_MIN,
                                     .name = name};
        r->rings[i] = (xsr_ring){.ring = i, .rank = i % FAKE_RANKS, .emitted = 100 + i, .kept = 100, .lost = i};
    }
}

static void make_model(fake_run *r) {
    r->process = (xsr_process){.host_name = "here",
                               .command = "combine --ranks 4",
                               .executable = "/bin/combine",
                               .pid = 7,
                               .device = -1,
                               .ranks = FAKE_RANKS,
                               .world_ranks = FAKE_RANKS,
                               .ended = true,
                               .clean = true};
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        r->ranks[i] = (xsr_rank){.rank = i, .device = -1, .first_epoch = 1, .last_epoch = 3};
    r->names[0] = (xsr_name){XS_NAME_ROLE, "consume"};
    r->names[1] = (xsr_name){XS_NAME_KERNEL, "combine"};
    r->names[2] = (xsr_name){XS_NAME_MARK, "push chunk"};
    r->launch =
        (xsr_launch){.id = 1, .kernel = 1, .grid = 3, .block = 32, .ranks = FAKE_RANKS, .begin = 900, .end = 9000000};
    r->clock = (xsr_clock){.device = -1, .step_ns = 30, .bound_ns = 30};
    r->plan[0] = (xsr_plan){
        0, {XS_PLAN_WRITER, XS_PLAN_DECLARED, 1, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_ROW, 0}};
    r->plan[1] = (xsr_plan){2, {XS_PLAN_ARRIVALS, XS_PLAN_REPORTED, 5, 1, 0, 0, 2, 4, 0}};
    r->notes[0] = "a note for the report";
    r->model = (xsr_model){.processes = &r->process,
                           .process_count = 1,
                           .ranks = r->ranks,
                           .rank_count = FAKE_RANKS,
                           .pads = r->pads,
                           .pad_count = FAKE_PADS,
                           .slots = r->slots,
                           .slot_count = FAKE_SLOTS,
                           .names = r->names,
                           .name_count = 3,
                           .launches = &r->launch,
                           .launch_count = 1,
                           .writers = r->writers,
                           .writer_count = FAKE_WRITERS,
                           .rings = r->rings,
                           .ring_count = FAKE_WRITERS,
                           .clocks = &r->clock,
                           .clock_count = 1,
                           .plan = r->plan,
                           .plan_count = 2,
                           .notes = r->notes,
                           .note_count = 1,
                           .begin = 1000,
                           .end = 1000,
                           .closed = true};
}

static void pair_wait(fake_run *r, xsr_wait *w, uint64_t *seed) {
    w->reads_from = w->released_by = (xsr_edge){.reason = XSR_REASON_INITIAL, .event = XSR_NO_ID, .rank = XSR_NONE};
    w->supplier_rank = r->slots[w->slot].supplier_rank;
    if (w->open)
        w->reads_from.reason = w->released_by.reason = XSR_REASON_OPEN;
    else if (next_random(seed) % 8 && w->supplier_rank != XSR_NONE) {
        w->released_by = (xsr_edge){.reason = XSR_REASON_FOUND,
                                    .event = w->id - 1,
                                    .rank = w->supplier_rank,
                                    .value = w->need,
                                    .time = w->end - 40};
        w->reads_from = w->released_by;
        w->lag_ns = 40;
    }
}

static void make_waits(fake_run *r, uint32_t count, uint64_t seed) {
    int64_t now[FAKE_WRITERS];
    for (uint32_t i = 0; i < FAKE_WRITERS; i++)
        now[i] = 2000 + i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t writer = (uint32_t)(next_random(&seed) % FAKE_WRITERS), kind = (uint32_t)(next_random(&seed) % 16);
        int64_t length = (int64_t)(next_random(&seed) % (1u << next_random(&seed) % 22)) + 1;
        xsr_wait *w = &r->waits[i];
        *w = (xsr_wait){.id = 10 + 2ull * i,
                        .start_event = XSR_NO_ID,
                        .writer = writer,
                        .rank = writer % FAKE_RANKS,
                        .slot = (uint32_t)(next_random(&seed) % FAKE_SLOTS),
                        .need = i,
                        .observed = i,
                        .epoch = 1 + i % 3,
                        .source = {XSR_NONE, 40 + kind},
                        .last_fail = INT64_MIN,
                        .cmp = XS_CMP_GE,
                        .order = XS_ACQUIRE,
                        .scope = XS_SCOPE_SYS};
        w->passed = kind < 6;
        w->begin = now[writer] - (kind == 7 && now[writer] > 4000 ? 700 : 0); /* overlaps the wait before it */
        w->open = i + FAKE_RANKS >= count;
        w->passed = w->passed && !w->open;
        w->end = w->open ? INT64_MIN : w->passed ? w->begin : now[writer] + length;
        w->start_lost = kind == 10 && !w->open;
        w->end_lost = kind == 11 && !w->open;
        if (w->start_lost)
            w->begin = w->end;
        if (!w->passed && !w->start_lost)
            w->start_event = w->open ? w->id : FAKE_STARTS + i;
        w->result = kind == 9 && !w->open ? XS_RESULT_TIMEOUT : XS_RESULT_OK;
        now[writer] = (w->open ? w->begin : w->end) + (int64_t)(next_random(&seed) % 3000);
        if (now[writer] > r->model.end)
            r->model.end = now[writer];
        pair_wait(r, w, &seed);
    }
    r->wait_count = count;
}

fake_run *fake_run_make(uint32_t waits, uint64_t seed) {
    fake_run *r = calloc(1, sizeof *r);
    if (!r || !(r->waits = calloc(waits + 1, sizeof *r->waits)))
        abort();
    make_slots(r);
    make_writers(r);
    make_model(r);
    make_waits(r, waits, seed);
    return r;
}

static int feed_event(fake_run *r, xsr_sink *sink, const xsr_wait *w) {
    xsr_event e = {.id = w->id,
                   .time = w->open ? w->begin : w->end,
                   .sequence = w->id,
                   .ring = w->writer,
                   .writer = w->writer,
                   .rank = w->rank,
                   .role = 0,
                   .epoch = w->epoch,
                   .kind = w->passed ? XS_EV_PASS
                           : w->open ? XS_EV_WAIT_START
                                     : XS_EV_WAIT_END,
                   .order = w->order,
                   .scope = w->scope,
                   .slot = w->slot,
                   .value = w->observed,
                   .need = w->need};
    (void)r;
    if (!w->passed && !w->open && !w->start_lost) {
        xsr_event start = e;
        start.id = w->start_event;
        start.time = w->begin;
        start.kind = XS_EV_WAIT_START;
        int rc = sink->event(sink, &start);
        if (rc)
            return rc;
    }
    return sink->event(sink, &e);
}

int fake_run_feed(fake_run *r, xsr_sink *sink) {
    sink->model = &r->model;
    int rc = sink->begin(sink, &r->model);
    for (uint32_t i = 0; i < r->wait_count && !rc; i++) {
        /* Some waits are settled later than those that ended after them. */
        uint32_t late = i >= 7 ? i - 7 : 1;
        rc = feed_event(r, sink, &r->waits[i]);
        if (!rc && i % 5)
            rc = sink->wait(sink, &r->waits[i]);
        if (!rc && late % 5 == 0)
            rc = sink->wait(sink, &r->waits[late]);
        if (!rc && i % 3 == 0) {
            xsr_event e = {.id = r->waits[i].id - 1,
                           .time = r->waits[i].begin,
                           .ring = 0,
                           .kind = XS_EV_SIGNAL,
                           .slot = r->waits[i].slot,
                           .value = i,
                           .order = XS_RELEASE,
                           .scope = XS_SCOPE_SYS,
                           .role = XSR_NONE};
            xsr_signal s = {.event = e, .elected_by = XSR_NO_ID, .released = &r->waits[i].id, .released_count = 1};
            rc = sink->event(sink, &e);
            rc = rc ? rc : sink->signal(sink, &s);
        }
    }
    for (uint32_t i = r->wait_count > 7 ? r->wait_count - 7 : 0; i < r->wait_count && !rc; i++)
        if (i % 5 == 0)
            rc = sink->wait(sink, &r->waits[i]);
    xsr_loss loss = {.ring = 3,
                     .writer = XSR_NONE,
                     .first = 5,
                     .last = 7,
                     .cause = XS_LOSS_OVERWRITTEN,
                     .before = 1000,
                     .after = INT64_MAX};
    rc = rc ? rc : sink->lost(sink, &loss);
    return rc ? rc : sink->finish(sink);
}

int fake_run_export(fake_run *r, const char *path) {
    xsr_sink *sink;
    int rc = xsv_sqlite_open(path, NULL, &sink);
    if (rc)
        return rc;
    rc = fake_run_feed(r, sink);
    int closed = xsv_sqlite_close(sink);
    return rc ? rc : closed;
}

void fake_run_free(fake_run *r) {
    free(r->waits);
    free(r);
}
