/* From the model of captures to worlds: who was there at the end, what ran on each rank, who waited. A process that
 * died before the end of its world is gone, as it would be live; deaths within 200 ms of the last are the end, not its
 * cause. */
#include "hang_capture.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

#define MOST_RANKS 65536u /* of a world: as region_view.c has it */

/* ---- the catalog: names and roles are the model's, ids are its indices + 1 ---- */

static int take_plan(xs_catalog_view *c, const xsr_model *m) {
    c->plan = calloc(m->plan_count + (size_t)1, sizeof *c->plan);
    for (uint32_t i = 0; c->plan && i < m->plan_count; i++) {
        if (m->plan[i].entry.origin == XS_PLAN_INFERRED || m->plan[i].pad == XSR_NONE)
            continue;
        c->plan[c->plan_count] = m->plan[i].entry;
        c->plan[c->plan_count++].pad_first = m->plan[i].pad + 1;
    }
    return c->plan ? xs_catalog_view_index(c) : XS_E_MEMORY;
}

static int take_pads(xs_catalog_view *c, const xsr_model *m) {
    c->pads = calloc(m->pad_count + (size_t)1, sizeof *c->pads);
    for (uint32_t i = 0; c->pads && i < m->pad_count; i++) {
        const xsr_pad *p = &m->pads[i];
        c->pads[c->pad_count++] = (xs_catalog_pad){
            .shape = {.first = i + 1, .rows = p->rows, .columns = p->columns, .flags = p->flags, .owners = p->owners},
            .name = p->name,
            .row_label = p->row_label,
            .column_label = p->column_label};
    }
    return c->pads ? 0 : XS_E_MEMORY;
}

static int take_catalog(xs_catalog_view *c, const xsr_model *m, const xsr_process *p) {
    c->host_name = p->host_name;
    c->command = p->command;
    c->names = calloc(m->name_count + (size_t)1, sizeof *c->names);
    for (uint32_t i = 0; c->names && i < m->name_count; i++)
        c->names[c->name_count++] = (xs_catalog_name){m->names[i].kind, i + 1, m->names[i].text};
    int rc = c->names ? take_pads(c, m) : XS_E_MEMORY;
    return rc ? rc : take_plan(c, m);
}

/* ---- processes ---- */

static uint64_t time_of(int64_t t) { return t > 0 ? (uint64_t)t : 0; }

static int take_launches(hang_region *region, const xsr_model *m) {
    region->launches = calloc(m->launch_count + (size_t)1, sizeof *region->launches);
    for (uint32_t i = 0; region->launches && i < m->launch_count; i++) {
        const xsr_launch *l = &m->launches[i];
        if (l->process == region->process)
            region->launches[region->launch_count++] =
                (hang_launch){.id = l->id,
                              .kernel = l->kernel == XSR_NONE ? 0 : l->kernel + 1,
                              .first_rank = l->first_rank,
                              .ranks = l->ranks,
                              .begin = time_of(l->begin),
                              .end = l->end == HANG_NEVER ? 0 : time_of(l->end),
                              .result = l->result};
    }
    return region->launches ? 0 : XS_E_MEMORY;
}

static void take_last_call(hang_region *region, const xsr_model *m) {
    for (uint32_t i = 0; i < m->activity_count; i++) {
        const xsr_activity *a = &m->activities[i];
        if (a->kind != XS_ACTIVITY_CALL || a->process != region->process || a->name == XSR_NONE ||
            (region->call && time_of(a->begin) < region->call_begin))
            continue;
        region->call = m->names[a->name].text;
        region->call_begin = time_of(a->begin);
        region->call_end = time_of(a->end);
    }
}

static int add_process(hang_report *r, const xsr_model *m, uint32_t index) {
    const xsr_process *p = &m->processes[index];
    uint32_t ranks = p->world_ranks > p->first_rank + p->ranks ? p->world_ranks : p->first_rank + p->ranks;
    if (p->first_rank >= MOST_RANKS || p->ranks > MOST_RANKS - p->first_rank)
        return 0;
    hang_world *world = hang_find_world(r, p->first_rank, p->ranks, ranks < MOST_RANKS ? ranks : MOST_RANKS);
    if (!world)
        world = hang_add_world(r, &hang_capture);
    hang_region *region = world ? hang_add_region(world) : NULL;
    if (!region)
        return XS_E_MEMORY;
    region->process = index;
    region->pid = region->holder = p->pid;
    region->first_rank = p->first_rank;
    region->ranks = p->ranks;
    region->world_ranks = ranks < MOST_RANKS ? ranks : MOST_RANKS;
    region->counts = (xs_view_counts){p->no_ring, p->foreign, p->no_line};
    region->ended = p->ended;
    region->status = p->ended ? p->exit_status : -1;
    take_last_call(region, m);
    int rc = take_catalog(&region->catalog, m, p);
    return rc ? rc : take_launches(region, m);
}

