/* Who else uses CUPTI in this process. */
#ifndef XS_CUPTI_OTHERS_H
#define XS_CUPTI_OTHERS_H

#include "cupti_library.h"

/* 0: nobody has subscribed. Else the result of the attempt to, and who it seems to be. Leaves no subscription behind: a
 * profiler that is started later finds CUPTI free. */
CUptiResult xs_cupti_holder(const xs_cupti_library *cupti, char *who, size_t bytes);
/* A tool that is known to use CUPTI and is loaded in this process, or "". */
void xs_cupti_suspect(char *who, size_t bytes);

#endif
