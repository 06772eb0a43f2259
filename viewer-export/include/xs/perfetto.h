/* Perfetto export: a sink that draws a capture as a native Perfetto trace. Part of libxsread. docs/perfetto.md says
 * what is drawn. Memory grows with slots, writers and gaps, not with events. One thread. */
#ifndef XS_PERFETTO_H
#define XS_PERFETTO_H

#include <xs/analyse.h>

XS_EXTERN_C_BEGIN

#define XSV_PERFETTO_SLOTS_MAX 64u

/* Zero means default in every field but size. */
typedef struct xsv_perfetto_options {
    uint32_t size;          /* sizeof(xsv_perfetto_options) */
    uint32_t reserved0;
    uint64_t events;        /* events of the capture (xsv_perfetto_count); 0: its records, which are more */
    uint64_t pass_limit;    /* more events: `arrive, pass` is left out; 0: 2 million */
    uint64_t fold_limit;    /* more events: fewer arguments, short waits folded; 0: 5 million */
    /* as many events: one file a window of whole epochs, and an overview; 0: 10 million, 1: always */
    uint64_t split_limit;
    uint64_t window_events; /* events a window; 0: 2 million */
    uint64_t short_wait_ns; /* waits shorter than this are folded; 0: 1 % of the median kernel */
    const char *run;        /* name of the run in the trace's attributes; NULL: made from path */
    const char *slots;      /* state tracks for the slots whose name or label this pattern (*, ?) matches; NULL: none.
                               At most XSV_PERFETTO_SLOTS_MAX, the first in the run. Both texts live until the sink is closed */
    uint32_t merge_roles;   /* 1: a role's writers share rows, which the viewer packs */
    uint32_t gpu_events;    /* 1: launches also as GPU events (table gpu_slice, rows GPU > Hardware Queues) */
    /* of xsa_open, finished by an earlier pass: row `findings`, and arrows to what proves them; before this sink in the
     * same pass: the row alone; NULL: trace health alone. Not owned */
    const xsr_sink *analysis;
    uint32_t compress;      /* 1: packets are compressed (zstd), some 400 KB of them at a time: for readers from v58 on */
    uint32_t reserved1;
} xsv_perfetto_options;

typedef struct xsv_perfetto_summary {
    uint32_t files;         /* traces written: 1, or windows and overview */
    uint64_t packets, bytes;
    uint64_t waits, open_waits, passes, signals; /* drawn */
    uint64_t passes_left_out, waits_folded;
    uint64_t waits_without_writer; /* not drawn, since the owner of their ring is unknown */
    uint64_t slots_drawn, slots_left_out; /* state tracks; slots that the pattern matches beyond the most */
    uint64_t clamped;       /* wait ends that were moved behind their signal */
} xsv_perfetto_summary;

/* Makes a sink that writes `path` (NAME.perfetto), or NAME.0001.perfetto .. and NAME.overview.perfetto, and the
 * start-up commands `path`.startup.json. All is written under temporary names beside them and renamed by the sink's
 * finish: nothing half is ever found under a final name. options may be NULL. XS_E_MEMORY, XS_E_ARGUMENT; the sink's
 * calls return XS_E_NO_SPACE, XS_E_SYSTEM (errno holds the cause: a read-only folder) or XS_E_MEMORY, and xsr_run
 * hands that on. */
XS_API int xsv_perfetto_open(const char *path, const xsv_perfetto_options *options, xsr_sink **sink);
/* What has been drawn; valid after finish, until close. */
XS_API const xsv_perfetto_summary *xsv_perfetto_summary_of(const xsr_sink *sink);
/* Frees the sink. Temporary files that finish has not renamed are removed. NULL is allowed. */
XS_API void xsv_perfetto_close(xsr_sink *sink);

/* Counts the events of a capture in a pass of its own: exact thresholds for captures that may be large. */
XS_API int xsv_perfetto_count(xsr_reader *reader, uint64_t *events);

/* Address of the Perfetto UI with the start-up commands of `path` in it. trace_url: where a browser can fetch the
 * trace; NULL: the user opens the file. *url is to be freed by the caller. XS_E_SYSTEM if the commands cannot be
 * read. */
XS_API int xsv_perfetto_url(const char *path, const char *trace_url, char **url);

XS_EXTERN_C_END

#endif