static int64_t end_of(const xsr_model *m, const hang_region *region) {
    int64_t end = m->processes[region->process].end_time;
    return region->ended && end != HANG_NEVER ? end : m->end;
}

/* The moment of the answer: the end of the last process, or of the capture. */
static void find_states(hang_world *world, const xsr_model *m) {
    int64_t last = HANG_NEVER;
    for (uint32_t i = 0; i < world->region_count; i++)
        last = end_of(m, &world->regions[i]) > last ? end_of(m, &world->regions[i]) : last;
    for (uint32_t i = 0; i < world->region_count; i++) {
        hang_region *region = &world->regions[i];
        region->now = time_of(last);
        region->over = region->ended && last - end_of(m, region) < (int64_t)HANG_SAMPLE_NS;
        region->state = !region->ended                        ? HANG_PROCESS_RUNS
                        : m->processes[region->process].clean ? HANG_PROCESS_LEFT
                        : region->over                        ? HANG_PROCESS_RUNS
                                                              : HANG_PROCESS_GONE;
    }
}

/* ---- writers and waits ---- */

static int find_newest(hang_facts *f) {
    const xsr_model *m = f->model;
    f->newest = calloc(m->ring_count + (size_t)1, sizeof *f->newest);
    f->at = calloc(m->ring_count + (size_t)1, sizeof *f->at);
    for (uint32_t i = 0; f->newest && i < m->writer_count; i++)
        f->newest[m->writers[i].ring] = i + 1;
    return f->newest && f->at ? 0 : XS_E_MEMORY;
}

static uint32_t region_of(const hang_world *world, uint32_t process) {
    for (uint32_t i = 0; i < world->region_count; i++)
        if (world->regions[i].process == process && world->regions[i].state == HANG_PROCESS_RUNS)
            return i;
    return HANG_NONE;
}

/* Did it hold its ring at the end? */
static int held(const hang_facts *f, uint32_t writer) {
    const xsr_model *m = f->model;
    const xsr_writer *w = &m->writers[writer];
    return f->newest[w->ring] == writer + 1 && w->end == HANG_NEVER &&
           (w->launch == XSR_NONE || m->launches[w->launch].end == HANG_NEVER);
}

static xs_catalog_place place_of(const hang_region *region, const xsr_slot *s) {
    return (xs_catalog_place){&region->catalog.pads[s->pad], s->owner, s->row, s->column};
}

static int is_recent(const hang_region *region, int64_t time) {
    return time != HANG_NEVER && time_of(time) + HANG_SAMPLE_NS > region->now;
}

static int add_writer(hang_world *world, hang_facts *f, uint32_t index) {
    const xsr_model *m = f->model;
    const xsr_writer *w = &m->writers[index];
    uint32_t r = region_of(world, w->process);
    if (r == HANG_NONE || !held(f, index) || m->ranks[w->rank].rank >= world->regions[r].world_ranks)
        return 0;
    if (RD_ROOM(world->writers, world->writer_room, world->writer_count + 1))
        return XS_E_MEMORY;
    const hang_region *region = &world->regions[r];
    hang_writer *out = &world->writers[world->writer_count++];
    *out = (hang_writer){.region = r,
                         .index = index,
                         .ring = m->rings[w->ring].ring,
                         .rank = m->ranks[w->rank].rank,
                         .block = w->block,
                         .warp = w->warp,
                         .sm = w->sm,
                         .role = w->role == XSR_NONE ? 0 : w->role + 1,
                         .launch = w->launch == XSR_NONE ? 0 : m->launches[w->launch].id};
    const hang_seen_writer *seen = index < f->writer_room ? &f->writers[index] : NULL;
    if (!seen || !seen->seen)
        return 0;
    out->role = seen->role == XSR_NONE ? out->role : seen->role + 1;
    out->last = time_of(seen->last);
    out->moved = (uint32_t)is_recent(region, seen->last);
    out->has_signalled = out->has_value = seen->slot != XSR_NONE;
    if (out->has_signalled) {
        out->signal = place_of(region, &m->slots[seen->slot]);
        out->signal_value = seen->value;
    }
    return 0;
}

