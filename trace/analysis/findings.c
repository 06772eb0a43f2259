/* Findings while they are made, and the list in the order in which to read it. */
#include "analysis.h"

#include <stdarg.h>
#include <stdio.h>

#define EVIDENCE_MOST 16u /* of one finding: it is a proof, not a log */

static uint64_t mixed(uint64_t h, uint64_t more) {
    h = (h ^ more) * 0xbf58476d1ce4e5b9ull;
    return h ^ h >> 29;
}

uint64_t an_key(uint32_t detector, uint64_t x, uint64_t y, uint64_t z) {
    return mixed(mixed(mixed(mixed(1, detector), x), y), z);
}

xsa_finding an_like(uint32_t detector, uint32_t severity, uint32_t confidence) {
    return (xsa_finding){.detector = detector,
                         .severity = severity,
                         .confidence = confidence,
                         .cure = "",
                         .explains = "",
                         .slot = XSR_NONE,
                         .rank = XSR_NONE,
                         .block = XSR_NONE,
                         .owes_rank = XSR_NONE,
                         .owes_block = XSR_NONE,
                         .owes_writer = XSR_NONE,
                         .begin = NO_TIME,
                         .end = NO_TIME,
                         .count = 1};
}

void an_culprit(const an *a, xsa_finding *f, uint32_t rank, uint32_t writer) {
    if (rank == XSR_NONE && writer != XSR_NONE)
        rank = a->model->writers[writer].rank;
    f->owes_rank = an_number(a, rank);
    f->owes_block = an_block(a, writer);
    f->owes_writer = writer;
}

void an_victim(const an *a, xsa_finding *f, uint32_t rank, uint32_t writer) {
    if (rank == XSR_NONE && writer != XSR_NONE)
        rank = a->model->writers[writer].rank;
    f->rank = an_number(a, rank);
    f->block = an_block(a, writer);
}

uint32_t an_confidence(uint32_t origin, uint64_t lost) {
    return lost ? XSA_LOW : origin == XS_PLAN_DECLARED ? XSA_HIGH : XSA_MEDIUM;
}

bool an_found(const an *a, uint32_t detector, uint64_t key) {
    (void)detector;
    return rd_map_get(&a->finding_of, key) != XSR_NONE;
}

/* What has no room widens the last one to all that it may need. */
static void add_window(an *a, an_window w) {
    w.from_ring = w.to_ring = XSR_NONE;
    if (w.from > w.to) {
        int64_t from = w.to;
        w.to = w.from;
        w.from = from;
    }
    a->windows_told++;
    if (a->window_count < AN_WINDOWS) {
        a->windows[a->window_count++] = w;
        return;
    }
    an_window *last = &a->windows[AN_WINDOWS - 1];
    *last = (an_window){.writer = XSR_NONE, .rank = XSR_NONE, .from_ring = XSR_NONE, .to_ring = XSR_NONE,
                        .from = w.from < last->from ? w.from : last->from, .to = w.to > last->to ? w.to : last->to,
                        .order = w.order || last->order};
}

void an_whole(an *a, uint32_t writer, int64_t from, int64_t to) {
    add_window(a, (an_window){.writer = writer, .rank = XSR_NONE, .from = from, .to = to});
}

void an_whole_writes(an *a, uint32_t slot, int64_t to) {
    if (a->model->clock_count > 1)
        add_window(a, (an_window){.writer = XSR_NONE,
                                  .rank = XSR_NONE,
                                  .from = a->slots[slot].certain[0],
                                  .to = to,
                                  .kinds = AN_ORDERS,
                                  .comes_again = slot + 1});
}

void an_whole_own(an *a, uint32_t writer, int64_t from, int64_t to) {
    add_window(a, (an_window){.writer = writer, .rank = XSR_NONE, .from = from, .to = to, .own_ends = true});
}

void an_whole_records(an *a, uint32_t writer, uint64_t first, uint64_t last) {
    add_window(
        a, (an_window){
               .writer = writer, .rank = XSR_NONE, .from = INT64_MIN, .to = INT64_MAX, .first = first, .last = last});
}

void an_whole_long(an *a, uint32_t writer, int64_t from, int64_t to, int64_t least) {
    add_window(a, (an_window){.writer = writer, .rank = XSR_NONE, .from = from, .to = to, .least = least});
}

void an_whole_rank(an *a, uint32_t rank, int64_t from, int64_t to) {
    add_window(a, (an_window){.writer = XSR_NONE, .rank = rank, .from = from, .to = to});
}

void an_whole_order(an *a, uint32_t other, int64_t from, uint32_t agent, int64_t to) {
    bool known = !an_hb_may_know(a, agent, from) && !an_hb_may_know(a, other, to);
    add_window(a, (an_window){.writer = XSR_NONE,
                              .rank = XSR_NONE,
                              .from = from,
                              .to = to,
                              .order = true,
                              .known = known,
                              .kinds = AN_ORDERS});
}

