#include "command.h"

static const struct poptOption options[] = {OPTION_HELP, POPT_TABLEEND};

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    const char *name = poptGetArg(context);
    const command *c = name ? command_find(name) : NULL;
    if (name && !c)
        code = complain(EX_USAGE, "unknown command '%s'; 'xs help' lists them", name);
    else if (poptPeekArg(context))
        code = complain(EX_USAGE, "help with one command at a time");
    poptFreeContext(context);
    if (code >= 0)
        return code;
    if (!c) {
        command_print_list(stdout);
        return finish_output();
    }
    const char *ask[] = {c->name, "--help", NULL};
    return c->run(c, 2, ask);
}

const command command_help = {"help", "[COMMAND]", "list the commands, or show the help of one",
                              "Lists the commands, or shows the help of one.\n", run};
