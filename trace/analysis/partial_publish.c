/* D13: a signal while another warp of the block still writes the packet that it tells of. The warps of a block share
 * a clock, so their records show which came first; that they were lucky does not show, for joins of a block are not
 * noted. */
#include "detectors.h"

/* of a writer, its last */
typedef struct writing {
    uint64_t index, generation, event;
    uint32_t name, peer;
    int64_t time;
    bool active, any;
} writing;
/* of a block */
typedef struct signalled {
    uint64_t event, generation, index, value;
    uint32_t name, peer, slot, writer;
    int64_t time;
    bool any;
} signalled;
typedef struct partial {
    writing *writers;
    uint32_t room;
    rd_map of;
    signalled *blocks;
    uint32_t block_count, block_room;
} partial;

static int room_for(an *a, partial *p) {
    TRY(RD_ROWS(p->writers, p->room, a->writer_count));
    return 0;
}

static signalled *block_of(const an *a, partial *p, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    uint64_t key = an_key(XSA_PARTIAL_PUBLISH, an_place(w->rank, w->block), w->launch, 0);
    uint32_t at = rd_map_get(&p->of, key);
    if (at != XSR_NONE)
        return &p->blocks[at];
    at = p->block_count;
    if (RD_ROOM(p->blocks, p->block_room, at + 1) < 0 || rd_map_put(&p->of, key, at) < 0)
        return NULL;
    memset(&p->blocks[at], 0, sizeof p->blocks[at]);
    p->block_count++;
    return &p->blocks[at];
}

static int say(an *a, const signalled *s, const xsr_event *e, const char *what) {
    an_whole(a, e->writer, s->time, e->time); /* the end of its write */
    an_whole(a, s->writer, s->time, e->time);
    xsa_finding f = an_like(XSA_PARTIAL_PUBLISH, XSA_ERROR, XSA_HIGH);
    f.slot = s->slot;
    an_culprit(a, &f, e->rank, s->writer);
    an_victim(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[s->slot].owner;
    f.block = XSR_NONE;
    f.begin = s->time;
    f.end = e->time;
    f.cure = "join the block (xs_block_join) between the last write and the signal, or elect among its warps";
    uint64_t key = an_key(XSA_PARTIAL_PUBLISH, a->model->slots[s->slot].pad, e->rank, an_block(a, s->writer));
    an_finding *out =
        an_find(a, &f, key, "%s signals %s (%llu) while %s %s its part of %s %llu, %s", an_who(a, e->rank, s->writer),
                an_slot_name(a, s->slot), (unsigned long long)s->value, an_who(a, e->rank, e->writer), what,
                e->object == XSR_NONE ? "payload" : a->model->names[e->object].text, (unsigned long long)s->index,
                an_since(a, s->time));
    TRY(an_evidence(a, out, s->event, "signal"));
    return an_evidence(a, out, e->id, "write of another warp");
}

static int take_signal(an *a, partial *p, const xsr_event *e) {
    const writing *own = &p->writers[e->writer];
    signalled *s = block_of(a, p, e->writer);
    if (!s)
        return XS_E_MEMORY;
    if (!own->any || own->active) /* it tells of what its own writer wrote last */
        return 0;
    if (own->peer != XS_NO_PEER && own->peer != a->model->slots[e->slot].owner)
        return 0; /* of a packet for another rank */
    *s = (signalled){e->id, own->generation, own->index, e->value, own->name, own->peer, e->slot, e->writer, e->time, true};
    return 0;
}

static bool same_packet(const signalled *s, const writing *w) {
    return w->name == s->name && w->index == s->index && w->generation == s->generation && w->peer == s->peer;
}

static int on_event(an *a, void *state, const xsr_event *e) {
    partial *p = state;
    if (e->writer == XSR_NONE)
        return 0;
    TRY(room_for(a, p));
    writing *w = &p->writers[e->writer];
    if (an_signals(e->kind))
        return e->slot == XSR_NONE ? 0 : take_signal(a, p, e);
    signalled *s = block_of(a, p, e->writer);
    if (!s)
        return XS_E_MEMORY;
    if (e->kind == XS_EV_WRITE_BEGIN && e->further[1] == 0 && e->further[2] == 0)
        return 0; /* no rows, no bytes: nothing is written */
    if (e->kind == XS_EV_WRITE_BEGIN)
        *w = (writing){e->value, e->detail, e->id, e->object, (uint32_t)e->further[0], e->time, true, true};
    else if (e->kind == XS_EV_PAYLOAD_END && !w->active)
        return 0;
    if (s->any && s->writer != e->writer && same_packet(s, w) && e->time > s->time)
        TRY(say(a, s, e, e->kind == XS_EV_WRITE_BEGIN ? "has yet to write" : "still writes"));
    if (e->kind == XS_EV_PAYLOAD_END)
        w->active = false;
    return 0;
}

static void release(void *state) {
    partial *p = state;
    free(p->writers);
    free(p->blocks);
    rd_map_free(&p->of);
}

const an_ops an_partial_publish = {
    .id = XSA_PARTIAL_PUBLISH,
    .needs = AN_NEED_PAYLOAD,
    .state = sizeof(partial),
    .release = release,
    .on_event = on_event,
    .kinds = AN_KIND(SIGNAL) | AN_KIND(WATERMARK) | AN_KIND(WRITE_BEGIN) | AN_KIND(PAYLOAD_END),
    .cannot = "a missing join that did not matter in this run: joins of a block are not noted; threads of one warp"};
