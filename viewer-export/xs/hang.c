#include "command.h"
#include "hang.h"

#include <errno.h>
#include <stdlib.h>
#include <xs/xs.h>

#define ROWS 20

static int json, rows;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL},
    {"rows", 'n', POPT_ARG_INT, &rows, 0, "length of each list (20)", "N"},
    OPTION_HELP,
    POPT_TABLEEND};

static int parse_pids(const char **args, int32_t **pids, uint32_t *count) {
    for (*count = 0; args && args[*count];)
        ++*count;
    *pids = calloc(*count + 1u, sizeof **pids);
    if (!*pids)
        return complain(EX_SOFTWARE, "out of memory");
    for (uint32_t i = 0; i < *count; i++) {
        char *end;
        errno = 0;
        long pid = strtol(args[i], &end, 10);
        if (errno || *end || end == args[i] || pid <= 0 || pid > INT32_MAX)
            return complain(EX_USAGE, "'%s' is no process id", args[i]);
        (*pids)[i] = (int32_t)pid;
    }
    return EX_OK;
}

/* What looked like a region and was not: one line each. */
static void say_refused(const hang_report *report) {
    for (uint32_t i = 0; i < report->set.refused_count; i++) {
        const xs_attach_refusal *r = &report->set.refused[i];
        complain(EX_NOINPUT, "process %d: %s", (int)r->pid, r->why);
    }
}

static int say_nothing_found(const hang_report *report, uint32_t asked_for) {
    if (report->set.refused_count)
        return EX_NOINPUT;
    if (asked_for)
        return complain(EX_NOINPUT, "no traced process among these: built with XS_TRACE=1, and does its world exist?");
    return complain(EX_NOINPUT, "no traced process of this user on this machine");
}

static int hang(const int32_t *pids, uint32_t count) {
    hang_report report;
    int rc = hang_read(pids, count, &report), code;
    if (rc) {
        code = complain(exit_code_input(rc), "%s", rc == XS_E_SYSTEM ? "/proc cannot be read" : xs_strerror(rc));
    } else {
        say_refused(&report);
        code = report.world_count ? (int)report.worlds[0].verdict : say_nothing_found(&report, count);
        if (report.world_count && json)
            hang_print_json(&report, stdout);
        else if (report.world_count)
            hang_print_text(&report, rows ? (uint32_t)rows : ROWS, stdout);
    }
    hang_free(&report);
    int written = finish_output();
    return written ? written : code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    int32_t *pids = NULL;
    uint32_t count = 0;
    if (rows < 0 || rows > 1000000)
        code = complain(EX_USAGE, "--rows=%d is not between 0 and 1000000", rows);
    else
        code = parse_pids(poptGetArgs(context), &pids, &count);
    if (!code)
        code = hang(pids, count);
    free(pids);
    poptFreeContext(context);
    return code;
}

const command command_hang = {
    "hang", "[PID ...]", "say who waits for whom in programs that hang",
    "Looks at traced programs while they run, without stopping them and without a CUDA call: who waits, for\n"
    "whom, on which slot, since when, and who owes the signal. Without a PID it looks at every traced process\n"
    "of this user on this machine; a PID stands for its world and for what it started (torchrun, xs record).\n"
    "The first line is the verdict. It takes two looks, 200 ms apart.\n\n"
    "Exit code: 0 nothing waits, 1 something waits but moves, 2 hung, 64 usage, 66 no traced process.\n\n"
    "Examples:\n"
    "  xs hang\n"
    "  xs hang 4711\n"
    "  xs hang --json | jq -r '.worlds[0].verdict'\n", run};
