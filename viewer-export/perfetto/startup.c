/* What the viewer should do when it opens the trace: NAME.perfetto.startup.json, and the same as an address. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

#define PIN_FROM_RANKS 5u
#define PIN_FROM_WRITERS 16u
#define VIEWER "https://ui.perfetto.dev/#!/?"

/* Roles to show: of the rank that waits, the one that waits longest; of the supplier, the one that signals most. */
static uint32_t busiest_role(const drawing *d, uint32_t number, bool waits) {
    uint64_t best = 0;
    uint32_t role = XSR_NONE;
    for (uint32_t r = 0; r < d->model->rank_count; r++)
        for (uint32_t g = 0; d->ranks[r].number == number && g < d->ranks[r].role_count; g++) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < d->lane_count; i++)
                if (d->lanes[i]->rank == r && d->lanes[i]->role == d->ranks[r].roles[g].role)
                    sum += waits ? d->lanes[i]->waited : d->lanes[i]->signals;
            if (sum > best || role == XSR_NONE) {
                best = sum;
                role = d->ranks[r].roles[g].role;
            }
        }
    return role;
}

static bool many_writers(const drawing *d) {
    for (uint32_t r = 0; r < d->model->rank_count; r++)
        for (uint32_t g = 0; g < d->ranks[r].role_count; g++) {
            uint32_t count = 0;
            for (uint32_t i = 0; i < d->lane_count; i++)
                count += d->lanes[i]->rank == r && d->lanes[i]->role == d->ranks[r].roles[g].role;
            if (count > PIN_FROM_WRITERS)
                return true;
        }
    return false;
}

static void put_json(FILE *f, const char *text) {
    fputc('"', f);
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(f, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(f, "\\u%04x", *c);
        else
            fputc(*c, f);
    fputc('"', f);
}

static void put_command(FILE *f, const char *id, const char *first, const char *second) {
    fprintf(f, "%s{\"id\":\"dev.perfetto.%s\",\"args\":[", ftell(f) > 1 ? ",\n " : "", id);
    put_json(f, first);
    if (second) {
        fputc(',', f);
        put_json(f, second);
    }
    fputs("]}", f);
}

/* Role names are the user's: what means something in a regular expression is taken literally. */
static void put_literal(FILE *f, const char *text) {
    for (const char *c = text; *c; c++) {
        if (strchr("\\^$.|?*+()[]{}", *c))
            fputc('\\', f);
        fputc(*c, f);
    }
}

static char *path_expression(const drawing *d, uint32_t victim, uint32_t supplier) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    uint32_t role = busiest_role(d, victim, true), other = busiest_role(d, supplier, false);
    if (!f)
        return NULL;
    fprintf(f, "^(rank %u .*role ", victim);
    put_literal(f, role_name(d, role));
    if (other != XSR_NONE) {
        fprintf(f, "|rank %u .*role ", supplier);
        put_literal(f, role_name(d, other));
    }
    fputs(")$", f);
    return fclose(f) ? NULL : text;
}

/* Waits for other ranks first: those within a rank follow from them. */
#define OPEN_WAITS                                                                                                    \
    "select s.name as wait, p.name as waiting, extract_arg(s.arg_set_id,'debug.writer') as writer, "                    \
    "extract_arg(s.arg_set_id,'debug.supplier') as owed_by, extract_arg(s.arg_set_id,'debug.epoch') as epoch, s.id, s.ts, " \
    "s.dur, s.track_id from slice s join process_track t on t.id = s.track_id join process p using (upid) where "        \
    "s.category = 'wait' and s.dur = -1 order by extract_arg(s.arg_set_id,'debug.supplier') glob substr(p.name, 1, "     \
    "instr(p.name, ' ·')) || '*', s.ts"
/* Waits for the rank itself are left out: what its supplier waits for is in the list. */
#define SLOWEST_WAITS                                                                                                 \
    "select s.name as wait, extract_arg(s.arg_set_id,'debug.supplier') as supplier, p.name as waiting, "                \
    "extract_arg(s.arg_set_id,'debug.writer') as writer, extract_arg(s.arg_set_id,'debug.epoch') as epoch, "            \
    "extract_arg(s.arg_set_id,'debug.lag_ns') as lag_ns, s.id, s.ts, s.dur, s.track_id from slice s join process_track t " \
    "on t.id = s.track_id join process p using (upid) where s.category = 'wait' and extract_arg(s.arg_set_id," \
    "'debug.supplier') not glob substr(p.name, 1, instr(p.name, ' ·')) || '*' order by s.dur desc limit 50"
#define WHO_WAITS                                                                                                     \
    "select waiting, waits_for, round(sum(ns) / 1e6, 3) as ms, round(100.0 * sum(ns) / (select end_ts - start_ts from "  \
    "trace_bounds), 1) as percent_of_run, count(*) as times, round(max(ns) / 1e6, 3) as longest_ms from (select "        \
    "substr(t.name, 1, length(t.name) - length(' waits for')) as waiting, replace(s.name, ' - forever', '') as "         \
    "waits_for, iif(s.dur < 0, (select end_ts from trace_bounds) - s.ts, s.dur) as ns from slice s join track t on "     \
    "t.id = s.track_id where s.category = 'blame') group by 1, 2 order by ms desc"

