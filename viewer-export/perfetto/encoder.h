/* One trace file: packs packets in one pass, interns texts per file, keeps two clocks.
 *
 * All events are on one sequence: clock 64 counts deltas from the packet before and is the default; what goes back
 * in time is stamped with clock 65, absolute. Interned ids are the numbers of the export's string table. */
#ifndef XSV_ENCODER_H
#define XSV_ENCODER_H

#include "compress.h"
#include "output.h"
#include "perfetto_trace.pb-c.h"
#include "strings.h"

#define ENCODER_ARGS 24u

enum encoder_sequence { SEQUENCE_EVENTS = 1, SEQUENCE_GPU = 2, SEQUENCE_LOSS = 16 /* + rank */ };
enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4, EVENT_STATE = 5 };

enum arg_type { ARG_UINT, ARG_INT, ARG_TEXT /* interned */, ARG_CHARS /* not interned */ };
typedef struct event_arg {
    uint32_t key; /* string */
    uint32_t type;
    union {
        uint64_t number;
        int64_t integer;
        uint32_t text;
        const char *chars;
    };
} event_arg;

typedef struct event {
    uint32_t type;
    uint32_t track;
    int64_t time;
    uint32_t name, category, correlation; /* strings; 0: none */
    const char *text;                     /* a name that is not interned, since it comes up once */
    const event_arg *args;
    uint32_t arg_count;
    const uint64_t *flows, *flow_ends;
    uint32_t flow_count, flow_end_count;
    int64_t counter;
} event;

typedef struct encoder {
    output out;
    const strings *texts;
    uint8_t *seen; /* per string: which interned lists of this file hold it */
    uint32_t seen_room;
    uint8_t *buffer;
    size_t used, room, most; /* most: bytes that wait to be written */
    compress *zstd;          /* NULL: packets as they are */
    int64_t last; /* of clock 64 */
    bool started;
    uint64_t packets;
    size_t bulk; /* bytes of text in the packet at hand: more than a short length holds? */
    struct encoder_parts *parts;
} encoder;

/* All return 0, XS_E_MEMORY, XS_E_NO_SPACE or XS_E_SYSTEM. */
int encoder_open(encoder *e, const char *path, const strings *texts);
/* Behind encoder_open: packets of this file are compressed, many at a time. */
int encoder_compress(encoder *e);
/* First packet of the events' sequence: both clocks, BOOTTIME and, where offset_known, REALTIME = BOOTTIME + offset. */
int encoder_start(encoder *e, int64_t time, bool offset_known, int64_t realtime_offset);
int encoder_event(encoder *e, const event *event);
/* A packet that the caller built. bytes: of its texts, at most. */
int encoder_packet(encoder *e, const TracePacket *packet, size_t bytes);
int encoder_close(encoder *e);
void encoder_free(encoder *e);

#endif
