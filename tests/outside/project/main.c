#include "hello.kernel.h"

#include <stdio.h>
#include <xs/xs.h>

int main(void) {
    xs_config config = {.size = sizeof config, .version = 1, .ranks = 2};
    xs_world *world;
    struct hello_args args = {0};
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = 32};
    int e = xs_world_create(&config, &world);
    if (e >= 0 && (e = xs_pad_create(world, "flag", 1, 1, 0, &args.flag)) >= 0 && (e = xs_role(world, "hello")) >= 0) {
        args.role = (uint32_t)e;
        e = xs_launch(world, &hello_kernel, &launch, &args, sizeof args);
        e = e < 0 ? e : xs_sync(world);
        int end = xs_world_destroy(world);
        e = e < 0 ? e : end;
    }
    printf("%s\n", xs_strerror(e < 0 ? e : XS_OK));
    return e < 0;
}
