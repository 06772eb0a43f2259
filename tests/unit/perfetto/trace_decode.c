#include "trace_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IIDS 65536u

/* Interned texts of the one sequence that has events. iids are dense and shared between lists here; a reader knows lists. */
enum { LIST_CATEGORY, LIST_NAME, LIST_KEY, LIST_VALUE, LIST_CORRELATION, LISTS };
static char *interned[LISTS][IIDS];

typedef struct timed {
    int64_t ts;
    size_t order;
    const TracePacket *packet;
} timed;

static void *need(void *p) {
    if (!p)
        abort();
    return p;
}

static char *read_all(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = need(malloc(*size + 1));
    if (fread(data, 1, *size, f) != *size)
        abort();
    fclose(f);
    return data;
}

static void put(int list, uint64_t iid, const char *text, size_t length) {
    if (iid >= IIDS)
        abort();
    free(interned[list][iid]);
    interned[list][iid] = need(strndup(text, length));
}

static void take_interned(const InternedData *in) {
    for (size_t i = 0; i < in->n_event_categories; i++)
        put(LIST_CATEGORY, in->event_categories[i]->iid, in->event_categories[i]->name, SIZE_MAX >> 1);
    for (size_t i = 0; i < in->n_event_names; i++)
        put(LIST_NAME, in->event_names[i]->iid, in->event_names[i]->name, SIZE_MAX >> 1);
    for (size_t i = 0; i < in->n_debug_annotation_names; i++)
        put(LIST_KEY, in->debug_annotation_names[i]->iid, in->debug_annotation_names[i]->name, SIZE_MAX >> 1);
    for (size_t i = 0; i < in->n_debug_annotation_string_values; i++)
        put(LIST_VALUE, in->debug_annotation_string_values[i]->iid, (char *)in->debug_annotation_string_values[i]->str.data,
            in->debug_annotation_string_values[i]->str.len);
    for (size_t i = 0; i < in->n_correlation_id_str; i++)
        put(LIST_CORRELATION, in->correlation_id_str[i]->iid, (char *)in->correlation_id_str[i]->str.data,
            in->correlation_id_str[i]->str.len);
}

static const char *text_of(td *t, int list, bool has, uint64_t iid) {
    if (!has)
        return NULL;
    if (iid < IIDS && interned[list][iid])
        return interned[list][iid];
    t->unknown_iid++;
    return NULL;
}

static void take_descriptor(td *t, const TrackDescriptor *d) {
    td_track *k = &t->tracks[t->track_count++];
    *k = (td_track){.uuid = d->uuid, .parent = d->has_parent_uuid ? d->parent_uuid : 0, .description = d->description};
    k->name = d->process ? d->process->process_name : d->name;
    k->pid = d->process ? d->process->pid : 0;
    k->order = d->sibling_order_rank;
    k->ordering = d->child_ordering;
    k->merge = d->sibling_merge_behavior;
    k->merge_key = d->sibling_merge_key;
    k->states = d->state != NULL;
    k->counter = d->counter != NULL;
    k->unit = d->counter ? d->counter->unit_name : NULL;
}

static void take_snapshot(td *t, const ClockSnapshot *s) {
    int64_t boot = 0, real = 0;
    for (size_t i = 0; i < s->n_clocks; i++) {
        if (s->clocks[i]->clock_id == 6)
            boot = (int64_t)s->clocks[i]->timestamp;
        if (s->clocks[i]->clock_id == 1)
            real = (int64_t)s->clocks[i]->timestamp;
    }
    t->realtime_minus_boot = real ? real - boot : 0;
}

