/* perfetto_make_trace FOLDER clean|hang|away|skew|loss|windows: FOLDER/run.perfetto of a counted run; prints the counts as
 * lines of `name value`. */
#include <stdio.h>
#include <string.h>

#include "export_help.h"

int main(int argc, char **argv) {
    if (argc != 3)
        return 64;
    run_shape shape = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000, .scopes = 1};
    shape.lost_arrival = strcmp(argv[2], "hang") == 0;
    shape.away = strcmp(argv[2], "away") == 0 ? 2 : 0;
    shape.skew = strcmp(argv[2], "skew") == 0 ? 400 : 0;
    shape.lose_records = strcmp(argv[2], "loss") == 0 ? 9 : 0;
    xsv_perfetto_options o = {.size = sizeof o};
    if (strcmp(argv[2], "windows") == 0)
        o = (xsv_perfetto_options){.size = sizeof o, .split_limit = 1, .window_events = 1000};
    exported e = {0};
    char path[512];
    run_counts c;
    snprintf(e.folder, sizeof e.folder, "%s", argv[1]);
    snprintf(path, sizeof path, "%s/run.xs", argv[1]);
    if (strlen(argv[1]) >= sizeof e.folder || run_build(path, &shape, &c))
        return 70;
    snprintf(path, sizeof path, "%s/run.perfetto", argv[1]);
    if (export_again(&e, path, &o, &e.summary))
        return 70;
    printf("ranks %u\nepochs %u\nchunks %u\n", shape.ranks, shape.epochs, shape.chunks);
    printf("waits %llu\ngate_waits %llu\npasses %llu\nsignals %llu\n", (unsigned long long)c.waits, (unsigned long long)c.gate_waits,
           (unsigned long long)c.passes, (unsigned long long)c.signals);
    printf("lost %llu\nslots %llu\nfiles %u\n", (unsigned long long)c.lost, (unsigned long long)c.slots_waited_for, e.summary.files);
    for (uint32_t r = 0; r < shape.ranks; r++)
        printf("open%u %llu\n", r, (unsigned long long)c.open[r]);
    return 0;
}
