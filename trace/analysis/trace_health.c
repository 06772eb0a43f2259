/* D27: what is missing in the trace. It runs first: what it says bounds what the others may say. */
#include "detectors.h"

/* Against what most of them were lost by. */
static const char *cure_of_loss(const an *a) {
    static const char more[] =
        "larger rings (XS_RING_RECORDS), the device placement, or a filter (XS_FILTER_EPOCHS) keep more";
    static const char *const cures[XS_LOSS_COUNT] = {
        [XS_LOSS_NO_SPACE] = "free space where the capture is written, put it elsewhere (xs record -o), or bound it "
                             "(--max-bytes), which keeps the newest",
        [XS_LOSS_BOUNDED] = "a larger bound (--max-bytes, --max-seconds) keeps more of the past",
        [XS_LOSS_RECORDER] = "let the recorder live as long as the program: what it did not take is gone",
        [XS_LOSS_DEVICE] = "the mapped placement (XS_PLACEMENT=mapped) keeps records when a context is lost"};
    uint32_t most = 0;
    for (uint32_t i = 1; i < XS_LOSS_COUNT; i++)
        most = a->lost_by[i] > a->lost_by[most] ? i : most;
    return cures[most] ? cures[most] : more;
}

static int say_lost(an *a) {
    if (!a->lost_records)
        return 0;
    xsa_finding f = an_like(XSA_TRACE_HEALTH, XSA_WARNING, XSA_HIGH);
    uint64_t emitted = 0;
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        emitted += a->model->rings[i].emitted;
    f.lost = a->lost_records;
    f.begin = a->model->begin;
    f.end = a->last_time;
    f.cure = cure_of_loss(a);
    return an_find(a, &f, an_key(XSA_TRACE_HEALTH, 1, 0, 0),
                   "%llu of %llu records are lost: verdicts that they could change are marked",
                   (unsigned long long)a->lost_records, (unsigned long long)emitted)
               ? 0
               : XS_E_MEMORY;
}

static int say_unrecorded(an *a) {
    uint64_t no_ring = 0, foreign = 0;
    for (uint32_t i = 0; i < a->model->process_count; i++) {
        no_ring += a->model->processes[i].no_ring;
        foreign += a->model->processes[i].foreign;
    }
    xsa_finding f = an_like(XSA_TRACE_HEALTH, XSA_WARNING, XSA_HIGH);
    f.lost = no_ring + foreign;
    f.begin = a->model->begin;
    f.end = a->last_time;
    f.cure = no_ring ? "more rings a rank (XS_RINGS)" : "notes are called on the writer's lane alone";
    if (!f.lost)
        return 0;
    const char *rings =
        no_ring ? an_print(a, "%llu writer%s found no ring", (unsigned long long)no_ring, no_ring == 1 ? "" : "s") : "";
    const char *lanes = foreign ? an_print(a, "%llu record call%s came from another lane", (unsigned long long)foreign,
                                           foreign == 1 ? "" : "s")
                                : "";
    return an_find(a, &f, an_key(XSA_TRACE_HEALTH, 2, 0, 0), "%s%s%s: what they did is not known", rings,
                   *rings && *lanes ? " and " : "", lanes)
               ? 0
               : XS_E_MEMORY;
}

static int say_damaged(an *a) {
    const xsr_model *m = a->model;
    xsa_finding f = an_like(XSA_TRACE_HEALTH, XSA_WARNING, XSA_HIGH);
    f.lost = m->damaged_frames + m->missing_frames;
    f.begin = m->begin;
    f.end = a->last_time;
    f.cure = "record again; a capture cut off by a kill is read up to its last whole frame";
    if (!f.lost)
        return 0;
    return an_find(a, &f, an_key(XSA_TRACE_HEALTH, 3, 0, 0), "the capture has %llu damaged and %llu missing frames",
                   (unsigned long long)m->damaged_frames, (unsigned long long)m->missing_frames)
               ? 0
               : XS_E_MEMORY;
}

uint32_t an_clock_fault(const an *a, uint32_t from) {
    for (uint32_t i = from; i < a->model->note_count; i++)
        if (strncmp(a->model->notes[i], "clock fault", 11) == 0)
            return i;
    return XSR_NONE;
}

static int say_clock(an *a) {
    for (uint32_t i = 0; (i = an_clock_fault(a, i)) != XSR_NONE; i++) {
        xsa_finding f = an_like(XSA_TRACE_HEALTH, XSA_WARNING, XSA_HIGH);
        f.begin = a->model->begin;
        f.end = a->last_time;
        f.cure = "times of the two do not compare; order and counts hold, but for slots whose values come again";
        if (!an_find(a, &f, an_key(XSA_TRACE_HEALTH, 4, i, 0), "%s", a->model->notes[i]))
            return XS_E_MEMORY;
    }
    return 0;
}

static int finish(an *a, void *state) {
    (void)state;
    TRY(say_lost(a));
    TRY(say_unrecorded(a));
    TRY(say_damaged(a));
    return say_clock(a);
}

const an_ops an_trace_health = {
    .id = XSA_TRACE_HEALTH,
    .cannot = "what a process had in registers when it was killed: that is not counted; code that notes nothing",
    .finish = finish};
