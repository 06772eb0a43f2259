/* A sink that writes what a pass tells as text: what golden tests compare. */
#ifndef DUMP_SINK_H
#define DUMP_SINK_H

#include <stdio.h>
#include <xs/read.h>

typedef struct dump_sink { xsr_sink sink; FILE *out; } dump_sink;

dump_sink dump_sink_make(FILE *out);

#endif