/* As live regions have them: by rank, and ring. */
static int by_ring(const void *a, const void *b) {
    const hang_writer *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->ring < y->ring ? -1 : x->ring > y->ring;
}

static int add_writers(hang_world *world, hang_facts *f) {
    int rc = 0;
    for (uint32_t i = 0; i < f->model->writer_count && !rc; i++)
        rc = add_writer(world, f, i);
    if (world->writer_count)
        qsort(world->writers, world->writer_count, sizeof *world->writers, by_ring);
    for (uint32_t i = 0; i < world->writer_count; i++)
        f->at[f->model->writers[world->writers[i].index].ring] = i + 1;
    return rc;
}

static int add_wait(hang_world *world, const hang_facts *f, const xsr_wait *w) {
    const xsr_model *m = f->model;
    uint32_t at = w->writer == XSR_NONE ? 0 : f->at[m->writers[w->writer].ring], writer = at - 1;
    if (!at || writer >= world->writer_count || world->writers[writer].index != w->writer)
        return 0; /* of another world, or over with its process or launch */
    hang_writer *by = &world->writers[writer];
    hang_region *region = &world->regions[by->region];
    region->unsure += w->maybe_over;
    if (w->maybe_over)
        return 0;
    if (RD_ROOM(world->waits, world->wait_room, world->wait_count + 1))
        return XS_E_MEMORY;
    const hang_seen_slot *slot = w->slot < f->slot_room && f->slots[w->slot].seen ? &f->slots[w->slot] : NULL;
    uint64_t begin = time_of(w->begin), age = region->now > begin ? region->now - begin : 0;
    by->waits++;
    world->waits[world->wait_count++] =
        (hang_wait){.writer = writer,
                    .rank = by->rank,
                    .file = w->source.file + 1, /* 0 where it is not known */
                    .line = w->source.line,
                    .user = w->word,
                    .epoch = w->epoch,
                    .cmp = w->cmp,
                    .slow = w->stage > 0,
                    .object = w->slot,
                    .is_slot = 1,
                    .slot = place_of(region, &m->slots[w->slot]),
                    .need = w->need,
                    .observed = w->observed,
                    .polls = w->polls,
                    .age = age,
                    .state = age < HANG_SAMPLE_NS                       ? HANG_YOUNG
                             : slot && is_recent(region, slot->changed) ? HANG_MOVING
                                                                        : HANG_STUCK,
                    .supplier = HANG_NONE,
                    .answered = slot && slot->signalled && w->cmp == XS_CMP_GE && slot->value >= w->need};
    return 0;
}

static int fill(hang_world *world, hang_facts *f) {
    const xsr_model *m = f->model;
    int rc = 0;
    int64_t last = HANG_NEVER;
    hang_sort_regions(world);
    find_states(world, m);
    rc = add_writers(world, f);
    for (uint32_t i = 0; i < f->open_count && !rc; i++)
        rc = add_wait(world, f, &f->open[i]);
    for (uint32_t i = 0; i < world->region_count; i++) {
        uint32_t p = world->regions[i].process;
        if (p >= f->process_room || !f->processes[p].seen)
            continue;
        world->given_up += f->processes[p].given_up;
        last = f->processes[p].last > last ? f->processes[p].last : last;
    }
    uint64_t now = world->regions[0].now;
    world->quiet = last != HANG_NEVER && now > time_of(last) ? now - time_of(last) : 0;
    hang_sort_waits(world);
    return rc;
}

int hang_model_worlds(hang_report *r, hang_facts *f) {
    int rc = find_newest(f);
    for (uint32_t i = 0; i < f->model->process_count && !rc; i++)
        rc = add_process(r, f->model, i);
    for (uint32_t i = 0; i < r->world_count && !rc; i++)
        rc = fill(&r->worlds[i], f);
    return rc;
}
