/* ranks residency|green|counters|trap: what the host says of kernels that find no room, of counters that both GPU and CPU add to, and
 * of a kernel whose own check fails. One way a process. */
#include "gpu_test.h"
#include "ranks.kernel.h"

#include <world.h>

static xs_world *world;

static void made(xs_config config) {
    config.size = sizeof config;
    config.version = 1;
    config.backend = "cuda";
    int rc = xs_world_create(&config, &world);
    if (rc == XS_E_BACKEND) {
        puts("skipped: no GPU");
        exit(77);
    }
    if (rc)
        gpu_test_fail("making the world: %s: %s", xs_strerror(rc), xs_error_detail());
}

static void expect(const char *what, int rc, int expected, const char *words) {
    printf("%s: %s: %s\n", what, xs_errname(rc < 0 ? rc : 0), rc < 0 ? xs_error_detail() : "");
    if ((rc < 0 ? rc : 0) != expected)
        gpu_test_fail("%s: %s, expected %s", what, xs_errname(rc), xs_errname(expected));
    if (words && !strstr(xs_error_detail(), words))
        gpu_test_fail("%s: the words should say \"%s\"", what, words);
}

static struct ranks_args args_of(const char *name, uint32_t columns, uint32_t flags) {
    struct ranks_args args = {.role = (uint32_t)xs_role(world, "tester")};
    int rc = xs_pad_create(world, name, 1, columns, flags, &args.pad);
    if (rc)
        gpu_test_fail("making a pad: %s", xs_error_detail());
    return args;
}

static int launch(const xs_kernel *kernel, uint32_t rank, uint32_t ranks, uint32_t grid, uint32_t block, const struct ranks_args *args) {
    xs_launch_config config = {.size = sizeof config, .grid = grid, .block = block, .first_rank = rank, .ranks = ranks};
    return xs_launch(world, kernel, &config, args, sizeof *args);
}

/* As many blocks as the GPU takes at once. */
static uint32_t fill(const struct ranks_args *args) {
    int rc = XS_E_NOT_RESIDENT;
    uint32_t grid = 4096;
    while (grid && (rc = launch(&ranks_hold_kernel, 0, 1, grid, 1024, args)) == XS_E_NOT_RESIDENT)
        grid--;
    if (rc < 0)
        gpu_test_fail("launching: %s", xs_error_detail());
    printf("the GPU holds %u blocks\n", grid);
    return grid;
}

/* A quarter of the blocks by one rank, and a block of the other that lets them go. 1: side by side; 0: one behind the other. */
static int side_by_side(xs_config config, uint32_t grid) {
    made(config);
    struct ranks_args args = args_of("hold", 1, 0);
    expect("a quarter of the blocks", launch(&ranks_hold_kernel, 0, 1, grid / 4, 1024, &args), 0, NULL);
    expect("one beside them", launch(&ranks_release_kernel, 1, 1, 1, 32, &args), 0, NULL);
    int rc = xs_sync(world);
    printf("sync: %s: %s\n", xs_errname(rc), rc < 0 ? xs_error_detail() : "");
    if (rc && rc != XS_E_NOT_RESIDENT)
        gpu_test_fail("sync: %s", xs_error_detail());
    xs_world_destroy(world);
    return rc == 0;
}

/* Has the driver green contexts, and can the GPU be divided? */
static int has_parts(uint32_t grid) {
    made((xs_config){.ranks = 2, .devices = "0", .green = 1});
    struct ranks_args args = args_of("hold", 1, 0);
    int refused = launch(&ranks_release_kernel, 1, 1, grid, 1024, &args) == XS_E_NOT_RESIDENT;
    xs_abort(world, XS_E_ABORTED);
    xs_world_destroy(world);
    return refused;
}

static int residency(void) {
    xs_config config = {.ranks = 2, .devices = "0", .start_ns = 300000000};
    made(config);
    struct ranks_args args = args_of("hold", 1, 0);
    uint32_t grid = fill(&args);
    expect("one more block", launch(&ranks_release_kernel, 1, 1, 1, 32, &args), 0, NULL);
    expect("sync", xs_sync(world), XS_E_NOT_RESIDENT, "kernel ranks_release: 0 of 1 blocks have started on GPU 0 within 300 ms");
    expect("a launch after it", launch(&ranks_release_kernel, 1, 1, 1, 32, &args), XS_E_ABORTED, NULL);
    xs_world_destroy(world);

    /* The control: with room left the second kernel runs beside the first, and lets it go. On streams alone it need not. */
    config.green = -1;
    printf("on streams alone: %s\n", side_by_side(config, grid) ? "side by side" : "one behind the other, and told");
    config.green = 0;
    if (!has_parts(grid))
        puts("no green contexts here: the default is streams");
    else if (!side_by_side(config, grid))
        gpu_test_fail("two kernels that fit into halves do not run side by side in parts of their own");
    return 0;
}

