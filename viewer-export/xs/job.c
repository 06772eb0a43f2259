/* One pass over captures into a database, a Perfetto trace, or both. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/analyse.h>
#include <xs/perfetto.h>
#include <xs/xs.h>

int exit_code_input(int error) {
    switch (error) {
    case XS_E_MEMORY: return EX_SOFTWARE;
    case XS_E_ARGUMENT: return EX_SOFTWARE;
    default: return EX_NOINPUT;
    }
}

int exit_code_output(int error) {
    switch (error) {
    case XS_E_MEMORY: return EX_SOFTWARE;
    case XS_E_ARGUMENT: return EX_SOFTWARE;
    case XS_E_NO_SPACE: return EX_IOERR;
    default: return EX_CANTCREAT;
    }
}

static void progress(void *user, double share) {
    int *shown = user, percent = (int)(share * 100);
    if (percent == *shown)
        return;
    *shown = percent;
    fprintf(stderr, "\rxs: exporting %3d %%%s", percent, percent >= 100 ? "\r                       \r" : "");
}

typedef struct outputs {
    xsr_sink *sinks[3];
    uint32_t count;
    xsr_sink *analysis, *sqlite, *perfetto;
    xsv_sqlite_timing timing;
} outputs;

static const char *cause(int error) { return error == XS_E_MEMORY || !errno ? xs_strerror(error) : strerror(errno); }

/* "a.xs, b.xs"; NULL: no memory. */
static char *names_of_captures(const export_job *job) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (uint32_t i = 0; out && i < job->count; i++)
        fprintf(out, "%s%s", i ? ", " : "", job->captures[i]);
    return out && !fclose(out) ? text : NULL;
}

/* The database could not be written. */
static int refused(const export_job *job, int code, const char *why) {
    if (!job->refused)
        return complain(code, "%s: %s", job->database, why);
    snprintf(job->refused->why, sizeof job->refused->why, "%s", why);
    return code;
}

static int open_sqlite(const export_job *job, const xsr_model *model, outputs *o) {
    char *captures = names_of_captures(job);
    xsv_sqlite_options how = {.size = sizeof how, .captures = captures, .timing = &o->timing, .analysis = o->analysis};
    xsv_sqlite_reserve(model->records);
    errno = 0;
    int rc = captures ? xsv_sqlite_open(job->database, &how, &o->sqlite) : XS_E_MEMORY;
    free(captures);
    if (rc == XS_E_MEMORY)
        return complain(exit_code_output(rc), "%s: %s", job->database, cause(rc));
    if (rc)
        return refused(job, exit_code_output(rc), cause(rc));
    o->sinks[o->count++] = o->sqlite;
    return EX_OK;
}

static int open_perfetto(const export_job *job, outputs *o) {
    xsv_perfetto_options how = {.size = sizeof how,
                                .split_limit = job->windows ? 1 : 0,
                                .slots = job->slots,
                                .analysis = o->analysis,
                                .merge_roles = job->merge_roles != 0,
                                .gpu_events = job->gpu_events != 0,
                                .compress = job->compress != 0};
    errno = 0;
    int rc = xsv_perfetto_open(job->perfetto, &how, &o->perfetto);
    if (rc)
        return complain(exit_code_output(rc), "%s: %s", job->perfetto, cause(rc));
    return EX_OK;
}

static void say_slots(const export_job *job, const xsv_perfetto_summary *s) {
    if (!s->slots_drawn)
        fprintf(stderr, "xs: --slots=%s matches no slot that was used\n", job->slots);
    else if (s->slots_left_out)
        fprintf(stderr, "xs: --slots=%s: the first %llu slots are drawn, %llu more match\n", job->slots,
                (unsigned long long)s->slots_drawn, (unsigned long long)s->slots_left_out);
}

/* The file to open: the trace, or of several the one that leads to the others. NULL: no memory. */
static char *trace_to_open(const export_job *job, uint32_t files) {
    char *path = NULL;
    int n = (int)(strlen(job->perfetto) - strlen(".perfetto"));
    return asprintf(&path, "%.*s%s.perfetto", n, job->perfetto, files > 1 ? ".overview" : "") < 0 ? NULL : path;
}

