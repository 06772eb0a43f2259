#include "frames.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/frame.h>

/* What is known of sequences at least (record.h): in two words, of rings of 4. */
#define RANGE (XS_RECORD_WORDS == 2 ? XS_SEQUENCE_MASK & 0x3ffffu : XS_SEQUENCE_MASK)

static void wrong(frames *f, const char *what, uint64_t a, uint64_t b) {
    if (!f->wrong)
        snprintf(f->what, sizeof f->what, "%s: %llu, expected %llu", what, (unsigned long long)a, (unsigned long long)b);
    f->wrong = 1;
}

static ring_account *account(frames *f, uint64_t process, uint32_t ring) {
    uint32_t n = 0;
    while (n < 3 && f->processes[n] && f->processes[n] != process)
        n++;
    f->processes[n] = process;
    if (ring >= FRAMES_RINGS_OF_PROCESS) {
        wrong(f, "ring", ring, 0);
        ring = 0;
    }
    return &f->rings[n * FRAMES_RINGS_OF_PROCESS + ring];
}

static void records(frames *f, const xs_frame *frame, const char *payload) {
    xs_frame_records head;
    memcpy(&head, payload, sizeof head);
    ring_account *ring = account(f, frame->process, frame->ring);
    if (frame->payload_bytes != sizeof head + head.count * sizeof(xs_record))
        wrong(f, "records frame", frame->payload_bytes, head.count);
    if (ring->next ? head.first != ring->next : head.first != 1 && !ring->removed_to)
        wrong(f, "first of a records frame", head.first, ring->next);
    for (uint64_t i = 0; i < head.count; i++) {
        xs_record record;
        memcpy(&record, payload + sizeof head + i * sizeof record, sizeof record);
        if (record.sequence != ((uint32_t)(head.first + i) & XS_SEQUENCE_MASK))
            wrong(f, "stamp", record.sequence, head.first + i);
        /* After a gap of "at least", positions may be whole ranges behind. */
        uint32_t off = record.value - (uint32_t)(head.first + i);
        if (!f->any_value && (ring->at_least ? off & RANGE : off))
            wrong(f, "value", record.value, head.first + i);
    }
    if (!ring->kept)
        ring->first = head.first;
    ring->kept += head.count;
    ring->next = head.first + head.count;
}

static void losses(frames *f, const xs_frame *frame, const char *payload) {
    for (uint64_t i = 0; i < frame->payload_bytes / sizeof(xs_frame_loss); i++) {
        xs_frame_loss loss;
        memcpy(&loss, payload + i * sizeof loss, sizeof loss);
        ring_account *ring = account(f, frame->process, loss.ring);
        if (loss.cause == XS_LOSS_BOUNDED || (loss.cause == XS_LOSS_NO_SPACE && loss.first == 1 && f->dropped_segments)) { /* cumulative */
            ring->removed_to = loss.last;
            ring->removed_by = loss.cause;
            continue;
        }
        if (ring->next ? loss.first != ring->next : loss.first != 1 && !ring->removed_to)
            wrong(f, "first of a loss", loss.first, ring->next);
        if (loss.last < loss.first || loss.cause >= XS_LOSS_COUNT)
            wrong(f, "loss", loss.last, loss.first);
        ring->lost += loss.last - loss.first + 1;
        ring->lost_by[loss.cause < XS_LOSS_COUNT ? loss.cause : 0] += loss.last - loss.first + 1;
        ring->at_least |= loss.at_least;
        ring->gaps++;
        ring->next = loss.last + 1;
    }
}

static void text(char *to, size_t size, const char *payload, uint64_t bytes) {
    size_t n = bytes < size ? (size_t)bytes : size;
    memcpy(to, payload, n);
    to[size - 1] = 0;
}

static void one(frames *f, const xs_frame *frame, const char *payload) {
    switch (frame->type) {
    case XS_FRAME_FILE: {
        xs_frame_file file;
        memcpy(&file, payload, sizeof file);
        f->dropped_segments = file.dropped_segments;
        break;
    }
    case XS_FRAME_RECORDS: records(f, frame, payload); break;
    case XS_FRAME_LOSS: losses(f, frame, payload); break;
    case XS_FRAME_STATUS: f->open_waits += frame->payload_bytes / sizeof(xs_frame_status); break;
    case XS_FRAME_PROCESS_END: memcpy(&f->end, payload, sizeof f->end); break;
    case XS_FRAME_NOTE: text(f->note, sizeof f->note, payload, frame->payload_bytes); break;
    case XS_FRAME_TRIGGER: text(f->trigger, sizeof f->trigger, payload, frame->payload_bytes); break;
    default: break;
    }
    if (f->each)
        f->each(f->user, frame, payload);
}

void frames_bytes(frames *f, const void *bytes, uint64_t size) {
    const char *at = bytes;
    uint64_t offset = 0;
    xs_frame frame;
    while (size - offset >= sizeof frame) {
        memcpy(&frame, at + offset, sizeof frame);
        if (frame.magic != XS_FRAME_MAGIC || frame.header_bytes != sizeof frame || frame.type >= XS_FRAME_COUNT)
            break;
        uint64_t room = size - offset - sizeof frame;
        if (frame.payload_bytes > room || xs_frame_padded(frame.payload_bytes) > room)
            break;
        const char *payload = at + offset + sizeof frame;
        if (xs_frame_checksum(&frame, payload) != frame.checksum)
            wrong(f, "checksum of frame", frame.number, 0);
        if (f->frames && frame.number != f->next_number)
            wrong(f, "frame number", frame.number, f->next_number);
        if (!f->frames++)
            f->first_number = frame.number;
        f->next_number = frame.number + 1;
        f->counts[frame.type]++;
        one(f, &frame, payload);
        offset += sizeof frame + xs_frame_padded(frame.payload_bytes);
    }
    f->bytes += size;
    f->whole_bytes += offset;
    f->cut = offset != size;
}

static int file(frames *f, int folder, const char *name) {
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    char *bytes = malloc((size_t)status.st_size + 1);
    uint64_t done = 0;
    ssize_t n;
    while (done < (uint64_t)status.st_size && (n = read(fd, bytes + done, (size_t)status.st_size - done)) > 0)
        done += (uint64_t)n;
    close(fd);
    frames_bytes(f, bytes, done);
    free(bytes);
    return 0;
}

static int segment(const struct dirent *entry) { return strstr(entry->d_name, ".seg") != NULL; }

int frames_read(frames *f, const char *path) {
    struct stat status;
    if (stat(path, &status))
        return -1;
    if (S_ISREG(status.st_mode))
        return file(f, AT_FDCWD, path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirent **names;
    int count = scandir(path, &names, segment, alphasort), rc = count > 0 ? 0 : -1;
    for (int i = 0; i < count; i++) {
        if (i == 0)
            f->first_segment = strtoull(names[i]->d_name, NULL, 10);
        if (!rc)
            rc = file(f, folder, names[i]->d_name);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    close(folder);
    return rc;
}
