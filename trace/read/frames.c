/* Walks the frames of a file. A frame is taken only if its magic, length and checksum are right; behind anything else
 * the next frame is searched for at the next multiple of 16 bytes. */
#include "internal.h"

#include <xs/events_hash.h>
#include <xs/frame.h>

typedef struct walk {
    xsr_reader *reader;
    const rd_file *file;
    uint64_t at, budget; /* budget: bytes that may still be hashed in vain, so that hostile files cost linear time */
    uint64_t frames, bad_at, bad_since, expected;
    bool bad, numbered;
} walk;

static const xs_frame *head_at(const walk *w, uint64_t at) {
    return (const xs_frame *)(const void *)(w->file->bytes + at);
}

static bool plausible(const xs_frame *f) {
    return f->magic == XS_FRAME_MAGIC && f->header_bytes >= sizeof *f && f->header_bytes % 16 == 0 && f->type > 0;
}

static bool fits(const walk *w, uint64_t at) {
    const xs_frame *f = head_at(w, at);
    uint64_t left = w->file->size - at;
    return f->header_bytes <= left && f->payload_bytes <= left - f->header_bytes;
}

static bool whole_frame(walk *w, uint64_t at) {
    if (w->file->size - at < sizeof(xs_frame) || !plausible(head_at(w, at)) || !fits(w, at))
        return false;
    const xs_frame *f = head_at(w, at);
    if (xs_frame_checksum(f, w->file->bytes + at + f->header_bytes) == f->checksum)
        return true;
    w->budget -= f->payload_bytes < w->budget ? f->payload_bytes : w->budget;
    return false;
}

/* The next whole frame at or after `at`; the file's size if there is none. */
static uint64_t search(walk *w, uint64_t at) {
    for (; at + sizeof(xs_frame) <= w->file->size && w->budget; at += 16)
        if (head_at(w, at)->magic == XS_FRAME_MAGIC && whole_frame(w, at))
            return at;
    return w->file->size;
}

static bool all_zero(const walk *w, uint64_t at) {
    for (; at < w->file->size; at++)
        if (w->file->bytes[at])
            return false;
    return true;
}

static void tail(walk *w) {
    xsr_model *m = &w->reader->model;
    uint64_t left = w->file->size - w->at;
    if (all_zero(w, w->at))
        return; /* room that was reserved and not used */
    m->cut = true;
    bool begun = left < sizeof(xs_frame) || (plausible(head_at(w, w->at)) && !fits(w, w->at));
    if (!begun) {
        m->damaged_frames++;
        m->damaged_bytes += left;
    }
}

static void note_numbers(walk *w, const xs_frame *f, uint64_t damaged) {
    if (w->numbered && f->number > w->expected && f->number - w->expected > damaged)
        w->reader->model.missing_frames += f->number - w->expected - damaged;
    w->expected = f->number + 1;
    w->numbered = true;
}

static int version_of(walk *w, const xs_frame *f, const unsigned char *payload) {
    xs_frame_file file;
    if (f->type != XS_FRAME_FILE || f->payload_bytes < sizeof file)
        return 0;
    memcpy(&file, payload, sizeof file);
    if (memcmp(file.magic, XS_CAPTURE_MAGIC, sizeof XS_CAPTURE_MAGIC) != 0)
        return 0;
    if (file.version > XS_CAPTURE_VERSION)
        return rd_fail(w->reader, XS_E_VERSION,
                       "%s: written by a newer version of xs (capture version %u, this one reads up to %u)",
                       w->file->path, file.version, XS_CAPTURE_VERSION);
    if (file.dropped_segments)
        w->reader->trimmed = true;
    if (w->reader->other_events || !file.events_hash || file.events_hash == xs_events_hash_value())
        return 0;
    w->reader->other_events = true;
    return rd_note(w->reader,
                   "%s: written by a build of xs with another table of events: records of events that this one does "
                   "not know are left out",
                   w->file->path);
}

static int take(walk *w) {
    const xs_frame *f = head_at(w, w->at);
    const unsigned char *payload = w->file->bytes + w->at + f->header_bytes;
    uint64_t bytes = f->header_bytes + xs_frame_padded(f->payload_bytes);
    int rc = version_of(w, f, payload);
    if (rc == 0)
        rc = rd_take_frame(w->reader, f, payload);
    if (rc < 0)
        return rc;
    if (rc == 0) { /* whole, but what it says cannot be */
        w->reader->model.damaged_frames++;
        w->reader->model.damaged_bytes += bytes;
    }
    w->frames++;
    w->at = bytes < w->file->size - w->at ? w->at + bytes : w->file->size;
    return 0;
}

int rd_scan_file(xsr_reader *reader, const rd_file *file) {
    walk w = {.reader = reader, .file = file, .budget = file->size * 8 + (1u << 26)};
    uint64_t skipped = 0;
    while (w.at < file->size) {
        uint64_t next = whole_frame(&w, w.at) ? w.at : search(&w, w.at + 16);
        if (next >= file->size)
            break;
        if (next != w.at) {
            reader->model.damaged_frames++;
            reader->model.damaged_bytes += next - w.at;
            skipped++;
        }
        w.at = next;
        note_numbers(&w, head_at(&w, w.at), skipped);
        skipped = 0;
        int rc = take(&w);
        if (rc < 0)
            return rc;
    }
    if (w.frames == 0)
        return rd_fail(reader, XS_E_FORMAT, "%s: not an xs capture", file->path);
    if (w.at < file->size)
        tail(&w);
    return 0;
}
