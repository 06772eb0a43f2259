/* The collector: takes what kernels write out of regions and puts it into a capture. One region a process; the
 * capture may hold several. Somebody calls xs_collector_pass, again and again (in_process.c, recorder.c, a
 * scheduler); at its request further threads share the rings of a pass. Nothing here blocks on the application, on
 * kernels or on a lock. */
#ifndef XS_COLLECTOR_H
#define XS_COLLECTOR_H

#include "capture.h"
#include "region_view.h"

typedef struct xs_collector xs_collector;
typedef struct xs_collected xs_collected; /* one region */

typedef struct xs_collector_options {
    xs_capture *capture;         /* the collector's from now on */
    uint64_t (*now)(void *user); /* ns: CLOCK_BOOTTIME, or virtual */
    void *user;
    uint32_t threads; /* that share the rings of a pass, the caller's included; 0: 1. A bounded capture has one */
    int on_trigger; /* rings are left alone until a wait gives up or xs_collector_dump is called */
} xs_collector_options;

/* XS_E_MEMORY (or no thread); then the capture still is the caller's. */
int xs_collector_create(const xs_collector_options *options, xs_collector **collector);

/* A region of `bytes` mapped bytes; the mapping must last until xs_collector_end. foreign_time: the region's time is
 * virtual, the collector's is not, so frames of this region carry no times of the collector.
 * XS_E_FORMAT, XS_E_VERSION, XS_E_MEMORY. */
int xs_collector_add(xs_collector *collector, void *base, uint64_t bytes, int foreign_time, xs_collected **region);

/* Takes what is there; returns the number of records taken. */
uint64_t xs_collector_pass(xs_collector *collector);

/* What the rings hold now goes into the capture, with `why` (trigger), and the open waits. */
int xs_collector_dump(xs_collector *collector, const char *why);

/* Text for the report. */
int xs_collector_note(xs_collector *collector, const char *text);

/* Its process was seen to be gone. How it ended may be known later: its end is of this moment all the same. */
void xs_collector_gone(xs_collector *collector, xs_collected *region);
/* The process of this region is over (or leaves): its last records, open waits, counters and end. `end` says how;
 * tail_unknown is set here: where writers held rings. The region's memory is not looked at afterwards. */
void xs_collector_end(xs_collector *collector, xs_collected *region, const xs_frame_end *end);
const xs_region_view *xs_collected_view(const xs_collected *region);

xs_capture *xs_collector_capture(const xs_collector *collector);
/* Records put into the capture so far, by passes, dumps and ends alike. */
uint64_t xs_collector_records(const xs_collector *collector);
/* Of them, in segments that were not removed. */
uint64_t xs_collector_kept(const xs_collector *collector);
/* Writes END: nothing goes into the capture, or is removed from it, any more. All regions must have ended. */
void xs_collector_finish(xs_collector *collector);
/* The same, and closes the capture. Returns the capture's first error. */
int xs_collector_close(xs_collector *collector);
/* Frees memory, leaves the capture's file and the rings alone. */
void xs_collector_forget(xs_collector *collector);

#endif
