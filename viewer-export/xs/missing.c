/* While it records: ranks of a world for which no process has come. The others wait for them, without a word. */
#include "missing.h"

#include <stdio.h>
#include <unistd.h>

#include <attach.h>

static uint32_t count_missing(const xs_attached *at) {
    uint32_t n = 0;
    for (uint32_t r = 0; at->members && r < at->view.head.world_ranks; r++)
        n += at->members[r].state == XS_ATTACH_NEVER;
    return n;
}

/* "1, 3-5" */
static void say_ranks(const xs_attached *at, FILE *out) {
    const char *comma = "";
    for (uint32_t r = 0, ranks = at->view.head.world_ranks, end; r < ranks; r = end + 1) {
        for (end = r; end < ranks && at->members[end].state == XS_ATTACH_NEVER; end++) {
        }
        if (end == r)
            continue;
        fprintf(out, "%s%u", comma, r);
        if (end - r > 1)
            fprintf(out, "-%u", end - 1);
        comma = ", ";
    }
}

static int is_first_of_world(const xs_attach_set *set, uint32_t i) {
    for (uint32_t j = 0; j < i; j++)
        if (xs_attach_same_world(&set->regions[j], &set->regions[i]))
            return 0;
    return 1;
}

void missing_say(void *out) {
    xs_attach_set set;
    int32_t mine = (int32_t)getpid(); /* stands for all that this process has started */
    int rc = xs_attach_find(&mine, 1, &set);
    for (uint32_t i = 0; !rc && i < set.count; i++) {
        const xs_attached *at = &set.regions[i];
        uint32_t n = is_first_of_world(&set, i) ? count_missing(at) : 0, ranks = at->view.head.world_ranks;
        if (!n)
            continue;
        fprintf(out, "xs: process %d waits for rank%s ", (int)at->pid, n == 1 ? "" : "s");
        say_ranks(at, out);
        const char *it = n == 1 ? "it" : "them";
        fprintf(out, " of %u, no process has come for %s: start %s with the same XS_WORLD and XS_RANKS=%u\n", ranks, it,
                it, ranks);
    }
    xs_attach_free(&set);
}