static an_window *told_last(an *a) { return a->window_count ? &a->windows[a->window_count - 1] : NULL; }

/* Where the windows had no room, the last one is several. */
void an_only_by(an *a, uint64_t kinds) {
    if (told_last(a) && a->windows_told == a->window_count)
        told_last(a)->kinds = kinds;
}

void an_only_beyond(an *a, uint64_t records) {
    if (told_last(a) && a->windows_told == a->window_count)
        told_last(a)->most = records;
}

static void bound(const an *a, uint32_t writer, uint64_t record, uint32_t *ring, uint64_t *at) {
    *ring = writer == XSR_NONE ? XSR_NONE : a->model->writers[writer].ring;
    *at = record;
}

void an_only_between(an *a, uint32_t from_writer, uint64_t from_record, uint32_t to_writer, uint64_t to_record) {
    an_window *w = told_last(a);
    if (!w || a->windows_told != a->window_count)
        return;
    bound(a, from_writer, from_record, &w->from_ring, &w->from_record);
    bound(a, to_writer, to_record, &w->to_ring, &w->to_record);
}

/* Where the agent could have heard of it: in that time, by anybody; and order is not certain where an event went on
 * before what it waited for, nor where counts of packed arrivals are put together from what is left: then any loss
 * counts. */
static uint64_t lost_of_order(const an *a, const an_window *w) {
    an_window any = *w;
    if (w->known && !a->falls)
        return an_lost_beside(a, w);
    if (a->arrivals || an_hb_forced(a, w->from, w->to)) {
        any.from = INT64_MIN, any.to = INT64_MAX;
        any.from_ring = any.to_ring = XSR_NONE;
    }
    return an_lost_in(a, &any);
}

static uint64_t beyond(const an *a, const an_window *w, uint64_t lost) {
    return lost <= w->most && an_loss_is_counted(a) ? 0 : lost;
}

/* Its values come again: which signal a wait read is told by order, and for what no wait orders by stamps. */
static bool comes_again(const an *a, uint32_t slot) { return a->slots[slot].resets || a->slots[slot].comes_again; }

static bool matters(const an *a, const an_window *w) {
    return !w->comes_again || (comes_again(a, w->comes_again - 1) && !a->slots[w->comes_again - 1].arrivals);
}

static uint64_t lost_in_windows(const an *a, const an_window *w, uint32_t count) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!matters(a, &w[i]))
            continue;
        else if (w[i].order)
            lost += lost_of_order(a, &w[i]);
        else if (w[i].last)
            lost += an_lost_records(a, w[i].writer, w[i].first, w[i].last, w[i].kinds);
        else
            lost += beyond(a, &w[i], an_lost_in(a, &w[i]));
    return lost;
}

static void take_windows(an *a, an_finding *f) {
    memcpy(f->windows, a->windows, sizeof f->windows);
    f->window_count = a->window_count;
    an_windows_clear(a);
}

static void add_again(an_finding *f, const xsa_finding *like) {
    f->f.count++;
    f->f.begin = like->begin < f->f.begin ? like->begin : f->f.begin;
    if (f->f.end != NO_TIME)
        f->f.end = like->end == NO_TIME || like->end > f->f.end ? like->end : f->f.end;
    f->f.severity = like->severity < f->f.severity ? like->severity : f->f.severity;
}

an_finding *an_find(an *a, const xsa_finding *like, uint64_t key, const char *format, ...) {
    if (!key)
        key = an_key(like->detector, like->slot, like->owes_rank, like->owes_block);
    uint32_t at = rd_map_get(&a->finding_of, key);
    an_finding *f = at == XSR_NONE ? NULL : &a->findings[at];
    if (f && !lost_in_windows(a, f->windows, f->window_count)) {
        add_again(f, like);
        an_windows_clear(a);
        return f;
    }
    if (!f) {
        at = a->finding_count;
        if (RD_ROOM(a->findings, a->finding_room, at + 1) < 0 || rd_map_put(&a->finding_of, key, at) < 0)
            return NULL;
        f = &a->findings[a->finding_count++];
        *f = (an_finding){.cause = XSR_NONE};
    }
    /* New, or in place of one that lost records could undo. */
    f->f = *like;
    f->f.evidence = f->evidence;
    f->f.evidence_count = 0;
    f->key = key;
    f->at = like->begin;
    take_windows(a, f);
    an_where_now(a, f);
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    f->f.text = an_print(a, "%s", line);
    return f;
}

