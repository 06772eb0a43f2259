/* Status lines: what a wait that had to wait is doing, in mapped memory, for `xs hang`. Written whether tracing is
 * started or not, by writers that have a ring. Each 16-byte part is one store and carries the generation. Used by
 * notes.h alone. */
#ifndef XS_STATUS_H
#define XS_STATUS_H

#include <xs/backoff.h>
#include <xs/here.h>
#include <xs/writer.h>

/* A slot as events name it. */
typedef struct xs_slot {
    void *at;        /* in this address space */
    uint32_t object; /* pad.first + (owner * rows + row) * columns + column */
    uint32_t flags;  /* xs_pad_flags */
} xs_slot;

XS_FN xs_slot xs_slot_at(const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column) {
    xs_slot slot;
    if (XS_TRACE) { /* address and name are made where they are used, not kept: notes need the registers */
        owner = xs_opaque(owner);
        row = xs_opaque(row);
        column = xs_opaque(column);
    }
    slot.at = (char *)pad->base[owner] + (uint64_t)row * pad->row_stride + (uint64_t)column * pad->column_stride;
    slot.object = pad->first + (owner * pad->rows + row) * pad->columns + column;
    slot.flags = pad->flags;
    return slot;
}

/* A wait that had to wait, from its first failed poll to its end. Owned by the caller; lives in registers. */
typedef struct xs_wait_note {
    xs_slot slot;
    uint64_t need;
    uint64_t polls;     /* times that the slot was read so far; kept by the caller (1 at begin) */
    uint64_t slept;     /* ns asked of back-off; kept by the caller, unless backoff is set */
    uint32_t backoff;   /* 1: slept follows from polls (backoff.h) */
    uint32_t last_fail; /* time of the last failed poll, low 32 bits of ns; kept by the caller (xs_now_low) */
    uint32_t heartbeat; /* last beat seen of the peer; kept by the caller, 0 if there is none */
    uint32_t order, scope, cmp;
    uint64_t source;    /* XS_HERE */
    uint32_t stage;     /* back-off stage last told */
    uint32_t line;      /* status line of the writer */
} xs_wait_note;

/* The line of a wait is written when its slot was read so often. On a GPU, where it lies across the bus and the next
 * release of the warp waits until it has arrived there, that is when back-off has reached its last stage: shorter
 * waits, of some 0.6 ms, are in the ring alone. */
#define XS_LINE_READS (XS_CUDA ? XS_BACKOFF_STAGES * XS_BACKOFF_READS : 1u)

/* Takes the lowest free line of this writer; one that the ring does not have is taken too, and nothing is written there
 * (counted). Unconditional, so that the line of a wait inside no other wait is a constant. At most 64 a writer. */
XS_FN uint32_t xs_line_take(xs_writer *w) {
    uint32_t line = ~w->lines ? xs_bits_lowest(~w->lines) : 63;
    w->lines |= 1ull << line;
    return line;
}
XS_FN void xs_line_give(xs_writer *w, uint32_t line) { w->lines &= ~(1ull << line); }

XS_FN bool xs_line_exists(const xs_writer *w, uint32_t line) {
    return xs_writer_has_ring(w) && line < w->xs->lines_per_ring;
}

/* The generation is the time and how the line came to be written: two writes to a line in a row differ in one of them.
 * Never 0. */
XS_FN uint32_t xs_line_generation(uint32_t now, uint32_t state) { return now << 3 | state; }
XS_FN uint32_t xs_line_state(uint32_t generation) { return generation & 7; }
XS_FN char *xs_line_at(const xs_writer *w, uint32_t line) {
    return xs_element(w->xs->status, xs_writer_ring(w) * w->xs->lines_per_ring + line, sizeof(xs_status_line));
}

/* One part, in either form (region.h), and where words 1 and 2 of one are. */
#if XS_RECORD_WORDS == 2
#define XS_LINE_WORD(i) (2 * ((i) - 1))
XS_FN void xs_line_put(char *at, uint32_t generation, uint32_t a, uint32_t b, uint32_t c) {
    xs_store_stamped_if(1, at, XS_LINE_STAMP(generation), a, b, c);
}
#else
#define XS_LINE_WORD(i) (i)
XS_FN void xs_line_put(char *at, uint32_t generation, uint32_t a, uint32_t b, uint32_t c) {
    xs_store16_if(1, at, generation, a, b, c);
}
#endif

/* When the wait began. On a GPU in its own memory until the line is written: one store, and no register over the
 * wait. */
