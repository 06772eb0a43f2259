#include "command.h"

#include <locale.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>

const command *const commands[] = {&command_record,
                                   &command_check,
                                   &command_report,
                                   &command_export,
                                   &command_query,
                                   &command_hang,
                                   &command_top,
                                   &command_doctor,
                                   &command_version,
                                   &command_help,
                                   NULL};

const command *command_find(const char *name) {
    for (const command *const *c = commands; *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    return NULL;
}

int main(int argc, const char **argv) {
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers in JSON, CSV and reports look the same everywhere */
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write(), with a message */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* a lock around every allocation, to count what nobody asks for */
    if (argc < 2) {
        command_print_list(stderr);
        return EX_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        name = "version";
    const command *c = command_find(name);
    if (!c)
        return complain(EX_USAGE, "unknown command '%s'; 'xs help' lists them", argv[1]);
    return c->run(c, argc - 1, argv + 1);
}