/* Each rank has a part of the GPU: one that fills its own leaves the other's free. */
static int green(void) {
    made((xs_config){.ranks = 2, .devices = "0", .start_ns = 300000000});
    struct ranks_args args = args_of("hold", 1, 0);
    uint32_t whole = fill(&args);
    xs_abort(world, XS_E_ABORTED);
    xs_world_destroy(world);
    made((xs_config){.ranks = 2, .devices = "0", .start_ns = 300000000, .green = 1});
    args = args_of("hold", 1, 0);
    if (fill(&args) == whole) {
        puts("skipped: no green contexts here");
        xs_abort(world, XS_E_ABORTED);
        xs_world_destroy(world);
        return 77;
    }
    expect("a block of the other rank", launch(&ranks_release_kernel, 1, 1, 1, 32, &args), 0, NULL);
    expect("sync", xs_sync(world), 0, NULL);
    expect("both ranks at once", launch(&ranks_release_kernel, 0, 2, 1, 32, &args), 0, NULL);
    expect("sync", xs_sync(world), 0, NULL);
    expect("the end", xs_world_destroy(world), 0, NULL);
    return 0;
}

static int add_writers(const xs_pad *pad) {
    xs_plan_entry entries[2] = {{.kind = XS_PLAN_WRITER, .pad_first = pad->first, .epoch = UINT64_MAX, .a = 0},
                                {.kind = XS_PLAN_WRITER, .pad_first = pad->first, .epoch = UINT64_MAX, .a = 1}};
    return xs_plan_add(world, entries, 2);
}

static int counters(void) {
    made((xs_config){.ranks = 2, .cpu_ranks = "1"});
    struct ranks_args args = args_of("counter", 3, XS_PAD_SHARED);
    int native = 0, device = 0;
    cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, device);
    expect("a counter of both", add_writers(&args.pad), native ? 0 : XS_E_UNSUPPORTED, native ? NULL : "no native atomics");
    args = args_of("unsafe counter", 3, XS_PAD_SHARED | XS_PAD_UNSAFE_COUNTER);
    expect("an unsafe counter of both", add_writers(&args.pad), 0, NULL);
    if (gpu_test_sanitized() && !native) { /* it refuses the very fault that is shown below */
        expect("the end", xs_world_destroy(world), 0, NULL);
        return 0;
    }
    args.count = 100000;
    uint64_t sum = 0;
    expect("launch", launch(&ranks_add_kernel, 0, 0, 1, 32, &args), 0, NULL);
    expect("sync", xs_sync(world), 0, NULL);
    expect("reading", xs_slot_read(world, &args.pad, 0, 0, 0, &sum), 0, NULL);
    uint64_t lost = 2ull * args.count - sum;
    printf("%llu of %u increments lost%s\n", (unsigned long long)lost, 2 * args.count, lost ? "" : ": not shown");
    if (native && lost)
        gpu_test_fail("the link has native atomics, and increments are lost");
    expect("the end", xs_world_destroy(world), 0, NULL);
    return 0;
}

static int trap(void) {
    made((xs_config){.ranks = 2, .devices = "0"});
    struct ranks_args args = args_of("never", 1, 0);
    args.count = 1;
    expect("launch", launch(&ranks_check_kernel, 0, 0, 4, 64, &args), 0, NULL);
    expect("sync", xs_sync(world), XS_E_SYSTEM, "kernel ranks_check (launch 1, ranks 0 to 1) on GPU 0: CUDA_ERROR");
    expect("sync again", xs_sync(world), XS_E_SYSTEM, "kernel ranks_check (launch 1, ranks 0 to 1) on GPU 0: CUDA_ERROR");
    expect("a launch after it", launch(&ranks_check_kernel, 0, 0, 1, 32, &args), XS_E_SYSTEM, "kernel ranks_check");
    if (xs_aborted_reason(world) != XS_E_TRAPPED)
        gpu_test_fail("the reason is %s", xs_errname(xs_aborted_reason(world)));
    if (xs_region_control(xs_region(world))->freeze != 1)
        gpu_test_fail("recording was not frozen");
    xs_world_destroy(world);
    return 0;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    gpu_test_begin(50);
    int failed = !strcmp(way, "residency") ? residency() : !strcmp(way, "green") ? green() : !strcmp(way, "counters") ? counters() : !strcmp(way, "trap") ? trap() : 64;
    puts(failed == 77 ? "SKIP" : failed ? "FAILED" : "PASS");
    return failed;
}
