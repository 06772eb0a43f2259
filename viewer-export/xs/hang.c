/* xs hang: the command. */
#include "command.h"
#include "hang.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/xs.h>

#define ROWS 20

static int json;
static char *rows_text;
static uint32_t rows;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL},
    {"rows", 'n', POPT_ARG_STRING, &rows_text, 0, "length of each list (20)", "N"},
    OPTION_HELP,
    POPT_TABLEEND};

/* What looked like a region and was not, or is not there: one line each. */
static void say_refused(const hang_report *report) {
    for (uint32_t i = 0; i < report->set.refused_count; i++) {
        const xs_attach_refusal *r = &report->set.refused[i];
        complain(EX_NOINPUT, "process %d: %s", (int)r->pid, r->why);
    }
}

const char *hang_nobody(const hang_report *report) {
    return report->asked ? "no traced process among these: built with XS_TRACE=1, and does its world exist?"
                         : "no traced process of this user on this machine";
}

static int look(const int32_t *pids, uint32_t count, hang_report *report) {
    int rc = hang_read(pids, count, report);
    if (rc)
        return complain(exit_code_input(rc), "%s", rc == XS_E_SYSTEM ? "/proc cannot be read" : xs_strerror(rc));
    say_refused(report);
    if (report->world_count)
        return EX_OK;
    return report->set.refused_count ? EX_NOINPUT : complain(EX_NOINPUT, "%s", hang_nobody(report));
}

static int is_there(const char *path) {
    char capture[PATH_MAX];
    return !access(path, F_OK) ||
           (snprintf(capture, sizeof capture, "%s.xs", path) < (int)sizeof capture && !access(capture, F_OK));
}

int hang_open(const char *const *paths, uint32_t count, hang_report *report) {
    uint32_t images = 0;
    for (uint32_t i = 0; i < count; i++)
        images += (uint32_t)hang_is_image(paths[i]);
    report->paths = paths;
    report->path_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!is_there(paths[i]))
            return complain(EX_NOINPUT, "%s: it is no process, and there is neither %s.xs nor %s", paths[i], paths[i],
                            paths[i]);
    if (images && images < count)
        return complain(EX_USAGE, "captures or images of trace memory, not both");
    return images ? hang_image_open(paths, count, report) : hang_capture_open(paths, count, report);
}

static void print(const hang_report *report) {
    if (json)
        hang_print_json(report, stdout);
    else
        hang_print_text(report, rows ? rows : ROWS, stdout);
}

/* `code` of what was read; the verdict where that was well. */
static int show(int code, hang_report *report) {
    if (!code) {
        code = (int)report->worlds[0].verdict;
        print(report);
    }
    hang_free(report);
    return code;
}

/* Any name of a run stands for its capture, as everywhere; what is an image of trace memory keeps its own. */
static int name_run(const char *arg, run_names *names, const char **path) {
    *path = arg;
    if (hang_is_image(arg))
        return EX_OK;
    int code = names_resolve(arg, names);
    if (!code && names->has_capture && strcmp(arg, names->capture))
        *path = names->base;
    return code;
}

static int hang_files(const char **args, uint32_t count, hang_report *report) {
    count = names_distinct(args, count);
    run_names *names = calloc(count, sizeof *names);
    const char **paths = calloc(count, sizeof *paths);
    int code = names && paths ? EX_OK : complain(EX_SOFTWARE, "out of memory");
    for (uint32_t i = 0; i < count && !code; i++)
        code = name_run(args[i], &names[i], &paths[i]);
    if (!code)
        code = show(hang_open(paths, count, report), report);
    for (uint32_t i = 0; names && i < count; i++)
        names_free(&names[i]);
    free(names);
    free(paths);
    return code;
}

static int hang(const char **args, uint32_t count) {
    hang_report report = {.paths = NULL};
    uint32_t found = 0;
    int32_t *pids = calloc(count + 1u, sizeof *pids);
    int code = pids ? pids_parse(args, count, pids, &found) : complain(EX_SOFTWARE, "out of memory");
    if (!code)
        code = count > found ? hang_files(args, count, &report) : show(look(pids, found, &report), &report);
    free(pids);
    int written = finish_output();
    return written ? written : code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t count;
    const char **args = options_arguments(context, &count);
    code = options_number("--rows", rows_text, 0, 1000000, &rows);
    free(rows_text);
    if (!code)
        code = hang(args, count);
    poptFreeContext(context);
    return code;
}

const command command_hang = {
    "hang", "[PID ... | NAME ...]", "say who waits for whom in programs that hang, or hung",
    "Looks at traced programs while they run, without stopping them and without a CUDA call: who waits, for\n"
    "whom, on which slot, since when, and who owes the signal. Without a PID it looks at every traced process\n"
    "of this user on this machine; a PID stands for its world and for what it started (torchrun, xs record).\n"
    "The first line is the verdict. It takes two looks, 200 ms apart.\n\n"
    "NAME (or a file): the same afterwards, from a capture (NAME.xs, cut off or still being written too), from a\n"
    "copy of trace memory, or from a core file.\n\n"
    "Exit code: 0 nothing waits, 1 something waits but moves (or no hang is shown), 2 hung, 64 usage, 66 nothing\n"
    "to read.\n\n"
    "Examples:\n"
    "  xs hang\n"
    "  xs hang 4711\n"
    "  xs hang run                          what run.xs ended with\n"
    "  xs hang --json | jq -r '.worlds[0].verdict'\n", run};
