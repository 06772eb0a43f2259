#include "ring_rate_load.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/frame.h>

#include "collector.h"
#include "identity.h"
#include "ring_reader.h"
#include "world.h"

#define WRITER_RECORDS 5u /* of a writer's begin and end */
#define MOST_THREADS 8u
#define OUT 4096u

XS_KERNEL_DECLARE(rate)

static void must(int rc, const char *what) {
    if (rc >= 0)
        return;
    fprintf(stderr, "ring_rate: %s: %s: %s\n", what, xs_strerror(rc), xs_error_detail());
    fflush(stdout);
    _exit(rc == XS_E_BACKEND ? 77 : 2);
}

static uint64_t now_boot(void *user) {
    (void)user;
    return xs_clock_boot();
}

void load_open(load *l, const load_shape *shape) {
    memset(l, 0, sizeof *l);
    l->shape = *shape;
    l->warps = shape->blocks * (shape->block / 32);
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = shape->backend,
                        .ranks = 1,
                        .placement = shape->placement,
                        .ring_records = shape->ring_records,
                        .rings = (l->warps + 63) / 64 * 64};
    must(xs_world_create(&config, &l->world), "world");
    must(xs_buffer_create(l->world, "counts", l->warps * sizeof(uint64_t), &l->args.counts), "buffer");
    l->args.mark = (uint32_t)xs_mark_name(l->world, "tick");
}

void load_close(load *l) { must(xs_world_destroy(l->world), "end of the world"); }

void load_start(load *l, double rate, double seconds, uint32_t most) {
    xs_launch_config config = {.size = sizeof config, .grid = l->shape.blocks, .block = l->shape.block};
    l->args.ns = (uint64_t)(seconds * 1e9);
    l->args.rate = rate > 0 ? (uint64_t)(rate / l->warps / 1e9 * 4294967296.0) + 1 : 0;
    l->args.most = most;
    must(xs_launch(l->world, &rate_kernel, &config, &l->args, sizeof l->args), "launch");
}

uint64_t load_wait(load *l) {
    uint64_t sum = 0;
    uint64_t *counts = calloc(l->warps, sizeof *counts);
    must(xs_sync(l->world), "kernel");
    must(xs_buffer_read(l->world, &l->args.counts, 0, 0, counts, l->warps * sizeof *counts), "counts");
    for (uint32_t i = 0; i < l->warps; i++)
        sum += counts[i] + WRITER_RECORDS;
    free(counts);
    return sum;
}

/* One thread's rings. */
typedef struct share {
    const xs_region_view *view;
    xs_ring_reader *readers;
    uint32_t first, count;
    int *over; /* the kernel has ended and everything is copied */
    uint64_t kept, lost;
} share;

static void drain(share *s, uint32_t ring, int quiet) {
    static _Thread_local xs_record out[OUT];
    xs_ring_reader *r = &s->readers[ring];
    xs_ring_header *header = r->header;
    uint64_t now = header->placement ? __atomic_load_n(&header->image_time, __ATOMIC_ACQUIRE) : xs_clock_boot();
    xs_ring_quiet how = {quiet, quiet ? __atomic_load_n(&header->next, __ATOMIC_ACQUIRE) : 0};
    if (!now && !quiet)
        return;
    uint32_t taken;
    xs_ring_gap gap;
    int result;
    do {
        result = xs_ring_drain(r, out, OUT, &taken, &gap, how, now);
        s->kept += taken;
        if (result == XS_DRAIN_GAP)
            s->lost += gap.last - gap.first + 1;
    } while (result == XS_DRAIN_FULL || result == XS_DRAIN_GAP);
    xs_ring_give_space(r);
}

static void *read_rings(void *user) {
    share *s = user;
    for (int over = 0; !over;) {
        over = __atomic_load_n(s->over, __ATOMIC_ACQUIRE);
        for (uint32_t ring = s->first; ring < s->first + s->count; ring++)
            drain(s, ring, over);
    }
    return NULL;
}

load_result load_validated(const load_shape *shape, uint32_t threads, double rate, double seconds, uint32_t most) {
    load l;
    load_result result = {.seconds = seconds};
    share shares[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    xs_region_view view;
    int over = 0;
    load_open(&l, shape);
    must(xs_region_view_open(&view, l.world->region, l.world->region_total), "region");
    __atomic_store_n(&xs_view_control(&view)->image_wish, XS_IMAGE_LIVE, __ATOMIC_RELAXED);
    xs_ring_reader *readers = calloc(view.rings, sizeof *readers);
    for (uint32_t i = 0; i < view.rings; i++)
        xs_ring_reader_init(&readers[i], xs_view_records(&view, i), xs_view_ring(&view, i), view.head.ring_records, view.head.record_words, 0);
    for (uint32_t i = 0; i < threads; i++) { /* the first `warps` rings are used */
        uint32_t first = l.warps * i / threads, end = i + 1 == threads ? view.rings : l.warps * (i + 1) / threads;
        shares[i] = (share){&view, readers, first, end - first, &over, 0, 0};
        if (pthread_create(&thread[i], NULL, read_rings, &shares[i]))
            exit(2);
    }
    load_start(&l, rate, seconds, most);
    result.emitted = load_wait(&l);
    must(xs_placement_flush(l.world, XS_PLACEMENT_WAIT_NS), "copy");
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        result.kept += shares[i].kept;
        result.lost += shares[i].lost;
    }
    free(readers);
    load_close(&l);
    return result;
}

