/* One cause, one finding: the one that names the cause is listed, what follows from it becomes its evidence.
 *
 * PRIORITY orders detectors from causes to effects. A finding explains a later one of the order where RELATED says
 * what they must have in common. */
#include "analysis.h"

#include <stdio.h>

static const uint8_t order[] = {
    XSA_TRACE_HEALTH,       XSA_BARRIER_CLASH, XSA_MULTI_WRITER,     XSA_WRAP_RISK,          XSA_RESET_RACE,
    XSA_VANISHED_SIGNAL,    XSA_NON_RESIDENT,  XSA_DEAD_PEER,        XSA_EQUALITY_OVERSHOOT, XSA_COUNT_MISMATCH,
    XSA_EARLY_PASS,         XSA_REGRESSION,    XSA_LAPPING,          XSA_PARTIAL_PUBLISH,    XSA_ORDER_SCOPE,
    XSA_WAIT_CYCLE,         XSA_LATE_RANK,     XSA_BARRIER_MISMATCH, XSA_STUCK_CHAIN,        XSA_PAYLOAD_RACE,
    XSA_LOST_SUPPLIER,      XSA_UNFAIRNESS,    XSA_HEAD_OF_LINE,     XSA_DETECTION_LAG,      XSA_POLL_PRESSURE,
    XSA_READINESS_COLLAPSE, XSA_STALL};

int an_priority(uint32_t detector) {
    for (uint32_t i = 0; i < sizeof order; i++)
        if (order[i] == detector)
            return (int)i;
    return (int)sizeof order;
}

/* What a cause and its effect have in common. */
enum { SLOT = 1, PAD = 2, CULPRIT = 4, VICTIM = 8, ANY = 16 };

typedef struct relation { uint8_t cause, effect, common; } relation;

