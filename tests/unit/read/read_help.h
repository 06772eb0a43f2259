/* What the reader's tests share: a capture from a script or builder, read back as text or into counters. */
#ifndef READ_HELP_H
#define READ_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture_build.h"
#include "dump_sink.h"
#include "script.h"

/* Everything that a pass tells, kept in arrays. */
typedef struct told {
    xsr_sink sink;
    xsr_event *events; size_t event_count;
    xsr_wait *waits; size_t wait_count;
    xsr_signal *signals; size_t signal_count; /* released: copied */
    xsr_loss *losses; size_t loss_count;
} told;

const char *help_path(const char *name);                /* in a folder of this process that is removed at exit */
void help_write(const char *path, const void *bytes, size_t size);
void help_script(const char *path, const char *text);    /* fails the test where a line is wrong */
xsr_reader *help_open(const char *path);                 /* fails the test where it cannot be opened */
xsr_reader *help_open_with(const char *path, uint32_t threads); /* xsr_threads */
char *help_dump(xsr_reader *reader);                     /* free it */
int help_run(xsr_reader *reader, told *t);               /* fills *t */
void help_free(told *t);
/* Opens, runs, closes. */
int help_read(const char *path, told *t, xsr_model *model);

#endif
