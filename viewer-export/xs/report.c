#include "command.h"

#include <stdlib.h>

static int json, html;
static char *rows_text;
static uint32_t rows;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL},
    {"html", 0, POPT_ARG_NONE, &html, 0, "one self-contained page instead of text", NULL},
    {"rows", 'n', POPT_ARG_STRING, &rows_text, 0, "length of each list (10)", "N"},
    OPTION_HELP,
    POPT_TABLEEND};

static int ask(const char *database, void *user, char **error) {
    xsv_report_options how = {.size = sizeof how,
                              .json = json,
                              .rows = rows,
                              .color = terminal_has_color(),
                              .width = terminal_width(),
                              .unicode = terminal_is_utf8(),
                              .html = html};
    (void)user;
    return xsv_report(database, &how, stdout, error);
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t count;
    const char **args = options_arguments(context, &count);
    count = names_distinct(args, count);
    code = options_number("--rows", rows_text, 0, 100000, &rows);
    free(rows_text);
    if (!code && !count)
        code = complain(EX_USAGE, "report of which run? xs report NAME");
    else if (!code && json && html)
        code = complain(EX_USAGE, "--json and --html exclude each other");
    else if (!code && (json || html) && count > 1)
        code = complain(EX_USAGE, "--%s takes one run at a time", json ? "json" : "html");
    for (uint32_t i = 0; i < count && !code; i++) {
        if (count > 1)
            printf("%s%s\n", i ? "\n" : "", args[i]);
        code = answer_from(args[i], ask, NULL);
    }
    poptFreeContext(context);
    return code;
}

const command command_report = {
    "report", "NAME ...", "say what happened in a run",
    "Reads NAME.db and says what happened, the most important thing first: waits that never ended and\n"
    "who owes their signal, where the time went, who waited for whom, latencies by slot class and peer\n"
    "with histograms, the slowest waits, lost records, and what is not known. NAME.db is made from NAME.xs\n"
    "first if it is missing or older.\n\n"
    "Examples:\n"
    "  xs report run\n"
    "  xs report run --json | jq '.wait_share'\n"
    "  xs report run --html >run.html\n", run};
