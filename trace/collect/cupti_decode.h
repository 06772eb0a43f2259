/* Activity records of whichever version of CUPTI, made entries of the region. */
#ifndef XS_CUPTI_DECODE_H
#define XS_CUPTI_DECODE_H

#include "cupti_library.h"

#include <xs/activity.h>

enum { XS_CUPTI_VOID = -1, XS_CUPTI_UNKNOWN = -2, XS_CUPTI_LEFT_OUT = -3 };

/* The entry's kind; or VOID: it has no times, UNKNOWN: of no kind that is read, LEFT_OUT: a call that launches nothing.
 * *name: of the kernel or call, valid until the record's buffer is given back; the entry's name is left 0. */
int xs_cupti_decode(const xs_cupti_library *cupti, const CUpti_Activity *record, xs_activity_entry *entry,
                    const char **name);
/* Does a call of this name launch work? */
int xs_cupti_call_counts(const char *name);
/* Asks for the calls that count, alone where the library can do so. */
CUptiResult xs_cupti_enable_calls(const xs_cupti_library *cupti);
void xs_cupti_disable_calls(const xs_cupti_library *cupti);

#endif