void an_withdraw(an *a, uint64_t key) {
    uint32_t at = rd_map_get(&a->finding_of, key);
    if (at == XSR_NONE)
        return;
    a->findings[at].withdrawn = true;
    (void)rd_map_put(&a->finding_of, key, XSR_NONE); /* there is room: the key is known */
}

int an_accuse(an *a, uint64_t key, uint32_t rank, uint32_t writer, const char *text) {
    uint32_t at = rd_map_get(&a->finding_of, key);
    if (at == XSR_NONE)
        return 0;
    an_culprit(a, &a->findings[at].f, rank, writer);
    an_where_now(a, &a->findings[at]);
    a->findings[at].f.text = text;
    return 0;
}

int an_evidence(an *a, an_finding *f, uint64_t event, const char *part) {
    (void)a;
    if (!f)
        return XS_E_MEMORY;
    if (event == XSR_NO_ID || event == 0 || f->f.evidence_count == EVIDENCE_MOST)
        return 0;
    for (uint32_t i = 0; i < f->f.evidence_count; i++)
        if (f->evidence[i].event == event)
            return 0;
    if (RD_ROOM(f->evidence, f->evidence_room, f->f.evidence_count + 1) < 0)
        return XS_E_MEMORY;
    f->evidence[f->f.evidence_count++] = (xsa_evidence){event, part};
    f->f.evidence = f->evidence;
    return 0;
}

/* ---- order ---- */

static int compare(const void *left, const void *right) {
    const an_finding *x = left, *y = right;
    if (x->f.severity != y->f.severity)
        return x->f.severity < y->f.severity ? -1 : 1;
    int px = an_priority(x->f.detector), py = an_priority(y->f.detector);
    if (px != py)
        return px < py ? -1 : 1;
    if (x->f.confidence != y->f.confidence)
        return x->f.confidence < y->f.confidence ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t text_hash(uint64_t h, const char *text) {
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
    return h;
}

/* From what it says of whom, not from when: runs that differ in time alone give the same id. */
static const char *id_of(an *a, const xsa_finding *f) {
    uint64_t h = text_hash(0xcbf29ce484222325ull, xsa_detector_name(f->detector));
    h = text_hash(h, f->slot == XSR_NONE ? "" : a->model->slots[f->slot].label);
    const uint32_t who[] = {f->owes_rank, f->owes_block, f->rank};
    for (uint32_t i = 0; i < 3; i++)
        h = mixed(h, who[i]);
    return an_print(a, "%s-%08x", xsa_detector_name(f->detector), (unsigned)(h ^ h >> 32));
}

/* Two findings of one id are told apart by their place in the list. */
static void name_all(an *a) {
    for (uint32_t i = 0; i < a->result.finding_count; i++) {
        a->listed[i].id = id_of(a, &a->listed[i]);
        uint32_t same = 0;
        for (uint32_t k = 0; k < i && i < 4096; k++)
            same += strncmp(a->listed[k].id, a->listed[i].id, strlen(a->listed[i].id)) == 0;
        if (same)
            a->listed[i].id = an_print(a, "%s.%u", a->listed[i].id, same + 1);
    }
}

static bool any_comes_again(const an *a) {
    for (uint32_t i = 0; i < a->slot_count; i++)
        if (comes_again(a, i))
            return true;
    return false;
}

/* Where clocks are farther apart than they say, waits on such slots may be paired with other signals than they read. */
static bool rests_on_pairing(const an *a, const xsa_finding *f) {
    switch (f->detector) {
    case XSA_RESET_RACE:
    case XSA_EARLY_PASS:
    case XSA_REGRESSION: return f->slot != XSR_NONE && comes_again(a, f->slot);
    case XSA_PAYLOAD_RACE:
    case XSA_PARTIAL_PUBLISH:
    case XSA_ORDER_SCOPE:
    case XSA_LAPPING: return any_comes_again(a);
    default: return false;
    }
}

static void undo_by_clocks(an *a) {
    for (uint32_t i = 0; i < a->finding_count && an_clock_fault(a, 0) != XSR_NONE; i++) {
        an_finding *f = &a->findings[i];
        if (f->undone || !rests_on_pairing(a, &f->f))
            continue;
        f->undone = true;
        an_unknown(a, f->f.detector, 0,
                   "clocks are farther apart than they say, and which signal was read rests on them: %s", f->f.text);
    }
}

/* What a reset race may be the cause of, where whether there is one is not known. */
static void undo_effects(an *a) {
    for (uint32_t i = 0; i < a->finding_count; i++) {
        const an_finding *race = &a->findings[i];
        for (uint32_t k = 0; race->undone && race->f.detector == XSA_RESET_RACE && k < a->finding_count; k++) {
            an_finding *f = &a->findings[k];
            if (f->undone || f->f.slot != race->f.slot ||
                (f->f.detector != XSA_REGRESSION && f->f.detector != XSA_EARLY_PASS))
                continue;
            f->undone = true;
            an_unknown(a, f->f.detector, a->lost_records,
                       "a reset race could explain this, and lost records could undo that: %s", f->f.text);
        }
    }
}

/* Order is told by counts, and stamps tell in which order to look at them: here somebody had been taken to go on
 * without what came before. */
static bool rests_on_late(const an *a, const an_finding *f) {
    if (f->by_stamps && an_hb_late(a, INT64_MIN, INT64_MAX))
        return true;
    for (uint32_t i = 0; i < f->window_count; i++)
        if (f->windows[i].order && an_hb_late(a, f->windows[i].from, f->windows[i].to))
            return true;
    return false;
}

static void undo_late(an *a, an_finding *f) {
    f->undone = true;
    an_unknown(a, f->f.detector, 0,
               "an arrival at a counter came later than clocks allow, or than there is room to wait for it, and this "
               "rests on what it orders: %s",
               f->f.text);
}

static void undo(an *a) {
    for (uint32_t i = 0; i < a->finding_count; i++) {
        an_finding *f = &a->findings[i];
        uint64_t lost = f->withdrawn ? 0 : lost_in_windows(a, f->windows, f->window_count);
        f->undone = f->withdrawn || lost != 0;
        if (f->withdrawn)
            continue;
        if (f->undone)
            an_unknown(a, f->f.detector, lost, "%llu lost records could undo this: %s", (unsigned long long)lost,
                       f->f.text);
        else if (rests_on_late(a, f))
            undo_late(a, f);
    }
    undo_effects(a);
    undo_by_clocks(a);
}

/* On CPU threads the machine's scheduler decides when a writer runs: what is concluded from times may be its doing. */
static bool is_of_threads(const an *a, const xsa_finding *f) {
    const uint32_t who[2] = {f->owes_rank, f->rank};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t rank = who[i] == XSR_NONE ? XSR_NONE : an_rank_of(a, who[i]);
        if (rank != XSR_NONE && a->model->ranks[rank].device < 0 &&
            !a->model->processes[a->model->ranks[rank].process].virtual_time)
            return true;
    }
    return false;
}