/* A hang or a wrong value that one of these brought about. */
static const relation relations[] = {{XSA_MULTI_WRITER, XSA_REGRESSION, SLOT},
                                     {XSA_MULTI_WRITER, XSA_EARLY_PASS, SLOT},
                                     {XSA_MULTI_WRITER, XSA_ORDER_SCOPE, SLOT},
                                     {XSA_MULTI_WRITER, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_MULTI_WRITER, XSA_VANISHED_SIGNAL, SLOT},
                                     {XSA_MULTI_WRITER, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_MULTI_WRITER, XSA_BARRIER_MISMATCH, PAD},
                                     {XSA_MULTI_WRITER, XSA_LAPPING, ANY},
                                     {XSA_MULTI_WRITER, XSA_COUNT_MISMATCH, SLOT},
                                     {XSA_WRAP_RISK, XSA_REGRESSION, SLOT},
                                     {XSA_WRAP_RISK, XSA_EARLY_PASS, SLOT},
                                     {XSA_WRAP_RISK, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_WRAP_RISK, XSA_VANISHED_SIGNAL, SLOT},
                                     {XSA_WRAP_RISK, XSA_COUNT_MISMATCH, SLOT},
                                     {XSA_RESET_RACE, XSA_REGRESSION, SLOT},
                                     {XSA_RESET_RACE, XSA_EARLY_PASS, SLOT},
                                     {XSA_RESET_RACE, XSA_VANISHED_SIGNAL, SLOT},
                                     {XSA_RESET_RACE, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_RESET_RACE, XSA_COUNT_MISMATCH, SLOT},
                                     {XSA_RESET_RACE, XSA_EQUALITY_OVERSHOOT, SLOT},
                                     {XSA_RESET_RACE, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_RESET_RACE, XSA_LAPPING, ANY},
                                     {XSA_VANISHED_SIGNAL, XSA_COUNT_MISMATCH, SLOT},
                                     {XSA_VANISHED_SIGNAL, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_VANISHED_SIGNAL, XSA_REGRESSION, SLOT},
                                     {XSA_VANISHED_SIGNAL, XSA_STUCK_CHAIN, CULPRIT},
                                     {XSA_EQUALITY_OVERSHOOT, XSA_COUNT_MISMATCH, SLOT},
                                     {XSA_EQUALITY_OVERSHOOT, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_COUNT_MISMATCH, XSA_LOST_SUPPLIER, SLOT},
                                     {XSA_COUNT_MISMATCH, XSA_STUCK_CHAIN, SLOT | CULPRIT},
                                     {XSA_COUNT_MISMATCH, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_COUNT_MISMATCH, XSA_PARTIAL_PUBLISH, ANY},
                                     {XSA_COUNT_MISMATCH, XSA_LAPPING, ANY},
                                     {XSA_EARLY_PASS, XSA_REGRESSION, SLOT},
                                     {XSA_EARLY_PASS, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_EARLY_PASS, XSA_ORDER_SCOPE, SLOT},
                                     {XSA_EARLY_PASS, XSA_LAPPING, ANY},
                                     {XSA_LAPPING, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_LAPPING, XSA_REGRESSION, PAD},
                                     {XSA_PARTIAL_PUBLISH, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_ORDER_SCOPE, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_ORDER_SCOPE, XSA_RESET_RACE, SLOT},
                                     {XSA_BARRIER_CLASH, XSA_PARTIAL_PUBLISH, ANY},
                                     {XSA_BARRIER_CLASH, XSA_PAYLOAD_RACE, ANY},
                                     {XSA_BARRIER_CLASH, XSA_LOST_SUPPLIER, ANY},
                                     {XSA_LATE_RANK, XSA_BARRIER_MISMATCH, CULPRIT},
                                     {XSA_DEAD_PEER, XSA_BARRIER_MISMATCH, CULPRIT},
                                     {XSA_DEAD_PEER, XSA_LATE_RANK, CULPRIT},
                                     {XSA_DEAD_PEER, XSA_LOST_SUPPLIER, CULPRIT},
                                     {XSA_DEAD_PEER, XSA_STUCK_CHAIN, CULPRIT},
                                     {XSA_NON_RESIDENT, XSA_BARRIER_MISMATCH, CULPRIT},
                                     {XSA_NON_RESIDENT, XSA_COUNT_MISMATCH, CULPRIT},
                                     {XSA_NON_RESIDENT, XSA_POLL_PRESSURE, ANY},
                                     {XSA_NON_RESIDENT, XSA_LATE_RANK, CULPRIT},
                                     {XSA_NON_RESIDENT, XSA_WAIT_CYCLE, ANY},
                                     {XSA_NON_RESIDENT, XSA_LOST_SUPPLIER, CULPRIT},
                                     {XSA_LATE_RANK, XSA_DETECTION_LAG, ANY},
                                     {XSA_LATE_RANK, XSA_READINESS_COLLAPSE, ANY},
                                     {XSA_LATE_RANK, XSA_UNFAIRNESS, ANY},
                                     {XSA_LATE_RANK, XSA_HEAD_OF_LINE, CULPRIT},
                                     {XSA_UNFAIRNESS, XSA_DETECTION_LAG, PAD},
                                     {XSA_POLL_PRESSURE, XSA_DETECTION_LAG, ANY},
                                     {XSA_BARRIER_MISMATCH, XSA_LOST_SUPPLIER, PAD},
                                     {XSA_STUCK_CHAIN, XSA_LOST_SUPPLIER, SLOT | CULPRIT},
                                     {XSA_RESET_RACE, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_MULTI_WRITER, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_WRAP_RISK, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_VANISHED_SIGNAL, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_EQUALITY_OVERSHOOT, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_COUNT_MISMATCH, XSA_WAIT_CYCLE, SLOT},
                                     {XSA_BARRIER_MISMATCH, XSA_WAIT_CYCLE, PAD},
                                     {XSA_DEAD_PEER, XSA_WAIT_CYCLE, CULPRIT},
                                     {XSA_LATE_RANK, XSA_WAIT_CYCLE, CULPRIT},
                                     {XSA_LATE_RANK, XSA_LOST_SUPPLIER, CULPRIT},
                                     {XSA_LATE_RANK, XSA_COUNT_MISMATCH, CULPRIT},
                                     {XSA_HEAD_OF_LINE, XSA_READINESS_COLLAPSE, ANY},
                                     {XSA_HEAD_OF_LINE, XSA_UNFAIRNESS, PAD}};

