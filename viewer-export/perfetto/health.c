/* Row `findings` with `trace health` below it, and what a file says of itself: id, attributes, completeness. */
#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "draw.h"

/* The viewer makes a colour of this text: blue, olive, red. */
#define COLOUR_NOTE "finding note!"
#define COLOUR_WARNING "finding warning!"
#define COLOUR_ERROR "finding error!"

/* A run that ended in waits must not look well, whoever judged it. Worded as what was seen: a killed run has open
 * waits too. */
static int draw_hang(drawing *d, uint32_t row, const xsr_wait *root) {
    char text[1024];
    const xsr_slot *slot = &d->model->slots[root->slot];
    uint32_t owes = wait_owes(d, root);
    int n = snprintf(text, sizeof text, "%u wait%s open at the end: rank %u waits for %.700s (has %llu, needs %llu)",
                     d->open_count, d->open_count == 1 ? "" : "s", d->ranks[root->rank].number, slot->name,
                     (unsigned long long)root->observed, (unsigned long long)root->need);
    if (owes != XSR_NONE && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ", rank %u owes it", owes);
    slice s = {
        .track = row, .begin = root->begin, .end = INT64_MIN, .text = text, .category = d->category[CATEGORY_health]};
    s.begin = s.begin > drawing_begin(d) ? s.begin : drawing_begin(d);
    s.correlation = strings_id(&d->texts, COLOUR_ERROR);
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static uint32_t detectors_ran(const drawing *d) {
    const xsa_result *r = findings_of(d);
    uint32_t n = r ? 0 : 1;
    for (uint32_t i = 0; r && i < r->verdict_count; i++)
        n += r->verdicts[i].status != XSA_NOT_RUN;
    return n;
}

/* What the detectors say, or that they said nothing. */
static int draw_findings(drawing *d, uint32_t row) {
    const xsa_result *r = findings_of(d);
    if (r && r->finding_count)
        return findings_draw(d, row);
    uint32_t n = detectors_ran(d);
    slice s = {
        .track = row, .begin = drawing_begin(d), .end = drawing_end(d), .category = d->category[CATEGORY_health]};
    s.name = strings_format(&d->texts, "no findings (%u detector%s ran)", n, n == 1 ? "" : "s");
    s.correlation = strings_id(&d->texts, COLOUR_NOTE);
    const xsr_wait *root = open_root(d);
    if (!root)
        return draw_slice(d, SPAN | TO_OVERVIEW, &s);
    s.end = root->begin;
    if (s.end > s.begin)
        TRY(draw_slice(d, SPAN | TO_OVERVIEW, &s));
    return draw_hang(d, row, root);
}

typedef struct health {
    uint64_t kept, lost, damaged;
    int64_t residual, bound;
    uint32_t unknown; /* clocks without a bound */
    char cupti[320];
} health;

/* yes: it told of all to the end; else why not, in the words of the first process that went without. */
static void cupti_text(const drawing *d, char *text, size_t bytes) {
    uint32_t asked = 0;
    for (uint32_t i = 0; i < d->model->process_count; i++) {
        const xsr_cupti *c = &d->model->processes[i].cupti;
        if (c->state == XS_CUPTI_NONE)
            continue;
        asked++;
        if (c->state == XS_CUPTI_ENDED && !c->dropped && !c->lost)
            continue;
        snprintf(text, bytes, "%s: %s%s%s", c->kernels ? "in part" : "no", xsr_cupti_meaning(c->state),
                 *c->why ? ": " : "", c->why);
        return;
    }
    snprintf(text, bytes, "%s", asked ? "yes" : "no");
}

static health collect(const drawing *d) {
    health h = {.lost = losses_records(d), .damaged = d->model->damaged_frames + d->model->missing_frames};
    for (uint32_t i = 0; i < d->model->ring_count; i++)
        h.kept += d->model->rings[i].kept;
    for (uint32_t i = 0; i < d->model->clock_count; i++) {
        const xsr_clock *c = &d->model->clocks[i];
        h.residual = c->residual_ns > h.residual ? c->residual_ns : h.residual;
        h.bound = c->bound_ns > h.bound ? c->bound_ns : h.bound;
        h.unknown += c->bound_ns < 0;
    }
    cupti_text(d, h.cupti, sizeof h.cupti);
    return h;
}

static void health_args(const drawing *d, const health *h, args *a) {
    const xsv_perfetto_summary *s = &d->summary;
    arg_uint(d, a, KEY_records, h->kept);
    arg_uint(d, a, KEY_lost, h->lost);
    arg_int(d, a, KEY_clock_residual_ns, h->residual);
    if (h->unknown)
        arg_chars(d, a, KEY_clock_bound_ns, "not known");
    else
        arg_int(d, a, KEY_clock_bound_ns, h->bound);
    arg_chars(d, a, KEY_cupti, h->cupti);
    if (s->passes_left_out)
        arg_uint(d, a, KEY_passes_left_out, s->passes_left_out);
    if (s->waits_folded)
        arg_uint(d, a, KEY_waits_folded, s->waits_folded);
    if (d->reduced)
        arg_uint(d, a, KEY_arguments_reduced, 1);
    if (s->waits_without_writer)
        arg_uint(d, a, KEY_waits_without_writer, s->waits_without_writer);
    if (slots_left_out(d))
        arg_uint(d, a, KEY_slots_left_out, slots_left_out(d));
    if (h->damaged)
        arg_uint(d, a, KEY_damaged_frames, h->damaged);
}

int health_finish(drawing *d) {
    uint32_t row = findings_row(d);
    track_info t = {.parent = row, .name = strings_id(&d->texts, "trace health")};
    t.description = strings_id(
        &d->texts, "Records kept and lost, how well clocks agree, what was left out; spans with loss inside.");
    uint32_t child = track_add(d, &t);
    health h = collect(d);
    char text[256], clock[32] = "bound not known";
    args a = {.count = 0};
    if (!h.unknown)
        snprintf(clock, sizeof clock, "+-%lld ns", (long long)h.bound);
    snprintf(text, sizeof text, "%llu records, %llu lost, clock %s, CUPTI %.*s", (unsigned long long)h.kept,
             (unsigned long long)h.lost, clock, (int)strcspn(h.cupti, ":"), h.cupti);
    health_args(d, &h, &a);
    slice s = {.track = child, .begin = drawing_begin(d), .end = drawing_end(d), .text = text};
    s.category = d->category[CATEGORY_health];
    s.correlation = strings_id(&d->texts, h.lost || h.damaged ? COLOUR_WARNING : COLOUR_NOTE);
    s.args = a.list;
    s.arg_count = a.count;
    TRY(draw_findings(d, row));
    TRY(draw_slice(d, SPAN | TO_OVERVIEW, &s));
    return losses_health(d, child); /* behind the slice that holds them, in the file */
}

/* ---- attributes ---- */

#define ATTRIBUTES_MAX 24u
typedef struct attributes {
    Attribute list[ATTRIBUTES_MAX], *pointers[ATTRIBUTES_MAX];
    uint32_t count;
} attributes;

static Attribute *attribute_new(attributes *a, const char *key) {
    Attribute *one = &a->list[a->count];
    attribute__init(one);
    one->key = (char *)key;
    a->pointers[a->count++] = one;
    return one;
}

static void attribute_text(attributes *a, const char *key, const char *text) {
    attribute_new(a, key)->string_value = (char *)text;
}

static void attribute_number(attributes *a, const char *key, uint64_t number) {
    Attribute *one = attribute_new(a, key);
    one->has_long_value = 1;
    one->long_value = (int64_t)number;
}

static int write_attributes(trace_file *file, attributes *a, TraceUuid *uuid) {
    TraceAttributes all = TRACE_ATTRIBUTES__INIT;
    all.n_attribute = a->count;
    all.attribute = a->pointers;
    TracePacket packet = TRACE_PACKET__INIT;
    packet.trace_attributes = &all;
    packet.trace_uuid = uuid;
    return encoder_packet(&file->enc, &packet, 1u << 16);
}

/* The same capture gives the same id, so that a trace can be told from another and made again. */
static TraceUuid uuid_of(const drawing *d, const trace_file *file) {
    uint64_t state[2] = {(uint64_t)file->start, d->split ? (file == d->overview || !d->overview ? 1u : 2u) : 0u};
    for (uint32_t i = 0; i < d->model->process_count; i++) {
        const uint64_t more[4] = {state[0], state[1], d->model->processes[i].host, d->model->processes[i].process};
        XXH128_hash_t h = XXH3_128bits(more, sizeof more);
        state[0] = h.low64;
        state[1] = h.high64;
    }
    TraceUuid uuid = TRACE_UUID__INIT;
    uuid.has_msb = uuid.has_lsb = 1;
    uuid.msb = (int64_t)state[1];
    uuid.lsb = (int64_t)state[0];
    return uuid;
}

int attributes_begin(drawing *d, trace_file *file) {
    char version[32];
    attributes a = {.count = 0};
    TraceUuid uuid = uuid_of(d, file);
    snprintf(version, sizeof version, "%d.%d.%d", XS_VERSION_MAJOR, XS_VERSION_MINOR, XS_VERSION_PATCH);
    const char *name = d->options.run;
    for (const char *c = d->stem; !d->options.run && *c; c++) /* the last part of the path */
        name = c == d->stem || *c == '/' ? (*c == '/' ? c + 1 : c) : name;
    attribute_text(&a, "xs.run", name ? name : "");
    attribute_text(&a, "xs.version", version);
    attribute_number(&a, "xs.layout", 1);
    attribute_number(&a, "xs.ranks", d->model->rank_count);
    attribute_number(&a, "xs.processes", d->model->process_count);
    if (d->model->process_count)
        attribute_text(&a, "xs.host", d->model->processes[0].host_name ? d->model->processes[0].host_name : "");
    if (d->model->process_count)
        attribute_text(&a, "xs.command", d->model->processes[0].command ? d->model->processes[0].command : "");
    return write_attributes(file, &a, &uuid);
}

/* A file that was cut off looks whole to the viewer: only this last packet tells. number: of the window, 0 the
 * overview. */
int attributes_finish(drawing *d, trace_file *file, uint32_t number) {
    const xsv_perfetto_summary *s = &d->summary;
    attributes a = {.count = 0};
    health h = collect(d);
    attribute_number(&a, "xs.events", d->events);
    attribute_number(&a, "xs.records", h.kept);
    attribute_number(&a, "xs.lost", h.lost);
    attribute_number(&a, "xs.waits", s->waits);
    attribute_number(&a, "xs.open_waits", s->open_waits);
    attribute_number(&a, "xs.passes", s->passes);
    attribute_number(&a, "xs.signals", s->signals);
    attribute_number(&a, "xs.passes_left_out", s->passes_left_out);
    attribute_number(&a, "xs.waits_folded", s->waits_folded);
    attribute_number(&a, "xs.capture_closed", d->model->closed);
    attribute_number(&a, "xs.capture_cut", d->model->cut);
    if (d->split) {
        attribute_number(&a, "xs.window", number);
        attribute_number(&a, "xs.windows", d->window_count);
    }
    attribute_number(&a, "xs.complete", 1);
    return write_attributes(file, &a, NULL);
}
