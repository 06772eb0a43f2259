/* How findings name things. */
#include "analysis.h"

#include <stdarg.h>
#include <stdio.h>

const char *an_print(an *a, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const char *text = rd_arena_text(&a->text, line, strlen(line));
    return text ? text : "?";
}

const char *an_who(an *a, uint32_t rank, uint32_t writer) {
    if (writer != XSR_NONE && rank == XSR_NONE)
        rank = a->model->writers[writer].rank;
    if (rank == XSR_NONE)
        return "an unknown rank";
    if (writer == XSR_NONE)
        return an_print(a, "rank %u", an_number(a, rank));
    return an_print(a, "rank %u %s", an_number(a, rank), a->model->writers[writer].name);
}

const char *an_slot_name(const an *a, uint32_t slot) {
    return slot == XSR_NONE ? "an unknown slot" : a->model->slots[slot].name;
}

const char *an_pad_name(const an *a, uint32_t slot) { return an_pad(a, slot)->name; }

const char *an_role_name(const an *a, uint32_t role) { return role == XSR_NONE ? "" : a->model->names[role].text; }

const char *an_span(an *a, int64_t ns) {
    double t = (double)ns, m = t < 0 ? -t : t;
    if (m < 1e3)
        return an_print(a, "%lld ns", (long long)ns);
    return m < 1e6   ? an_print(a, "%.1f us", t / 1e3)
           : m < 1e9 ? an_print(a, "%.1f ms", t / 1e6)
                     : an_print(a, "%.2f s", t / 1e9);
}

const char *an_since(an *a, int64_t time) {
    if (time == NO_TIME)
        return "an unknown moment";
    int64_t start = a->first_time == NO_TIME ? a->model->begin : a->first_time;
    /* earlier ones are guessed */
    return an_print(a, "%s after the start", an_span(a, time > start ? time - start : 0));
}

const char *an_file(const an *a, xsr_source source) {
    return source.line && source.file != XSR_NONE ? a->model->names[source.file].text : NULL;
}

void an_source(const an *a, xsa_finding *f, xsr_source source) {
    f->line = source.line;
    f->file = an_file(a, source);
}

const char *an_site_words(an *a, uint32_t writer, xsr_source source) {
    const char *file = an_file(a, source),
               *at = file ? an_print(a, "%s:%u", file, source.line) : an_print(a, "line %u", source.line);
    uint32_t launch = writer == XSR_NONE ? XSR_NONE : a->model->writers[writer].launch;
    uint32_t kernel = launch == XSR_NONE ? XSR_NONE : a->model->launches[launch].kernel;
    if (kernel == XSR_NONE)
        return at;
    return an_print(a, "%s of kernel %s", at, a->model->names[kernel].text);
}

const char *an_site(an *a, uint32_t writer, xsr_source source) {
    return source.line ? an_print(a, ", %s", an_site_words(a, writer, source)) : "";
}
