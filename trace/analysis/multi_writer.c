/* D6: two writers on a slot that has one. Ranks: whoever the plan does not name, or two that nothing orders. Blocks of one rank: two that
 * nothing orders, in one epoch (after an election it may be another block each epoch). */
#include "detectors.h"
#include "hb.h"

typedef struct last { an_stamp stamp; uint64_t event, epoch, value; int64_t time; uint32_t writer, rank; } last;
typedef struct writers { last *slots; uint32_t room; } writers;

static int room_for(an *a, writers *s) {
    uint32_t had = s->room;
    if (RD_ROOM(s->slots, s->room, a->slot_count) < 0)
        return XS_E_MEMORY;
    if (s->room > had)
        memset(&s->slots[had], 0, (s->room - had) * sizeof *s->slots);
    return 0;
}

static int say(an *a, const xsr_event *e, const last *l, uint32_t confidence, const char *why) {
    xsa_finding f = an_like(XSA_MULTI_WRITER, XSA_ERROR, confidence);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[e->slot].owner;
    f.begin = f.end = e->time;
    f.cure = "give each writer a slot of its own, or elect one of them; a counter is declared shared";
    an_finding *out = l && l->event ? an_find(a, &f, an_key(XSA_MULTI_WRITER, e->slot, 0, 0), "%s signals %s of rank %u (%llu), which %s signalled before (%llu): %s, %s",
                                              an_who(a, e->rank, e->writer), an_slot_name(a, e->slot), f.rank, (unsigned long long)e->value,
                                              an_who(a, l->rank, l->writer), (unsigned long long)l->value, why, an_since(a, e->time))
                                    : an_find(a, &f, an_key(XSA_MULTI_WRITER, e->slot, 0, 0), "%s signals %s of rank %u (%llu): %s, %s", an_who(a, e->rank, e->writer),
                                              an_slot_name(a, e->slot), f.rank, (unsigned long long)e->value, why, an_since(a, e->time));
    if (l && l->event)
        TRY(an_evidence(a, out, l->event, "signal of the other"));
    return an_evidence(a, out, e->id, "signal");
}

static int on_step(an *a, void *state, const an_step *step) {
    writers *s = state;
    const xsr_event *e = step->e;
    if (!an_signals(e->kind) || e->slot == XSR_NONE || an_pad(a, e->slot)->flags & (XS_PAD_SHARED | XS_PAD_WIDE))
        return 0;
    TRY(room_for(a, s));
    last *l = &s->slots[e->slot], before = *l;
    uint32_t declared = XSR_NONE;
    *l = (last){{step->agent, step->epoch}, e->id, e->epoch, e->value, e->time, e->writer, e->rank};
    bool other_rank = before.event && before.rank != e->rank;
    if ((!before.event || other_rank) && an_plan_declares_writer(a, e->slot, e->epoch, &declared) && declared != an_number(a, e->rank))
        return say(a, e, &before, XSA_HIGH, an_print(a, "the plan names rank %u", declared));
    if (!before.event || before.stamp.agent == step->agent || an_hb_before(a, before.stamp, step->agent))
        return 0;
    bool same_epoch = before.epoch == e->epoch;
    if (!other_rank && !same_epoch && before.value < e->value)
        return 0;
    an_whole_order(a, before.time, e->time); /* what orders the two lies between them */
    if (other_rank)
        return say(a, e, &before, XSA_HIGH, "nothing orders the two");
    return say(a, e, &before, XSA_MEDIUM, "nothing orders the two blocks");
}

static void release(void *state) { free(((writers *)state)->slots); }

const an_ops an_multi_writer = {.id = XSA_MULTI_WRITER, .state = sizeof(writers), .on_step = on_step, .release = release,
                                .cannot = "threads of one block, and writers that note nothing"};
