/* Runs the xs command of this build and keeps what it printed. */
#ifndef RUN_XS_H
#define RUN_XS_H

#include <stddef.h>
#include <stdint.h>

typedef struct outcome {
    int code; /* exit code; 128 + n after signal n */
    char *out, *err;
} outcome;

/* Arguments are split at blanks; 'single quotes' keep some together, two of them inside are one. Run in the current folder. */
outcome run_xs(const char *arguments);
/* The same with a bound on the size of files that it writes. */
outcome run_xs_bounded(const char *arguments, size_t file_bytes);
/* The same as a user who may write nowhere that is not his (as root: as nobody). */
outcome run_xs_as_nobody(const char *arguments);
void outcome_free(outcome *o);
int count_lines(const char *text);
/* Characters (UTF-8) of the longest line. */
int widest_line(const char *text);
/* SQLite's json_valid. */
int is_json(const char *text);
/* Exit code `code`, and one line on standard error that holds `words`. */
void expect_failure(const char *arguments, int code, const char *words);

/* A folder of its own under /tmp, made the current one; and gone. */
void enter_folder(void);
void leave_folder(void);
/* A capture of a small run, `name`, with `waits` waits; the last is open. */
void make_capture(const char *name, int waits);
void make_capture_from(const char *name, uint32_t rank, int waits); /* of `rank` and the next one: part of a run with others */

/* Four processes of one rank each: rank 1 was killed (its end says 137), rank 2 exited with 3, rank 3 left; rank 0 was
 * still running. Ranks 0 and 2 wait for rank 1, rank 3 waits for rank 2. */
void make_dead_capture(const char *name);
/* One process that is gone, its status not known, a record perhaps in hand. */
void make_gone_capture(const char *name);

#endif
