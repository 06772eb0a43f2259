/* See capture_build.h. This file: the buffer, the catalog and the frames of a collector. */
#include "capture_build_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <xs/frame.h>

static int grow(cb *c, void **array, size_t *room, size_t need, size_t width) {
    if (need <= *room)
        return 1;
    size_t next = *room ? *room * 2 : 64;
    while (next < need)
        next *= 2;
    void *bigger = realloc(*array, next * width);
    if (!bigger) {
        c->error = XS_E_MEMORY;
        return 0;
    }
    *array = bigger;
    *room = next;
    return 1;
}

static void put(cb *c, const void *from, size_t bytes) {
    if (bytes == 0 || !grow(c, (void **)&c->bytes, &c->room, c->size + bytes, 1))
        return;
    memcpy(c->bytes + c->size, from, bytes);
    c->size += bytes;
}

void cb_frame(cb *c, uint16_t type, uint32_t ring, uint64_t time, const void *payload, uint64_t bytes) {
    static const char zeros[16];
    xs_frame frame;
    const cb_proc *p = c->process_count ? &c->processes[c->current] : NULL;
    int of_world = type == XS_FRAME_FILE || type == XS_FRAME_END;
    xs_frame_fill(&frame, type, of_world || !p ? NULL : &p->region, -1, ring, time);
    frame.number = c->number++;
    xs_frame_seal(&frame, payload ? payload : zeros, bytes);
    put(c, &frame, sizeof frame);
    put(c, payload, bytes);
    put(c, zeros, xs_frame_padded(bytes) - bytes);
    if (time > c->newest)
        c->newest = time;
}

/* A fixed part, then strings, zero-terminated. */
static void frame_with_strings(cb *c, uint16_t type, const void *head, size_t head_bytes, const char *const *strings, int count) {
    size_t bytes = head_bytes;
    for (int i = 0; i < count; i++)
        bytes += strlen(strings[i]) + 1;
    char *payload = malloc(bytes), *at = payload;
    if (!payload) {
        c->error = XS_E_MEMORY;
        return;
    }
    memcpy(at, head, head_bytes);
    at += head_bytes;
    for (int i = 0; i < count; i++)
        at = stpcpy(at, strings[i]) + 1;
    cb_frame(c, type, UINT32_MAX, c->newest, payload, bytes);
    free(payload);
}

cb *cb_begin(const char *path) {
    cb *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    if (path)
        snprintf(c->path, sizeof c->path, "%s", path);
    xs_frame_file file = {.version = XS_CAPTURE_VERSION, .xs_version = 0x000100};
    memcpy(file.magic, XS_CAPTURE_MAGIC, sizeof XS_CAPTURE_MAGIC);
    cb_frame(c, XS_FRAME_FILE, UINT32_MAX, 0, &file, sizeof file);
    return c;
}

xs_region_header cb_region(uint32_t first_rank, uint32_t ranks, uint32_t world_ranks) {
    xs_region_header r = {.magic = XS_REGION_MAGIC, .version = XS_REGION_VERSION, .header_bytes = sizeof r,
                          .record_bytes = sizeof(xs_record), .sequence_bits = XS_SEQUENCE_BITS, .state = XS_REGION_LIVE,
                          .host = 0x10, .process = 0x100 + first_rank, .pid = 1000 + (int32_t)first_rank, .device = -1,
                          .start_time = 1, .start_realtime = 1, .first_rank = first_rank, .ranks = ranks,
                          .world_ranks = world_ranks, .rings_per_rank = 64, .groups_per_rank = 1, .ring_records = 4096,
                          .lines_per_ring = 4};
    return r;
}

uint32_t cb_process_as(cb *c, const xs_region_header *region) {
    if (!grow(c, (void **)&c->processes, &c->process_room, c->process_count + 1, sizeof *c->processes))
        return 0;
    c->current = (uint32_t)c->process_count++;
    cb_proc *p = &c->processes[c->current];
    memset(p, 0, sizeof *p);
    p->region = *region;
    p->next_object = 1;
    const char *strings[3] = {"testhost", "./test --ranks 2", "/usr/bin/test"};
    xs_frame_process head = {.region = *region};
    for (int i = 0; i < 3; i++)
        head.strings_bytes += strlen(strings[i]) + 1;
    frame_with_strings(c, XS_FRAME_PROCESS, &head, sizeof head, strings, 3);
    return c->current;
}

uint32_t cb_process(cb *c, uint32_t first_rank, uint32_t ranks, uint32_t world_ranks) {
    xs_region_header region = cb_region(first_rank, ranks, world_ranks);
    return cb_process_as(c, &region);
}

void cb_select(cb *c, uint32_t process) {
    if (process < c->process_count)
        c->current = process;
}

