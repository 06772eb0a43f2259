/* What each detector says in the end, and the names of things. */
#include "analysis.h"

#include <stdarg.h>
#include <stdio.h>

void an_unknown(an *a, uint32_t detector, uint64_t lost, const char *format, ...) {
    xsa_verdict *v = &a->verdicts[detector];
    an_windows_clear(a); /* of a finding that is not made */
    if (v->status == XSA_UNKNOWN) {
        v->lost = lost > v->lost ? lost : v->lost;
        return;
    }
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    v->status = XSA_UNKNOWN;
    v->lost = lost;
    v->why = an_print(a, "%s", line);
}

void an_needs_words(uint32_t needs, char *text, size_t size) {
    static const char *const words[] = {
#define WORDS(name, word) word,
        AN_NEEDS(WORDS)
#undef WORDS
    };
    size_t at = 0;
    text[0] = 0;
    for (uint32_t bit = 0; bit < AN_NEED_COUNT && at < size; bit++)
        if (needs >> bit & 1)
            at += (size_t)snprintf(text + at, size - at, "%s%s",
                                   !at                 ? ""
                                   : needs >> bit == 1 ? " or "
                                                       : ", ",
                                   words[bit]);
}

/* Of every protocol something is a wait: where all of them are lost, whether one of them failed is not known. */
static void say_nothing_seen(an *a, const an_ops *d, xsa_verdict *v) {
    char words[256];
    an_needs_words(d->needs, words, sizeof words);
    v->status = d->needs & AN_NEED_WAITS && a->lost_records ? XSA_UNKNOWN : XSA_NOT_RUN;
    v->lost = a->lost_records;
    v->why = !a->lost_records ? an_print(a, "no %s was recorded", words)
                              : an_print(a, "no %s was recorded, or it is among %llu lost records", words,
                                         (unsigned long long)a->lost_records);
}

void an_verdicts_finish(an *a) {
    xsa_result *r = &a->result;
    for (uint32_t i = 0; i < r->finding_count; i++)
        a->verdicts[r->findings[i].detector].findings++;
    for (uint32_t i = 0; an_detectors[i]; i++) {
        const an_ops *d = an_detectors[i];
        xsa_verdict *v = &a->verdicts[d->id];
        v->detector = d->id;
        v->cannot = d->cannot;
        v->why = v->why ? v->why : "";
        if (v->status != XSA_UNKNOWN && v->findings)
            v->status = XSA_FOUND;
        else if (v->status != XSA_UNKNOWN && d->needs && !(d->needs & a->seen))
            say_nothing_seen(a, d, v);
        r->unknown += v->status == XSA_UNKNOWN;
    }
    /* By number, those that are there. */
    for (uint32_t id = 1; id < XSA_DETECTOR_END; id++)
        if (a->verdicts[id].detector)
            a->verdicts[r->verdict_count++] = a->verdicts[id];
    r->verdicts = a->verdicts;
}

static const char *const names[] = {
#define NAME(number, name, shown, text) [number] = shown,
    XSA_DETECTORS(NAME)
#undef NAME
};
static const char *const texts[] = {
#define TEXT(number, name, shown, text) [number] = text,
    XSA_DETECTORS(TEXT)
#undef TEXT
};

const char *xsa_detector_name(uint32_t d) { return d < XSA_DETECTOR_END && names[d] ? names[d] : "unknown"; }
const char *xsa_detector_text(uint32_t d) { return d < XSA_DETECTOR_END && texts[d] ? texts[d] : ""; }
const char *xsa_severity_name(uint32_t s) { return s == XSA_ERROR ? "error" : s == XSA_WARNING ? "warning" : "note"; }
const char *xsa_confidence_name(uint32_t c) { return c == XSA_HIGH ? "high" : c == XSA_MEDIUM ? "medium" : "low"; }
const char *xsa_status_name(uint32_t s) {
    static const char *const status[] = {"clear", "found", "unknown", "not run"};
    return s < 4 ? status[s] : "unknown";
}
