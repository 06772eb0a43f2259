/* The matrix on the CUDA backend without a GPU: the driver is the fake one of tests/unit/cuda, a kernel its host form on threads, one a
 * block. It shows set-ups, launches, refusals, CPU ranks and aborts as they go through the backend; times and blocks of several
 * warps it cannot show. */
#include "fault.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_cuda.h"

typedef struct form {
    struct xs_kernel kernel;
    struct CUfunc_st function;
    xs_cuda_entry entry;
    const struct xs_kernel *of;
    struct form *next;
} form;
static form *forms;

static const struct xs_kernel *form_of(const struct xs_kernel *kernel) {
    for (form *f = forms; f; f = f->next)
        if (f->of == kernel)
            return &f->kernel;
    form *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    *made = (form){.kernel = *kernel, .function = {kernel, xs_host_enter, 0, 0}, .of = kernel, .next = forms};
    made->entry = (xs_cuda_entry){&made->function, fake_resolve};
    made->kernel.cuda = &made->entry;
    forms = made;
    return &made->kernel;
}

__attribute__((constructor)) static void use_fake_driver(void) {
    setenv("XS_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1);
    void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
    fake_control *fake = library ? dlsym(library, "fake_cuda") : NULL;
    if (!fake) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    fake->gpus = 1;
    fake->processors = 64;
    fake->clock_offset = 0;
    fault_kernel_form = form_of;
}
