/* mixed CAPTURE|- [ROUNDS]: ranks 0 and 2 on two GPUs of the fake driver, rank 1 a CPU thread, 40 rounds of meeting, into a capture.
 * With ROUNDS the world is under xs record, which says where; after half of them the process kills itself. */
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "cuda_test.h"
#include "mixed.kernel.h"

static struct CUfunc_st function = {&mixed_kernel, xs_host_enter, 0};
static const xs_cuda_entry entry = {&function, fake_resolve};

static int check(const char *what, int rc) {
    if (rc >= 0) return 0;
    fprintf(stderr, "%s: %s: %s\n", what, xs_strerror(rc), xs_error_detail());
    exit(1);
}

/* Every rank has signalled round `wanted` to rank 0. */
static void wait_for(const xs_pad *bar, uint64_t wanted) {
    for (uint32_t rank = 0; rank < 3; rank++)
        while (__atomic_load_n(cuda_slot(bar, 0, rank), __ATOMIC_ACQUIRE) < wanted) sched_yield();
}

int main(int argc, char **argv) {
    xs_kernel kernel = mixed_kernel;
    xs_config config = cuda_config(3);
    xs_world *world = NULL;
    struct mixed_args args = {.rounds = 40};
    if (argc != 2 && argc != 3) return 64;
    if (argc == 3) args.rounds = (uint32_t)atoi(argv[2]);
    fake_load();
    fake->quick_clock = 0; /* times are compared: the clock is the one that kernels stamp with */
    fake->clock_offset = 0;
    kernel.cuda = &entry;
    config.cpu_ranks = "1";
    config.capture = argc == 3 ? NULL : argv[1];
    config.ring_records = 4096;
    check("world", xs_world_create(&config, &world));
    args.role = (uint32_t)xs_role(world, "meeter");
    check("pad", xs_pad_create(world, "bar", 1, 3, 0, &args.bar));
    check("launch", cuda_launch(world, &kernel, 1, 0, 0, &args, sizeof args));
    if (argc == 3) {
        wait_for(&args.bar, args.rounds / 2);
        kill(getpid(), SIGKILL);
    }
    check("sync", xs_sync(world));
    check("end", xs_world_destroy(world));
    return fake_live_all() ? 1 : 0;
}
