/* See capture_build.h. This file: rings, records and events. */
#include "capture_build_internal.h"

static int room_for(cb *c, void **array, size_t *room, size_t need, size_t width) {
    if (need <= *room)
        return 1;
    size_t next = *room ? *room * 2 : 64;
    void *bigger = realloc(*array, next * width);
    if (!bigger) {
        c->error = XS_E_MEMORY;
        return 0;
    }
    *array = bigger;
    *room = next;
    return 1;
}

static cb_ring *ring_of(cb *c, uint32_t ring) {
    for (size_t i = 0; i < c->ring_count; i++)
        if (c->rings[i].ring == ring && c->rings[i].process == c->current)
            return &c->rings[i];
    if (!room_for(c, (void **)&c->rings, &c->ring_room, c->ring_count + 1, sizeof *c->rings))
        abort();
    cb_ring *r = &c->rings[c->ring_count++];
    memset(r, 0, sizeof *r);
    r->process = c->current;
    r->ring = ring;
    r->device = c->processes[c->current].region.device;
    r->first = r->next = 1;
    return r;
}

uint64_t cb_next(const cb *c, uint32_t ring) {
    for (size_t i = 0; i < c->ring_count; i++)
        if (c->rings[i].ring == ring && c->rings[i].process == c->current)
            return c->rings[i].next;
    return 1;
}

void cb_ring_device(cb *c, uint32_t ring, int32_t device) { ring_of(c, ring)->device = device; }

void cb_lose(cb *c, uint32_t ring, uint64_t first, uint64_t last, uint32_t cause) {
    cb_ring *r = ring_of(c, ring);
    if (!room_for(c, (void **)&r->lost, &r->lost_room, r->lost_count + 1, sizeof *r->lost))
        return;
    r->lost[r->lost_count++] = (cb_range){first, last, cause};
}

void cb_skip_records(cb *c, uint32_t ring, uint64_t count, uint32_t cause) {
    cb_flush(c);
    cb_ring *r = ring_of(c, ring);
    if (cause)
        cb_loss(c, ring, r->next, r->next + count - 1, cause);
    r->next += count;
    r->first = r->next;
}

void cb_no_looks(cb *c) { c->no_looks = 1; }

static int is_lost(const cb_ring *r, uint64_t sequence) {
    for (size_t i = 0; i < r->lost_count; i++)
        if (sequence >= r->lost[i].first && sequence <= r->lost[i].last)
            return 1;
    return 0;
}

static void flush_run(cb *c, const cb_ring *r, uint64_t first, uint64_t count, uint64_t time) {
    size_t bytes = sizeof(xs_frame_records) + count * sizeof(xs_record);
    char *payload = malloc(bytes);
    if (!payload) {
        c->error = XS_E_MEMORY;
        return;
    }
    xs_frame_records head = {.first = first, .count = count, .looked_before = c->no_looks ? 0 : r->looked, .time = time};
    memcpy(payload, &head, sizeof head);
    memcpy(payload + sizeof head, r->records + (first - r->first), count * sizeof(xs_record));
    int32_t *device = &c->processes[c->current].region.device, of_process = *device;
    *device = r->device;
    cb_frame(c, XS_FRAME_RECORDS, r->ring, time, payload, bytes);
    *device = of_process;
    free(payload);
}

static void flush_ring(cb *c, cb_ring *r, uint64_t time) {
    if (time == 0)
        time = r->newest;
    for (uint64_t at = r->first; at < r->next;) {
        uint64_t end = at;
        while (end < r->next && !is_lost(r, end))
            end++;
        if (end > at)
            flush_run(c, r, at, end - at, time);
        for (at = end; at < r->next && is_lost(r, at);)
            at++;
    }
    for (size_t i = 0; i < r->lost_count; i++)
        if (r->lost[i].cause)
            cb_loss(c, r->ring, r->lost[i].first, r->lost[i].last, r->lost[i].cause);
    r->lost_count = 0;
    r->looked = time;
    r->first = r->next;
}

void cb_flush_at(cb *c, uint64_t time) {
    uint32_t current = c->current;
    for (size_t i = 0; i < c->ring_count; i++) {
        c->current = c->rings[i].process;
        flush_ring(c, &c->rings[i], time);
    }
    c->current = current;
}

void cb_flush(cb *c) { cb_flush_at(c, 0); }

void cb_record(cb *c, uint32_t ring, uint64_t time, uint32_t code_object, uint32_t value, uint32_t word3) {
    cb_ring *r = ring_of(c, ring);
    if (!room_for(c, (void **)&r->records, &r->room, r->next - r->first + 1, sizeof *r->records))
        return;
    uint32_t bits = c->processes[c->current].region.sequence_bits;
    uint32_t mask = bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
    r->records[r->next - r->first] = (xs_record){(uint32_t)r->next & mask, code_object, value, word3};
    r->next++;
    if (time > r->newest)
        r->newest = time;
}