/* A file in memory under a name that a capture can be opened by: /dev/shm is small in many containers. */
static int memory_file(char *name, size_t size, char *path, size_t path_size) {
    char link[64];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    snprintf(name, size, "/tmp/xs-ring-rate-%d", (int)getpid());
    snprintf(path, path_size, "%s.xs", name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    unlink(path);
    if (fd < 0 || symlink(link, path)) {
        perror("ring_rate: a file in memory");
        exit(2);
    }
    return fd;
}

static void wrong(const char *what, uint64_t at) {
    fprintf(stderr, "ring_rate: the capture is wrong: %s, byte %llu\n", what, (unsigned long long)at);
    exit(2);
}

static void count_frame(const xs_frame *frame, const char *payload, uint64_t *next, load_result *result, uint64_t at) {
    uint64_t first = 0, count = 0;
    if (frame->type == XS_FRAME_RECORDS) {
        xs_frame_records head;
        memcpy(&head, payload, sizeof head);
        first = head.first, count = head.count;
        result->kept += count;
    } else if (frame->type == XS_FRAME_LOSS) {
        xs_frame_loss loss;
        memcpy(&loss, payload, sizeof loss);
        first = loss.first, count = loss.last - loss.first + 1;
        result->lost += count;
    } else {
        return;
    }
    if (first != next[frame->ring])
        wrong("records and losses of a ring do not follow each other", at);
    next[frame->ring] = first + count;
}

/* Every frame: whole, in the order of its number, with its checksum. */
static void read_back(int fd, uint32_t rings, load_result *result) {
    struct stat status;
    uint64_t number = 0, *next = calloc(rings, sizeof *next);
    if (!next || fstat(fd, &status))
        exit(2);
    for (uint32_t i = 0; i < rings; i++)
        next[i] = 1;
    uint64_t bytes = (uint64_t)status.st_size;
    const char *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        exit(2);
    for (uint64_t at = 0; at < bytes; number++) {
        xs_frame frame;
        memcpy(&frame, map + at, sizeof frame);
        if (frame.magic != XS_FRAME_MAGIC || frame.number != number)
            wrong("a frame is not the next one", at);
        if (frame.checksum != xs_frame_checksum(&frame, map + at + sizeof frame))
            wrong("a checksum", at);
        count_frame(&frame, map + at + sizeof frame, next, result, at);
        at += sizeof frame + xs_frame_padded(frame.payload_bytes);
    }
    munmap((void *)(uintptr_t)map, bytes);
    free(next);
}

typedef struct collecting {
    xs_collector *collector;
    int over;
} collecting;

static void *collect(void *user) {
    collecting *c = user;
    while (!__atomic_load_n(&c->over, __ATOMIC_ACQUIRE))
        xs_collector_pass(c->collector);
    return NULL;
}

load_result load_captured(const load_shape *shape, uint32_t threads, double rate, double seconds, uint32_t most) {
    load l;
    load_result result = {.seconds = seconds};
    char name[96], path[128];
    load_open(&l, shape);
    int fd = memory_file(name, sizeof name, path, sizeof path);
    uint64_t space = most ? (uint64_t)most * l.warps : (uint64_t)(rate * seconds * 1.05);
    xs_capture_options file = {.name = name, .preallocate = space * sizeof(xs_record) * 17 / 16 + (64u << 20)};
    xs_capture *capture;
    must(xs_capture_open(&file, &capture), "capture");
    xs_collector_options options = {.capture = capture, .now = now_boot, .threads = threads};
    collecting c = {NULL, 0};
    xs_collected *region;
    must(xs_collector_create(&options, &c.collector), "collector");
    must(xs_collector_add(c.collector, l.world->region, l.world->region_total, 0, &region), "collector");
    uint32_t rings = xs_collected_view(region)->rings;
    pthread_t thread;
    if (pthread_create(&thread, NULL, collect, &c))
        exit(2);
    load_start(&l, rate, seconds, most);
    result.emitted = load_wait(&l);
    __atomic_store_n(&c.over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    xs_frame_end end = {.clean = 1, .exit_status = -1};
    xs_collector_end(c.collector, region, &end);
    must(xs_collector_close(c.collector), "capture");
    read_back(fd, rings, &result);
    close(fd);
    unlink(path);
    load_close(&l);
    return result;
}
