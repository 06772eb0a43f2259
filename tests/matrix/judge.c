/* One run of one fault, read and analysed: is what comes first what was planted? */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What findings of two analyses of one run are compared by. */
typedef struct said {
    uint32_t pad; /* not the slot: of many waits for one culprit the one that began first speaks for all */
    uint32_t detector, rank;
    char label[64], explains[128]; /* names of effects that are listed under it */
} said;
enum { SAID = 64 };

/* How the waits of a run ended: what a miss is told with. */
typedef struct tally {
    xsr_sink sink;
    uint32_t waits, gave_up, open;
} tally;

typedef struct analysis {
    tally tally;
    xsr_reader *reader;
    xsr_sink *sink;
    const xsa_result *result;
    const xsr_model *model;
} analysis;

static int count_wait(xsr_sink *sink, const xsr_wait *w) {
    tally *t = (tally *)sink;
    t->waits++;
    t->gave_up += !w->open && w->result != XS_RESULT_OK;
    t->open += w->open;
    return 0;
}

static int analyse(const char *path, analysis *a) {
    const char *text = NULL;
    a->tally.sink = (xsr_sink){.name = "tally", .wait = count_wait};
    int rc = xsr_open(&path, 1, NULL, &a->reader, &text);
    if (rc >= 0)
        rc = xsa_open(NULL, &a->sink);
    if (rc >= 0)
        rc = xsr_run(a->reader, (xsr_sink *[]){a->sink, &a->tally.sink}, 2);
    if (rc < 0)
        return rc;
    a->result = xsa_result_of(a->sink);
    a->model = xsr_model_of(a->reader);
    return a->result ? 0 : XS_E_FORMAT;
}

static void end(analysis *a) {
    xsa_close(a->sink);
    xsr_close(a->reader);
}

static bool is(uint32_t asked, uint32_t got) { return asked == FAULT_ANY || asked == got; }

static bool name_right(const fault *f, const xsa_finding *x) {
    return f->finding && strcmp(xsa_detector_name(x->detector), f->finding) == 0;
}
static bool slot_right(const fault *f, const xsr_model *m, const xsa_finding *x) {
    if (!f->slot.pad)
        return true;
    if (x->slot == XSR_NONE)
        return false;
    const xsr_slot *s = &m->slots[x->slot];
    return strcmp(m->pads[s->pad].name, f->slot.pad) == 0 && is(f->slot.owner, s->owner) && is(f->slot.row, s->row) &&
           is(f->slot.column, s->column);
}
static bool culprit_right(const fault *f, const xsa_finding *x) { return is(f->rank, x->owes_rank) && is(f->block, x->owes_block); }

static void write_block(char *to, size_t size, const char *before, uint32_t rank, uint32_t block) {
    if (rank == XSR_NONE)
        snprintf(to, size, "%snobody", before);
    else if (block == XSR_NONE)
        snprintf(to, size, "%srank %u", before, rank);
    else
        snprintf(to, size, "%srank %u block %u", before, rank, block);
}

static void in_words(const analysis *a, const xsa_finding *x, char *got, size_t size) {
    char owes[64], victim[64];
    write_block(owes, sizeof owes, "by ", x->owes_rank, x->owes_block);
    write_block(victim, sizeof victim, "at ", x->rank, x->block);
    snprintf(got, size, "%s (%s) %s, %s, %s: %s", xsa_detector_name(x->detector), xsa_severity_name(x->severity),
             x->slot == XSR_NONE ? "no slot" : a->model->slots[x->slot].label, owes, victim, x->text);
}

static said said_of(const xsr_model *m, const xsa_finding *x) {
    said s = {.pad = XSR_NONE, .detector = x->detector, .rank = x->owes_rank, .label = "no slot"};
    snprintf(s.explains, sizeof s.explains, "%s", x->explains);
    if (x->slot == XSR_NONE)
        return s;
    const xsr_slot *slot = &m->slots[x->slot];
    s.pad = slot->pad;
    snprintf(s.label, sizeof s.label, "%s", slot->label);
    return s;
}

