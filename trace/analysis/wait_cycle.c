/* D3: waits that hold each other up in a circle, from the graph of waits that stand still. */
#include "detectors.h"

static const char *chain_words(an *a, uint32_t start) {
    const char *text = "";
    uint32_t at = start, n = 0;
    do {
        const an_stuck *s = &a->stuck[at];
        text = an_print(a, "%s%s%s waits for %s", text, *text ? ", which " : "", an_who(a, s->w.rank, s->w.writer),
                        an_slot_name(a, s->w.slot));
        at = s->next;
    } while (at != start && ++n < 8);
    return an_print(a, "%s%s", text,
                    at != start                     ? ", and so on"
                    : a->stuck[start].next == start ? ", which it would signal itself"
                                                    : " of the first");
}

static bool comes_before(const an *a, const an_stuck *x, const an_stuck *y) {
    if (x->w.rank != y->w.rank)
        return an_number(a, x->w.rank) < an_number(a, y->w.rank);
    return an_block(a, x->w.writer) < an_block(a, y->w.writer);
}

/* A circle has no first, but for one whose signal was made behind a wait, or not at all, and never so before. Else by
 * rank and block, so that it is told in the same way each time. turned: how many such there are. */
static uint32_t first_of(const an *a, uint32_t start, uint32_t *turned) {
    uint32_t best = XSR_NONE, at = start;
    bool best_is = false;
    *turned = 0;
    do {
        bool is = an_stands_behind(a, &a->stuck[at]);
        *turned += is;
        if (best == XSR_NONE || is > best_is || (is == best_is && comes_before(a, &a->stuck[at], &a->stuck[best])))
            best = at, best_is = is;
        at = a->stuck[at].next;
    } while (at != start);
    return best;
}

static const char *turned_words(an *a, const an_stuck *s) {
    return an_print(a,
                    "; %s had made that signal before it came to its wait each time so far: it has left it out, or "
                    "turned the two around",
                    an_who(a, XSR_NONE, s->owes));
}

static int say(an *a, uint32_t start) {
    uint32_t turned, first = first_of(a, start, &turned), length = 0;
    const an_stuck *s = &a->stuck[first];
    xsa_finding f = an_stuck_like(a, s, XSA_WAIT_CYCLE, XSA_ERROR);
    bool certain = s->certain;
    uint32_t effect = XSR_NONE;
    for (uint32_t at = first; length == 0 || at != first; at = a->stuck[at].next, length++) {
        certain &= a->stuck[at].certain;
        effect = an_may_have_skipped(a, &a->stuck[at]) ? at : effect; /* then the circle is one, of what was left out */
        if (at != first)
            an_whole_stuck(a, &a->stuck[at]);
    }
    f.confidence = an_confidence(s->origin, f.lost);
    f.cure = length == 1   ? "let somebody else supply what this block waits for, or signal before the wait"
             : turned == 1 ? "make the missing signal before the wait, as in the rounds before"
                             : "make one of them signal before it waits, or visit slots in one order on all ranks";
    if (!certain) {
        an_unknown(a, XSA_WAIT_CYCLE, f.lost,
                   "a circle of waits may be none: %llu records that could show an end are lost",
                   (unsigned long long)f.lost);
        return 0;
    }
    if (effect != XSR_NONE) {
        an_unknown(
            a, XSA_WAIT_CYCLE, a->lost_records,
            "a circle of waits may be an effect: of %llu lost records one could show that %s was left out before",
            (unsigned long long)a->lost_records, an_slot_name(a, a->stuck[effect].w.slot));
        return 0;
    }
    an_finding *out =
        an_find(a, &f, 0, "%s, since %s: %s that nothing can open%s%s", chain_words(a, first), an_since(a, s->w.begin),
                length == 1 ? "a wait" : an_print(a, "a circle of %u", length), turned == 1 ? turned_words(a, s) : "",
                an_site(a, s->w.writer, s->w.source));
    for (uint32_t at = first, i = 0; out && i < length && i < 8; at = a->stuck[at].next, i++)
        TRY(an_evidence(a, out, a->stuck[at].w.id, "wait"));
    if (out && turned == 1 && s->counter == XSR_NONE)
        TRY(an_evidence(a, out, a->slots[s->w.slot].signal.event, "the last signal"));
    return out ? 0 : XS_E_MEMORY;
}

static int finish(an *a, void *state) {
    (void)state;
    uint32_t said = 0;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (a->stuck[i].cycle == said + 1) {
            TRY(say(a, i));
            said++;
        }
    return 0;
}

const an_ops an_wait_cycle = {
    .id = XSA_WAIT_CYCLE,
    .needs = AN_NEED_WAITS,
    .finish = finish,
    .cannot =
        "circles through code that is not noted, or through streams of the host; waits of which any one would do; "
        "whether one of the circle left its signal out, or turned it and a wait around"};
