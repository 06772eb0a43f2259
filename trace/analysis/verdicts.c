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

static const char *missing(uint32_t needs) {
    if (needs & AN_PAYLOAD)
        return "no payload was recorded";
    if (needs & AN_BLOCK_BARRIERS)
        return "no named barrier was recorded";
    if (needs & AN_BARRIERS)
        return "no barrier was recorded";
    if (needs & AN_CHANNELS)
        return "no channel was recorded";
    return needs & AN_HEARTBEATS ? "no heartbeat was recorded" : "no wait was recorded";
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
        else if (v->status != XSA_UNKNOWN && d->needs && !(d->needs & a->seen)) {
            v->status = XSA_NOT_RUN;
            v->why = missing(d->needs);
        }
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
