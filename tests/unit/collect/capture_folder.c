#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "capture_folder.h"

static char folder[64];

int folder_make(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-capture-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

int folder_remove(int failed) {
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}

const char *folder_path(void) { return folder; }

void folder_mount(const char *name, const char *size, char disk[128]) {
    snprintf(disk, 128, "%s/%s", folder, name);
    mkdir(disk, 0700);
    if (mount("xs-test", disk, "tmpfs", 0, size))
        skip();
}

void fill_disk(const char *ballast) {
    int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
    for (off_t at = 0; fallocate(fd, 0, at, 4096) == 0; at += 4096) {}
    close(fd);
}

const char *in_folder(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

uint64_t folder_bytes(const char *path) {
    struct stat status;
    uint64_t sum = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".seg") && !fstatat(dirfd(dir), entry->d_name, &status, 0)) {
            uint64_t blocks = (uint64_t)status.st_blocks * 512; /* what was allocated ahead counts as well */
            sum += blocks > (uint64_t)status.st_size ? blocks : (uint64_t)status.st_size;
        }
    closedir(dir);
    return sum;
}

uint64_t emit_and_pass(bed *b, uint32_t rounds, uint64_t ns, uint64_t bound) {
    uint64_t emitted = 0, most = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        synthetic_writer w = synthetic_begin(b->region, i % 3, XS_OVERWRITE);
        bed_emit(b, &w, XS_OVERWRITE, 100);
        synthetic_end(&w);
        emitted += 100;
        bed_pass(b, ns);
        if (bound && i % 16 == 0) {
            uint64_t now = folder_bytes(b->path);
            most = now > most ? now : most;
        }
    }
    if (bound && most > bound)
        fail_msg("%llu bytes, bound %llu", (unsigned long long)most, (unsigned long long)bound);
    return emitted;
}