void cb_name(cb *c, uint32_t kind, uint32_t id, const char *name) {
    xs_frame_name head = {kind, id};
    frame_with_strings(c, XS_FRAME_NAME, &head, sizeof head, &name, 1);
}

static uint32_t next_name(cb *c, uint32_t kind, const char *name) {
    uint32_t id = ++c->processes[c->current].next_name[kind];
    cb_name(c, kind, id, name);
    return id;
}

uint32_t cb_role(cb *c, const char *name) { return next_name(c, XS_NAME_ROLE, name); }
uint32_t cb_mark_name(cb *c, const char *name) { return next_name(c, XS_NAME_MARK, name); }
uint32_t cb_kernel(cb *c, const char *name) { return next_name(c, XS_NAME_KERNEL, name); }

uint32_t cb_pad(cb *c, const char *name, const char *row_label, const char *column_label, uint32_t rows, uint32_t columns, uint32_t flags) {
    cb_proc *p = &c->processes[c->current];
    if (p->pad_count == CB_PADS) {
        c->error = XS_E_TOO_MANY;
        return 0;
    }
    xs_frame_pad head = {.first = p->next_object, .rows = rows, .columns = columns, .flags = flags, .owners = p->region.world_ranks};
    const char *strings[3] = {name, row_label ? row_label : "", column_label ? column_label : ""};
    frame_with_strings(c, XS_FRAME_PAD, &head, sizeof head, strings, 3);
    p->pads[p->pad_count] = head;
    p->next_object += rows * columns * head.owners;
    return p->pad_count++;
}

uint32_t cb_pad_first(const cb *c, uint32_t pad) { return c->processes[c->current].pads[pad].first; }

uint32_t cb_slot(const cb *c, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column) {
    const xs_frame_pad *p = &c->processes[c->current].pads[pad];
    return p->first + (owner * p->rows + row) * p->columns + column;
}

void cb_plan(cb *c, const xs_plan_entry *entries, uint32_t count) {
    cb_frame(c, XS_FRAME_PLAN, UINT32_MAX, c->newest, entries, count * sizeof *entries);
}

void cb_plan_writer(cb *c, uint32_t pad, uint32_t rank) {
    xs_plan_entry e = {.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(c, pad), .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY,
                       .column = XS_PLAN_ANY, .epoch = UINT64_MAX, .a = rank};
    cb_plan(c, &e, 1);
}

static void put_journal(cb *c, uint32_t kind, uint32_t a, uint64_t b, uint64_t time, uint64_t d, uint64_t e, uint64_t f, uint64_t g) {
    cb_proc *p = &c->processes[c->current];
    xs_journal_entry entry = {.sequence = ++p->journal, .kind = kind, .a = a, .b = b, .c = time, .d = d, .e = e, .f = f, .g = g};
    cb_frame(c, XS_FRAME_JOURNAL, UINT32_MAX, time, &entry, sizeof entry);
}

void cb_journal(cb *c, uint32_t kind, uint32_t a, uint64_t b, uint64_t time, uint64_t d, uint64_t e, uint64_t f) {
    put_journal(c, kind, a, b, time, d, e, f, 0);
}

void cb_launch_room(cb *c, const xs_launch_room *room) { c->launch_room = *room; }

void cb_launch_begin(cb *c, uint32_t launch, uint32_t kernel, uint64_t time, uint32_t grid, uint32_t block, uint32_t first_rank, uint32_t ranks) {
    uint64_t room;
    memcpy(&room, &c->launch_room, sizeof room);
    put_journal(c, XS_JOURNAL_LAUNCH_BEGIN, launch, kernel, time, grid, block, first_rank | (uint64_t)ranks << 32, room);
}

void cb_launch_end(cb *c, uint32_t launch, uint64_t time, uint64_t result) {
    cb_journal(c, XS_JOURNAL_LAUNCH_END, launch, 0, time, result, 0, 0);
}

void cb_clock(cb *c, uint64_t boottime, uint64_t realtime, uint64_t bracket) {
    cb_journal(c, XS_JOURNAL_CLOCK, 0, 0, boottime, realtime, bracket, 0);
}

void cb_device_clock(cb *c, uint32_t device, uint64_t boottime, uint64_t device_time, uint64_t bracket) {
    cb_journal(c, XS_JOURNAL_CLOCK, device + 1, 0, boottime, device_time, bracket, 0);
}

void cb_owner(cb *c, uint32_t ring, uint32_t ordinal, const xs_ring_owner *owner) {
    xs_frame_owner o = {ring, ordinal, *owner};
    cb_frame(c, XS_FRAME_OWNERS, UINT32_MAX, owner->time, &o, sizeof o);
}

