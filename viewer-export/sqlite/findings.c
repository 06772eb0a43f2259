/* Verdicts of the analysis: tables finding, finding_event, detector and starvation_case. */
#include "catalog.h"

#define INT(v) xsv_put_int(&p, (int64_t)(v))
#define INDEX(v) xsv_put_index(&p, v)
#define TIME(v) xsv_put_time(&p, v)
#define TEXT(v) xsv_put_text(&p, v)

static int put_findings(xsv_catalog *c, const xsa_result *r) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_finding);
    for (uint32_t i = 0; i < r->finding_count && p.rc == SQLITE_OK; i++) {
        const xsa_finding *f = &r->findings[i];
        INT(i + 1), TEXT(f->id), TEXT(xsa_detector_name(f->detector)), TEXT(xsa_severity_name(f->severity));
        TEXT(xsa_confidence_name(f->confidence)), INDEX(f->rank), INDEX(f->block), INDEX(f->owes_rank), INDEX(f->owes_block);
        INDEX(f->slot), TIME(f->begin), TIME(f->end), TEXT(f->text), TEXT(f->cure), TEXT(f->file);
        INDEX(f->line ? f->line : XSR_NONE), INT(f->count), INT(f->lost), TEXT(f->explains);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int put_evidence(xsv_catalog *c, const xsa_result *r) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_finding_event);
    for (uint32_t i = 0; i < r->finding_count; i++)
        for (uint32_t e = 0; e < r->findings[i].evidence_count && p.rc == SQLITE_OK; e++) {
            INT(i + 1), INT(r->findings[i].evidence[e].event), TEXT(r->findings[i].evidence[e].part);
            xsv_put_row(&p);
        }
    return xsv_put_end(&p);
}

static int put_verdicts(xsv_catalog *c, const xsa_result *r) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_detector);
    for (uint32_t i = 0; i < r->verdict_count && p.rc == SQLITE_OK; i++) {
        const xsa_verdict *v = &r->verdicts[i];
        INT(v->detector), TEXT(xsa_detector_name(v->detector)), TEXT(xsa_detector_text(v->detector)), TEXT(xsa_status_name(v->status));
        INT(v->findings), INT(v->lost), TEXT(v->why), TEXT(v->cannot);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int put_starved(xsv_catalog *c, const xsa_result *r) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_starvation_case);
    for (uint32_t i = 0; i < r->starved_count && p.rc == SQLITE_OK; i++) {
        const xsa_starved *s = &r->starved[i];
        INT(i + 1), INDEX(s->finding == XSR_NONE ? XSR_NONE : s->finding + 1), INDEX(s->pad), INDEX(s->slot), INDEX(s->rank), INDEX(s->peer);
        INT(s->waits);
        xsv_put_time(&p, s->waits ? s->median_ns : INT64_MIN);
        INT(s->max_ns);
        xsv_put_real(&p, s->jain, 1);
        INT(s->longest_bypass);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

int xsv_catalog_findings(xsv_catalog *c, const xsa_result *result) {
    if (!result)
        return SQLITE_OK;
    int rc = put_findings(c, result);
    if (rc == SQLITE_OK)
        rc = put_evidence(c, result);
    if (rc == SQLITE_OK)
        rc = put_starved(c, result);
    return rc == SQLITE_OK ? put_verdicts(c, result) : rc;
}
