/* Answers that come from a run's database: it is made first where it is missing or old, elsewhere if it cannot be
 * there. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1: nothing can be made beside `path`; errno says why. */
static int in_readonly_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int closed = folder && access(folder, W_OK) && (errno == EACCES || errno == EROFS || errno == EPERM);
    int why = errno;
    free(folder);
    errno = why;
    return closed;
}

/* Makes `path`. *refused: it could not be written, and why; anything else was complained of. */
static int make(const run_names *names, const char *path, export_refusal *refused) {
    const char *captures[] = {names->capture};
    export_job job = {.captures = captures,
                      .count = 1,
                      .database = path,
                      .quiet = !isatty(STDERR_FILENO),
                      .refused = refused};
    *refused->why = 0;
    if (!in_readonly_folder(path))
        return export_run(&job);
    snprintf(refused->why, sizeof refused->why, "%s", strerror(errno));
    return EX_CANTCREAT;
}

static int make_temporary(run_names *names, const char *folder, export_refusal *refused) {
    char *path;
    if (asprintf(&path, "%s/xs-XXXXXX.db", folder) < 0)
        return complain(EX_SOFTWARE, "out of memory");
    int fd = mkstemps(path, 3);
    int code = EX_CANTCREAT;
    if (fd < 0) {
        snprintf(refused->why, sizeof refused->why, "%s", strerror(errno));
    } else {
        close(fd);
        code = make(names, path, refused);
        if (code)
            unlink(path);
    }
    if (code) {
        free(path);
        return code;
    }
    free(names->database);
    names->database = path;
    names->temporary = 1;
    return EX_OK;
}

/* On disk, else in memory. Says one line, whichever way it goes. */
static int make_elsewhere(run_names *names, int code, const export_refusal *first) {
    const char *wanted = getenv("TMPDIR"), *folders[] = {wanted && *wanted ? wanted : "/tmp", "/dev/shm"};
    char *named = strdup(names->database);
    export_refusal refused = {""};
    int made = named ? EX_CANTCREAT : complain(EX_SOFTWARE, "out of memory");
    for (int i = 0; named && made && i < 2 && (!i || *refused.why); i++)
        made = make_temporary(names, folders[i], &refused);
    if (!made)
        fprintf(stderr, "xs: %s cannot be written (%s): a temporary database is made for this answer\n", named,
                first->why);
    else if (*refused.why)
        made = complain(code, "%s cannot be written (%s), nor a temporary database in %s or %s (%s)", named, first->why,
                        folders[0], folders[1], refused.why);
    free(named);
    return made;
}

static int make_database_if_needed(run_names *names) {
    if (!names->has_capture && !names->has_database)
        return complain(EX_NOINPUT, "%s: there is neither %s nor %s%s", names->base, names->capture, names->database,
                        names_hint(names));
    if (!names_database_is_old(names))
        return EX_OK;
    if (!names->has_capture) {
        int rc = xsv_sqlite_check(names->database);
        return complain(EX_NOINPUT, "%s: %s, and there is no %s to make it from", names->database,
                        rc == XS_E_VERSION ? "made by another version of xs" : "not a whole xs database",
                        names->capture);
    }
    export_refusal refused;
    int code = make(names, names->database, &refused);
    return code && *refused.why ? make_elsewhere(names, code, &refused) : code;
}

static int code_of(int rc) {
    return rc == XS_E_ARGUMENT ? EX_USAGE : rc == XS_E_SYSTEM ? EX_IOERR : exit_code_input(rc);
}

int answer_from(const char *name, answer_ask *ask, void *user) {
    run_names names;
    char *error = NULL;
    int code = names_resolve(name, &names);
    if (code)
        return code;
    code = make_database_if_needed(&names);
    if (!code) {
        int rc = ask(names.database, user, &error);
        code = rc < 0 ? complain(code_of(rc), "%s", error ? error : "out of memory") : rc;
    }
    free(error);
    names_free(&names);
    return code;
}