static uint32_t collect(const analysis *a, said *to) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->result->finding_count && n < SAID; i++)
        to[n++] = said_of(a->model, &a->result->findings[i]);
    return n;
}
static bool among(const said *list, uint32_t n, const said *x, bool by_name) {
    for (uint32_t i = 0; i < n; i++)
        if (by_name && strstr(list[i].explains, xsa_detector_name(x->detector)))
            return true;
        else if (list[i].detector == x->detector && (by_name || (list[i].pad == x->pad && list[i].rank == x->rank)))
            return true;
    return false;
}
/* A verdict of a that no time bears on and that b has not: told in words. */
static bool order_differs(const said *a, uint32_t a_count, const said *b, uint32_t b_count, const char *when, matrix_verdict *v) {
    for (uint32_t i = 0; i < a_count; i++)
        if (!matrix_is_timed(a[i].detector) && !among(b, b_count, &a[i], false)) {
            snprintf(v->got, sizeof v->got, "only with %s clocks: %s %s, by rank %d", when, xsa_detector_name(a[i].detector),
                     a[i].label, (int)a[i].rank);
            return true;
        }
    return false;
}

/* Whatever is lost or shifted, the pieces of the critical path lie end to end, and their sums are its length. */
static bool path_is_whole(const xsa_blame *b) {
    int64_t at = b->begin, sum = 0;
    for (uint32_t i = 0; i < b->span_count; i++) {
        if (b->spans[i].begin != at || b->spans[i].end <= at)
            return false;
        at = b->spans[i].end;
    }
    for (uint32_t p = 0; p < XSA_PART_COUNT; p++)
        sum += b->ns[p];
    return at == b->end && sum == b->end - b->begin;
}

/* whole: what the capture said before it was filtered; NULL: it was not. Clean runs may have no error; those of a fault none
 * that the whole capture does not have. */
static void weigh(const fault *f, bool clean, const analysis *a, const said *whole, uint32_t whole_count, matrix_verdict *v) {
    const xsa_result *r = a->result;
    for (uint32_t i = 0; i < r->finding_count; i++) {
        const xsa_finding *x = &r->findings[i];
        said key = said_of(a->model, x);
        bool fault_error = clean || (whole && !among(whole, whole_count, &key, true));
        if (i == 0) {
            v->first = name_right(f, x);
            v->slot = slot_right(f, a->model, x);
            v->culprit = culprit_right(f, x);
        }
        if ((i == 0 && v->got[0] == 0) || (x->severity == XSA_ERROR && fault_error && v->errors == 0))
            in_words(a, x, v->got, sizeof v->got);
        v->listed |= name_right(f, x);
        v->named |= name_right(f, x) && culprit_right(f, x);
        v->errors += x->severity == XSA_ERROR && fault_error;
    }
    v->unknown = r->unknown;
    if (!path_is_whole(r->blame)) {
        snprintf(v->got, sizeof v->got, "a critical path with holes");
        v->errors++;
        v->first = false;
    }
    if (r->finding_count == 0)
        snprintf(v->got, sizeof v->got, "nothing found");
    v->ran = true;
}

/* Before what was found. */
static void write_end(matrix_verdict *v, const tally *t, int error) {
    char got[sizeof v->got];
    snprintf(got, sizeof got, "[%s; %u waits, %u gave up, %u open] %.*s", error < 0 ? xs_errname(error) : "ended", t->waits, t->gave_up, t->open, 320, v->got);
    memcpy(v->got, got, sizeof v->got);
}

/* What a capture said before anything was lost or shifted. */
typedef struct before {
    said list[SAID];
    uint32_t count;
    const matrix_options *of; /* the setting that it was read for; NULL: none yet */
} before;

static bool filters(const matrix_options *o) { return o->drop > 0 || o->shift_ns; }

/* Settings of one shift have it in common. */
static int read_whole(const matrix_options *o, const char *path, before *whole) {
    if (whole->of && whole->of->shift_ns == o->shift_ns)
        return 0;
    analysis a = {0};
    int rc = analyse(path, &a);
    whole->count = rc < 0 ? 0 : collect(&a, whole->list);
    whole->of = rc < 0 ? NULL : o;
    end(&a);
    return rc;
}

static int judge_capture(const fault *f, const matrix_options *o, uint64_t seed, bool twin, int error, const char *path, before *whole, matrix_verdict *v) {
    said now[SAID];
    analysis a = {0};
    int rc = 0;
    if (o->shift_ns)
        rc = matrix_devices(path, o->known_ns ? o->known_ns : o->shift_ns);
    if (rc >= 0 && filters(o))
        rc = read_whole(o, path, whole);
    if (rc >= 0 && filters(o))
        rc = matrix_filter(path, o, seed);
    if (rc >= 0)
        rc = analyse(path, &a);
    if (rc >= 0) {
        uint32_t count = collect(&a, now);
        weigh(f, twin || !f->finding, &a, filters(o) ? whole->list : NULL, whole->count, v);
        v->moved = o->shift_ns && o->drop <= 0 && !matrix_is_beyond(o) && (order_differs(whole->list, whole->count, now, count, "right", v) ||
                                                   order_differs(now, count, whole->list, whole->count, "shifted", v));
        write_end(v, &a.tally, error);
    }
    end(&a);
    return rc;
}

