#include "cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>

static xs_cuda_driver driver;
static int usable;

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

static void load(void) {
    driver.loaded = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver.loaded) driver.loaded = dlopen("libcuda.so.1", RTLD_NOW);
    usable = driver.loaded && find_all() && driver.init(0) == CUDA_SUCCESS;
}

const xs_cuda_driver *xs_cuda_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return usable ? &driver : NULL;
}

const char *xs_cuda_error(const xs_cuda_driver *cuda, CUresult error) {
    const char *name = NULL;
    return cuda->error_name(error, &name) == CUDA_SUCCESS && name ? name : "an unknown CUDA error";
}