static bool meets(const an *a, const xsa_finding *x, const xsa_finding *y, uint32_t common) {
    if (common & ANY)
        return true;
    bool slots = x->slot != XSR_NONE && y->slot != XSR_NONE;
    if ((common & SLOT) && slots &&
        (x->slot == y->slot || a->slots[y->slot].counter == x->slot || a->slots[x->slot].counter == y->slot))
        return true;
    if ((common & PAD) && slots && a->model->slots[x->slot].pad == a->model->slots[y->slot].pad)
        return true;
    if ((common & CULPRIT) && x->owes_rank != XSR_NONE && x->owes_rank == y->owes_rank)
        return true;
    return (common & VICTIM) && x->rank != XSR_NONE && x->rank == y->rank;
}

/* Who reads without waiting for the writer's signal has not heard either that the buffer which it fills next was
 * read: one wait is missing, not two. */
static bool is_the_missing_wait(const an_finding *x, const an_finding *y) {
    return x->unasked && x->f.detector == XSA_PAYLOAD_RACE && y->f.detector == XSA_LAPPING &&
           x->f.owes_rank == y->f.owes_rank && x->f.owes_block == y->f.owes_block && x->f.begin <= y->f.begin;
}

/* What is wrong at the slot that a signal went to by mistake. */
static bool is_where_it_went(const an *a, const an_finding *x, const an_finding *y) {
    uint32_t d = y->f.detector;
    if (!x->beside || x->f.detector != XSA_LOST_SUPPLIER || d == XSA_LOST_SUPPLIER)
        return false;
    return y->f.slot == x->beside - 1 || ((d == XSA_PAYLOAD_RACE || d == XSA_PARTIAL_PUBLISH || d == XSA_LAPPING) &&
                                          y->f.begin >= a->slots[x->f.slot].signal.time);
}

/* An effect is as bad as it is: a cause that is only a warning explains no error. A wait that stands still, or
 * lasted long, is explained by any error that stopped something. */
static bool explains(const an *a, const an_finding *x, const an_finding *y) {
    if (x == y || x->undone || y->undone || x->f.severity > y->f.severity || x->f.detector == y->f.detector)
        return false;
    if (y->f.detector == XSA_STALL)
        return x->f.severity == XSA_ERROR && x->f.detector != XSA_TRACE_HEALTH;
    if (is_the_missing_wait(x, y) || is_where_it_went(a, x, y))
        return true;
    if (is_the_missing_wait(y, x) || is_where_it_went(a, y, x))
        return false;
    for (uint32_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (relations[i].cause == x->f.detector && relations[i].effect == y->f.detector &&
            meets(a, &x->f, &y->f, relations[i].common))
            return true;
    return false;
}

static uint32_t root_of(const an *a, uint32_t i) {
    while (a->findings[i].cause != XSR_NONE)
        i = a->findings[i].cause;
    return i;
}

static void hand_over(an *a, an_finding *cause, const an_finding *effect) {
    const char *name = xsa_detector_name(effect->f.detector);
    if (!strstr(cause->f.explains, name))
        cause->f.explains = *cause->f.explains ? an_print(a, "%s, %s", cause->f.explains, name) : name;
    for (uint32_t i = 0; i < effect->f.evidence_count && i < 4; i++)
        (void)an_evidence(a, cause, effect->evidence[i].event, name);
}

/* Effects are grouped first by the nearest cause; quadratic in findings, which are few: beyond MOST the rest stays
 * listed. */
#define MOST 2048u
void an_merge(an *a) {
    uint32_t n = a->finding_count < MOST ? a->finding_count : MOST;
    for (uint32_t y = 0; y < n; y++) {
        uint32_t best = a->findings[y].cause;
        for (uint32_t x = 0; x < n && a->findings[y].cause == XSR_NONE; x++)
            if (explains(a, &a->findings[x], &a->findings[y]) &&
                (best == XSR_NONE ||
                 an_priority(a->findings[x].f.detector) < an_priority(a->findings[best].f.detector)))
                best = x;
        if (best != XSR_NONE && root_of(a, best) != y)
            a->findings[y].cause = best;
    }
    for (uint32_t y = 0; y < a->finding_count; y++)
        if (a->findings[y].cause == XSR_NONE && a->findings[y].named)
            a->findings[y].f.detector = a->findings[y].named;
    for (uint32_t y = 0; y < a->finding_count; y++)
        if (a->findings[y].cause != XSR_NONE)
            hand_over(a, &a->findings[root_of(a, y)], &a->findings[y]);
}
