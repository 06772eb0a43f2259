/* away N: 8 ranks, N of them stay away from the barrier. Kills itself when each of the others waits for exactly those. */
#include "away.kernel.h"
#include "open_waits.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <xs/xs.h>

enum { RANKS = 8 };

/* A wait for a rank that comes is still open: the hang is not complete. */
static int of_the_present(void *user, const xs_status_line *line) {
    const struct away_args *args = user;
    return (__atomic_load_n(&line->p0.object, __ATOMIC_RELAXED) - args->bar.first) % RANKS < args->present;
}

static int hangs(const xs_world *world, struct away_args *args) {
    return open_waits(world, NULL, NULL) == args->present * (RANKS - args->present) && !open_waits(world, of_the_present, args);
}

int main(int argc, char **argv) {
    xs_config config = {.size = sizeof config, .version = 1, .ranks = RANKS};
    struct away_args args = {.present = RANKS - (uint32_t)(argc > 1 ? atoi(argv[1]) : 1)};
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = 32};
    xs_world *world;
    if (xs_world_create(&config, &world) < 0 || xs_pad_create(world, "bar", 1, RANKS, 0, &args.bar) < 0 ||
        xs_pad_labels(world, &args.bar, "", "from") < 0)
        return 1;
    xs_plan_entry writer = {XS_PLAN_WRITER, 0, args.bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_COLUMN, 0};
    if (xs_plan_add(world, &writer, 1) < 0 || xs_launch(world, &away_kernel, &launch, &args, sizeof args) < 0)
        return 1;
    while (!hangs(world, &args))
        usleep(1000);
    raise(SIGKILL);
    return 1;
}
