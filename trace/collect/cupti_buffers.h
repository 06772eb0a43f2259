/* Buffers that CUPTI fills. Its callbacks run in whatever thread it likes, with locks of its own held: they only hand a
 * full buffer on. */
#ifndef XS_CUPTI_BUFFERS_H
#define XS_CUPTI_BUFFERS_H

#include "cupti_library.h"

/* From now on CUPTI's buffers come from here, and come back here. One a process. */
CUptiResult xs_buffers_register(const xs_cupti_library *cupti);
/* Each record of every buffer that came back, in order; frees them. Returns how many records CUPTI dropped meanwhile.
 */
uint64_t xs_buffers_take(const xs_cupti_library *cupti, void (*record)(void *user, const CUpti_Activity *record),
                         void *user);
/* In a forked child. */
void xs_buffers_forget(void);

#endif
