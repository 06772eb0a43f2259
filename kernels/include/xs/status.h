/* Status lines: what a wait that had to wait is doing, in mapped memory, for `xs hang`. Written whether tracing is started
 * or not, by writers that have a ring. Each 16-byte part is one store and carries the generation. Used by notes.h alone. */
#ifndef XS_STATUS_H
#define XS_STATUS_H

#include <xs/writer.h>

#define XS_LINE_NONE 0xffffffffu

/* A slot as events name it. */
typedef struct xs_slot {
    void *at;        /* in this address space */
    uint32_t object; /* pad.first + (owner * rows + row) * columns + column */
    uint32_t flags;  /* xs_pad_flags */
} xs_slot;

XS_FN xs_slot xs_slot_at(const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column) {
    xs_slot slot;
    slot.at = (char *)pad->base[owner] + (uint64_t)row * pad->row_stride + (uint64_t)column * pad->column_stride;
    slot.object = pad->first + (owner * pad->rows + row) * pad->columns + column;
    slot.flags = pad->flags;
    return slot;
}

/* A wait that had to wait, from its first failed poll to its end. Owned by the caller; lives in registers. */
typedef struct xs_wait_note {
    xs_slot slot;
    uint64_t need;
    uint64_t start;     /* ns */
    uint64_t polls;     /* times that the slot was read so far; kept by the caller (1 at begin) */
    uint64_t slept;     /* ns asked of back-off; kept by the caller */
    uint32_t last_fail; /* time of the last failed poll, low 32 bits of ns; kept by the caller (xs_now_low) */
    uint32_t heartbeat; /* last beat seen of the peer; kept by the caller, 0 if there is none */
    uint32_t order, scope, cmp;
    uint32_t source;    /* line in the kernel's source */
    uint32_t stage;     /* back-off stage last told */
    uint32_t line;      /* status line, or XS_LINE_NONE */
} xs_wait_note;

/* Takes the lowest free line of this writer. At most 64 a writer. */
XS_FN uint32_t xs_line_take(xs_writer *w) {
    if (!xs_writer_has_ring(w))
        return XS_LINE_NONE;
    if (~w->lines) {
        uint32_t line = xs_bits_lowest(~w->lines);
        if (line < w->xs->lines_per_ring) {
            w->lines |= 1ull << line;
            return line;
        }
    }
    xs_control_count(&w->xs->control->no_line, 1);
    return XS_LINE_NONE;
}

XS_FN void xs_line_give(xs_writer *w, uint32_t line) {
    if (line != XS_LINE_NONE)
        w->lines &= ~(1ull << line);
}

XS_FN void xs_line_write(xs_writer *w, const xs_wait_note *n, uint32_t state, uint32_t result, uint64_t observed, uint64_t now) {
    if (n->line == XS_LINE_NONE)
        return;
    char *at = (char *)&w->xs->status[(uint64_t)w->ring * w->xs->lines_per_ring + n->line];
    uint32_t g = w->generation + 1;
    if (g == 0)
        g = 1; /* 0 means never used */
    w->generation = g;
    xs_store16_if(1, at, g, state | n->stage << 8 | result << 16 | n->cmp << 24, n->slot.object, (uint32_t)n->need);
    xs_store16_if(1, at + 16, g, (uint32_t)(n->need >> 32), (uint32_t)observed, (uint32_t)(observed >> 32));
    xs_store16_if(1, at + 32, g, (uint32_t)n->polls, (uint32_t)now, (uint32_t)(now >> 32));
    xs_store16_if(1, at + 48, g, (uint32_t)n->start, (uint32_t)(n->start >> 32), (uint32_t)w->epoch);
    xs_store16_if(1, at + 64, g, (n->source & 0xffff) | w->role << 16, w->word, n->heartbeat);
    xs_store16_if(1, at + 80, g, w->signal_object, (uint32_t)w->signal_value, (uint32_t)(w->signal_value >> 32));
    xs_store16_if(1, at + 96, g, w->cursor, xs_writer_block(w), xs_writer_warp() | xs_sm() << 16);
    xs_store16_if(1, at + 112, g, w->xs->launch, xs_writer_rank(w), (uint32_t)(n->polls >> 32));
}

#endif
