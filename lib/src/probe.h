/* Inside libxs: parts of the machine probe. */
#ifndef XS_PROBE_INTERNAL_H
#define XS_PROBE_INTERNAL_H

#include <xs/xs.h>

/* Fills in the store16 and control counts. Takes about a tenth of a second. */
int xs_probe_store16(xs_probe *probe);

#endif
