/* perfetto_make_trace FOLDER clean|hang|away|skew|loss|windows: FOLDER/run.perfetto of a counted run; prints the counts as
 * lines of `name value`.
 * perfetto_make_trace FOLDER script FILE: the same of a capture that a script describes (tests/unit/read/script.h), judged, with GPU
 * events; prints nothing. */
#include <stdio.h>
#include <string.h>
#include <xs/analyse.h>

#include "../read/script.h"
#include "export_help.h"

static int draw(const char *folder, const xsv_perfetto_options *options, exported *e) {
    char path[512];
    snprintf(path, sizeof path, "%s/run.perfetto", folder);
    return export_again(e, path, options, &e->summary);
}

static int draw_script(const char *folder, const char *name, exported *e) {
    static char text[1 << 16];
    char path[512];
    FILE *f = fopen(name, "r");
    if (!f || fread(text, 1, sizeof text - 1, f) == 0)
        return 66;
    fclose(f);
    snprintf(path, sizeof path, "%s/run.xs", folder);
    cb *c = cb_begin(path);
    xsr_sink *judge;
    if (!c || script_run(c, text) || cb_end(c) || xsa_open(NULL, &judge))
        return 70;
    xsv_perfetto_options o = {.size = sizeof o, .gpu_events = 1, .analysis = judge};
    int rc = draw(folder, &o, e);
    xsa_close(judge);
    return rc ? 70 : 0;
}

int main(int argc, char **argv) {
    exported e = {0};
    if (argc < 3 || snprintf(e.folder, sizeof e.folder, "%s", argv[1]) >= (int)sizeof e.folder)
        return 64;
    if (argc == 4 && strcmp(argv[2], "script") == 0)
        return draw_script(argv[1], argv[3], &e);
    run_shape shape = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000, .scopes = 1};
    shape.lost_arrival = strcmp(argv[2], "hang") == 0;
    shape.away = strcmp(argv[2], "away") == 0 ? 2 : 0;
    shape.skew = strcmp(argv[2], "skew") == 0 ? 400 : 0;
    shape.lose_records = strcmp(argv[2], "loss") == 0 ? 9 : 0;
    xsv_perfetto_options o = {.size = sizeof o};
    if (strcmp(argv[2], "windows") == 0)
        o = (xsv_perfetto_options){.size = sizeof o, .split_limit = 1, .window_events = 1000};
    char path[512];
    run_counts c;
    snprintf(path, sizeof path, "%s/run.xs", argv[1]);
    if (run_build(path, &shape, &c) || draw(argv[1], &o, &e))
        return 70;
    printf("ranks %u\nepochs %u\nchunks %u\n", shape.ranks, shape.epochs, shape.chunks);
    printf("waits %llu\ngate_waits %llu\npasses %llu\nsignals %llu\n", (unsigned long long)c.waits, (unsigned long long)c.gate_waits,
           (unsigned long long)c.passes, (unsigned long long)c.signals);
    printf("lost %llu\nslots %llu\nfiles %u\n", (unsigned long long)c.lost, (unsigned long long)c.slots_waited_for, e.summary.files);
    for (uint32_t r = 0; r < shape.ranks; r++)
        printf("open%u %llu\n", r, (unsigned long long)c.open[r]);
    return 0;
}
