/* Between attach*.c. */
#ifndef XS_ATTACH_INTERNAL_H
#define XS_ATTACH_INTERNAL_H

#include "attach.h"

/* attach_process.c: what /proc says about a process; 0 where it says nothing. */
int32_t xs_attach_inner_pid(int32_t pid); /* in its own pid namespace: what it sees as its pid */
int32_t xs_attach_parent(int32_t pid);
char xs_attach_run_state(int32_t pid);
/* attach_world.c: fills world and members. 0 or XS_E_MEMORY. */
int xs_attach_world(xs_attached *region);

#endif
