/* A world and its kernels, to be loaded into a Python process beside PyTorch (beside_torch.py). */
#include <xs/xs.h>

#include "brief.kernel.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED xs_world *beside_open(const char *capture);
EXPORTED int beside_launch(xs_world *world, uint32_t count);
EXPORTED int beside_close(xs_world *world);

/* NULL: it could not be made; xs has said why on stderr. */
xs_world *beside_open(const char *capture) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = 1, .capture = capture};
    xs_world *world = NULL;
    return xs_world_create(&config, &world) < 0 ? NULL : world;
}

int beside_launch(xs_world *world, uint32_t count) {
    struct brief_args args = {.work_ns = 2000, .role = (uint32_t)xs_role(world, "brief")};
    xs_launch_config config = {.size = sizeof config, .grid = 1, .block = 32};
    int rc = 0;
    for (uint32_t i = 0; i < count && rc >= 0; i++)
        rc = xs_launch(world, &brief_kernel, &config, &args, sizeof args);
    return rc < 0 ? rc : xs_sync(world);
}

int beside_close(xs_world *world) { return xs_world_destroy(world); }
