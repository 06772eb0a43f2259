/* Identities: boot id for the host; boot id, pid and start time for a process, since pids come back. */
#define XXH_INLINE_ALL
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

size_t xs_identity_file(const char *path, char *text, size_t size) {
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text[0] = 0;
    while (used < size - 1) {
        ssize_t n = read(fd, text + used, size - 1 - used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        used += (size_t)n;
    }
    close(fd);
    text[used] = 0;
    return used;
}

uint64_t xs_identity_host(void) {
    char text[64];
    size_t n = xs_identity_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    if (!n) { /* no /proc: the next best that tells machines apart */
        if (gethostname(text, sizeof text)) return 1;
        text[sizeof text - 1] = 0;
        n = strlen(text);
    }
    uint64_t hash = XXH3_64bits(text, n);
    return hash ? hash : 1;
}

/* Field 22 of /proc/PID/stat; the command (field 2) may hold spaces and brackets, so count from the last bracket. */
uint64_t xs_identity_start(int32_t pid) {
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!xs_identity_file(path, text, sizeof text)) return 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* A zombie has ended, whatever kill says: it will never signal again. */
static int is_zombie(int32_t pid) {
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!xs_identity_file(path, text, sizeof text)) return 0;
    char *at = strrchr(text, ')');
    return at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
}

int xs_identity_alive(int32_t pid, uint64_t start) {
    if (pid <= 0 || (kill(pid, 0) && errno != EPERM)) return 0;
    uint64_t now = xs_identity_start(pid);
    if (now && start && now != start) return 0;
    return !is_zombie(pid);
}

uint64_t xs_identity_process(void) {
    uint64_t parts[3] = {xs_identity_host(), (uint64_t)getpid(), xs_identity_start(getpid())};
    uint64_t hash = XXH3_64bits(parts, sizeof parts);
    return hash ? hash : 1;
}

uint64_t xs_clock_boot(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int64_t xs_clock_real(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
