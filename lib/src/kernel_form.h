/* Inside libxs: kernels that were compiled with headers of another form than those of this library (XS_LAUNCH_FORM). */
#ifndef XS_KERNEL_FORM_H
#define XS_KERNEL_FORM_H

#include "world.h"

/* When the program or library that holds the kernel is loaded: another one may have stood there before. Any thread. */
void xs_kernel_form_keep(const xs_kernel *kernel, uint32_t form);
/* 0, or XS_E_UNSUPPORTED with the reason. Of an unknown kernel nothing is read. */
int xs_kernel_form_check(const xs_kernel *kernel);
/* The same for a form that a caller has given. what: whose it is. */
int xs_form_check(const char *what, uint32_t form);

#endif
