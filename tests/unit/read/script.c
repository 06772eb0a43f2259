#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, NAMES = 64 };

typedef struct names { char name[NAMES][32]; uint32_t id[NAMES]; int count; } names;
typedef struct script { cb *c; names ids, pads; char *word[MOST]; uint64_t a[MOST]; int words; int closed; } script;

static void learn(names *n, const char *name, uint32_t id) {
    if (n->count == NAMES)
        abort();
    snprintf(n->name[n->count], sizeof n->name[0], "%s", name);
    n->id[n->count++] = id;
}

static int lookup(const names *n, const char *name, uint32_t *id) {
    for (int i = n->count; i-- > 0;)
        if (strcmp(n->name[i], name) == 0)
            return *id = n->id[i], 1;
    return 0;
}

static int slot_number(const script *s, const char *word, uint64_t *out) {
    char name[32];
    unsigned owner, row, column;
    uint32_t pad;
    if (sscanf(word, "%31[^:]:%u:%u:%u", name, &owner, &row, &column) != 4 || !lookup(&s->pads, name, &pad))
        return 0;
    *out = cb_slot(s->c, pad, owner, row, column);
    return 1;
}

static int number(const script *s, const char *word, uint64_t *out) {
    static const struct { const char *unit; double ns; } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
    uint32_t id;
    char *end;
    if (word[0] == '$')
        return lookup(&s->ids, word + 1, &id) ? (*out = id, 1) : 0;
    if (slot_number(s, word, out))
        return 1;
    *out = strtoull(word, &end, 0);
    if (*end == 0 && end != word)
        return 1;
    double value = strtod(word, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != word && strcmp(end, units[i].unit) == 0)
            return *out = (uint64_t)(value * units[i].ns + 0.5), 1;
    return 0;
}

static void launch_room(cb *c, const uint64_t *a) {
    xs_launch_room room = {.blocks = (uint8_t)a[0], .plain_blocks = (uint8_t)a[1], .registers = (uint8_t)a[2],
                           .plain_registers = (uint8_t)a[3], .limit = (uint8_t)a[4], .local = (uint16_t)a[5],
                           .untraced = (uint8_t)a[6]};
    cb_launch_room(c, &room);
}

