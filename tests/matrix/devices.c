/* Makes a capture of one host clock into one in which every rank has a GPU's clock of its own, known to within shift_ns: the
 * clocks agree, but nobody knows it. What --shift then moves lies within the bound. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>
#include <xs/frame.h>

typedef struct rewrite {
    const char *from;
    char *to;
    uint64_t size, out, number;
    uint64_t first_time, last_time, sequence; /* of records; of the journal */
    uint32_t ranks;
    xs_frame like; /* a frame of the process */
} rewrite;

static const xs_frame *frame_at(const rewrite *w, uint64_t at) {
    const xs_frame *f = (const xs_frame *)(const void *)(w->from + at);
    bool whole = w->size - at >= sizeof *f && f->magic == XS_FRAME_MAGIC && f->header_bytes + f->payload_bytes <= w->size - at;
    return whole ? f : NULL;
}
static uint64_t bytes_of(const xs_frame *f) { return f->header_bytes + xs_frame_padded(f->payload_bytes); }

/* Ranks, the journal's end, and from when to when there are records. */
static int survey(rewrite *w) {
    w->first_time = UINT64_MAX;
    for (uint64_t at = 0; at < w->size;) {
        const xs_frame *f = frame_at(w, at);
        if (!f)
            return XS_E_FORMAT;
        const char *payload = (const char *)f + f->header_bytes;
        if (f->type == XS_FRAME_JOURNAL)
            for (uint64_t i = 0; i < f->payload_bytes / sizeof(xs_journal_entry); i++) {
                uint64_t sequence = ((const xs_journal_entry *)(const void *)payload)[i].sequence;
                w->sequence = sequence > w->sequence ? sequence : w->sequence;
            }
        if (f->type == XS_FRAME_RECORDS) {
            w->ranks = (uint32_t)f->rank + 1 > w->ranks ? (uint32_t)f->rank + 1 : w->ranks;
            w->first_time = f->time < w->first_time ? f->time : w->first_time;
            w->last_time = f->time > w->last_time ? f->time : w->last_time;
            w->like = *f;
        }
        at += bytes_of(f);
    }
    return w->ranks ? 0 : XS_E_FORMAT;
}

static void put(rewrite *w, const xs_frame *head, const void *payload, uint64_t bytes) {
    xs_frame *f = (xs_frame *)(void *)(w->to + w->out);
    char *to = w->to + w->out + sizeof *f;
    *f = *head;
    f->header_bytes = sizeof *f;
    f->number = w->number++;
    memcpy(to, payload, bytes);
    if (head->type == XS_FRAME_PROCESS) { /* sim has one clock, and no device: as a process on CUDA has it, whose threads record nothing */
        xs_frame_process *p = (xs_frame_process *)(void *)to;
        p->region.virtual_time = 0;
        p->region.device = 0;
    }
    memset(to + bytes, 0, xs_frame_padded(bytes) - bytes);
    xs_frame_seal(f, to, bytes);
    w->out += sizeof *f + xs_frame_padded(bytes);
}

/* Two samples a rank, with a bracket whose half is the bound. */
static void put_clocks(rewrite *w, uint64_t bound) {
    for (uint32_t rank = 0; rank < w->ranks; rank++)
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t time = i ? w->last_time : w->first_time - 100000;
            xs_journal_entry e = {.sequence = ++w->sequence, .kind = XS_JOURNAL_CLOCK, .a = rank + 1, .c = time, .d = time, .e = 2 * bound};
            xs_frame head = w->like;
            head.type = XS_FRAME_JOURNAL;
            head.ring = UINT32_MAX;
            head.rank = -1;
            put(w, &head, &e, sizeof e);
        }
}

static void copy(rewrite *w, uint64_t bound) {
    bool clocks = false;
    for (uint64_t at = 0; at < w->size; at += bytes_of(frame_at(w, at))) {
        xs_frame head = *frame_at(w, at);
        if (head.type == XS_FRAME_RECORDS && !clocks)
            put_clocks(w, bound), clocks = true;
        if (head.type == XS_FRAME_RECORDS)
            head.device = head.rank;
        put(w, &head, w->from + at + head.header_bytes, head.payload_bytes);
    }
}

int matrix_devices(const char *path, uint64_t bound) {
    rewrite w = {0};
    char *from = matrix_load(path, &w.size);
    w.from = from;
    int rc = from ? survey(&w) : XS_E_SYSTEM;
    if (rc == 0)
        w.to = malloc(w.size + 2ull * w.ranks * (sizeof(xs_frame) + sizeof(xs_journal_entry)));
    if (rc == 0 && !w.to)
        rc = XS_E_MEMORY;
    if (rc == 0) {
        copy(&w, bound);
        rc = matrix_store(path, w.to, w.out);
    }
    free(w.to);
    free(from);
    return rc;
}
