/* long SECONDS: one wait and one silence of that length. Prints how long the launch took, in ns. */
#include "long.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <xs/xs.h>

int main(int argc, char **argv) {
    xs_config config = {.size = sizeof config, .version = 1, .ranks = 2};
    struct long_args args = {.ns = (uint64_t)(argc > 1 ? atoi(argv[1]) : 10) * 1000000000u};
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = 32};
    xs_world *world;
    if (xs_world_create(&config, &world) < 0 || xs_pad_create(world, "flag", 1, 1, 0, &args.flag) < 0)
        return 1;
    int mark = xs_mark_name(world, "silence");
    args.mark = (uint32_t)mark;
    uint64_t begin = xs_host_now();
    if (mark < 0 || xs_launch(world, &long_wait_kernel, &launch, &args, sizeof args) < 0 || xs_sync(world) < 0)
        return 1;
    printf("%llu\n", (unsigned long long)(xs_host_now() - begin));
    return xs_world_destroy(world) < 0;
}
