/* Rings left behind in a file: a copy of a process's trace memory (/proc/PID/fd/N of who still has it), or a core file
 * that holds it. One look: what moved shows in the times of the newest records alone. */
#include "command.h"
#include "hang.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/errors.h>

const hang_source hang_image = {"image",
                                1,
                                "Hung when its memory was kept: ",
                                " before",
                                hang_look_into_rings,
                                hang_ring_left_out,
                                hang_ring_had_writers};

struct hang_file {
    const char *path;
    char *bytes;
    uint64_t size;
    xs_attached **regions; /* each by itself: worlds point to them */
    char **copies;         /* of regions that do not lie at a multiple of 64 in the file */
    uint32_t count, cut;   /* cut: regions that are not whole in it */
};

static int is_core(const void *start) {
    const Elf64_Ehdr *h = start;
    return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_type == ET_CORE;
}

static int is_region(const char *bytes, uint64_t size) {
    uint64_t magic = 0;
    if (size >= sizeof magic)
        memcpy(&magic, bytes, sizeof magic);
    return magic == XS_REGION_MAGIC;
}

int hang_is_image(const char *path) {
    char start[sizeof(Elf64_Ehdr)] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, start, sizeof start);
    close(fd);
    return n == (ssize_t)sizeof start && (is_core(start) || is_region(start, sizeof start));
}

static int map(hang_file *f, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        int code = complain(EX_NOINPUT, "%s: %m", path);
        if (fd >= 0)
            close(fd);
        return code;
    }
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return complain(EX_NOINPUT, "%s: %m", path);
    *f = (hang_file){.path = path, .bytes = bytes, .size = (uint64_t)st.st_size};
    return EX_OK;
}

static int room_for_one(hang_file *f) {
    xs_attached **regions = realloc(f->regions, (f->count + 1) * sizeof *regions);
    f->regions = regions ? regions : f->regions;
    char **copies = realloc(f->copies, (f->count + 1) * sizeof *copies);
    f->copies = copies ? copies : f->copies;
    return regions && copies;
}

/* Whole regions alone: what a part of one would be read for may be in the other. */
static int take_region(hang_file *f, char *bytes, uint64_t size) {
    xs_attached *at = room_for_one(f) ? calloc(1, sizeof *at) : NULL;
    if (!at)
        return XS_E_MEMORY;
    char *copy = NULL;
    if ((uintptr_t)bytes % 64) {
        copy = aligned_alloc(64, (size + 63) & ~(uint64_t)63);
        if (copy)
            memcpy(copy, bytes, size);
    }
    int rc = (uintptr_t)bytes % 64 && !copy ? XS_E_MEMORY : xs_region_view_open(&at->view, copy ? copy : bytes, size);
    if (rc) {
        free(copy);
        free(at);
        return rc;
    }
    f->regions[f->count] = at;
    f->copies[f->count++] = copy;
    return 0;
}