void cb_one(cb *c, uint32_t ring, uint64_t time, uint32_t code, uint32_t object, uint32_t value) {
    cb_record(c, ring, time, XS_HEAD(code, object), value, (uint32_t)time);
}

void cb_full_event(cb *c, uint32_t ring, uint64_t time, const cb_full *e) {
    cb_record(c, ring, time, XS_HEAD(XS_CODE_FULL, e->object), e->value, (uint32_t)time);
    cb_record(c, ring, time, XS_DETAIL(e->kind, e->order, e->scope, e->fence, e->cmp, e->result, e->further), e->detail,
              (uint32_t)(time >> 32));
    for (uint32_t i = 0; i < e->further && i < 2; i++)
        cb_record(c, ring, time, XS_MORE(e->a[i]), e->b[i], e->c[i]);
}

#define FULL(...) cb_full_event(c, ring, time, &(cb_full){__VA_ARGS__})
#define HI(x) ((uint32_t)((uint64_t)(x) >> 32))

void cb_writer_begin_at(cb *c, uint32_t ring, uint64_t time, uint32_t role, uint32_t block, uint32_t launch, uint32_t rank,
                        uint32_t warp, uint32_t sm, uint32_t epoch) {
    FULL(.kind = XS_EV_WRITER_BEGIN, .object = role, .value = block, .detail = launch, .further = 1, .a = {rank},
         .b = {warp | sm << 16}, .c = {epoch});
}

void cb_writer_begin(cb *c, uint32_t ring, uint64_t time, uint32_t role, uint32_t block, uint32_t launch) {
    const xs_region_header *r = &c->processes[c->current].region;
    cb_writer_begin_at(c, ring, time, role, block, launch, r->first_rank + ring / r->rings_per_rank, 0, 0, 0);
}

void cb_writer_end(cb *c, uint32_t ring, uint64_t time) {
    uint64_t next = cb_next(c, ring) + 2;
    FULL(.kind = XS_EV_WRITER_END, .value = (uint32_t)next, .detail = HI(next));
}

void cb_role_change(cb *c, uint32_t ring, uint64_t time, uint32_t role) { cb_one(c, ring, time, XS_CODE_ROLE, role, 0); }
void cb_epoch(cb *c, uint32_t ring, uint64_t time, uint64_t epoch) { FULL(.kind = XS_EV_EPOCH, .value = (uint32_t)epoch, .detail = HI(epoch)); }

void cb_signal(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value) {
    cb_one(c, ring, time, XS_CODE_SIGNAL_REL_SYS, object, (uint32_t)value);
}
void cb_signal_wide(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value) {
    FULL(.kind = XS_EV_SIGNAL, .object = object, .value = (uint32_t)value, .order = XS_RELEASE, .scope = XS_SCOPE_SYS, .further = 1,
         .b = {HI(value)});
}
void cb_pass(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint64_t need) {
    if (observed == need && HI(need) == 0)
        cb_one(c, ring, time, XS_CODE_PASS_ACQ_SYS, object, (uint32_t)observed);
    else
        FULL(.kind = XS_EV_PASS, .object = object, .value = (uint32_t)observed, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS,
             .detail = (uint32_t)need, .further = HI(observed) || HI(need), .b = {HI(observed)}, .c = {HI(need)});
}
void cb_wait_start(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t need, uint64_t observed) {
    FULL(.kind = XS_EV_WAIT_START, .object = object, .value = (uint32_t)need, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS,
         .detail = (uint32_t)observed, .further = HI(observed) || HI(need), .b = {HI(need)}, .c = {HI(observed)});
}
void cb_wait_end_at(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint32_t result, uint64_t polls,
                    uint64_t slept, uint32_t last_fail, uint32_t line, uint32_t stage) {
    uint32_t high = HI(observed) || HI(polls) || (slept != UINT64_MAX && HI(slept)); /* all ones: follows from polls */
    FULL(.kind = XS_EV_WAIT_END, .object = object, .value = (uint32_t)observed, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS,
         .result = result, .detail = (uint32_t)polls, .further = 1 + high,
         .a = {line | stage << 16, (HI(slept) & 0xffffu) | (HI(polls) & 0xffu) << 16}, .b = {(uint32_t)slept, HI(observed)},
         .c = {last_fail, HI(observed)});
}
void cb_wait_end(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint32_t result, uint64_t polls) {
    cb_wait_end_at(c, ring, time, object, observed, result, polls, 0, 1, 0, 0);
}
void cb_arrive(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t old, uint32_t weight, uint32_t expected) {
    cb_one(c, ring, time, XS_CODE_ARRIVE_ACQREL_GPU, object, XS_ARRIVE_PACK(old, weight, expected));
}
void cb_arrive_full(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t old, uint32_t weight, uint32_t expected, uint32_t target) {
    FULL(.kind = XS_EV_ARRIVE, .object = object, .value = (uint32_t)old, .order = XS_ACQ_REL, .scope = XS_SCOPE_GPU,
         .detail = expected, .further = 1, .a = {weight}, .b = {HI(old)}, .c = {target});
}
void cb_watermark(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value, uint32_t rows) {
    FULL(.kind = XS_EV_WATERMARK, .object = object, .value = (uint32_t)value, .order = XS_RELEASE, .scope = XS_SCOPE_SYS, .detail = rows);
}
void cb_gate(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t old, uint32_t add) {
    FULL(.kind = XS_EV_GATE_ARRIVE, .object = object, .value = (uint32_t)old, .order = XS_RELEASE, .scope = XS_SCOPE_GPU,
         .detail = add, .further = 1, .b = {HI(old)});
}
void cb_barrier_enter(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t generation, uint32_t participants) {
    FULL(.kind = XS_EV_BARRIER_ENTER, .object = object, .value = generation, .detail = participants);
}
void cb_barrier_leave(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t generation, uint32_t participants, uint32_t result) {
    FULL(.kind = XS_EV_BARRIER_LEAVE, .object = object, .value = generation, .detail = participants, .result = result);
}
void cb_block_enter(cb *c, uint32_t ring, uint64_t time, uint32_t id, uint32_t count) { cb_one(c, ring, time, XS_CODE_BLOCK_ENTER, id, count); }
void cb_block_leave(cb *c, uint32_t ring, uint64_t time, uint32_t id, uint32_t count) { cb_one(c, ring, time, XS_CODE_BLOCK_LEAVE, id, count); }