static void has_no_verdict(matrix_verdict *v, int rc) {
    snprintf(v->got, sizeof v->got, "no verdict: %s: %s", xs_strerror(rc), xs_error_detail());
}

/* Each setting gets the capture as the run left it. The worst of what came of them. */
static int judge_settings(const fault *f, const matrix_settings *settings, uint64_t seed, bool twin, int error, const char *path, matrix_verdict *verdicts) {
    before whole = {.of = NULL};
    uint64_t size = 0;
    char *bytes = settings->count > 1 ? matrix_load(path, &size) : NULL;
    int worst = 0;
    for (uint32_t i = 0; i < settings->count; i++) {
        int rc = settings->count > 1 && !bytes ? XS_E_SYSTEM : i ? matrix_store(path, bytes, size) : 0;
        if (rc >= 0)
            rc = judge_capture(f, &settings->of[i], seed, twin, error, path, &whole, &verdicts[i]);
        if (rc < 0)
            has_no_verdict(&verdicts[i], rc), worst = rc;
    }
    free(bytes);
    return worst;
}

/* The launch is refused, so that nothing can hang: as good as a finding, and earlier. */
static matrix_verdict refusal(const fault *f, int rc) {
    matrix_verdict v = {.ran = true};
    v.first = v.slot = v.culprit = v.named = v.listed = rc == f->cuda.refused;
    snprintf(v.got, sizeof v.got, "launch: %s", rc < 0 ? xs_error_detail() : "not refused");
    return v;
}

static fault_options options_of(const fault *f, const matrix_options *o, uint64_t seed, bool twin, const char *capture) {
    fault_options run = {.backend = o->backend, .scheduler = o->scheduler, .capture = capture, .seed = seed, .twin = twin, .slower = o->slower,
                         .bound_ns = twin ? o->twin_bound_ns : o->bound_ns};
    bool cuda = o->judge == FAULT_CUDA;
    run.wait_ns = cuda ? 20000000000u : 0;
    if (f->many_pollers && o->many_pollers && seed - o->seed < 5)
        run.pollers = f->many_pollers < o->many_pollers ? f->many_pollers : o->many_pollers;
    if (seed == o->seed && !twin)
        run.late_ns = f->long_late_ns;
    return run;
}

static void all_the_same(matrix_verdict *verdicts, uint32_t count, const matrix_verdict *v) {
    for (uint32_t i = 0; i < count; i++)
        verdicts[i] = *v;
}

void matrix_judge(const fault *f, const matrix_settings *settings, uint64_t seed, bool twin, const char *capture, matrix_verdict *verdicts) {
    const matrix_options *o = &settings->of[0];
    matrix_verdict v = {0};
    char path[300];
    snprintf(path, sizeof path, "%s.xs", capture);
    fault_options run = options_of(f, o, seed, twin, capture);
    fault_result result;
    int rc = fault_execute(f, &run, &result);
    if (o->judge == FAULT_CUDA && f->cuda.refused && !twin) {
        v = refusal(f, rc);
    } else if (rc == XS_E_UNSUPPORTED && o->judge == FAULT_CUDA) {
        v.impossible = true;
        snprintf(v.got, sizeof v.got, "%s", *xs_error_detail() ? xs_error_detail() : xs_strerror(rc));
    } else if (rc < 0) {
        has_no_verdict(&v, rc);
    }
    bool judged = rc >= 0 && !v.ran && !v.impossible;
    all_the_same(verdicts, settings->count, &v);
    if (judged)
        rc = judge_settings(f, settings, seed, twin, result.error, path, verdicts);
    for (uint32_t i = 0; i < settings->count; i++)
        verdicts[i].spoilt = o->judge == FAULT_CUDA && (rc == XS_E_SYSTEM || result.error == XS_E_SYSTEM || result.error == XS_E_TIMEOUT);
    if (!o->keep)
        unlink(path);
}