#define A(i) ((uint32_t)a[i])
#define NUMERIC(X)                                                                                              \
    X(process, 3, cb_process(c, A(0), A(1), A(2)))                                                              \
    X(select, 1, cb_select(c, A(0)))                                                                            \
    X(plan_writer, 2, cb_plan_writer(c, A(0), A(1)))                                                            \
    X(launch_room, 7, launch_room(c, a))                                                                        \
    X(launch_begin, 7, cb_launch_begin(c, A(0), A(1), a[2], A(3), A(4), A(5), A(6)))                            \
    X(launch_end, 3, cb_launch_end(c, A(0), a[1], a[2]))                                                        \
    X(clock, 3, cb_clock(c, a[0], a[1], a[2]))                                                                  \
    X(device_clock, 4, cb_device_clock(c, A(0), a[1], a[2], a[3]))                                              \
    X(tick, 3, cb_tick(c, a[0], a[1], a[2]))                                                                    \
    X(gpu_copy, 7, cb_gpu_copy(c, (int32_t)a[0], A(1), a[2], a[3], A(4), A(5), a[6]))                           \
    X(ring_device, 2, cb_ring_device(c, A(0), (int32_t)a[1]))                                                   \
    X(look, 3, cb_look(c, A(0), a[1], a[2]))                                                                    \
    X(loss, 4, cb_loss(c, A(0), a[1], a[2], A(3)))                                                              \
    X(counters, 4, cb_counters(c, a[0], a[1], a[2], a[3]))                                                      \
    X(process_end, 4, cb_process_end(c, A(0), (int32_t)a[1], A(2), A(3)))                                       \
    X(lose, 4, cb_lose(c, A(0), a[1], a[2], A(3)))                                                              \
    X(skip_records, 3, cb_skip_records(c, A(0), a[1], A(2)))                                                    \
    X(flush, 0, cb_flush(c))                                                                                    \
    X(flush_at, 1, cb_flush_at(c, a[0]))                                                                        \
    X(no_looks, 0, cb_no_looks(c))                                                                              \
    X(record, 5, cb_record(c, A(0), a[1], A(2), A(3), A(4)))                                                    \
    X(one, 5, cb_one(c, A(0), a[1], A(2), A(3), A(4)))                                                          \
    X(writer_begin, 5, cb_writer_begin(c, A(0), a[1], A(2), A(3), A(4)))                                        \
    X(writer_begin_at, 9, cb_writer_begin_at(c, A(0), a[1], A(2), A(3), A(4), A(5), A(6), A(7), A(8)))          \
    X(writer_end, 2, cb_writer_end(c, A(0), a[1]))                                                              \
    X(role_change, 3, cb_role_change(c, A(0), a[1], A(2)))                                                      \
    X(epoch, 3, cb_epoch(c, A(0), a[1], a[2]))                                                                  \
    X(signal, 4, cb_signal(c, A(0), a[1], A(2), a[3]))                                                          \
    X(signal_wide, 4, cb_signal_wide(c, A(0), a[1], A(2), a[3]))                                                \
    X(pass, 5, cb_pass(c, A(0), a[1], A(2), a[3], a[4]))                                                        \
    X(wait_start, 5, cb_wait_start(c, A(0), a[1], A(2), a[3], a[4]))                                            \
    X(wait_end, 6, cb_wait_end(c, A(0), a[1], A(2), a[3], A(4), a[5]))                                          \
    X(wait_end_at, 10, cb_wait_end_at(c, A(0), a[1], A(2), a[3], A(4), a[5], a[6], A(7), A(8), A(9)))           \
    X(arrive, 6, cb_arrive(c, A(0), a[1], A(2), A(3), A(4), A(5)))                                              \
    X(arrive_full, 7, cb_arrive_full(c, A(0), a[1], A(2), a[3], A(4), A(5), A(6)))                              \
    X(watermark, 5, cb_watermark(c, A(0), a[1], A(2), a[3], A(4)))                                              \
    X(gate, 5, cb_gate(c, A(0), a[1], A(2), a[3], A(4)))                                                        \
    X(barrier_enter, 5, cb_barrier_enter(c, A(0), a[1], A(2), A(3), A(4)))                                      \
    X(barrier_leave, 6, cb_barrier_leave(c, A(0), a[1], A(2), A(3), A(4), A(5)))                                \
    X(block_enter, 4, cb_block_enter(c, A(0), a[1], A(2), A(3)))                                                \
    X(block_leave, 4, cb_block_leave(c, A(0), a[1], A(2), A(3)))                                                \
    X(publish, 6, cb_publish(c, A(0), a[1], A(2), a[3], A(4), A(5)))                                            \
    X(consume, 6, cb_consume(c, A(0), a[1], A(2), a[3], A(4), A(5)))                                            \
    X(fence, 3, cb_fence(c, A(0), a[1], A(2)))                                                                  \
    X(bus_flush, 4, cb_bus_flush(c, A(0), a[1], A(2), A(3)))                                                    \
    X(reset, 5, cb_reset(c, A(0), a[1], A(2), a[3], A(4)))                                                      \
    X(heartbeat, 4, cb_heartbeat(c, A(0), a[1], A(2), A(3)))                                                    \
    X(abort, 4, cb_abort(c, A(0), a[1], A(2), A(3)))                                                            \
    X(payload, 9, cb_payload(c, A(0), a[1], A(2), A(3), A(4), A(5), A(6), A(7), A(8)))                          \
    X(payload_end, 4, cb_payload_end(c, A(0), a[1], A(2), A(3)))                                                \
    X(mark, 4, cb_mark(c, A(0), a[1], A(2), A(3)))                                                              \
    X(scope_begin, 4, cb_scope_begin(c, A(0), a[1], A(2), A(3)))                                                \
    X(scope_end, 4, cb_scope_end(c, A(0), a[1], A(2), A(3)))                                                    \
    X(skip, 4, cb_skip(c, A(0), a[1], A(2), A(3)))                                                              \
    X(expect, 5, cb_expect(c, A(0), a[1], A(2), A(3), A(4)))                                                    \
    X(drop, 2, cb_drop(c, A(0), a[1]))

#define DO(name, count, call) static void do_##name(cb *c, const uint64_t *a) { (void)a; call; }
NUMERIC(DO)
#define ROW(name, count, call) {#name, count, do_##name},
static const struct { const char *name; int count; void (*run)(cb *, const uint64_t *); } commands[] = {NUMERIC(ROW)};

static const char *label(const char *word) { return strcmp(word, "-") == 0 ? "" : word; }

static void plan_host(cb *c, uint32_t pad) {
    xs_plan_entry e = {.kind = XS_PLAN_HOST_SUPPLIER, .pad_first = cb_pad_first(c, pad), .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY,
                       .column = XS_PLAN_ANY, .epoch = UINT64_MAX};
    cb_plan(c, &e, 1);
}

