/* The backend where nobody named one: cuda if a GPU is there and the program's kernels can run on it, else host. */
#include "config.h"
#include "kernel_form.h"

static uint32_t kernels, kernels_for_cuda;

void xs_kernel_known_form(const xs_kernel *kernel, uint32_t form) {
    xs_kernel_form_keep(kernel, form);
    if (form != XS_LAUNCH_FORM) return;
    __atomic_add_fetch(&kernels, 1, __ATOMIC_RELAXED);
    if (kernel->cuda)
        __atomic_add_fetch(&kernels_for_cuda, 1, __ATOMIC_RELAXED);
}

void (xs_kernel_known)(const xs_kernel *kernel) { xs_kernel_known_form(kernel, 0); }

/* Fields that only the host backend has say what is meant. How many processes a world has says nothing: each decides
 * for itself, from what all of them see alike, and one that sees no GPU where the others do is told so when it
 * joins. */
static int asks_for_host(const xs_config *config) { return config->scheduler || config->residency; }

static int all_for_cuda(void) {
    uint32_t all = __atomic_load_n(&kernels, __ATOMIC_RELAXED);
    return all && all == __atomic_load_n(&kernels_for_cuda, __ATOMIC_RELAXED);
}

const char *xs_backend_default(const xs_config *config) {
    if (asks_for_host(config) || !all_for_cuda())
        return xs_backend_host.name;
    int there = xs_backend_cuda.available() > 0;
    xs_fail_clear(); /* no GPU is no error here */
    return there ? xs_backend_cuda.name : xs_backend_host.name;
}
