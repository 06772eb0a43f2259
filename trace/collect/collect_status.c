/* Open waits, from status lines. */
#include "collector_internal.h"

#define LONG_NS XS_SECOND

static uint32_t state_of(const xs_status_line *line) { return line->p0.state_stage & 0xffu; }

static int is_open(uint32_t state) { return state == XS_LINE_WAITING || state == XS_LINE_SLOW; }

static line_state *remembered(xs_collected *r, uint32_t ring, uint32_t line) {
    return &r->lines[(uint64_t)ring * r->view.head.lines_per_ring + line];
}

static void see(const xs_collector *c, line_state *s, const xs_status_line *line) {
    if (s->seen && s->start_lo == line->p3.start_lo && s->start_hi == line->p3.start_hi && s->object == line->p0.object)
        return;
    *s = (line_state){.start_lo = line->p3.start_lo, .start_hi = line->p3.start_hi, .object = line->p0.object};
    s->seen = c->now ? c->now : 1;
}

/* After a second, then each time the wait is twice as old. */
static int due(const xs_collector *c, line_state *s) {
    uint64_t age = c->now - s->seen, told_age = s->told ? s->told - s->seen : LONG_NS / 2;
    if (age < 2 * told_age)
        return 0;
    s->told = c->now;
    return 1;
}

static int wanted(const xs_collector *c, line_state *s, const xs_status_line *line, enum status_which which) {
    uint32_t state = state_of(line);
    if (is_open(state)) {
        see(c, s, line);
        return which != STATUS_LONG || due(c, s);
    }
    return which == STATUS_OPEN_OR_GIVEN_UP && state == XS_LINE_GIVEN_UP;
}

/* Lines of rings that writers hold; what others left behind is over. */
void xs_collect_status(xs_collector *c, xs_collected *r, enum status_which which) {
    frame_array array;
    xs_frame_status entry = {.time = r->foreign_time ? 0 : c->now};
    xs_array_begin(&array, c, r, XS_FRAME_STATUS, sizeof entry);
    for (entry.ring = 0; entry.ring < r->view.rings; entry.ring++) {
        if (!xs_view_taken(&r->view, entry.ring))
            continue;
        for (entry.line = 0; entry.line < r->view.head.lines_per_ring; entry.line++)
            if (xs_view_copy_line(&r->view, entry.ring, entry.line, &entry.status) == 1 &&
                wanted(c, remembered(r, entry.ring, entry.line), &entry.status, which))
                xs_array_add(&array, &entry);
    }
    xs_array_end(&array);
}

/* 1: a wait gave up that had not when this was asked last. Also of rings that were given back since. */
int xs_collect_gave_up(xs_collected *r) {
    int found = 0;
    xs_status_line line;
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        for (uint32_t i = 0; i < r->view.head.lines_per_ring; i++) {
            if (xs_view_copy_line(&r->view, ring, i, &line) != 1 || state_of(&line) != XS_LINE_GIVEN_UP)
                continue;
            line_state *s = remembered(r, ring, i);
            found |= s->given_up != line.p0.generation;
            s->given_up = line.p0.generation;
        }
    return found;
}
