/* One line to the trace of a run: builds a capture, exports it, reads the trace back. */
#ifndef EXPORT_HELP_H
#define EXPORT_HELP_H

#include <xs/perfetto.h>

#include "run_build.h"
#include "trace_decode.h"

typedef struct exported {
    char folder[64], path[128]; /* path: NAME.perfetto */
    run_counts counts;
    xsv_perfetto_summary summary;
    td *trace; /* NULL: not one file */
} exported;

/* Aborts where the test's own part fails; the export's own result is returned. options may be NULL. */
int export_run(exported *e, const run_shape *shape, const xsv_perfetto_options *options);
/* The same of a capture described by a script (tests/unit/read/script.h). */
int export_script(exported *e, const char *script, const xsv_perfetto_options *options);
/* Exports the capture of an earlier export_run again, to `path`. */
int export_again(const exported *e, const char *path, const xsv_perfetto_options *options, xsv_perfetto_summary *summary);
void export_free(exported *e);

#endif
