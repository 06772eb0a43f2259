/* Rows `slots NAME`, on request: one state track a slot, for rings that are short enough to be looked at. A slot is
 * waited for, signalled, seen; a counter fills until it is full. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

enum slot_word { STATE_NONE, STATE_WAITED_FOR, STATE_SIGNALLED, STATE_SEEN, STATE_FILLING, STATE_FULL, STATE_RESET };
static const char *const words[] = {NULL, "waited for", "signalled, not seen", "seen", "filling", "full", "reset"};

typedef struct slot_row {
    uint32_t track;
    enum slot_word state;
    args args; /* of the state that holds */
} slot_row;

typedef struct slot_group { /* of one pad at one owner */
    uint32_t pad, rank, track;
} slot_group;

struct slots {
    uint32_t *row; /* per slot: 0 not looked at, 1 not wanted, else row + 2 */
    uint32_t room;
    slot_row rows[XSV_PERFETTO_SLOTS_MAX];
    slot_group groups[XSV_PERFETTO_SLOTS_MAX];
    uint32_t row_count, group_count;
    char *pattern;
};

/* Slot names hold brackets: only * and ? have a meaning. */
static char *pattern_of(const char *text) {
    char *pattern = malloc(2 * strlen(text) + 1), *to = pattern;
    for (const char *c = text; pattern && *c; c++) {
        if (*c == '[' || *c == ']' || *c == '\\')
            *to++ = '\\';
        *to++ = *c;
    }
    if (pattern)
        *to = 0;
    return pattern;
}

static bool wanted(const struct slots *s, const xsr_slot *slot) {
    return fnmatch(s->pattern, slot->name, 0) == 0 || fnmatch(s->pattern, slot->label, 0) == 0;
}

static uint32_t group_of(drawing *d, const xsr_slot *slot, uint32_t rank) {
    struct slots *s = d->state_rows;
    for (uint32_t i = 0; i < s->group_count; i++)
        if (s->groups[i].pad == slot->pad && s->groups[i].rank == rank)
            return s->groups[i].track;
    track_info t = {.parent = d->ranks[rank].process, .child_ordering = ORDER_EXPLICIT};
    t.name = strings_format(&d->texts, "slots %s", d->model->pads[slot->pad].name);
    t.description = strings_id(&d->texts, "What each slot of this rank's copy is: waited for (a wait is open on it), "
                                          "signalled but not seen by a wait yet, seen. "
                                          "A counter is filling until the arrival that elects, then full.");
    s->groups[s->group_count] = (slot_group){.pad = slot->pad, .rank = rank, .track = track_add(d, &t)};
    return s->groups[s->group_count++].track;
}

static int row_new(drawing *d, uint32_t index, const xsr_slot *slot, uint32_t rank) {
    struct slots *s = d->state_rows;
    if (s->row_count == XSV_PERFETTO_SLOTS_MAX) {
        d->summary.slots_left_out++;
        return XS_OK;
    }
    uint64_t order = (uint64_t)slot->row * d->model->pads[slot->pad].columns + slot->column;
    track_info t = {.parent = group_of(d, slot, rank), .name = slot_name(d, index), .states = true, .ordered = true};
    t.order = order < INT32_MAX ? (int32_t)order : INT32_MAX;
    s->rows[s->row_count].track = track_add(d, &t);
    s->row[index] = 2 + s->row_count++;
    d->summary.slots_drawn = s->row_count;
    return d->texts.failed ? XS_E_MEMORY : XS_OK;
}

static int look(drawing *d, uint32_t index) {
    struct slots *s = d->state_rows;
    const xsr_slot *slot = &d->model->slots[index];
    uint32_t rank = 0;
    s->row[index] = 1;
    while (rank < d->model->rank_count && d->ranks[rank].number != slot->owner)
        rank++;
    return rank < d->model->rank_count && wanted(s, slot) ? row_new(d, index, slot, rank) : XS_OK;
}

static int slots_new(drawing *d) {
    d->state_rows = calloc(1, sizeof *d->state_rows);
    if (d->state_rows)
        d->state_rows->pattern = pattern_of(d->options.slots);
    return d->state_rows && d->state_rows->pattern ? XS_OK : XS_E_MEMORY;
}

static int write_state(drawing *d, const slot_row *row, int64_t time) {
    event ev = {
        .type = EVENT_STATE, .track = row->track, .time = time, .name = strings_id(&d->texts, words[row->state])};
    ev.category = d->category[CATEGORY_slot];
    ev.args = row->args.list;
    ev.arg_count = row->args.count;
    return draw_event(d, AT_TIME, &ev);
}

static bool elects(const xsr_event *ev) {
    uint64_t reached = ev->value + ev->further[0];
    return ev->further[1] ? reached == ev->further[1] : ev->detail && reached == ev->detail;
}

static enum slot_word state_after(const xsr_event *ev) {
    switch (ev->kind) {
    case XS_EV_WAIT_START: return STATE_WAITED_FOR;
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK: return STATE_SIGNALLED;
    case XS_EV_PASS: return STATE_SEEN;
    case XS_EV_WAIT_END: return ev->result == XS_RESULT_OK ? STATE_SEEN : STATE_NONE;
    case XS_EV_ARRIVE: return elects(ev) ? STATE_FULL : STATE_FILLING;
    case XS_EV_GATE_ARRIVE: return STATE_FILLING;
    case XS_EV_RESET: return STATE_RESET;
    default: return STATE_NONE;
    }
}

static void state_args(drawing *d, const xsr_event *ev, args *a) {
    const lane *l = lane_of_writer(d, ev->writer);
    bool waits = ev->kind == XS_EV_WAIT_START;
    a->count = 0;
    arg_uint(d, a, waits ? KEY_need : KEY_value, waits ? ev->need : ev->value);
    arg_uint(d, a, KEY_slot_id, ev->slot);
    if (l)
        arg_text(d, a, KEY_writer, l->writer_text);
    arg_uint(d, a, KEY_epoch, ev->epoch);
}

int slots_event(drawing *d, const xsr_event *ev) {
    enum slot_word next = state_after(ev);
    if (!d->options.slots || ev->slot == XSR_NONE || next == STATE_NONE)
        return XS_OK;
    if (!d->state_rows)
        TRY(slots_new(d));
    struct slots *s = d->state_rows;
    TRY(xsv_room(&s->row, &s->room, ev->slot, sizeof *s->row, 0));
    if (!s->row[ev->slot])
        TRY(look(d, ev->slot));
    if (s->row[ev->slot] < 2)
        return XS_OK;
    slot_row *row = &s->rows[s->row[ev->slot] - 2];
    if (row->state == next && next != STATE_SIGNALLED)
        return XS_OK; /* a second wait, a second look: nothing new */
    row->state = next;
    state_args(d, ev, &row->args);
    return write_state(d, row, ev->time);
}

int slots_next_window(drawing *d, int64_t time) {
    for (uint32_t i = 0; d->state_rows && i < d->state_rows->row_count; i++)
        TRY(write_state(d, &d->state_rows->rows[i], time));
    return XS_OK;
}

uint64_t slots_left_out(const drawing *d) { return d->summary.slots_left_out; }

void slots_free(drawing *d) {
    if (!d->state_rows)
        return;
    free(d->state_rows->row);
    free(d->state_rows->pattern);
    free(d->state_rows);
}
