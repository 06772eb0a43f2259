/* Names and decoding tables, all made from the X-macros of events.h, capture.h and read.h. */
#include "internal.h"

#include <ctype.h>
#include <pthread.h>

#define CODE_ROW(code, name, event, order, scope, fence) \
    [code] = {XS_EV_##event, order, XS_SCOPE_##scope, XS_FENCE_##fence},
const rd_code_info rd_codes[256] = {XS_CODES(CODE_ROW)};

typedef struct event_row { uint8_t shape, object; const char *name, *value; } event_row;
#define EVENT_ROW(id, name, shape, object, value, detail, further, text) \
    [id] = {XS_SHAPE_##shape, XS_OBJECT_##object, #name, value},
static const event_row event_rows[XS_EV_COUNT] = {XS_EVENTS(EVENT_ROW)};
#define REASON_ROW(name, text) #name,
static const char *const reasons[] = {XSR_REASONS(REASON_ROW)};
#define LOSS_ROW(number, name, text) [number] = #name,
static const char *const losses[XS_LOSS_COUNT] = {"UNKNOWN", XS_LOSS_CAUSES(LOSS_ROW)};

enum { NAME_BYTES = 24 };
static rd_event_info infos[XS_EV_COUNT];
static char event_names[XS_EV_COUNT][NAME_BYTES], reason_names[XSR_REASON_COUNT][NAME_BYTES],
    loss_names[XS_LOSS_COUNT][NAME_BYTES];

static void lower(char *to, const char *from) {
    size_t i = 0;
    for (; from && from[i] && i + 1 < NAME_BYTES; i++)
        to[i] = (char)tolower((unsigned char)from[i]);
    to[i] = 0;
}

/* The value word is a rising sequence of the slot's: `value:sequence`, or a plain count of arrivals. */
static bool rises(const event_row *row) {
    if (row->object != XS_OBJECT_SLOT || !row->value)
        return false;
    const char *unit = strchr(row->value, ':');
    return unit && (strcmp(unit, ":sequence") == 0 || strcmp(row->value, "old:arrivals") == 0);
}

static void fill(void) {
    for (uint32_t i = 0; i < XS_EV_COUNT; i++) {
        lower(event_names[i], event_rows[i].name ? event_rows[i].name : "none");
        infos[i] = (rd_event_info){event_rows[i].shape, event_rows[i].object, rises(&event_rows[i])};
    }
    for (uint32_t i = 0; i < XSR_REASON_COUNT; i++)
        lower(reason_names[i], reasons[i]);
    for (uint32_t i = 0; i < XS_LOSS_COUNT; i++)
        lower(loss_names[i], losses[i]);
}

static void fill_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
}

/* Filled when a reader is opened (rd_names_ready): asked for once an event. */
const rd_event_info *rd_event_info_of(uint32_t kind) { return &infos[kind]; }

void rd_names_ready(void) {
    fill_once();
}

const char *xsr_event_name(uint32_t kind) {
    fill_once();
    return kind < XS_EV_COUNT ? event_names[kind] : "unknown";
}

const char *xsr_reason_name(uint32_t reason) {
    fill_once();
    return reason < XSR_REASON_COUNT ? reason_names[reason] : "unknown";
}

const char *xsr_loss_name(uint32_t cause) {
    fill_once();
    return cause < XS_LOSS_COUNT ? loss_names[cause] : "unknown";
}

const char *xsr_result_name(uint32_t result) {
    static const char *const names[] = {"OK", "TIMEOUT", "PEER_DEAD", "ABORTED"};
    return result < sizeof names / sizeof *names ? names[result] : "unknown";
}

const char *xsr_order_name(uint32_t order) {
    static const char *const names[] = {"none", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "weak"};
    return order < sizeof names / sizeof *names ? names[order] : "unknown";
}

const char *xsr_scope_name(uint32_t scope) {
    static const char *const names[] = {"none", "cta", "gpu", "sys"};
    return scope < sizeof names / sizeof *names ? names[scope] : "unknown";
}

#define CUPTI_NAME(number, name, text) #name,
#define CUPTI_TEXT(number, name, text) text,

const char *xsr_cupti_name(uint32_t state) {
    static const char *const names[] = {XS_CUPTI_STATES(CUPTI_NAME)};
    return state < XS_CUPTI_STATE_COUNT ? names[state] : "unknown";
}

const char *xsr_cupti_meaning(uint32_t state) {
    static const char *const texts[] = {XS_CUPTI_STATES(CUPTI_TEXT)};
    return state < XS_CUPTI_STATE_COUNT ? texts[state] : "unknown";
}

const char *xsr_activity_name(uint32_t kind) {
    static const char *const names[] = {"none", "kernel", "copy", "call"};
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* CUPTI's numbers (CUpti_ActivityMemcpyKind). */
const char *xsr_copy_name(uint32_t copy) {
    static const char *const names[] = {
        "copy",           "host to device",  "device to host",  "host to array",    "array to host",
        "array to array", "array to device", "device to array", "device to device", "host to host",
        "device to peer"};
    copy &= 255;
    return copy < sizeof names / sizeof *names ? names[copy] : "copy";
}