#if XS_CUDA
XS_FN uint64_t *xs_line_begin_at(const xs_writer *w, uint32_t line) {
    return (uint64_t *)xs_element(w->xs->waits, xs_writer_ring(w) * w->xs->lines_per_ring + line, sizeof(uint64_t));
}
XS_FN void xs_line_began(const xs_writer *w, uint32_t line, uint64_t now) {
    if (xs_line_exists(w, line))
        xs_store_weak(xs_line_begin_at(w, line), now);
}
XS_FN void xs_line_begin(const xs_writer *w, const xs_wait_note *n, const char *at, uint32_t word[4]) {
    (void)at;
    uint64_t begin = xs_load_volatile(xs_line_begin_at(w, n->line));
    word[1] = (uint32_t)begin, word[2] = (uint32_t)(begin >> 32);
}
#else
XS_FN void xs_line_began(const xs_writer *w, uint32_t line, uint64_t now) { (void)w, (void)line, (void)now; }
XS_FN void xs_line_begin(const xs_writer *w, const xs_wait_note *n, const char *at, uint32_t word[4]) {
    (void)w, (void)n;
    uint64_t begin = xs_line_state(word[0]) == XS_LINE_WAITING ? xs_now() : 0;
    for (uint32_t i = 1; i < 3; i++)
        word[i] = begin ? (uint32_t)(begin >> 32 * (i - 1))
                        : xs_control_load_u32((const uint32_t *)(const void *)at + XS_LINE_WORD(i));
}
#endif

/* Lines lie on multiples of their size, so that the address says which part it is. */
XS_FN uint32_t xs_line_part(const char *at) { return (uint32_t)(uintptr_t)at / 16 % 8; }

/* The words of one part, behind the generation. What does not change while a wait goes on is read back from the line or
 * made anew rather than kept in registers, and the time is read where it is written. */
XS_FN void xs_line_words(const xs_writer *w, const xs_wait_note *n, const char *at, uint32_t result, uint64_t observed,
                         uint32_t word[4]) {
    uint32_t block, rank;
    uint64_t now;
    switch (xs_line_part(at)) {
    case 0:
        word[1] = xs_line_state(xs_opaque(word[0])) | n->stage << 8 | result << 16 | n->cmp << 24;
        word[2] = xs_opaque(n->slot.object), word[3] = (uint32_t)n->need;
        break;
    case 1:
        word[1] = xs_opaque((uint32_t)(n->need >> 32)), word[2] = (uint32_t)observed,
        word[3] = (uint32_t)(observed >> 32);
        break;
    case 2:
        word[1] = xs_opaque((uint32_t)n->polls), now = xs_now(), word[2] = (uint32_t)now,
        word[3] = (uint32_t)(now >> 32);
        break;
    case 3:
        xs_line_begin(w, n, at, word);
        word[3] = xs_opaque((uint32_t)w->epoch); /* a writer does not enter another while it waits */
        break;
    case 4:
        word[1] = (XS_SOURCE_LINE(n->source) & 0xffff) | xs_opaque(w->role) << 16, word[2] = w->word,
        word[3] = n->heartbeat;
        break;
    case 5:
        word[1] = xs_opaque(w->signal_object); /* not its value: that would cost two registers for the kernel's life */
        /* Used here, the address stays in its registers through the loop; else ptxas moves what it needs more to the
         * stack. */
        word[2] = XS_CUDA ? (uint32_t)(uintptr_t)n->slot.at : 0;
        word[3] = XS_SOURCE_FILE(n->source);
        break;
    case 6:
        xs_writer_place(w, &rank, &block);
        word[1] = w->cursor, word[2] = block, word[3] = xs_writer_warp() | xs_sm() << 16;
        break;
    default:
        xs_writer_place(w, &rank, &block);
        word[1] = w->xs->launch, word[2] = rank, word[3] = (uint32_t)(n->polls >> 32);
    }
}

/* Part by part in a loop that is not unrolled, with one store in it: the slow path may take its time, but not the
 * kernel's registers. */
XS_FN void xs_line_write(const xs_writer *w, const xs_wait_note *n, uint32_t state, uint32_t result,
                         uint64_t observed) {
    if (!xs_line_exists(w, n->line))
        return;
    uint32_t generation = xs_line_generation(xs_now_low(), state);
    XS_NO_UNROLL
    for (char *at = xs_line_at(w, n->line);; at += 16) {
        uint32_t word[4] = {generation, 0, 0, 0};
        xs_line_words(w, n, at, result, observed, word);
        xs_line_put(at, word[0], word[1], word[2], word[3]);
        if (xs_line_part(at) == 7)
            return;
    }
}

/* The wait is over: nothing but that, since what comes next should not be kept waiting. From the last part to the
 * first. */
XS_FN void xs_line_over(const xs_writer *w, const xs_wait_note *n, uint32_t now) {
    if (!xs_line_exists(w, n->line))
        return;
    uint32_t generation = xs_line_generation(now, XS_LINE_OVER);
    XS_NO_UNROLL
    for (char *at = xs_line_at(w, n->line) + 112;; at -= 16) {
        bool first = xs_line_part(at) == 0;
        xs_line_put(at, generation, first ? XS_LINE_OVER : 0, first ? n->slot.object : 0, 0);
        if (first)
            return;
    }
}

#endif
