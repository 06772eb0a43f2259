/* Warps of a block are joined by barriers that nothing notes. Mostly one of them waits, and the others go on when it
 * does: a writer that never waits was held up where another one of its block, of its role, did. One that does not
 * signal either is held up by any of its block. */
#include "blame.h"
#include "class.h"

int blame_blocks(an *a) {
    an_blame *b = a->blame;
    TRY(blame_room(a));
    for (; b->grouped < a->writer_count; b->grouped++) {
        const xsr_writer *m = &a->model->writers[b->grouped];
        blame_writer *w = &b->writers[b->grouped];
        if (m->launch == XSR_NONE)
            continue; /* its begin is lost */
        uint32_t block = an_class(&b->block_of, m->launch, m->rank, m->block);
        if (block == XSR_NONE || RD_ROWS(b->newest_of, b->newest_room, block + 1))
            return XS_E_MEMORY;
        w->block = block;
        w->next = b->newest_of[block];
        b->newest_of[block] = b->grouped + 1;
    }
    return 0;
}

bool blame_joined(const an *a, uint32_t writer, uint32_t with) {
    const blame_writer *w = &a->blame->writers[writer], *s = &a->blame->writers[with];
    return writer != with && !w->waits && s->waits &&
           (!w->talks || a->model->writers[writer].role == a->model->writers[with].role);
}

bool blame_follows(const an *a, uint32_t writer) {
    const an_blame *b = a->blame;
    for (uint32_t s = b->writers[writer].waits ? 0 : blame_first(b, writer); s; s = b->writers[s - 1].next)
        if (blame_joined(a, writer, s - 1))
            return true;
    return false;
}

/* The newest wait of a writer that ended by `time`. Within a walk `time` only goes back. */
static uint64_t newest_wait(an_blame *b, uint32_t writer, int64_t time) {
    blame_writer *w = &b->writers[writer];
    if (w->cursor_walk != b->walks)
        w->cursor = w->last;
    w->cursor_walk = b->walks;
    while (blame_has(b, w->cursor) &&
           (blame_at(b, w->cursor)->kind != BLAME_WAIT || blame_at(b, w->cursor)->time > time))
        w->cursor = blame_at(b, w->cursor)->before;
    return blame_has(b, w->cursor) ? w->cursor : 0;
}

uint64_t blame_held_up(an *a, uint32_t writer, int64_t from, int64_t to) {
    an_blame *b = a->blame;
    uint64_t newest = 0;
    if (b->writers[writer].waits)
        return 0;
    for (uint32_t s = blame_first(b, writer); s; s = b->writers[s - 1].next) {
        uint64_t n = blame_joined(a, writer, s - 1) ? newest_wait(b, s - 1, to) : 0;
        if (n && blame_at(b, n)->time > from && (!newest || blame_at(b, n)->time > blame_at(b, newest)->time))
            newest = n;
    }
    return newest;
}
