#include "command.h"

static int json, quiet, all;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding, and what each detector says, those that found nothing too",
     NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no text: the exit code alone", NULL},
    OPTION_HELP,
    POPT_TABLEEND};

static int ask(const char *database, void *user, char **error) {
    xsv_check_options how = {.size = sizeof how,
                             .json = json != 0,
                             .quiet = quiet != 0,
                             .all = all != 0,
                             .color = terminal_has_color(),
                             .width = terminal_width()};
    (void)user;
    int verdict = xsv_check(database, &how, stdout, error);
    return verdict >= 0 && finish_output() ? EX_IOERR : verdict;
}

/* Of several runs: a run that cannot be read, else an error, else something unknown. */
static int worse(int x, int y) {
    if (x > 2 || y > 2)
        return x > 2 ? x : y;
    return x == 1 || y == 1 ? 1 : x > y ? x : y;
}

static int check_all(const char **args, uint32_t count) {
    int code = EX_OK;
    for (uint32_t i = 0; i < count && code <= 2; i++) {
        if (!quiet && count > 1)
            printf("%s%s\n", i ? "\n" : "", args[i]);
        code = worse(code, answer_from(args[i], ask, NULL));
    }
    return code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t count;
    const char **args = options_arguments(context, &count);
    count = names_distinct(args, count);
    if (!count)
        code = complain(EX_USAGE, "check which run? xs check NAME");
    else if (json && quiet)
        code = complain(EX_USAGE, "--json or --quiet, not both");
    else if (json && count > 1)
        code = complain(EX_USAGE, "--json takes one run at a time");
    else
        code = check_all(args, count);
    poptFreeContext(context);
    return code;
}

const command command_check = {
    "check", "NAME ...", "say what went wrong in a run, and leave with a code that tells",
    "Says what the detectors found, the one to read first on top: who waits, for what, who owes it, since\n"
    "when, and the cure. NAME.db is made from NAME.xs first if it is missing or older.\n\n"
    "Exit codes: 0 clean (warnings and notes do not count); 1 an error was found; 2 no error was found, but\n"
    "records that are lost could hold one; 64 and above as everywhere.\n\n"
    "Examples:\n"
    "  xs check run\n"
    "  xs check run --all                   every finding; what every detector says, and cannot know\n"
    "  xs check -q run || exit              in a script\n", run};
