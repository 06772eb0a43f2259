/* Where in the source a finding lies, if its detector or its sentence does not say. Signals, arrivals and payload
 * are records without a place; waits that had to wait and fences have one: where the slot is waited for, else what
 * the culprit, else what the victim did last. */
#include "analysis.h"

static bool is_known(xsr_source source) { return source.line; }

/* A line of no known file is better than nothing, and no better than that. */
static void keep(an_where *p, uint32_t writer, xsr_source source, bool fence) {
    if (is_known(source) && (source.file != XSR_NONE || !is_known(p->source) || p->source.file == XSR_NONE))
        *p = (an_where){source, writer, fence};
}

void an_where_wait(an *a, const xsr_wait *w) {
    keep(&a->slots[w->slot].where, w->writer, w->source, false);
    if (w->writer != XSR_NONE)
        keep(&a->writers[w->writer].where, w->writer, w->source, false);
}

void an_where_event(an *a, const xsr_event *e) {
    if (e->kind == XS_EV_FENCE && e->writer != XSR_NONE)
        keep(&a->writers[e->writer].where, e->writer, (xsr_source){e->file, (uint32_t)e->value}, true);
}

/* Of the newest writer of that block that has one. All writers are looked at: for the first findings, which are
 * read. */
#define LOOKS 1024u
static const an_where *of_block(const an *a, uint32_t rank, uint32_t block) {
    for (uint32_t i = a->writer_count; i-- > 0 && rank != XSR_NONE && a->finding_count <= LOOKS;) {
        const xsr_writer *w = &a->model->writers[i];
        if (is_known(a->writers[i].where.source) && an_number(a, w->rank) == rank &&
            (block == XSR_NONE || w->block == block))
            return &a->writers[i].where;
    }
    return NULL;
}

void an_where_now(const an *a, an_finding *f) {
    const an_where *p = f->f.owes_writer == XSR_NONE ? NULL : &a->writers[f->f.owes_writer].where;
    if (!p || !is_known(p->source))
        p = of_block(a, f->f.owes_rank, f->f.owes_block);
    if (!p)
        p = of_block(a, f->f.rank, f->f.block);
    f->where = p ? *p : (an_where){0};
}

/* The place that the detector gave, if its sentence has left it out. */
static const char *say_own(an *a, const xsa_finding *f) {
    const char *at = f->file ? an_print(a, "%s:%u", f->file, f->line) : an_print(a, "line %u", f->line);
    return strstr(f->text, at) ? "" : an_print(a, ", %s", at);
}

const char *an_where_say(an *a, an_finding *f) {
    if (f->f.line)
        return say_own(a, &f->f);
    bool slot = f->f.slot != XSR_NONE && is_known(a->slots[f->f.slot].where.source);
    const an_where *p = slot ? &a->slots[f->f.slot].where : &f->where;
    if (!slot && !is_known(p->source)) /* at that moment nobody had come by a place yet */
        an_where_now(a, f);
    if (!is_known(p->source))
        return "";
    an_source(a, &f->f, p->source);
    if (slot)
        return an_print(a, "; %s is waited for at %s", an_slot_name(a, f->f.slot),
                        an_site_words(a, p->writer, p->source));
    return an_print(a, "; the last %s of %s that has a place is at %s", p->fence ? "fence" : "wait",
                    an_who(a, XSR_NONE, p->writer), an_site_words(a, p->writer, p->source));
}
