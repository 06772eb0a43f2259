/* Bounded captures: a folder of segments. The sum of all segments, with the space allocated for the newest, stays
 * under the bound at every moment: the oldest is removed first, then room is used. */
#include "capture_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/activity.h>

#include "world.h"

#define SEGMENTS 8u /* that share the bound: an eighth of the history goes at a time */

/* What a file takes on its disk. */
static uint64_t whole_blocks(uint64_t bytes) { return (bytes + 4095) & ~(uint64_t)4095; }

static void segment_name(char name[32], uint64_t number) {
    snprintf(name, 32, "%06llu.seg", (unsigned long long)number);
}

static int is_segment(const char *name) {
    size_t digits = strspn(name, "0123456789");
    return digits >= 6 && !strcmp(name + digits, ".seg");
}

static DIR *open_folder(int folder_fd) {
    int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a position of its own */
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

void xs_capture_remove_segments(int folder_fd) {
    DIR *folder = open_folder(folder_fd);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_segment(entry->d_name))
            unlinkat(folder_fd, entry->d_name, 0);
    closedir(folder);
}

int xs_capture_only_segments(int folder_fd) {
    DIR *folder = open_folder(folder_fd);
    int only = folder != NULL;
    for (struct dirent *entry; only && (entry = readdir(folder));)
        only = is_segment(entry->d_name) || !strcmp(entry->d_name, XS_CAPTURE_FIRST) || !strcmp(entry->d_name, ".") ||
               !strcmp(entry->d_name, "..");
    if (folder)
        closedir(folder);
    return only;
}

uint64_t xs_capture_segment_bytes(int folder_fd) {
    struct stat st;
    uint64_t bytes = 0;
    DIR *folder = open_folder(folder_fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_segment(entry->d_name) && !fstatat(folder_fd, entry->d_name, &st, 0))
            bytes += (uint64_t)st.st_blocks * 512;
    if (folder)
        closedir(folder);
    return bytes;
}

static int open_segment(xs_capture *c) {
    char name[32];
    segment_name(name, c->segment);
    const char *at = c->begun ? name : XS_CAPTURE_FIRST; /* among the segments of an earlier capture */
    if (!c->begun)
        unlinkat(c->folder_fd, at, 0);
    c->fd = openat(c->folder_fd, at, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->fd < 0)
        return errno;
    c->written = c->allocated = 0;
    c->segment_records = 0;
    c->segment_begun = c->aged;
    c->segment_limit = c->segment_bytes;
    return 0;
}

int xs_capture_first_segment(xs_capture *c, const xs_capture_options *options) {
    c->bound_bytes = options->bound_bytes ? options->bound_bytes : UINT64_MAX;
    c->bound_ns = options->bound_ns;
    c->segment_bytes = options->bound_bytes ? (options->bound_bytes / SEGMENTS) & ~(uint64_t)4095 : UINT64_MAX / 2;
    c->segment_ns = options->bound_ns / SEGMENTS;
    return open_segment(c);
}

int xs_capture_name_first(xs_capture *c) {
    char name[32];
    segment_name(name, c->segment);
    xs_capture_remove_segments(c->folder_fd);
    return renameat(c->folder_fd, XS_CAPTURE_FIRST, c->folder_fd, name) ? errno : 0;
}

int xs_capture_remove_oldest(xs_capture *c) {
    if (!c->kept_count)
        return 0;
    char name[32];
    uint64_t number = c->kept[0].number;
    segment_name(name, number);
    int fd = c->owner.segment_removed ? openat(c->folder_fd, name, O_RDONLY | O_CLOEXEC) : -1;
    unlinkat(c->folder_fd, name, 0);
    c->kept_bytes -= c->kept[0].bytes;
    c->removed_records += c->kept[0].records;
    c->kept_count--;
    memmove(&c->kept[0], &c->kept[1], c->kept_count * sizeof c->kept[0]);
    c->dropped++;
    c->crowded = 0;
    if (c->owner.segment_removed)
        c->owner.segment_removed(c->owner.user, number, fd);
    if (fd >= 0)
        close(fd);
    return 1;
}

