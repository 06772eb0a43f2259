#include "cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define CONNECTIONS         32u /* as many streams as the hardware can keep apart */
#define CONNECTIONS_DEFAULT 8u  /* the driver's own */

static xs_cuda_driver driver;
static int usable;
static uint32_t connections;

static int find_all(void) {
    static const struct {
        const char *symbol;
        size_t offset;
    } calls[] = {
#define X(member, symbol, parameters) {symbol, offsetof(xs_cuda_driver, member)},
        XS_CUDA_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(driver.loaded, calls[i].symbol);
        if (!found) return 0;
        *(void **)((char *)&driver + calls[i].offset) = found;
    }
    return 1;
}

/* The driver reads these when it starts. Streams that share a connection wait for each other, and a kernel that is
 * loaded at its first launch may wait for one that hangs. What the user set stays. */
static void set_environment(void) {
    int count;
    if (driver.device_count(&count) == CUDA_ERROR_NOT_INITIALIZED) {
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
        setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    }
    const char *text = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    unsigned long set = text ? strtoul(text, NULL, 10) : 0;
    connections = set ? (set < CONNECTIONS ? (uint32_t)set : CONNECTIONS) : CONNECTIONS_DEFAULT;
}

static void load(void) {
    const char *other = getenv("XS_CUDA_LIBRARY");
    const char *name = other && *other ? other : "libcuda.so.1";
    driver.loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!driver.loaded) driver.loaded = dlopen(name, RTLD_NOW);
    if (!driver.loaded || !find_all()) return;
    set_environment();
    usable = driver.init(0) == CUDA_SUCCESS;
}

const xs_cuda_driver *xs_cuda_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return usable ? &driver : NULL;
}

int xs_cuda_present(void) {
    xs_cuda_load();
    return driver.loaded != NULL;
}

uint32_t xs_cuda_connections(void) { return connections; }

int xs_cuda_is_sticky(CUresult error) {
    switch (error) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT: return 1;
    default: return error >= CUDA_ERROR_HARDWARE_STACK_ERROR && error <= CUDA_ERROR_LAUNCH_FAILED;
    }
}

const char *xs_cuda_error(const xs_cuda_driver *cuda, CUresult error) {
    const char *name = NULL;
    return cuda->error_name(error, &name) == CUDA_SUCCESS && name ? name : "an unknown CUDA error";
}
