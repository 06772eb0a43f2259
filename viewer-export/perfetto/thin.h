/* Counters of the overview: at most so many points a track, evenly over the run, kept until the end. */
#ifndef XSV_THIN_H
#define XSV_THIN_H

#include "draw.h"

#define THIN_POINTS 20000u

int thin_add(drawing *d, uint32_t track, int64_t time, int64_t value);
int thin_finish(drawing *d);
void thin_free(drawing *d);

#endif