static int words_command(script *s) {
    const char *name = s->word[0];
    uint32_t pad;
    if (strcmp(name, "role") == 0 && s->words == 2)
        learn(&s->ids, s->word[1], cb_role(s->c, s->word[1]));
    else if (strcmp(name, "mark_name") == 0 && s->words == 2)
        learn(&s->ids, s->word[1], cb_mark_name(s->c, s->word[1]));
    else if (strcmp(name, "kernel") == 0 && s->words == 2)
        learn(&s->ids, s->word[1], cb_kernel(s->c, s->word[1]));
    else if (strcmp(name, "pad") == 0 && s->words == 7)
        learn(&s->pads, s->word[1], cb_pad(s->c, s->word[1], label(s->word[2]), label(s->word[3]), (uint32_t)atoi(s->word[4]),
                                           (uint32_t)atoi(s->word[5]), (uint32_t)atoi(s->word[6])));
    else if (strcmp(name, "plan_host") == 0 && s->words == 2 && lookup(&s->pads, s->word[1], &pad))
        plan_host(s->c, pad);
    else if (strcmp(name, "plan_pad") == 0 && s->words == 3 && lookup(&s->pads, s->word[1], &pad) && number(s, s->word[2], &s->a[0]))
        cb_plan_writer(s->c, pad, (uint32_t)s->a[0]);
    else if (strcmp(name, "note") == 0 && s->words == 2)
        cb_note(s->c, s->word[1]);
    else if (strcmp(name, "trigger") == 0 && s->words == 2)
        cb_trigger(s->c, s->word[1]);
    else
        return 0;
    return 1;
}

/* owner RING ORDINAL FIRST TIME LAUNCH BLOCK WARP ROLE; status RING LINE TIME SLOT NEED OBSERVED POLLS START */
static int struct_command(script *s) {
    for (int i = 1; i < s->words; i++)
        if (!number(s, s->word[i], &s->a[i - 1]))
            return 0;
    const uint64_t *a = s->a;
    if (strcmp(s->word[0], "owner") == 0 && s->words == 9) {
        xs_ring_owner o = {.first = a[2], .time = a[3], .launch = A(4), .block = A(5), .warp_sm = A(6), .role = A(7)};
        cb_owner(s->c, A(0), A(1), &o);
        return 1;
    }
    if (strcmp(s->word[0], "status") == 0 && s->words == 9) {
        xs_status_line l = cb_status_line(XS_LINE_SLOW, A(3), a[4], a[5], a[6], a[7], a[2]);
        cb_status(s->c, A(0), A(1), a[2], &l);
        return 1;
    }
    return 0;
}

/* gpu_kernel NAME DEVICE STREAM BEGIN END CORRELATION NODE GRID BLOCK; cuda_call NAME THREAD BEGIN END CORRELATION; cupti STATE SINCE
 * UNTIL WHY */
static int activity_command(script *s) {
    const char *name = s->word[0];
    int kernel = strcmp(name, "gpu_kernel") == 0 && s->words == 10, call = strcmp(name, "cuda_call") == 0 && s->words == 6;
    int cupti = strcmp(name, "cupti") == 0 && s->words == 5;
    if (!kernel && !call && !cupti)
        return 0;
    for (int i = cupti ? 1 : 2, last = cupti ? 4 : s->words; i < last; i++)
        if (!number(s, s->word[i], &s->a[i]))
            return 0;
    const uint64_t *a = s->a;
    if (kernel)
        cb_gpu_kernel(s->c, s->word[1], (int32_t)a[2], A(3), a[4], a[5], A(6), a[7], A(8), A(9));
    else if (call)
        cb_cuda_call(s->c, s->word[1], A(2), a[3], a[4], A(5));
    else
        cb_cupti(s->c, A(1), a[2], a[3], label(s->word[4]));
    return 1;
}

static int run_line(script *s) {
    if (words_command(s) || activity_command(s))
        return 1;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, s->word[0]) != 0)
            continue;
        if (s->words != commands[i].count + 1)
            return 0;
        for (int k = 0; k < commands[i].count; k++)
            if (!number(s, s->word[k + 1], &s->a[k]))
                return 0;
        commands[i].run(s->c, s->a);
        return 1;
    }
    return struct_command(s);
}

int script_run(cb *c, const char *text) {
    script *s = calloc(1, sizeof *s);
    char *copy = strdup(text), *rest = copy, *line;
    int wrong = s && copy ? 0 : -1;
    if (s)
        s->c = c;
    for (int at = 1; wrong == 0 && (line = strsep(&rest, "\n")); at++) {
        line[strcspn(line, "#")] = 0;
        s->words = 0;
        char *save = NULL;
        for (char *w = strtok_r(line, " \t", &save); w && s->words < MOST; w = strtok_r(NULL, " \t", &save))
            s->word[s->words++] = w;
        if (s->words && !run_line(s))
            wrong = at;
    }
    free(copy);
    free(s);
    return wrong;
}
