#include "encoder.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

#include "varint.h"

#define BUFFER_BYTES (1u << 20)
#define SLACK_BYTES (1u << 16)  /* room for any packet whose length fits 14 bits, and then some */
#define BULK_BYTES 8192u        /* texts and flow ids above: the packet might not be short */
#define CLOCK_DELTA 64u
#define CLOCK_ABSOLUTE 65u
#define CLOCK_BOOT 6u
#define CLOCK_REAL 1u

enum interned {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_KEY = 4,
    INTERNED_VALUE = 8,
    INTERNED_CORRELATION = 16
};

/* Messages that are filled again for each packet; they stay where they are, so pointers between them are set once. */
struct encoder_parts {
    EventPacket packet;
    TrackEvent event;
    SliceEnd end;
    InternedData interned;
    uint64_t category;
    DebugAnnotation arg[ENCODER_ARGS]; /* numbers with a sign, texts that are not interned */
    UintAnnotation number[ENCODER_ARGS];
    TextAnnotation word[ENCODER_ARGS];
    DebugAnnotation *args[ENCODER_ARGS]; /* to one of the three each */
    InternedName category_name, event_name, key[ENCODER_ARGS];
    InternedName *category_names[1], *event_names[1], *keys[ENCODER_ARGS];
    InternedString value[ENCODER_ARGS], correlation;
    InternedString *values[ENCODER_ARGS], *correlations[1];
};

static struct encoder_parts *parts_new(void) {
    struct encoder_parts *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    event_packet__init(&p->packet);
    track_event__init(&p->event);
    slice_end__init(&p->end);
    interned_data__init(&p->interned);
    interned_name__init(&p->category_name);
    interned_name__init(&p->event_name);
    interned_string__init(&p->correlation);
    for (uint32_t i = 0; i < ENCODER_ARGS; i++) {
        debug_annotation__init(&p->arg[i]);
        uint_annotation__init(&p->number[i]);
        text_annotation__init(&p->word[i]);
        interned_name__init(&p->key[i]);
        interned_string__init(&p->value[i]);
        p->keys[i] = &p->key[i];
        p->values[i] = &p->value[i];
        p->arg[i].has_name_iid = 1;
    }
    p->category_names[0] = &p->category_name;
    p->event_names[0] = &p->event_name;
    p->correlations[0] = &p->correlation;
    p->interned.event_categories = p->category_names;
    p->interned.event_names = p->event_names;
    p->interned.debug_annotation_names = p->keys;
    p->interned.debug_annotation_string_values = p->values;
    p->interned.correlation_id_str = p->correlations;
    p->event.category_iids = &p->category;
    p->event.debug_annotations = p->args;
    p->event.has_type = p->event.has_track_uuid = 1;
    p->end.type = EVENT_END;
    p->packet.trusted_packet_sequence_id = SEQUENCE_EVENTS;
    p->packet.sequence_flags = 2;
    p->packet.timestamp_clock_id = CLOCK_ABSOLUTE;
    return p;
}

int encoder_open(encoder *e, const char *path, const strings *texts) {
    *e = (encoder){.out = {.fd = -1}, .texts = texts, .room = BUFFER_BYTES, .most = BUFFER_BYTES - SLACK_BYTES};
    e->buffer = malloc(e->room);
    e->parts = parts_new();
    if (!e->buffer || !e->parts)
        return XS_E_MEMORY;
    return output_open(&e->out, path);
}

int encoder_compress(encoder *e) {
    e->most = COMPRESS_BYTES - SLACK_BYTES;
    e->zstd = compress_new();
    return e->zstd ? XS_OK : XS_E_MEMORY;
}

static int flush(encoder *e) {
    int rc = e->zstd ? compress_write(e->zstd, &e->out, e->buffer, e->used)
                     : output_write(&e->out, e->buffer, e->used);
    e->used = 0;
    return rc;
}

int encoder_close(encoder *e) {
    int rc = flush(e);
    int closed = output_close(&e->out);
    return rc ? rc : closed;
}

void encoder_free(encoder *e) {
    output_free(&e->out);
    free(e->seen);
    free(e->buffer);
    free(e->parts);
    compress_free(e->zstd);
    *e = (encoder){.out = {.fd = -1}};
}

/* One pass: packed behind two bytes of length, which are filled in afterwards (padded: 7 bits and a continuation
 * bit). */
static int pack_short(encoder *e, const ProtobufCMessage *packet) {
    uint8_t *at = e->buffer + e->used;
    size_t bytes = protobuf_c_message_pack(packet, at + 3);
    at[0] = 0x0a;
    at[1] = (uint8_t)(bytes | 0x80);
    at[2] = (uint8_t)(bytes >> 7);
    e->used += bytes + 3;
    e->packets++;
    return e->used > e->most ? flush(e) : XS_OK;
}

