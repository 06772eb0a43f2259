#include <string.h>

#include "check.h"

static int is_word(const char *text) { return text && *text && strlen(text) < 4096; }

static void check_finding(const xsa_finding *f, const xsr_model *m) {
    require(f->detector > 0 && f->detector < XSA_DETECTOR_END && f->severity <= XSA_NOTE && f->confidence <= XSA_LOW);
    require(is_word(f->id) && is_word(f->text) && is_word(f->cure) && f->explains != NULL && f->count >= 1);
    require(f->slot == XSR_NONE || f->slot < m->slot_count);
    require(f->owes_writer == XSR_NONE || f->owes_writer < m->writer_count);
    for (uint32_t i = 0; i < f->evidence_count; i++)
        require(f->evidence[i].event > 0 && f->evidence[i].event != XSR_NO_ID && is_word(f->evidence[i].part));
}

uint32_t check_verdicts(const xsa_result *r, const xsr_model *m) {
    uint32_t by_severity[3] = {0, 0, 0}, unknown = 0, errors = 0, listed[XSA_DETECTOR_END] = {0};
    require(r != NULL);
    for (uint32_t i = 0; i < r->finding_count; i++) {
        check_finding(&r->findings[i], m);
        by_severity[r->findings[i].severity]++;
        listed[r->findings[i].detector]++;
        errors |= r->findings[i].severity == XSA_ERROR ? 1u << r->findings[i].detector : 0;
        for (uint32_t k = 0; k < i && i < 64; k++)
            require(strcmp(r->findings[i].id, r->findings[k].id) != 0);
    }
    for (uint32_t i = 0; i < r->verdict_count; i++) {
        const xsa_verdict *v = &r->verdicts[i];
        require(v->detector > 0 && v->detector < XSA_DETECTOR_END && v->status < 4 && v->why && is_word(v->cannot));
        require(v->findings == listed[v->detector] && (v->status != XSA_FOUND || v->findings));
        require(v->status != XSA_UNKNOWN || is_word(v->why)); /* why it is not known is said */
        unknown += v->status == XSA_UNKNOWN;
    }
    require(r->errors == by_severity[XSA_ERROR] && r->warnings == by_severity[XSA_WARNING] &&
            r->notes == by_severity[XSA_NOTE]);
    require(r->unknown == unknown && xsa_exit_code(r) == (r->errors ? 1 : unknown ? 2 : 0));
    return errors;
}