void cb_look(cb *c, uint32_t ring, uint64_t newest, uint64_t time) {
    xs_frame_look look = {.ring = ring, .newest = newest, .time = time};
    cb_frame(c, XS_FRAME_LOOK, UINT32_MAX, time, &look, sizeof look);
}

void cb_status(cb *c, uint32_t ring, uint32_t line, uint64_t time, const xs_status_line *status) {
    xs_frame_status s = {.ring = ring, .line = line, .time = time, .status = *status};
    cb_frame(c, XS_FRAME_STATUS, UINT32_MAX, time, &s, sizeof s);
}

xs_status_line cb_status_line(uint32_t state, uint32_t object, uint64_t need, uint64_t observed, uint64_t polls, uint64_t start, uint64_t time) {
    xs_status_line l = {.p0 = {1, state, object, (uint32_t)need},
                        .p1 = {1, (uint32_t)(need >> 32), (uint32_t)observed, (uint32_t)(observed >> 32)},
                        .p2 = {1, (uint32_t)polls, (uint32_t)time, (uint32_t)(time >> 32)},
                        .p3 = {1, (uint32_t)start, (uint32_t)(start >> 32), 0},
                        .p4 = {1, 0, 0, 0}, .p5 = {1, 0, 0, 0}, .p6 = {1, 0, 0, 0}, .p7 = {1, 0, 0, (uint32_t)(polls >> 32)}};
    return l;
}

void cb_loss(cb *c, uint32_t ring, uint64_t first, uint64_t last, uint32_t cause) {
    xs_frame_loss loss = {.ring = ring, .cause = cause, .first = first, .last = last};
    cb_frame(c, XS_FRAME_LOSS, ring, c->newest, &loss, sizeof loss);
}

void cb_counters(cb *c, uint64_t no_ring, uint64_t foreign, uint64_t no_line, uint64_t journal_lost) {
    xs_frame_counters k = {no_ring, foreign, no_line, journal_lost};
    cb_frame(c, XS_FRAME_COUNTERS, UINT32_MAX, c->newest, &k, sizeof k);
}

void cb_quiet_passes(cb *c, uint64_t after) {
    cb_flush(c);
    uint64_t first = c->newest + after;
    for (uint64_t pass = 0; pass < 2; pass++) {
        const xs_frame_counters none = {0};
        cb_frame(c, XS_FRAME_COUNTERS, UINT32_MAX, first + pass * 1000000, &none, sizeof none);
    }
}

void cb_note(cb *c, const char *text) { cb_frame(c, XS_FRAME_NOTE, UINT32_MAX, c->newest, text, strlen(text) + 1); }
void cb_trigger(cb *c, const char *text) { cb_frame(c, XS_FRAME_TRIGGER, UINT32_MAX, c->newest, text, strlen(text) + 1); }

void cb_process_end(cb *c, uint32_t clean, int32_t exit_status, uint32_t abort_reason, uint32_t tail_unknown) {
    cb_flush(c);
    xs_frame_end end = {clean, exit_status, abort_reason, tail_unknown};
    cb_frame(c, XS_FRAME_PROCESS_END, UINT32_MAX, c->newest, &end, sizeof end);
    c->processes[c->current].ended = 1;
}

static int finish(cb *c, int closed) {
    cb_flush(c);
    for (uint32_t i = 0; closed && i < c->process_count; i++) {
        c->current = i;
        if (!c->processes[i].ended)
            cb_process_end(c, 1, 0, 0, 0);
    }
    if (closed)
        cb_frame(c, XS_FRAME_END, UINT32_MAX, c->newest, NULL, 0);
    return c->error;
}

static void destroy(cb *c) {
    for (uint32_t i = 0; i < c->ring_count; i++) {
        free(c->rings[i].records);
        free(c->rings[i].lost);
    }
    free(c->rings);
    free(c->processes);
    free(c->bytes);
    free(c);
}

static int write_file(const cb *c) {
    int fd = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return XS_E_SYSTEM;
    size_t done = 0;
    while (done < c->size) {
        ssize_t n = write(fd, c->bytes + done, c->size - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return close(fd) == 0 && done == c->size ? 0 : XS_E_SYSTEM;
}

static int end_file(cb *c, int closed) {
    int rc = finish(c, closed);
    if (rc == 0)
        rc = c->path[0] ? write_file(c) : XS_E_ARGUMENT;
    destroy(c);
    return rc;
}

int cb_end(cb *c) { return end_file(c, 1); }
int cb_cut(cb *c) { return end_file(c, 0); }

int cb_bytes(cb *c, int closed, void **bytes, size_t *size) {
    int rc = finish(c, closed);
    *bytes = rc == 0 ? c->bytes : NULL;
    *size = rc == 0 ? c->size : 0;
    if (rc == 0)
        c->bytes = NULL;
    destroy(c);
    return rc;
}
