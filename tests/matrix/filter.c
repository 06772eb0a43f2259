/* Loss and clock errors, made in a capture: records are blanked where they stand, which the reader takes for a hole, or get
 * another time. Frames are sealed again. */
#include "matrix.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/frame.h>

typedef struct filter {
    const matrix_options *o;
    uint64_t state; /* splitmix64 */
    uint64_t seed;
    uint32_t left;  /* of a run of lost records */
    int64_t carry;  /* what the head of this event was shifted by */
} filter;

static uint64_t next(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Runs are as long as they are said to be at most, half of that in the mean, and so many fewer. */
static bool loses(filter *f) {
    uint32_t run = f->o->drop_run ? f->o->drop_run : 1;
    double begins = f->o->drop / ((run + 1) / 2.0), chance = (double)(next(&f->state) >> 11) * 0x1p-53;
    if (f->left)
        return f->left--, true;
    if (f->o->drop <= 0 || chance >= begins / (1 - f->o->drop + begins))
        return false;
    f->left = (uint32_t)(next(&f->state) % run);
    return true;
}

/* The same for all records of a rank. */
static int64_t shift_of(const filter *f, int32_t rank) {
    uint64_t state = f->seed * 1000003 + (uint64_t)rank;
    return f->o->shift_ns ? (int64_t)(next(&state) % (2 * f->o->shift_ns + 1)) - (int64_t)f->o->shift_ns : 0;
}

static void shift(filter *f, xs_record *r, int64_t by, bool detail) {
    if (r->code_object >> 24 != XS_CODE_MORE) {
        uint64_t time = (uint64_t)r->time + (uint64_t)by;
        f->carry = (int32_t)(time >> 32);
        r->time = (uint32_t)time;
    } else if (detail) {
        r->time += (uint32_t)f->carry; /* the high half of the time */
    }
}

static void filter_records(filter *f, const xs_frame *frame, char *payload) {
    uint64_t count = (frame->payload_bytes - sizeof(xs_frame_records)) / sizeof(xs_record);
    xs_record *records = (xs_record *)(void *)(payload + sizeof(xs_frame_records));
    int64_t by = shift_of(f, frame->rank);
    for (uint64_t i = 0; i < count; i++) {
        if (by)
            shift(f, &records[i], by, i > 0 && records[i - 1].code_object >> 24 == XS_CODE_FULL);
        if (loses(f))
            records[i] = (xs_record){0};
    }
}

static int filter_bytes(filter *f, char *bytes, uint64_t size) {
    for (uint64_t at = 0; at + sizeof(xs_frame) <= size;) {
        xs_frame *frame = (xs_frame *)(void *)(bytes + at);
        if (frame->magic != XS_FRAME_MAGIC || frame->payload_bytes > size - at - frame->header_bytes)
            return XS_E_FORMAT;
        if (frame->type == XS_FRAME_RECORDS) {
            filter_records(f, frame, bytes + at + frame->header_bytes);
            xs_frame_seal(frame, bytes + at + frame->header_bytes, frame->payload_bytes);
        }
        at += frame->header_bytes + xs_frame_padded(frame->payload_bytes);
    }
    return 0;
}

int matrix_filter(const char *path, const matrix_options *o, uint64_t seed) {
    filter f = {.o = o, .state = seed * 77, .seed = seed};
    if (o->drop <= 0 && o->shift_ns == 0)
        return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
        return fd < 0 ? XS_E_SYSTEM : (close(fd), XS_E_FORMAT);
    char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return XS_E_SYSTEM;
    int rc = filter_bytes(&f, bytes, (uint64_t)st.st_size);
    munmap(bytes, (size_t)st.st_size);
    return rc;
}