static int say_perfetto(const export_job *job, const outputs *o) {
    const xsv_perfetto_summary *s = xsv_perfetto_summary_of(o->perfetto);
    uint32_t files = s ? s->files : 1;
    char *path = trace_to_open(job, files);
    if (!path)
        return complain(EX_SOFTWARE, "out of memory");
    if (job->list && files > 1)
        fprintf(job->list, "%s and %u window%s: %sopen the overview first\n", path, files - 1, files == 2 ? "" : "s",
                job->windows ? "" : "too large for the UI in one file, ");
    else if (job->list)
        fprintf(job->list, "%s\n", path);
    if (s && job->slots)
        say_slots(job, s);
    if (job->opened)
        *job->opened = path;
    else
        free(path);
    return EX_OK;
}

static void say_timing(const xsv_sqlite_timing *t) {
    double rows = (double)t->rows_ns / 1e9;
    printf("rows     %10.3f s  %llu rows, %.0f rows/s\n", rows, (unsigned long long)t->rows,
           rows > 0 ? (double)t->rows / rows : 0);
    printf("indices  %10.3f s\nviews    %10.3f s\nclose    %10.3f s\n", (double)t->index_ns / 1e9,
           (double)t->views_ns / 1e9, (double)t->close_ns / 1e9);
}

/* A sink's own words are better than the code that the reader handed on. */
static int pass_failed(const export_job *job, const outputs *o, int rc) {
    if (o->sqlite && *xsv_sqlite_error(o->sqlite) && rc != XS_E_MEMORY)
        return refused(job, exit_code_output(rc), xsv_sqlite_error(o->sqlite));
    if (rc == XS_E_FORMAT || rc == XS_E_VERSION)
        return complain(EX_NOINPUT, "%s: %s", job->captures[0], xs_strerror(rc));
    if (!job->perfetto || rc == XS_E_MEMORY)
        return complain(exit_code_input(rc), "%s: %s", job->captures[0], cause(rc));
    return complain(exit_code_output(rc), "%s: %s", job->perfetto, cause(rc));
}

static int run_sinks(const export_job *job, xsr_reader *reader, const outputs *o, xsr_sink *const *sinks,
                     uint32_t count) {
    errno = 0;
    int rc = xsr_run(reader, sinks, count);
    return rc ? pass_failed(job, o, rc) : EX_OK;
}

static int run_passes(const export_job *job, xsr_reader *reader) {
    outputs o = {0};
    int rc = xsa_open(NULL, &o.analysis); /* before the others: they show what it finds */
    int code = rc ? complain(exit_code_output(rc), "%s", xs_strerror(rc)) : EX_OK;
    if (!code)
        o.sinks[o.count++] = o.analysis;
    if (!code && job->database)
        code = open_sqlite(job, xsr_model_of(reader), &o);
    if (!code && job->perfetto)
        code = open_perfetto(job, &o);
    if (!code)
        code = run_sinks(job, reader, &o, o.sinks, o.count);
    if (!code && o.perfetto)
        code = run_sinks(job, reader, &o, &o.perfetto, 1); /* knows by now which events it leads to from findings */
    if (!code && job->list && job->database)
        fprintf(job->list, "%s\n", job->database);
    if (!code && job->perfetto)
        code = say_perfetto(job, &o);
    if (!code && job->timing && job->database)
        say_timing(&o.timing);
    xsv_sqlite_close(o.sqlite);
    xsv_perfetto_close(o.perfetto);
    xsa_close(o.analysis);
    return code ? code : finish_output();
}

int export_run(const export_job *job) {
    int shown = -1, terminal = !job->quiet && isatty(STDERR_FILENO);
    xsr_options how = {.size = sizeof how, .progress = terminal ? progress : NULL, .user = &shown};
    xsr_reader *reader = NULL;
    const char *error = NULL;
    errno = 0;
    int rc = xsr_open(job->captures, job->count, &how, &reader, &error);
    int code;
    if (rc)
        code = complain(exit_code_input(rc), "%s", error && *error ? error : cause(rc));
    else
        code = run_passes(job, reader);
    xsr_close(reader);
    return code;
}
