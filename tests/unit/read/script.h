/* A capture described by lines of text: one call of capture_build.h a line, without the cb_ prefix and the first argument.
 *
 *     process 0 2 2
 *     role push                     names are used as $push
 *     pad done src chunk 2 4 0      slots are written done:OWNER:ROW:COLUMN; - is an empty label
 *     signal 0 1100 done:1:0:3 7
 *
 * `#` begins a comment. Times may be written as 1.5s, 20ms or 3us. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "capture_build.h"

/* 0, or the number of the line that is wrong. */
int script_run(cb *c, const char *text);

#endif
