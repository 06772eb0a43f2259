/* away N: 8 ranks, N of them stay away from the barrier. Kills itself while the others hang. */
#include "away.kernel.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <xs/xs.h>

int main(int argc, char **argv) {
    enum { RANKS = 8 };
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
    sleep(2);
    raise(SIGKILL);
    return 1;
}
