#include "command.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const endings[] = {".xs", ".db", ".perfetto"};

static size_t base_length(const char *name) {
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/') /* a folder of segments, as a shell completes it */
        n--;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && !strncmp(name + n - e, endings[i], e) && name[n - e - 1] != '/')
            return n - e;
    }
    return n;
}

/* "", "." or "..", alone or at the end, names a folder and nothing in it. */
static int is_name(const char *name, int length) {
    int first = length;
    while (first > 0 && name[first - 1] != '/')
        first--;
    int last = length - first;
    return last > 0 && !(last == 1 && name[first] == '.') &&
           !(last == 2 && name[first] == '.' && name[first + 1] == '.');
}

static int exists(const char *path) { return path && access(path, F_OK) == 0; }

int names_resolve(const char *name, run_names *names) {
    memset(names, 0, sizeof *names);
    int n = (int)base_length(name);
    if (!is_name(name, n))
        return complain(EX_USAGE, "'%s' is not the name of a run: NAME, or FOLDER/NAME", name);
    if (asprintf(&names->base, "%.*s", n, name) < 0 || asprintf(&names->capture, "%.*s.xs", n, name) < 0 ||
        asprintf(&names->database, "%.*s.db", n, name) < 0 ||
        asprintf(&names->perfetto, "%.*s.perfetto", n, name) < 0) {
        names_free(names);
        return complain(EX_SOFTWARE, "out of memory");
    }
    names->has_capture = exists(names->capture);
    names->has_database = exists(names->database);
    return EX_OK;
}

int names_to_make(const char *name, run_names *names) {
    size_t n = strlen(name);
    if (n > 1 && name[n - 1] == '/' && name[base_length(name)] == '/') /* run.xs/ is a run */
        return complain(EX_USAGE, "'%s' is not the name of a run: NAME, or FOLDER/NAME", name);
    return names_resolve(name, names);
}

/* The file behind a name: the capture, else the database, else what is so called (an image of trace memory). */
static int file_of(const char *name, struct stat *st) {
    static const char *const tried[] = {".xs", ".db", ""};
    char path[PATH_MAX];
    int n = (int)base_length(name);
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++)
        if (snprintf(path, sizeof path, "%.*s%s", *tried[i] ? n : (int)strlen(name), name, tried[i]) <
                (int)sizeof path &&
            !stat(path, st))
            return 1;
    return 0;
}

static int same_run(const char *a, const char *b) {
    struct stat x, y;
    size_t n = base_length(a);
    if (n == base_length(b) && !strncmp(a, b, n))
        return 1;
    return file_of(a, &x) && file_of(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

uint32_t names_distinct(const char **args, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0, j; i < count; i++) {
        for (j = 0; j < kept && !same_run(args[j], args[i]); j++) {
        }
        if (j < kept)
            continue;
        const char *repeated = args[kept]; /* changes places: the strings belong to popt */
        args[kept++] = args[i];
        args[i] = repeated;
    }
    return kept;
}

const char *names_hint(const run_names *names) {
    static char text[512];
    struct stat st;
    char first[400];
    if (snprintf(first, sizeof first, "%s.rank0.xs", names->base) >= (int)sizeof first || stat(first, &st))
        return "";
    snprintf(text, sizeof text, "; its processes recorded themselves: xs export %.200s.rank*.xs -o %.200s", names->base,
             names->base);
    return text;
}

char *names_quoted(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=@%,";
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return strdup("?");
    int quote = !*name || name[strspn(name, plain)];
    fputs(*name == '-' ? "./" : "", f); /* else it would be an option */
    fputs(quote ? "'" : "", f);
    for (; *name; name++)
        if (*name == '\'')
            fputs("'\\''", f);
        else
            fputc(*name, f);
    fputs(quote ? "'" : "", f);
    fclose(f);
    return text ? text : strdup("?");
}

void names_free(run_names *names) {
    free(names->base);
    free(names->capture);
    if (names->temporary)
        unlink(names->database);
    free(names->database);
    free(names->perfetto);
    memset(names, 0, sizeof *names);
}

static int later(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* When the capture was written last: for a folder, the newest of its segments. */
static int written_at(const char *path, struct timespec *when) {
    struct stat st;
    if (stat(path, &st))
        return -1;
    *when = st.st_mtim;
    DIR *d = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0) && later(&st.st_mtim, when))
            *when = st.st_mtim;
    closedir(d);
    return 0;
}

int names_database_is_old(const run_names *names) {
    struct timespec capture, database;
    if (!names->has_database || xsv_sqlite_check(names->database) || written_at(names->database, &database))
        return 1;
    /* Of one time: a clock of files may stand still for milliseconds. */
    return !written_at(names->capture, &capture) && !later(&database, &capture);
}
