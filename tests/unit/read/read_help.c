#include "read_help.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void clean(void) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

const char *help_path(const char *name) {
    static char paths[8][160];
    static int next;
    if (!folder[0]) {
        strcpy(folder, "/tmp/xs-read-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(clean);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void help_write(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    assert_int_equal(close(fd), 0);
}

void help_script(const char *path, const char *text) {
    cb *c = cb_begin(path);
    assert_non_null(c);
    int wrong = script_run(c, text);
    if (wrong)
        fail_msg("line %d of the script is wrong", wrong);
    assert_int_equal(cb_end(c), 0);
}

xsr_reader *help_open_with(const char *path, uint32_t threads) {
    xsr_options options = {.size = sizeof options, .threads = threads};
    xsr_reader *reader = NULL;
    const char *why = NULL;
    int rc = xsr_open(&path, 1, &options, &reader, &why);
    if (rc)
        fail_msg("%s: %d %s", path, rc, why);
    return reader;
}

xsr_reader *help_open(const char *path) { return help_open_with(path, XSR_THREADS_AUTO); }

char *help_dump(xsr_reader *reader) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    dump_sink dump = dump_sink_make(out);
    xsr_sink *sinks[] = {&dump.sink};
    assert_int_equal(xsr_run(reader, sinks, 1), 0);
    fclose(out);
    return text;
}

#define KEEP(array, count, value)                                                   \
    do {                                                                            \
        if ((t->count & (t->count + 1)) == 0)                     \
            t->array = realloc(t->array, (2 * t->count + 2) * sizeof *t->array);    \
        if (!t->array)                                                              \
            abort();                                                                \
        t->array[t->count++] = *(value);                                            \
    } while (0)

static int keep_event(xsr_sink *sink, const xsr_event *e) {
    told *t = (told *)sink;
    KEEP(events, event_count, e);
    return 0;
}
static int keep_wait(xsr_sink *sink, const xsr_wait *w) {
    told *t = (told *)sink;
    KEEP(waits, wait_count, w);
    return 0;
}
static int keep_signal(xsr_sink *sink, const xsr_signal *s) {
    told *t = (told *)sink;
    xsr_signal copy = *s;
    uint64_t *ids = calloc(s->released_count + 1, sizeof *ids);
    if (!ids)
        abort();
    if (s->released_count)
        memcpy(ids, s->released, s->released_count * sizeof *ids);
    copy.released = ids;
    KEEP(signals, signal_count, &copy);
    return 0;
}
static int keep_lost(xsr_sink *sink, const xsr_loss *l) {
    told *t = (told *)sink;
    KEEP(losses, loss_count, l);
    return 0;
}

int help_run(xsr_reader *reader, told *t) {
    *t = (told){.sink = {.name = "keep", .event = keep_event, .wait = keep_wait, .signal = keep_signal, .lost = keep_lost}};
    xsr_sink *sinks[] = {&t->sink};
    return xsr_run(reader, sinks, 1);
}

void help_free(told *t) {
    for (size_t i = 0; i < t->signal_count; i++)
        free((void *)t->signals[i].released);
    free(t->events);
    free(t->waits);
    free(t->signals);
    free(t->losses);
}

int help_read(const char *path, told *t, xsr_model *model) {
    xsr_reader *reader = NULL;
    const char *why;
    *t = (told){0};
    int rc = xsr_open(&path, 1, NULL, &reader, &why);
    if (rc == 0)
        rc = help_run(reader, t);
    if (rc == 0 && model)
        *model = *xsr_model_of(reader); /* counts; the tables go with the reader */
    xsr_close(reader);
    return rc;
}
