#include "kernel_form.h"

#include <stdlib.h>

typedef struct other_kernel {
    struct other_kernel *next;
    const xs_kernel *kernel; /* NULL: one of this form has come in its place */
    uint32_t form;
} other_kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static other_kernel *others; /* few, if any; they stay */

static other_kernel *find(const xs_kernel *kernel) {
    other_kernel *o = __atomic_load_n(&others, __ATOMIC_ACQUIRE);
    while (o && __atomic_load_n(&o->kernel, __ATOMIC_RELAXED) != kernel) o = o->next;
    return o;
}

static void add(const xs_kernel *kernel, uint32_t form) {
    other_kernel *o = calloc(1, sizeof *o);
    if (!o) return; /* then it is launched unchecked */
    o->kernel = kernel;
    o->form = form;
    o->next = others;
    __atomic_store_n(&others, o, __ATOMIC_RELEASE);
}

void xs_kernel_form_keep(const xs_kernel *kernel, uint32_t form) {
    pthread_mutex_lock(&lock);
    other_kernel *o = find(kernel);
    if (o && form == XS_LAUNCH_FORM) __atomic_store_n(&o->kernel, NULL, __ATOMIC_RELAXED);
    else if (o) __atomic_store_n(&o->form, form, __ATOMIC_RELAXED);
    else if (form != XS_LAUNCH_FORM) add(kernel, form);
    pthread_mutex_unlock(&lock);
}

int xs_form_check(const char *what, uint32_t form) {
    if (form == XS_LAUNCH_FORM) return 0;
    return xs_fail(XS_E_UNSUPPORTED,
                   "%s: compiled with headers of another xs than this library (form %08x, here %08x): compile it with "
                   "those of %d.%d.%d",
                   what, form, XS_LAUNCH_FORM, XS_VERSION_MAJOR, XS_VERSION_MINOR, XS_VERSION_PATCH);
}

int xs_kernel_form_check(const xs_kernel *kernel) {
    const other_kernel *o = find(kernel);
    /* the name is first in every form */
    return o ? xs_form_check(kernel->name, __atomic_load_n(&o->form, __ATOMIC_RELAXED)) : 0;
}
