#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach_internal.h"
#include "identity.h"

/* Behind the command of /proc/PID/stat, which may hold spaces and brackets: "S 1 ..." */
static const char *stat_fields(int32_t pid, char *text, size_t size) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || !xs_identity_file(path, text, size))
        return NULL;
    const char *at = strrchr(text, ')');
    return at && at[1] == ' ' ? at + 2 : NULL;
}

char xs_attach_run_state(int32_t pid) {
    char text[1024];
    const char *fields = stat_fields(pid, text, sizeof text);
    return fields ? *fields : 0;
}

int32_t xs_attach_parent(int32_t pid) {
    char text[1024];
    const char *fields = stat_fields(pid, text, sizeof text);
    return fields && *fields ? (int32_t)atoi(fields + 1) : 0;
}

/* The last number of the line NSpid. */
int32_t xs_attach_inner_pid(int32_t pid) {
    char path[48], text[8192];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (!xs_identity_file(path, text, sizeof text))
        return 0;
    char *line = strstr(text, "\nNSpid:");
    if (!line)
        return pid; /* a kernel without namespaces */
    char *end = strchr(line + 1, '\n');
    if (end)
        *end = 0;
    const char *last = strrchr(line, '\t');
    return last ? (int32_t)atoi(last) : pid;
}
