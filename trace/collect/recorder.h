/* The recorder: runs a command, and records every process of it that makes a world, into a capture a world: NAME,
 * NAME.world2 ... The library part of `xs record`. The traced processes hand over their memory (protocol.h); it
 * outlives them, so a killed process is readable to its last record. Not thread-safe: it takes signals, children and
 * the subreaper role of the calling process. */
#ifndef XS_RECORDER_H
#define XS_RECORDER_H

#include <stdint.h>

typedef struct xs_recorder_options {
    const char *capture;   /* NAME or NAME.xs */
    uint64_t bound_bytes;  /* as xs_config.capture_bytes */
    uint64_t bound_seconds;
    uint64_t preallocate;  /* bytes of space made before the command starts, for the first world */
    uint32_t collectors;   /* threads that share the rings; 0: XS_COLLECTORS, else 1 */
    /* rings only, until a wait gives up, xs_trace_dump, SIGUSR1 to the recorder, or a process ends */
    int on_trigger;
    /* called each time that no process has come for 2 s behind one that did, while one runs; NULL: nobody asks */
    void (*quiet)(void *user);
    void *user;
} xs_recorder_options;

/* One world, in the order of their coming; there is a first one even where no process has come. */
typedef struct xs_recorder_world {
    uint64_t records;      /* that were put into the capture */
    uint64_t kept;         /* of them, that are in it: the others went with removed segments */
    uint32_t processes;
    int32_t capture_error; /* first error of the capture, 0 if none */
    char path[1024];       /* file or folder */
} xs_recorder_world;

typedef struct xs_recorder_result {
    /* of the command, as a shell gives it: 128 + n for signal n; 127 if it could not be started */
    int exit_status;
    int capture_error;     /* first error of a capture, 0 if none (XS_E_NO_SPACE: the loss is counted in it) */
    uint32_t processes;    /* that were recorded */
    uint32_t unclean;      /* of them, that ended without xs_world_destroy */
    uint32_t refused;      /* that connected, but handed over nothing usable */
    uint64_t records;      /* put into captures */
    char path[1024];       /* of the first capture: file or folder */
    uint32_t world_count;
    xs_recorder_world *worlds;
} xs_recorder_result;

/* Runs argv[0] (searched in PATH) with argv, zero-terminated. Returns when it and all recorded processes have ended;
 * children that are not recorded are not waited for. SIGINT and SIGTERM are passed on to the command and the capture
 * is closed in order. 0, or an error before the command was started: XS_E_ARGUMENT, XS_E_NO_SPACE, XS_E_SYSTEM,
 * XS_E_MEMORY, with a text in xs_error_detail. */
int xs_recorder_run(const xs_recorder_options *options, char *const argv[], xs_recorder_result *result);
void xs_recorder_result_free(xs_recorder_result *result);

#endif