static bool is_of_time(const xsa_finding *f) {
    static const uint8_t of_time[] = {XSA_STALL,         XSA_HEAD_OF_LINE, XSA_UNFAIRNESS,
                                      XSA_DETECTION_LAG, XSA_LATE_RANK,    XSA_READINESS_COLLAPSE};
    return f->severity != XSA_ERROR && memchr(of_time, (int)f->detector, sizeof of_time) != NULL;
}

static void doubt(an *a, xsa_finding *f) {
    if (!is_of_time(f) || !is_of_threads(a, f))
        return;
    f->confidence = XSA_LOW;
    f->text = an_print(a, "%s (low confidence: on CPU threads the machine's scheduler has a part in times)", f->text);
}

/* Where the start of a wait is lost, its begin is a guess, which may lie before the run. What is judged by it is
 * judged by now. */
static void begin_with_run(const an *a, xsa_finding *f) {
    bool before = f->begin != NO_TIME && f->begin < a->first_time && (f->end == NO_TIME || f->end >= a->first_time);
    if (before && f->detector != XSA_TRACE_HEALTH) /* of the whole capture */
        f->begin = a->first_time;
}

int an_findings_finish(an *a) {
    undo(a);
    an_merge(a);
    if (a->finding_count)
        qsort(a->findings, a->finding_count, sizeof *a->findings, compare);
    a->listed = calloc(a->finding_count + 1u, sizeof *a->listed);
    if (!a->listed)
        return XS_E_MEMORY;
    xsa_result *r = &a->result;
    for (uint32_t i = 0; i < a->finding_count; i++) {
        an_finding *f = &a->findings[i];
        if (f->cause != XSR_NONE || f->undone)
            continue;
        if (f->f.count > 1)
            f->f.text = an_print(a, "%s (%llu times)", f->f.text, (unsigned long long)f->f.count);
        const char *place = an_where_say(a, f);
        if (*place)
            f->f.text = an_print(a, "%s%s", f->f.text, place);
        doubt(a, &f->f);
        begin_with_run(a, &f->f);
        a->listed[r->finding_count++] = f->f;
        *(f->f.severity == XSA_ERROR ? &r->errors : f->f.severity == XSA_WARNING ? &r->warnings : &r->notes) += 1;
    }
    name_all(a);
    r->findings = a->listed;
    an_verdicts_finish(a);
    return 0;
}

void an_findings_free(an *a) {
    for (uint32_t i = 0; i < a->finding_count; i++)
        free(a->findings[i].evidence);
    free(a->findings);
    free(a->listed);
    rd_map_free(&a->finding_of);
}
