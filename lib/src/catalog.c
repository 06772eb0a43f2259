/* The catalog: frames that describe (process, names, pads, plan), kept in the region, so that a capture made after a
 * crash still knows every name. Append only; a frame counts once catalog_used covers it. Its memory grows with it,
 * up to catalog_bytes. */
#include <stdlib.h>
#include <unistd.h>
#include <xs/frame.h>

#include "identity.h"
#include "objects.h"

static uint64_t frame_bytes(uint64_t payload) { return sizeof(xs_frame) + xs_frame_padded(payload); }

static int make_room(xs_world *world, uint64_t bytes) {
    const xs_region_header *h = xs_region(world);
    if (bytes > h->catalog_bytes - h->catalog_used)
        return xs_fail(XS_E_TOO_MANY,
                       "names, pads and plan take more than XS_CATALOG_BYTES (%llu): raise it, or hand more entries to "
                       "each call of xs_plan_add",
                       (unsigned long long)h->catalog_bytes);
    return xs_region_catalog_grow(world, h->catalog_used + bytes);
}

/* Payload = head, then further bytes. There is room. */
static void put(xs_world *world, uint16_t type, const void *head, size_t head_bytes, const void *rest,
                size_t rest_bytes) {
    xs_region_header *h = xs_region(world);
    xs_frame *frame = (xs_frame *)(world->region + h->catalog_offset + h->catalog_used);
    char *payload = (char *)(frame + 1);
    memcpy(payload, head, head_bytes);
    if (rest_bytes) memcpy(payload + head_bytes, rest, rest_bytes);
    xs_frame_fill(frame, type, h, -1, UINT32_MAX, xs_world_now(world));
    frame->number = xs_objects_of(world)->catalog_frames++;
    xs_frame_seal(frame, payload, head_bytes + rest_bytes);
    __atomic_store_n(&h->catalog_used, h->catalog_used + frame_bytes(head_bytes + rest_bytes), __ATOMIC_RELEASE);
}

static int append(xs_world *world, uint16_t type, const void *head, size_t head_bytes, const void *rest,
                  size_t rest_bytes) {
    int rc = make_room(world, frame_bytes(head_bytes + rest_bytes));
    if (!rc) put(world, type, head, head_bytes, rest, rest_bytes);
    return rc;
}

int xs_catalog_name(xs_world *world, uint32_t kind, uint32_t id, const char *name) {
    xs_frame_name head = {.kind = kind, .id = id};
    return append(world, XS_FRAME_NAME, &head, sizeof head, name, strlen(name) + 1);
}

int xs_catalog_pad(xs_world *world, const xs_pad *pad, const char *name, const char *row_label,
                   const char *column_label) {
    xs_frame_pad head = {.first = pad->first,
                         .rows = pad->rows,
                         .columns = pad->columns,
                         .flags = pad->flags,
                         .owners = world->config.ranks};
    const char *strings[3] = {name, row_label ? row_label : "", column_label ? column_label : ""};
    char text[3 * (XS_NAME_BYTES + 1)];
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(strings[i]) + 1;
        if (n > sizeof text - used) return XS_E_NAME;
        memcpy(text + used, strings[i], n);
        used += n;
    }
    return append(world, XS_FRAME_PAD, &head, sizeof head, text, used);
}

#define PLAN_FRAME 8192ull /* entries: a collector takes a frame whole */

int xs_catalog_plan(xs_world *world, const xs_plan_entry *entries, uint32_t count) {
    uint64_t frames = ((uint64_t)count + PLAN_FRAME - 1) / PLAN_FRAME;
    int rc = make_room(world, frames * (sizeof(xs_frame) + 16) + (uint64_t)count * sizeof *entries);
    for (uint64_t at = 0, n; at < count && !rc; at += n) {
        n = count - at < PLAN_FRAME ? count - at : PLAN_FRAME;
        put(world, XS_FRAME_PLAN, entries + at, n * sizeof *entries, NULL, 0);
    }
    return rc;
}

/* Host name, command line, executable; on sim what does not differ between runs. */
static size_t process_strings(const xs_world *world, char *text, size_t size) {
    if (xs_region(world)->virtual_time) {
        memcpy(text, "sim\0\0", 6);
        return 6;
    }
    if (gethostname(text, 256)) text[0] = 0;
    text[255] = 0;
    size_t used = strlen(text) + 1;
    size_t n = xs_identity_file("/proc/self/cmdline", text + used, size - used - 4096);
    for (size_t i = 0; i + 1 < n; i++)
        if (!text[used + i]) text[used + i] = ' ';
    used += strlen(text + used) + 1;
    ssize_t m = readlink("/proc/self/exe", text + used, 4095);
    used += m > 0 ? (size_t)m : 0;
    text[used++] = 0;
    return used;
}

int xs_catalog_process(xs_world *world) {
    char text[256 + 8192 + 4096];
    size_t bytes = process_strings(world, text, sizeof text);
    xs_frame_process head = {.region = *xs_region(world), .strings_bytes = bytes};
    head.region.record_words = 0; /* of the capture that it goes into */
    return append(world, XS_FRAME_PROCESS, &head, sizeof head, text, bytes);
}

int xs_catalog_note(xs_world *world, const char *text) {
    return append(world, XS_FRAME_NOTE, text, strlen(text) + 1, NULL, 0);
}
