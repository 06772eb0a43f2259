#include "export_help.h"
#include "../read/script.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void capture_path(const exported *e, char *path, size_t size) { snprintf(path, size, "%s/run.xs", e->folder); }

int export_again(const exported *e, const char *path, const xsv_perfetto_options *options, xsv_perfetto_summary *summary) {
    char capture[128];
    capture_path(e, capture, sizeof capture);
    const char *paths[] = {capture}, *why = NULL;
    xsr_reader *reader = NULL;
    xsr_sink *sink = NULL;
    if (xsr_open(paths, 1, NULL, &reader, &why))
        abort();
    int rc = xsv_perfetto_open(path, options, &sink);
    xsr_sink *judge = options ? (xsr_sink *)(uintptr_t)options->analysis : NULL;
    if (!rc && judge)
        rc = xsr_run(reader, &judge, 1); /* a pass of its own, as `xs export` does */
    if (!rc)
        rc = xsr_run(reader, &sink, 1);
    if (!rc && summary)
        *summary = *xsv_perfetto_summary_of(sink);
    xsv_perfetto_close(sink);
    xsr_close(reader);
    return rc;
}

static void make_folder(exported *e, char *capture, size_t size) {
    *e = (exported){.folder = "/tmp/xs_perfetto.XXXXXX"};
    if (!mkdtemp(e->folder))
        abort();
    capture_path(e, capture, size);
    snprintf(e->path, sizeof e->path, "%s/run.perfetto", e->folder);
}

int export_script(exported *e, const char *script, const xsv_perfetto_options *options) {
    char capture[128];
    make_folder(e, capture, sizeof capture);
    cb *c = cb_begin(capture);
    if (!c || script_run(c, script) || cb_end(c))
        abort();
    int rc = export_again(e, e->path, options, &e->summary);
    e->trace = rc ? NULL : td_read(e->path);
    return rc;
}

int export_run(exported *e, const run_shape *shape, const xsv_perfetto_options *options) {
    char capture[128];
    make_folder(e, capture, sizeof capture);
    if (run_build(capture, shape, &e->counts))
        abort();
    int rc = export_again(e, e->path, options, &e->summary);
    e->trace = rc ? NULL : td_read(e->path);
    return rc;
}

void export_free(exported *e) {
    td_free(e->trace);
    DIR *dir = opendir(e->folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", e->folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(e->folder);
}