static void batch(cb *c, uint32_t kind, uint32_t ring, uint64_t time, uint32_t object, uint64_t sequence, uint32_t rows, uint32_t depth) {
    FULL(.kind = kind, .object = object, .value = (uint32_t)sequence, .order = XS_RELEASE, .scope = XS_SCOPE_SYS, .detail = rows,
         .further = 1, .a = {depth}, .b = {HI(sequence)});
}
void cb_publish(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t sequence, uint32_t rows, uint32_t depth) {
    batch(c, XS_EV_PUBLISH, ring, time, object, sequence, rows, depth);
}
void cb_consume(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t sequence, uint32_t rows, uint32_t depth) {
    batch(c, XS_EV_CONSUME, ring, time, object, sequence, rows, depth);
}
void cb_fence(cb *c, uint32_t ring, uint64_t time, uint32_t line) { cb_one(c, ring, time, XS_CODE_FENCE_ACQREL_SYS, 0, line); }
void cb_bus_flush(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t value) { cb_one(c, ring, time, XS_CODE_BUS_FLUSH, object, value); }
void cb_reset(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value, uint32_t slots) {
    FULL(.kind = XS_EV_RESET, .object = object, .value = (uint32_t)value, .detail = slots, .further = 1, .b = {HI(value)});
}
void cb_heartbeat(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t beat) { cb_one(c, ring, time, XS_CODE_HEARTBEAT, object, beat); }
void cb_abort(cb *c, uint32_t ring, uint64_t time, uint32_t reason, uint32_t line) { FULL(.kind = XS_EV_ABORT, .value = reason, .detail = line); }

void cb_payload(cb *c, uint32_t ring, uint64_t time, uint32_t kind, uint32_t name, uint32_t index, uint32_t generation,
                uint32_t peer, uint32_t rows, uint32_t bytes) {
    FULL(.kind = kind, .object = name, .value = index, .detail = generation, .further = 1, .a = {peer}, .b = {rows}, .c = {bytes});
}
void cb_payload_end(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t index) { cb_one(c, ring, time, XS_CODE_PAYLOAD_END, name, index); }
void cb_mark(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word) { cb_one(c, ring, time, XS_CODE_MARK, name, word); }
void cb_scope_begin(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word) { cb_one(c, ring, time, XS_CODE_SCOPE_BEGIN, name, word); }
void cb_scope_end(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word) { cb_one(c, ring, time, XS_CODE_SCOPE_END, name, word); }
void cb_skip(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t need) { cb_one(c, ring, time, XS_CODE_SKIP, object, need); }
void cb_expect(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t expected, uint32_t epoch) {
    FULL(.kind = XS_EV_EXPECT, .object = object, .value = expected, .detail = epoch);
}
void cb_drop(cb *c, uint32_t ring, uint64_t time) { cb_one(c, ring, time, XS_CODE_DROP, 0, 0); }