static int pack_long(encoder *e, const ProtobufCMessage *packet) {
    size_t bytes = protobuf_c_message_get_packed_size(packet);
    int rc = flush(e);
    if (rc)
        return rc;
    if (bytes + SLACK_BYTES > e->room) {
        uint8_t *buffer = realloc(e->buffer, bytes + SLACK_BYTES + 16);
        if (!buffer)
            return XS_E_MEMORY;
        e->buffer = buffer;
        e->room = bytes + SLACK_BYTES + 16;
    }
    e->buffer[0] = 0x0a;
    e->used = 1 + put_varint(e->buffer + 1, bytes);
    e->used += protobuf_c_message_pack(packet, e->buffer + e->used);
    e->packets++;
    return e->used > e->most ? flush(e) : XS_OK;
}

static inline int pack(encoder *e, const ProtobufCMessage *packet, size_t bytes) {
    return bytes > BULK_BYTES ? pack_long(e, packet) : pack_short(e, packet);
}

int encoder_packet(encoder *e, const TracePacket *packet, size_t bytes) { return pack(e, &packet->base, bytes); }

static int seen_grow(encoder *e) {
    uint32_t room = e->texts->room ? e->texts->room : 1;
    uint8_t *seen = realloc(e->seen, room);
    if (!seen)
        return XS_E_MEMORY;
    memset(seen + e->seen_room, 0, room - e->seen_room);
    e->seen = seen;
    e->seen_room = room;
    return XS_OK;
}

/* True once for each text, list and file: then the text itself goes along. */
static inline bool first_use(encoder *e, uint32_t text, uint8_t list) {
    if (e->seen[text] & list)
        return false;
    e->seen[text] |= list;
    e->bulk += e->texts->length[text] + 16;
    return true;
}

static void intern_name(const encoder *e, InternedName *to, uint32_t text) {
    to->has_iid = 1;
    to->iid = text;
    to->name = e->texts->text[text];
}

static void intern_string(const encoder *e, InternedString *to, uint32_t text) {
    to->has_iid = to->has_str = 1;
    to->iid = text;
    to->str.data = (uint8_t *)e->texts->text[text];
    to->str.len = e->texts->length[text];
}

/* Anything but a plain number or an interned text. */
static void *put_rare_arg(encoder *e, uint32_t i, const event_arg *arg) {
    DebugAnnotation *to = &e->parts->arg[i];
    to->name_iid = arg->key;
    to->has_int_value = arg->type == ARG_INT;
    to->int_value = arg->integer;
    to->string_value = arg->type == ARG_CHARS ? (char *)arg->chars : NULL;
    if (to->string_value)
        e->bulk += strlen(to->string_value);
    return to;
}

static inline void *put_arg(encoder *e, uint32_t i, const event_arg *arg) {
    struct encoder_parts *p = e->parts;
    if (first_use(e, arg->key, INTERNED_KEY))
        intern_name(e, &p->key[p->interned.n_debug_annotation_names++], arg->key);
    if (arg->type == ARG_UINT) {
        p->number[i].name_iid = arg->key;
        p->number[i].uint_value = arg->number;
        return &p->number[i];
    }
    if (arg->type != ARG_TEXT)
        return put_rare_arg(e, i, arg);
    p->word[i].name_iid = arg->key;
    p->word[i].string_value_iid = arg->text;
    if (first_use(e, arg->text, INTERNED_VALUE))
        intern_string(e, &p->value[p->interned.n_debug_annotation_string_values++], arg->text);
    return &p->word[i];
}

static void put_names(encoder *e, const event *from) {
    struct encoder_parts *p = e->parts;
    TrackEvent *to = &p->event;
    to->n_category_iids = from->category != 0;
    to->has_name_iid = from->name != 0;
    to->has_correlation_id_str_iid = from->correlation != 0;
    to->name = (char *)from->text;
    if (from->text)
        e->bulk += strlen(from->text);
    if (from->category) {
        p->category = from->category;
        if (first_use(e, from->category, INTERNED_CATEGORY)) {
            intern_name(e, &p->category_name, from->category);
            p->interned.n_event_categories = 1;
        }
    }
    if (from->name) {
        to->name_iid = from->name;
        if (first_use(e, from->name, INTERNED_NAME)) {
            intern_name(e, &p->event_name, from->name);
            p->interned.n_event_names = 1;
        }
    }
    if (from->correlation) {
        to->correlation_id_str_iid = from->correlation;
        if (first_use(e, from->correlation, INTERNED_CORRELATION)) {
            intern_string(e, &p->correlation, from->correlation);
            p->interned.n_correlation_id_str = 1;
        }
    }
}