/* The open wait that holds up the others and whoever owes it; else the pair that waited longest. */
static void worst_pair(drawing *d, uint32_t *victim, uint32_t *supplier) {
    const xsr_wait *root = open_root(d);
    blame_worst(d, victim, supplier);
    uint32_t owes = root ? wait_owes(d, root) : XSR_NONE;
    if (owes == XSR_NONE)
        return;
    *victim = d->ranks[root->rank].number;
    *supplier = owes;
}

static int put_expansion(FILE *f, drawing *d) {
    uint32_t victim, supplier;
    char names[64];
    worst_pair(d, &victim, &supplier);
    if (victim == XSR_NONE && d->model->rank_count)
        victim = supplier = d->ranks[0].number;
    if (victim == XSR_NONE || busiest_role(d, victim, true) == XSR_NONE)
        return XS_OK; /* nothing to open */
    if (victim == supplier || busiest_role(d, supplier, false) == XSR_NONE)
        snprintf(names, sizeof names, "^rank %u · ", victim);
    else
        snprintf(names, sizeof names, "^rank (%u|%u) · ", victim, supplier);
    put_command(f, "ExpandTracksByRegex", names, "name");
    char *path = path_expression(d, victim, supplier);
    if (!path)
        return XS_E_MEMORY;
    put_command(f, "ExpandTracksByRegex", path, "path");
    free(path);
    return XS_OK;
}

static int put_commands(FILE *f, drawing *d) {
    char time[32];
    fputc('[', f);
    if (d->model->rank_count >= PIN_FROM_RANKS || many_writers(d))
        put_command(f, "PinTracksByRegex", "^(findings|rank \\d+ waits for)$", "name");
    TRY(put_expansion(f, d));
    if (d->open_count) {
        snprintf(time, sizeof time, "%lld", (long long)open_root(d)->begin);
        put_command(f, "AddNoteAtTimestamp", time, "never released");
    }
    if (!d->open_count)
        put_command(f, "RunQueryAndShowTab", SLOWEST_WAITS, "slowest waits");
    put_command(f, "RunQueryAndShowTab", WHO_WAITS, "who waits for whom");
    if (d->open_count) /* the tab made last is in front */
        put_command(f, "RunQueryAndShowTab", OPEN_WAITS, "open waits");
    fputs("]\n", f);
    return XS_OK;
}

int startup_finish(drawing *d) {
    char *text = NULL, *path = NULL;
    size_t size = 0;
    const char *trace = d->overview ? d->overview->enc.out.path : d->path;
    FILE *f = open_memstream(&text, &size);
    int rc = f ? put_commands(f, d) : XS_E_MEMORY;
    if (f && fclose(f) && !rc)
        rc = XS_E_MEMORY;
    if (!rc && asprintf(&path, "%s.startup.json", trace) < 0)
        rc = XS_E_MEMORY;
    if (!rc)
        rc = output_open(&d->startup, path);
    if (!rc)
        rc = output_write(&d->startup, text, size);
    if (!rc)
        rc = output_close(&d->startup);
    free(text);
    free(path);
    return rc;
}

/* ---- the address ---- */

static char *read_commands(const char *path, size_t *size) {
    char *name = NULL, *text = NULL;
    if (asprintf(&name, "%s.startup.json", path) < 0)
        return NULL;
    FILE *in = fopen(name, "r");
    FILE *f = in ? open_memstream(&text, size) : NULL;
    char part[4096];
    for (size_t n; f && (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, f);
    bool whole = f && !ferror(in);
    if (in)
        fclose(in);
    if (f && fclose(f))
        whole = false;
    free(name);
    if (whole)
        return text;
    free(text);
    return NULL;
}

static void put_encoded(FILE *f, const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (isalnum(*c) || strchr("-_.~", *c))
            fputc(*c, f);
        else
            fprintf(f, "%%%02X", *c);
}

int xsv_perfetto_url(const char *path, const char *trace_url, char **url) {
    if (!path || !url)
        return XS_E_ARGUMENT;
    *url = NULL;
    errno = 0;
    size_t size = 0, length = 0;
    char *commands = read_commands(path, &size);
    if (!commands)
        return errno == ENOMEM ? XS_E_MEMORY : XS_E_SYSTEM;
    while (size && commands[size - 1] == '\n')
        commands[--size] = 0;
    FILE *f = open_memstream(url, &length);
    if (f) {
        fputs(VIEWER, f);
        if (trace_url) {
            fputs("url=", f);
            put_encoded(f, trace_url);
            fputc('&', f);
        }
        fputs("startupCommands=", f);
        put_encoded(f, commands);
    }
    free(commands);
    return f && !fclose(f) ? XS_OK : XS_E_MEMORY;
}
