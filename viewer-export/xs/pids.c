/* Arguments that name processes. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>

/* 1: a process id; 0: the name of a run, or a file; -1: a number that no process has. */
static int parse_pid(const char *text, int32_t *pid) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end)
        return 0;
    *pid = (int32_t)number;
    return errno || number <= 0 || number > INT32_MAX ? -1 : 1;
}

int pids_parse(const char **args, uint32_t count, int32_t *pids, uint32_t *found) {
    for (uint32_t i = 0; i < count; i++) {
        int is = parse_pid(args[i], &pids[*found]);
        if (is < 0)
            return complain(EX_USAGE, "'%s' is no process id", args[i]);
        *found += is > 0;
    }
    if (*found && *found < count)
        return complain(EX_USAGE, "processes or files, not both (a file whose name is a number: ./%d)", (int)pids[0]);
    return EX_OK;
}
