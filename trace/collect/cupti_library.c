#include "cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xs/activity.h>

#define LEAST_VERSION 12u /* CUDA 10: the records that are read look alike from there on */

static xs_cupti_library library;
static uint32_t failure;
static char words[256] = "libcupti.so was not found: set XS_CUPTI_LIBRARY, LD_LIBRARY_PATH or CUDA_HOME";

/* A copy that is loaded under whatever path. */
static int is_cupti(struct dl_phdr_info *info, size_t size, void *found) {
    const char *name = strrchr(info->dlpi_name, '/');
    (void)size;
    name = name ? name + 1 : info->dlpi_name;
    if (strncmp(name, "libcupti", 8) != 0 || (name[8] != '.' && name[8] != '-'))
        return 0;
    snprintf(found, 1024, "%s", info->dlpi_name);
    return 1;
}

static void *open_loaded(void) {
    char path[1024] = "";
    dl_iterate_phdr(is_cupti, path);
    return path[0] ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

static void *open_beside(const char *folder) {
    static const char *const places[] = {"lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib",
                                         "targets/sbsa-linux/lib"};
    char path[1024];
    void *found = NULL;
    for (size_t i = 0; folder && *folder && !found && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s/libcupti.so", folder, places[i]);
        found = dlopen(path, RTLD_NOW);
    }
    return found;
}

static void *open_any(void) {
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *told = getenv("XS_CUPTI_LIBRARY");
    /* ahead of all: of two copies in a process, one keeps the users of the other from it */
    void *found = open_loaded();
    if (!found && told && *told) {
        void *asked = dlopen(told, RTLD_NOW);
        if (!asked)
            snprintf(words, sizeof words, "XS_CUPTI_LIBRARY: %s", dlerror());
        return asked;
    }
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = dlopen(names[i], RTLD_NOW);
    if (!found)
        found = open_beside(getenv("CUDA_HOME"));
    if (!found)
        found = open_beside(getenv("CUDA_PATH"));
    return found ? found : open_beside("/usr/local/cuda");
}

static int find_all(void) {
    static const struct {
        const char *symbol;
        size_t offset;
        int needed;
    } calls[] = {
#define X(member, function) {#function, offsetof(xs_cupti_library, member), 1},
#define Y(member, symbol, type) {symbol, offsetof(xs_cupti_library, member), 0},
        XS_CUPTI_CALLS(X) XS_CUPTI_NEWER_CALLS(Y)
#undef X
#undef Y
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(library.loaded, calls[i].symbol);
        if (!found && calls[i].needed) {
            snprintf(words, sizeof words, "it has no %s", calls[i].symbol);
            return 0;
        }
        *(void **)(void *)((char *)&library + calls[i].offset) = found;
    }
    return 1;
}

static uint32_t check(void) {
    library.loaded = open_any();
    if (!library.loaded)
        return XS_CUPTI_ABSENT;
    if (!find_all())
        return XS_CUPTI_UNUSABLE;
    CUptiResult result = library.get_version(&library.version);
    if (result != CUPTI_SUCCESS || library.version < LEAST_VERSION) {
        snprintf(words, sizeof words, "its version is %u, xs needs %u or newer", library.version, LEAST_VERSION);
        return XS_CUPTI_UNUSABLE;
    }
    return XS_CUPTI_ON;
}

static void load(void) { failure = check(); }

const xs_cupti_library *xs_cupti_load(uint32_t *state, uint32_t *version, const char **why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *state = failure;
    *version = library.version;
    *why = failure == XS_CUPTI_ON ? "" : words; /* filled in once */
    return failure == XS_CUPTI_ON ? &library : NULL;
}

const char *xs_cupti_result(const xs_cupti_library *cupti, CUptiResult result) {
    const char *text = NULL;
    return cupti->result_string(result, &text) == CUPTI_SUCCESS && text ? text : "an unknown CUPTI error";
}