static int by_time(const void *a, const void *b) {
    const timed *x = a, *y = b;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* One pass in file order: descriptors, interning and clocks; events get their time. */
static size_t tokenize(td *t, timed *events) {
    int64_t delta = 0;
    bool begun = false;
    size_t count = 0;
    for (size_t i = 0; i < t->trace->n_packet; i++) {
        const TracePacket *p = t->trace->packet[i];
        if (p->track_descriptor)
            take_descriptor(t, p->track_descriptor);
        if (p->clock_snapshot) {
            take_snapshot(t, p->clock_snapshot);
            delta = (int64_t)p->clock_snapshot->clocks[0]->timestamp;
        }
        begun |= p->trusted_packet_sequence_id == 1 && p->sequence_flags == 1 && p->trace_packet_defaults;
        t->dropped_marks += p->previous_packet_dropped != 0;
        for (size_t b = 0; p->trace_stats && b < p->trace_stats->n_buffer_stats; b++)
            t->stats_lost += p->trace_stats->buffer_stats[b]->trace_writer_packet_loss;
        for (size_t a = 0; p->trace_attributes && a < p->trace_attributes->n_attribute; a++)
            t->complete |= strcmp(p->trace_attributes->attribute[a]->key, "xs.complete") == 0;
        if (p->interned_data)
            take_interned(p->interned_data);
        if (!p->track_event)
            continue;
        t->bad_sequence += !begun || p->trusted_packet_sequence_id != 1 || p->sequence_flags != 2;
        t->bad_clock += p->has_timestamp_clock_id && p->timestamp_clock_id != 65;
        if (!p->has_timestamp_clock_id)
            delta += (int64_t)p->timestamp;
        events[count] = (timed){p->has_timestamp_clock_id ? (int64_t)p->timestamp : delta, count, p};
        count++;
    }
    return count;
}

typedef struct walk {
    td *t;
    int *top; /* per track uuid: innermost open slice, -1 */
    uint64_t *flow_ids;
    int *flow_slices;
    int flow_count;
} walk;

static int find_flow(const walk *w, uint64_t id) {
    for (int i = w->flow_count - 1; i >= 0; i--)
        if (w->flow_ids[i] == id)
            return i;
    return -1;
}

static void edge(walk *w, int at, int slice) {
    td *t = w->t;
    int other = w->flow_slices[at];
    bool other_first = t->slices[other].ts <= t->slices[slice].ts;
    t->flows[t->flow_count++] = (td_flow){w->flow_ids[at], other_first ? other : slice, other_first ? slice : other};
    t->slices[other].edges++;
    t->slices[slice].edges++;
    w->flow_ids[at] = w->flow_ids[--w->flow_count];
    w->flow_slices[at] = w->flow_slices[w->flow_count];
}

static void take_flows(walk *w, const TrackEvent *e, int slice) {
    for (size_t i = 0; i < e->n_flow_ids; i++) {
        w->t->flow_duplicate += find_flow(w, e->flow_ids[i]) >= 0;
        w->flow_ids[w->flow_count] = e->flow_ids[i];
        w->flow_slices[w->flow_count++] = slice;
    }
    for (size_t i = 0; i < e->n_terminating_flow_ids; i++) {
        int at = find_flow(w, e->terminating_flow_ids[i]);
        if (at < 0)
            w->t->flow_end_without_start++;
        else
            edge(w, at, slice);
    }
}

static int begin_slice(walk *w, const timed *at, const TrackEvent *e) {
    td *t = w->t;
    int index = t->slice_count++;
    td_slice *s = &t->slices[index];
    *s = (td_slice){.ts = at->ts, .dur = -1, .track = e->track_uuid, .parent = w->top[e->track_uuid], .event = e};
    s->depth = s->parent < 0 ? 0 : t->slices[s->parent].depth + 1;
    s->name = e->name ? e->name : text_of(t, LIST_NAME, e->has_name_iid, e->name_iid);
    s->category = text_of(t, LIST_CATEGORY, e->n_category_iids != 0, e->n_category_iids ? e->category_iids[0] : 0);
    s->correlation = text_of(t, LIST_CORRELATION, e->has_correlation_id_str_iid, e->correlation_id_str_iid);
    for (size_t i = 0; i < e->n_debug_annotations; i++) {
        const DebugAnnotation *a = e->debug_annotations[i];
        text_of(t, LIST_KEY, true, a->name_iid);
        text_of(t, LIST_VALUE, a->has_string_value_iid, a->string_value_iid);
    }
    return index;
}

static void take_event(walk *w, const timed *at) {
    td *t = w->t;
    const TrackEvent *e = at->packet->track_event;
    td_track *k = (td_track *)td_track_of(t, e->track_uuid);
    if (!k) {
        t->missing_track++;
        return;
    }
    if (e->type == 4) {
        k->has_counters = true;
        t->counters[t->counter_count++] = (td_counter){at->ts, e->counter_value, e->track_uuid, at->order};
        return;
    }
    k->has_slices = true;
    int top = w->top[e->track_uuid];
    if (e->type == 2) {
        if (top < 0) {
            t->unmatched_end++;
            return;
        }
        take_flows(w, e, top);
        t->slices[top].dur = at->ts - t->slices[top].ts;
        w->top[e->track_uuid] = t->slices[top].parent;
        return;
    }
    int slice = begin_slice(w, at, e);
    take_flows(w, e, slice);
    if (e->type == 3 || e->type == 5) {
        t->slices[slice].dur = 0;
        t->slices[slice].instant = true;
        t->slices[slice].state = e->type == 5;
    } else
        w->top[e->track_uuid] = slice;
}

td *td_read(const char *path) {
    size_t size = 0, flows = 1;
    char *data = read_all(path, &size);
    if (!data)
        return NULL;
    td *t = need(calloc(1, sizeof *t));
    t->trace = trace__unpack(NULL, size, (uint8_t *)data);
    free(data);
    if (!t->trace) {
        free(t);
        return NULL;
    }
    size_t n = t->trace->n_packet + 1;
    timed *events = need(calloc(n, sizeof *events));
    t->slices = need(calloc(n, sizeof *t->slices));
    t->counters = need(calloc(n, sizeof *t->counters));
    t->tracks = need(calloc(n, sizeof *t->tracks));
    size_t count = tokenize(t, events);
    for (size_t i = 0; i < count; i++)
        flows += events[i].packet->track_event->n_flow_ids;
    t->flows = need(calloc(flows, sizeof *t->flows));
    qsort(events, count, sizeof *events, by_time);
    walk w = {.t = t, .top = need(malloc(n * sizeof(int))), .flow_ids = need(calloc(flows, sizeof(uint64_t)))};
    w.flow_slices = need(calloc(flows, sizeof(int)));
    for (size_t i = 0; i < n; i++)
        w.top[i] = -1;
    for (size_t i = 0; i < count; i++)
        take_event(&w, &events[i]);
    free(w.top);
    free(w.flow_ids);
    free(w.flow_slices);
    free(events);
    return t;
}

void td_free(td *t) {
    if (!t)
        return;
    trace__free_unpacked(t->trace, NULL);
    free(t->slices);
    free(t->counters);
    free(t->flows);
    free(t->tracks);
    free(t);
    for (int l = 0; l < LISTS; l++)
        for (uint32_t i = 0; i < IIDS; i++) {
            free(interned[l][i]);
            interned[l][i] = NULL;
        }
}

const td_track *td_track_of(const td *t, uint64_t uuid) {
    for (int i = 0; i < t->track_count; i++)
        if (t->tracks[i].uuid == uuid && uuid)
            return &t->tracks[i];
    return NULL;
}

const td_track *td_track_named(const td *t, const char *name, const td_track *parent) {
    for (int i = 0; i < t->track_count; i++)
        if (t->tracks[i].name && strcmp(t->tracks[i].name, name) == 0 && (!parent || t->tracks[i].parent == parent->uuid))
            return &t->tracks[i];
    return NULL;
}

bool td_arg(const td *t, const td_slice *s, const char *key, uint64_t *number, const char **text) {
    (void)t;
    for (size_t i = 0; i < s->event->n_debug_annotations; i++) {
        const DebugAnnotation *a = s->event->debug_annotations[i];
        const char *name = a->name_iid < IIDS ? interned[LIST_KEY][a->name_iid] : NULL;
        if (!name || strcmp(name, key) != 0)
            continue;
        *number = a->has_uint_value ? a->uint_value : a->has_int_value ? (uint64_t)a->int_value : 0;
        *text = a->string_value ? a->string_value : a->has_string_value_iid ? interned[LIST_VALUE][a->string_value_iid] : NULL;
        return true;
    }
    return false;
}

uint64_t td_number(const td *t, const td_slice *s, const char *key) {
    uint64_t number;
    const char *text;
    return td_arg(t, s, key, &number, &text) ? number : UINT64_MAX;
}

const char *td_text(const td *t, const td_slice *s, const char *key) {
    uint64_t number;
    const char *text = NULL;
    return td_arg(t, s, key, &number, &text) && text ? text : "";
}

const char *td_path(const td *t, const td_track *track) {
    static char path[1024];
    char before[1024];
    path[0] = 0;
    for (; track; track = td_track_of(t, track->parent)) {
        memcpy(before, path, sizeof before);
        snprintf(path, sizeof path, "%.150s%s%.800s", track->name ? track->name : "", before[0] ? " > " : "", before);
    }
    return path;
}