static void put_time(encoder *e, int64_t time) {
    EventPacket *packet = &e->parts->packet;
    if (time < 0)
        time = 0; /* readers drop negative stamps */
    bool back = time < e->last;
    packet->has_timestamp_clock_id = back;
    packet->timestamp = back ? (uint64_t)time : (uint64_t)(time - e->last);
    if (!back)
        e->last = time;
}

static void put_event(encoder *e, const event *from) {
    TrackEvent *to = &e->parts->event;
    to->type = from->type;
    to->track_uuid = from->track;
    to->has_counter_value = from->type == EVENT_COUNTER;
    to->counter_value = from->counter;
    put_names(e, from);
    to->n_debug_annotations = from->arg_count;
    for (uint32_t i = 0; i < from->arg_count; i++)
        e->parts->args[i] = put_arg(e, i, &from->args[i]);
    to->n_flow_ids = from->flow_count;
    to->flow_ids = (uint64_t *)from->flows;
    to->n_terminating_flow_ids = from->flow_end_count;
    to->terminating_flow_ids = (uint64_t *)from->flow_ends;
}

/* An END carries nothing but the ends of flows. */
static int write_end(encoder *e, const event *from) {
    struct encoder_parts *p = e->parts;
    p->end.track_uuid = from->track;
    p->end.n_terminating_flow_ids = from->flow_end_count;
    p->end.terminating_flow_ids = (uint64_t *)from->flow_ends;
    p->packet.track_event = (TrackEvent *)&p->end;
    p->packet.interned_data = NULL;
    put_time(e, from->time);
    return pack(e, &p->packet.base, 10u * from->flow_end_count);
}

static void forget_interned(InternedData *interned) {
    interned->n_event_categories = interned->n_event_names = interned->n_debug_annotation_names = 0;
    interned->n_debug_annotation_string_values = interned->n_correlation_id_str = 0;
}

static bool any_interned(const InternedData *interned) {
    return interned->n_event_categories || interned->n_event_names || interned->n_debug_annotation_names ||
           interned->n_debug_annotation_string_values || interned->n_correlation_id_str;
}

int encoder_event(encoder *e, const event *from) {
    struct encoder_parts *p = e->parts;
    if (from->type == EVENT_END)
        return write_end(e, from);
    if (e->texts->count >= e->seen_room && seen_grow(e))
        return XS_E_MEMORY;
    e->bulk = 0;
    put_event(e, from);
    put_time(e, from->time);
    bool interned = e->bulk && any_interned(&p->interned);
    p->packet.track_event = &p->event;
    p->packet.interned_data = interned ? &p->interned : NULL;
    int rc = pack(e, &p->packet.base, e->bulk + 10u * (from->flow_count + from->flow_end_count));
    if (interned)
        forget_interned(&p->interned);
    return rc;
}

int encoder_start(encoder *e, int64_t time, bool offset_known, int64_t realtime_offset) {
    uint64_t now = time < 0 ? 0 : (uint64_t)time;
    Clock clock[4];
    Clock *clocks[4];
    const uint32_t ids[4] = {CLOCK_DELTA, CLOCK_ABSOLUTE, CLOCK_BOOT, CLOCK_REAL};
    for (int i = 0; i < 4; i++) {
        clock__init(&clock[i]);
        clock[i].has_clock_id = clock[i].has_timestamp = 1;
        clock[i].clock_id = ids[i];
        clock[i].timestamp = now;
        clocks[i] = &clock[i];
    }
    clock[0].has_is_incremental = clock[0].is_incremental = 1;
    clock[3].timestamp = (uint64_t)((int64_t)now + realtime_offset);
    ClockSnapshot snapshot = CLOCK_SNAPSHOT__INIT;
    snapshot.n_clocks = offset_known ? 4 : 3;
    snapshot.clocks = clocks;
    snapshot.has_primary_trace_clock = 1;
    snapshot.primary_trace_clock = CLOCK_BOOT;
    TracePacketDefaults defaults = TRACE_PACKET_DEFAULTS__INIT;
    defaults.has_timestamp_clock_id = 1;
    defaults.timestamp_clock_id = CLOCK_DELTA;
    TracePacket packet = TRACE_PACKET__INIT;
    packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = packet.has_first_packet_on_sequence = 1;
    packet.trusted_packet_sequence_id = SEQUENCE_EVENTS;
    packet.sequence_flags = 1;
    packet.first_packet_on_sequence = 1;
    packet.clock_snapshot = &snapshot;
    packet.trace_packet_defaults = &defaults;
    e->last = (int64_t)now;
    e->started = true;
    return encoder_packet(e, &packet, 0);
}