/* Clocks are read once a second (JOURNAL, ACTIVITY) whatever the program does. */
static int tells_of_work(const xs_frame *frame, const char *payload) {
    xs_activity_entry entry;
    if (frame->type != XS_FRAME_ACTIVITY)
        return frame->type == XS_FRAME_RECORDS;
    for (uint64_t at = 0; at + sizeof entry <= frame->payload_bytes; at += sizeof entry) {
        memcpy(&entry, payload + at, sizeof entry);
        if (entry.kind == XS_ACTIVITY_KERNEL || entry.kind == XS_ACTIVITY_COPY)
            return 1;
    }
    return 0;
}

/* A silence counts as one segment at most, so that what ends it (waits that give up, the next step of a program that
 * stood) is not all that is kept either. */
void xs_capture_age(xs_capture *c, const xs_frame *frame, const char *payload) {
    if (!c->bound_ns || c->rotating || !tells_of_work(frame, payload))
        return;
    uint64_t since = c->aged_at && c->now > c->aged_at ? c->now - c->aged_at : 0;
    c->aged += since < c->segment_ns ? since : c->segment_ns;
    c->aged_at = c->now;
}

static void remove_aged(xs_capture *c) {
    while (c->bound_ns && c->kept_count && c->aged - c->kept[0].aged >= c->bound_ns)
        xs_capture_remove_oldest(c);
}

/* All that is kept, and a newest segment of `newest` bytes, stay under the bound. */
static void remove_above(xs_capture *c, uint64_t newest) {
    newest = whole_blocks(newest);
    while (c->kept_count && (c->kept_count >= XS_CAPTURE_MOST_SEGMENTS - 1 || newest > c->bound_bytes ||
                             c->kept_bytes > c->bound_bytes - newest))
        xs_capture_remove_oldest(c);
}

/* Ends the newest segment; 0 or an error. */
static int end_segment(xs_capture *c) {
    if (c->fd < 0)
        return 0;
    int rc = xs_capture_flush(c);
    if (rc)
        return rc;
    kept_segment done = {
        .number = c->segment, .bytes = whole_blocks(c->written), .records = c->segment_records, .aged = c->aged};
    rc = xs_capture_close_file(c);
    c->kept[c->kept_count++] = done;
    c->kept_bytes += done.bytes;
    if (c->owner.segment_ends)
        c->owner.segment_ends(c->owner.user, done.number);
    c->segment++;
    return rc;
}

static int rotate(xs_capture *c) {
    int rc = end_segment(c);
    if (rc)
        return rc;
    remove_aged(c);
    remove_above(c, c->segment_bytes);
    int number = open_segment(c);
    if (number)
        return xs_capture_failed(c, number);
    c->rotating = 1;
    rc = xs_capture_put_file_frame(c);
    if (!rc && c->owner.segment_begins)
        c->owner.segment_begins(c->owner.user, c);
    c->rotating = 0;
    uint64_t head = c->written + c->claimed;
    if (head > c->segment_limit / 2) /* a large catalog: as much again, or half of what is left */
        c->segment_limit = head < c->bound_bytes / 3
                               ? 2 * head
                               : head + (c->bound_bytes - (head < c->bound_bytes ? head : c->bound_bytes)) / 2;
    return rc;
}

/* Time for a new segment? */
static int due(const xs_capture *c, uint64_t size, uint64_t bytes) {
    if (c->fd < 0)
        return c->now >= c->retry_at || c->closing;
    int aged = c->segment_ns && c->aged - c->segment_begun >= c->segment_ns && size > bytes;
    return size > c->segment_limit || aged;
}

int xs_capture_bound(xs_capture *c, uint64_t bytes) {
    uint64_t size = c->written + c->claimed + bytes;
    if (!c->rotating && due(c, size, bytes)) {
        int rc = rotate(c);
        if (rc)
            return rc;
        size = c->written + c->claimed + bytes;
    }
    if (c->fd < 0)
        return c->error;
    if (size > c->bound_bytes)
        return xs_capture_failed(c, ENOSPC);
    remove_above(c, size > c->segment_limit ? size : c->segment_limit);
    return 0;
}