/* A mapping of its own for each region: they begin where a segment begins. */
static int take_core(hang_file *f) {
    Elf64_Ehdr h;
    memcpy(&h, f->bytes, sizeof h);
    for (uint64_t i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        uint64_t at = h.e_phoff + i * sizeof p;
        if (h.e_phentsize != sizeof p || h.e_phoff > f->size || at > f->size - sizeof p)
            break;
        memcpy(&p, f->bytes + at, sizeof p);
        if (p.p_type != PT_LOAD || p.p_offset >= f->size)
            continue;
        uint64_t size = p.p_filesz < f->size - p.p_offset ? p.p_filesz : f->size - p.p_offset;
        int rc = is_region(f->bytes + p.p_offset, size) ? take_region(f, f->bytes + p.p_offset, size) : 0;
        if (rc == XS_E_MEMORY)
            return rc;
        f->cut += rc != 0;
    }
    return 0;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t newest_record(const hang_region *region, uint32_t ring, uint64_t base) {
    xs_record record;
    int64_t offset = 0;
    int32_t device = xs_view_ring(&region->at->view, ring)->device;
    uint32_t s = region->samples[1].newest[ring];
    if (!s || !xs_attach_record(&region->at->view, ring, s, &record) ||
        (device >= 0 && !hang_device_offset(region, device, &offset)))
        return base;
    int32_t ahead = (int32_t)(record.time - (uint32_t)(base - (uint64_t)offset));
    return ahead > 0 ? base + (uint32_t)ahead : base;
}

/* The newest moment that the image tells of, which may be long before it was taken: ages are at least what they seem.
 */
static uint64_t newest_moment(const hang_region *region) {
    uint64_t now = 0;
    int64_t offset;
    for (uint32_t i = 0; i < region->journal_count; i++)
        if (region->journal[i].kind <= XS_JOURNAL_TRACE_STATE)
            now = later(now, region->journal[i].c);
    for (uint32_t i = 0; i < region->samples[1].count; i++) {
        const hang_line *line = &region->samples[1].lines[i];
        int32_t device = xs_view_ring(&region->at->view, line->ring)->device;
        offset = 0;
        if (device < 0 || hang_device_offset(region, device, &offset))
            now = later(now, (line->status.p2.time_lo | (uint64_t)line->status.p2.time_hi << 32) + (uint64_t)offset);
    }
    for (uint32_t ring = 0; ring < region->at->view.rings; ring++)
        now = newest_record(region, ring, now);
    return now;
}

static int place(hang_report *r, const xs_attached *at) {
    const xs_region_header *h = &at->view.head;
    hang_world *world = hang_find_world(r, h->first_rank, h->ranks, h->world_ranks);
    if (!world)
        world = hang_add_world(r, &hang_image);
    hang_region *region = world ? hang_add_region(world) : NULL;
    if (!region)
        return XS_E_MEMORY;
    hang_region_is(region, at, h->state == XS_REGION_ENDED ? HANG_PROCESS_LEFT : HANG_PROCESS_UNTOLD);
    return hang_sample_take(region, 1);
}

/* The regions of a world were kept at about the same moment: the newest of them is that of all on one host. */
static void date(hang_world *world) {
    uint64_t now = 0;
    for (uint32_t i = 0; i < world->region_count; i++)
        now = later(now, newest_moment(&world->regions[i]));
    for (uint32_t i = 0; i < world->region_count; i++)
        world->regions[i].now = now;
}

static void find_quiet(hang_world *world) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < world->writer_count; i++)
        last = later(last, world->writers[i].last);
    world->quiet = world->regions[0].now - last;
}

static int place_all(hang_report *r) {
    int rc = 0;
    for (uint32_t i = 0; i < r->file_count; i++)
        for (uint32_t j = 0; j < r->files[i].count && !rc; j++)
            rc = place(r, r->files[i].regions[j]);
    for (uint32_t i = 0; i < r->world_count && !rc; i++) {
        hang_world *world = &r->worlds[i];
        rc = hang_describe(world);
        if (rc)
            break;
        date(world);
        rc = hang_find_waits(world);
        find_quiet(world);
    }
    return rc;
}

static int take_file(hang_report *r, const char *path) {
    hang_file *larger = realloc(r->files, (r->file_count + 1) * sizeof *larger), *f;
    if (!larger)
        return complain(EX_SOFTWARE, "out of memory");
    r->files = larger;
    f = &r->files[r->file_count];
    int code = map(f, path);
    if (code)
        return code;
    r->file_count++;
    int core = f->size >= sizeof(Elf64_Ehdr) && is_core(f->bytes);
    int rc = core ? take_core(f) : take_region(f, f->bytes, f->size);
    if (rc == XS_E_VERSION)
        return complain(EX_NOINPUT, "%s: trace memory of another version of xs", path);
    if (rc && rc != XS_E_MEMORY)
        return complain(EX_NOINPUT, "%s: trace memory that is cut or damaged: sizes or offsets do not fit", path);
    if (!rc && !f->count)
        return complain(
            EX_NOINPUT, "%s: a core file %s", path,
            f->cut ? "with trace memory that is cut or damaged"
                   : "without trace memory: is bit 1 of coredump_filter set, and was it built with XS_TRACE=1?");
    return rc ? complain(EX_SOFTWARE, "out of memory") : EX_OK;
}

int hang_image_open(const char *const *paths, uint32_t count, hang_report *r) {
    for (uint32_t i = 0; i < count; i++) {
        int code = take_file(r, paths[i]);
        if (code)
            return code;
    }
    int rc = place_all(r);
    if (!rc)
        rc = hang_conclude(r);
    return rc ? complain(EX_SOFTWARE, "%s", xs_strerror(rc)) : EX_OK;
}

void hang_image_close(hang_report *r) {
    for (uint32_t i = 0; i < r->file_count; i++) {
        hang_file *f = &r->files[i];
        for (uint32_t j = 0; j < f->count; j++) {
            free(f->regions[j]);
            free(f->copies[j]);
        }
        free(f->regions);
        free(f->copies);
        munmap(f->bytes, f->size);
    }
    free(r->files);
}
