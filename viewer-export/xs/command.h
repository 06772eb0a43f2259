/* The xs command: one file a subcommand, and what they share. */
#ifndef XS_COMMAND_H
#define XS_COMMAND_H

#include <popt.h>
#include <stdio.h>
#include <sysexits.h>
#include <xs/export.h>

typedef struct command {
    const char *name, *arguments, *summary;
    const char *text; /* --help: what it does, examples */
    int (*run)(const struct command *self, int argc, const char **argv);
} command;

extern const command command_hang, command_top, command_check;
extern const command command_record, command_report, command_export, command_query, command_doctor, command_version,
    command_help;
extern const command *const commands[]; /* ends with NULL */
const command *command_find(const char *name); /* NULL: unknown */
void command_print_list(FILE *out);

/* ---- options ---- */
/* Parses argv; on success *context holds the remaining arguments and -1 is returned, else the exit code to leave with
 * (0 after --help). stop_at_argument: options behind the first argument belong to somebody else. */
int options_parse(const command *self, const struct poptOption *options, int stop_at_argument, int argc,
                  const char **argv, poptContext *context);
/* What is left behind the options; valid until the context is freed. */
const char **options_arguments(poptContext context, uint32_t *count);
/* A whole number in decimal digits; *value stays as it is where the option was not given (text NULL). popt takes an
 * empty text for 0. 0, or EX_USAGE, complained. */
int options_number(const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *value);
#define OPTION_HELP {"help", 'h', POPT_ARG_NONE, NULL, 'h', "show this help", NULL}

/* ---- errors: one line on stderr ---- */
int complain(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3))); /* returns exit_code */
/* Exit code for an error of reading (input) or of writing (output). */
int exit_code_input(int error);
int exit_code_output(int error);
/* 0, or EX_IOERR and a line if standard output could not take everything. */
int finish_output(void);

/* ---- processes ---- */
/* Those of the arguments that are process ids, into *pids, which has room for all; the others are names of runs or
 * files. EX_USAGE, complained, where both are there, or a number that no process has. */
int pids_parse(const char **args, uint32_t count, int32_t *pids, uint32_t *found);

/* ---- names: NAME, NAME.xs, NAME.db and NAME.perfetto mean the same run ---- */
typedef struct run_names {
    char *base, *capture, *database, *perfetto;
    int has_capture, has_database;
    int temporary; /* the database is removed by names_free */
} run_names;
/* 0, EX_USAGE (no name: "", a folder), or EX_SOFTWARE (memory), complained */
int names_resolve(const char *name, run_names *names);
/* The same for what is to be made: a name that ends as a folder's does, where nothing of a run's has that ending, is
 * refused too. */
int names_to_make(const char *name, run_names *names);
/* Puts first what is another run than all before it, whichever way it is named (run, run.xs, ./run, a link). How
 * many. */
uint32_t names_distinct(const char **args, uint32_t count);
/* As a shell reads it back, quoted where that is needed; "?" where there is no memory. Freed with free(). */
char *names_quoted(const char *name);
/* What to do where NAME.rank0.xs is there and NAME.xs is not; "" otherwise. */
const char *names_hint(const run_names *names);
void names_free(run_names *names);
/* 1: the database is missing, of another version, damaged, or older than the capture. */
int names_database_is_old(const run_names *names);

/* ---- export ---- */
typedef struct export_refusal {
    char why[256]; /* "": it was something else */
} export_refusal;
typedef struct export_job {
    const char *const *captures;
    uint32_t count;
    const char *database, *perfetto; /* paths; NULL: not wanted */
    int windows, merge_roles, gpu_events, compress, timing, quiet;
    const char *slots; /* pattern; NULL: none */
    export_refusal *refused; /* if set, nothing is said where the database cannot be written: *refused has why */
    FILE *list; /* of the files made; NULL: none */
    char **opened; /* if set, *opened is the trace to open first, NULL where none was made; freed by the caller */
} export_job;
int export_run(const export_job *job); /* exit code, complained */

/* ---- answers ---- */
/* Negative: an error of libxsread, with its text; else the exit code. */
typedef int answer_ask(const char *database, void *user, char **error);
/* Asks the database of a run. NAME.db is made first where it is missing or old; where it cannot be written (read-only
 * folder, full disk) a temporary one is made, for this answer, and that is said. Exit code, complained. */
int answer_from(const char *name, answer_ask *ask, void *user);

/* ---- terminal ---- */
int terminal_is_utf8(void);
/* columns for sentences on standard output: those of the terminal, 100 at most; 0: it is none */
uint32_t terminal_width(void);
int terminal_can_move(void);      /* its cursor: a terminal that is not known, or "dumb", gets text that follows text */
int terminal_has_color(void); /* standard output; NO_COLOR is honoured */

#endif
