/* Worlds of the recorder: a capture each. Ranks and slots are known by their numbers in a world, so that of two
 * worlds in one capture, or of two runs of one program, each would be taken for what the other did. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "identity.h"
#include "recorder_internal.h"
#include "world.h"

static uint64_t now_boot(void *user) {
    (void)user;
    return xs_clock_boot();
}

static int open_collector(const recorder *r, const char *suffix, xs_collector **collector) {
    const xs_recorder_options *o = &r->options;
    uint64_t threads = o->collectors;
    int told = threads ? 0 : xs_env_number("XS_COLLECTORS", 1, XS_COLLECTORS_MOST, &threads), first = !*suffix;
    if (told < 0)
        return told;
    xs_capture_options file = {.name = o->capture,
                               .suffix = suffix,
                               .bound_bytes = o->bound_bytes,
                               .bound_ns = o->bound_seconds * 1000000000ull,
                               .preallocate = first ? o->preallocate : 0,
                               .held = first};
    xs_capture *capture;
    int rc = xs_capture_open(&file, &capture);
    if (rc)
        return rc;
    xs_collector_options options = {
        .capture = capture, .now = now_boot, .threads = (uint32_t)threads, .on_trigger = o->on_trigger};
    rc = xs_collector_create(&options, collector);
    if (rc)
        xs_capture_close(capture);
    return rc;
}

/* Its place in the result, filled in when it is over. */
static int add_result(recorder *r, recorded *w) {
    xs_recorder_result *result = r->result;
    xs_recorder_world *more = realloc(result->worlds, (result->world_count + 1) * sizeof *more);
    if (!more)
        return XS_E_MEMORY;
    result->worlds = more;
    memset(&more[result->world_count], 0, sizeof *more);
    w->index = result->world_count++;
    return 0;
}

static int open_world(recorder *r, recorded **made) {
    recorded *w = calloc(1, sizeof *w), **link = &r->worlds;
    char suffix[24] = "";
    if (r->result->world_count)
        snprintf(suffix, sizeof suffix, ".world%u", r->result->world_count + 1);
    int rc = w ? open_collector(r, suffix, &w->collector) : XS_E_MEMORY;
    if (!rc && (rc = add_result(r, w)))
        xs_collector_close(w->collector);
    if (rc) {
        free(w);
        return rc;
    }
    while (*link)
        link = &(*link)->next;
    *link = *made = w;
    return 0;
}

int xs_recorder_worlds_open(recorder *r) {
    recorded *first;
    return open_world(r, &first);
}

/* A rank may come again where it is known to be the same world: as another process, since captures tell processes
 * apart. */
static int has_room(const recorded *w, const xs_region_header *h) {
    for (uint32_t i = 0; i < h->ranks; i++)
        if (w->came[h->first_rank + i] && (!*w->shared || w->came[h->first_rank + i] == h->process))
            return 0;
    return 1;
}

static int is_nobodys(const recorded *w) { return w->collector && !w->came; }

static int is_of(const recorded *w, const xs_region_header *h, const char *shared) {
    return w->collector && w->ranks == h->world_ranks && !strcmp(w->shared, shared) && has_room(w, h);
}

static int claim(recorded *w, const xs_region_header *h, const char *shared) {
    w->came = calloc(h->world_ranks, sizeof *w->came);
    if (!w->came)
        return XS_E_MEMORY;
    w->ranks = h->world_ranks;
    snprintf(w->shared, sizeof w->shared, "%s", shared);
    return 0;
}

int xs_recorder_world_join(recorder *r, const xs_region_header *h, const char *shared, recorded **world) {
    recorded *w = r->worlds;
    while (w && !is_nobodys(w) && !is_of(w, h, shared))
        w = w->next;
    int rc = w ? 0 : open_world(r, &w);
    if (!rc && !w->came)
        rc = claim(w, h, shared);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < h->ranks; i++) {
        w->here += !w->came[h->first_rank + i];
        w->came[h->first_rank + i] = h->process ? h->process : 1;
    }
    w->live++;
    *world = w;
    return 0;
}

static void end_world(recorder *r, recorded *w) {
    xs_recorder_world *said = &r->result->worlds[w->index];
    if (!w->collector)
        return;
    xs_collector_finish(w->collector);
    said->records = xs_collector_records(w->collector);
    said->kept = xs_collector_kept(w->collector);
    snprintf(said->path, sizeof said->path, "%s", xs_capture_path(xs_collector_capture(w->collector)));
    said->capture_error = xs_collector_close(w->collector);
    if (!said->capture_error)
        said->capture_error = w->begin_error;
    w->collector = NULL;
    free(w->came);
    w->came = NULL;
}

void xs_recorder_world_left(recorder *r, recorded *w) {
    if (!--w->live && w->here == w->ranks &&
        w->index) /* all that it has came and went. The first one is there to the end, for what comes late */
        end_world(r, w);
}

uint64_t xs_recorder_worlds_pass(recorder *r) {
    uint64_t taken = 0;
    for (recorded *w = r->worlds; w; w = w->next)
        if (w->live)
            taken += xs_collector_pass(w->collector);
    return taken;
}

void xs_recorder_worlds_dump(recorder *r, const char *why) {
    for (recorded *w = r->worlds; w; w = w->next)
        if (w->collector)
            xs_collector_dump(w->collector, why);
}

void xs_recorder_worlds_begin(recorder *r) {
    if (r->worlds)
        r->worlds->begin_error = xs_capture_begin(xs_collector_capture(r->worlds->collector));
}

void xs_recorder_worlds_close(recorder *r) {
    xs_recorder_result *result = r->result;
    while (r->worlds) {
        recorded *w = r->worlds;
        r->worlds = w->next;
        end_world(r, w);
        free(w);
    }
    for (uint32_t i = 0; i < result->world_count; i++) {
        result->records += result->worlds[i].records;
        if (!result->capture_error)
            result->capture_error = result->worlds[i].capture_error;
    }
    if (result->world_count)
        memcpy(result->path, result->worlds[0].path, sizeof result->path);
}

void xs_recorder_result_free(xs_recorder_result *result) {
    free(result->worlds);
    result->worlds = NULL;
    result->world_count = 0;
}
