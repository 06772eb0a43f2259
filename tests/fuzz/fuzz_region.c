/* Fuzz target of all that reads regions: any bytes are taken for one, by the collector (as a recorder does with the
 * memory of a process that may have been killed) and by xs hang. Without libFuzzer, main makes a real region, and cuts
 * and flips it in a thousand ways. argv: for libFuzzer's corpus a file, where the region is left as it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "collector.h"
#include "frames.h"
#include "hang.h"
#include "image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/xs-fuzz-XXXXXX", path[64];

/* ---- the collector ---- */

static uint64_t tell_time(void *clock) { return *(uint64_t *)clock += 600000000; }

/* A record is taken from where its sequence says that it stands. */
static void see_frame(void *view_of_region, const xs_frame *frame, const void *payload) {
    const xs_region_view *view = view_of_region;
    xs_frame_records head;
    if (frame->type != XS_FRAME_RECORDS)
        return;
    memcpy(&head, payload, sizeof head);
    require(frame->ring < view->rings && head.count <= view->head.ring_records);
    const xs_record *ring = xs_view_records(view, frame->ring);
    for (uint64_t i = 0; i < head.count; i++) {
        const xs_record *slot = &ring[(head.first + i) & (view->head.ring_records - 1)];
        xs_record stands;
        require(xs_slot_load(view->head.record_words, slot, xs_view_shift(view), (uint32_t)(head.first + i), &stands));
        require(!memcmp(&stands, (const char *)payload + sizeof head + i * sizeof stands, sizeof stands));
        require(stands.sequence == (uint32_t)(head.first + i));
    }
}

static int taken; /* regions that were accepted */

static void collect(void *base, size_t size) {
    uint64_t clock = 1000000000;
    xs_capture_options file = {.name = path};
    xs_collector_options options = {.now = tell_time, .user = &clock};
    xs_collector *collector;
    xs_collected *region;
    require(!xs_capture_open(&file, &options.capture) && !xs_collector_create(&options, &collector));
    int rc = xs_collector_add(collector, base, size, 0, &region);
    require(rc == 0 || rc == XS_E_FORMAT || rc == XS_E_VERSION);
    if (rc) {
        require(!xs_collector_close(collector));
        return;
    }
    taken++;
    xs_region_view view = *xs_collected_view(region);
    xs_frame_end end = {.exit_status = 137};
    xs_collector_pass(collector);
    xs_collector_dump(collector, "a wait gave up");
    xs_collector_end(collector, region, &end);
    require(!xs_collector_close(collector));
    static frames f;
    memset(&f, 0, sizeof f);
    f.each = see_frame;
    f.user = &view;
    require(!frames_read(&f, path));
    check_capture(path, 1);
}

/* ---- xs hang, which is handed the region in place of what it finds ---- */

static xs_attached attached;
int __wrap_xs_attach_find(const int32_t *pids, uint32_t count, xs_attach_set *set);
void __wrap_xs_attach_free(xs_attach_set *set);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_xs_attach_find(const int32_t *pids, uint32_t count, xs_attach_set *set) {
    (void)pids, (void)count;
    *set = (xs_attach_set){.regions = &attached, .count = 1};
    return 0;
}

void __wrap_xs_attach_free(xs_attach_set *set) { (void)set; }

int __wrap_nanosleep(const struct timespec *time, struct timespec *left) { /* between its two looks */
    (void)time, (void)left;
    return 0;
}

/* The same bytes as a file. */
static void hang_afterwards(const void *bytes, size_t size) {
    char name[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    check_hang(name);
    close(fd);
}

static void hang(void *base, size_t size) {
    hang_report report;
    attached = (xs_attached){.pid = 1, .holder = 1, .run_state = 'S', .fd = -1};
    if (xs_region_view_open(&attached.view, base, size))
        return;
    FILE *nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL && !hang_read(NULL, 0, &report));
    hang_print_text(&report, 10, nowhere);
    hang_print_json(&report, nowhere);
    hang_free(&report);
    fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *copy = NULL;
    if (!*path) {
        require(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/region.xs", folder);
    }
    require(!posix_memalign(&copy, 64, size + !size)); /* as aligned as a mapping has to be, and not a byte longer */
    memcpy(copy, data, size);
    hang(copy, size);
    hang_afterwards(copy, size);
    collect(copy, size);
    free(copy);
    return 0;
}

#ifndef XS_FUZZ_ENGINE
#define CHANGES 1000

/* A byte in one of the region's parts, so that large and empty ones do not take all changes. */
static size_t place(const xs_region_header *h, unsigned *seed) {
    const uint64_t parts[][2] = {{0, sizeof *h},
                                 {h->control_offset, sizeof(xs_control)},
                                 {h->groups_offset, 8 * h->ranks},
                                 {h->ring_headers_offset, 2 * h->ring_header_stride},
                                 {h->status_offset, 4 * h->status_stride},
                                 {h->records_offset, 2 * h->records_stride},
                                 {h->catalog_offset, h->catalog_used},
                                 {h->journal_offset, 16 * sizeof(xs_journal_entry)}};
    const uint64_t *part = parts[(unsigned)rand_r(seed) % (sizeof parts / sizeof *parts)];
    return part[0] + (unsigned)rand_r(seed) % part[1];
}

static size_t change(unsigned char *copy, size_t size, int i, unsigned *seed) {
    xs_region_header *h = (xs_region_header *)(void *)copy, real = *h;
    for (int k = 0; k < 1 + i % 6; k++)
        copy[place(&real, seed)] ^= (unsigned char)(1u << (rand_r(seed) & 7));
    if (i % 5)
        return size;
    size = (size_t)rand_r(seed) % size; /* cut off; half of those say so in their header, and might be taken */
    if (i % 2 && size >= sizeof *h)
        h->total_bytes = size;
    return size;
}

static void leave(const char *name, const unsigned char *image, size_t size) {
    FILE *out = fopen(name, "wb");
    require(out != NULL && fwrite(image, 1, size, out) == size && fclose(out) == 0);
}

int main(int argc, char **argv) {
    size_t size = 0;
    unsigned seed = 1;
    unsigned char *image = image_make(&size), *copy = malloc(size);
    require(image != NULL && copy != NULL);
    if (argc > 1 && *argv[1])
        leave(argv[1], image, size);
    LLVMFuzzerTestOneInput(image, size);
    for (int i = 0; i < CHANGES; i++) {
        memcpy(copy, image, size);
        LLVMFuzzerTestOneInput(copy, change(copy, size, i, &seed));
    }
    printf("a region of %zu bytes, changed in %d ways, of which %d were read\n", size, CHANGES, taken);
    require(taken > CHANGES / 4); /* else little was tried */
    free(image);
    free(copy);
    unlink(path);
    return rmdir(folder);
}
#endif
