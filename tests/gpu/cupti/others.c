/* cupti_others before|after: another user of CUPTI in the process, as a profiler would be.
 *
 * before: it has subscribed when the world is made: xs goes without, says who, and the other gets its kernels.
 * after:  it subscribes, registers callbacks and listens while the world runs: it gets its kernels, and xs says since
 * when it is told of nothing more. */
#include <cupti.h>
#include <dlfcn.h>
#include <link.h>
#include <xs/read.h>
#include <xs/xs.h>

#include "gpu_test.h"
#include "brief.kernel.h"

#define BUFFER_BYTES (1u << 20)

typedef struct other {
    void *cupti;
    CUpti_SubscriberHandle subscriber;
    unsigned kernels;
} other;
static other its;

#define CALL(name) ((__typeof__(name) *)dlsym(its.cupti, #name))
#define CUPTI_CHECK(call)                                                                   \
    do {                                                                                    \
        CUptiResult cupti_result_ = (call);                                                 \
        EXPECT(cupti_result_ == CUPTI_SUCCESS, "%s: CUPTI error %d", #call, cupti_result_); \
    } while (0)

static void CUPTIAPI nothing(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    (void)user, (void)domain, (void)id, (void)data;
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most) {
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = BUFFER_BYTES;
    *most = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *record = NULL;
    (void)context, (void)stream;
    if (size != BUFFER_BYTES) /* lent by xs before it was replaced: not ours to free */
        return;
    while (valid && CALL(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS)
        its.kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    free(buffer);
}

/* The copy that the process has, or the one that xs would take. */
static int is_cupti(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    if (!strstr(info->dlpi_name, "libcupti"))
        return 0;
    snprintf(found, 1024, "%s", info->dlpi_name);
    return 1;
}

static int load(void) {
    char path[1024] = "";
    const char *told = getenv("XS_CUPTI_LIBRARY"), *usual[] = {told,
                                                               "libcupti.so.13",
                                                               "libcupti.so.12",
                                                               "libcupti.so",
                                                               "/usr/local/cuda/lib64/libcupti.so",
                                                               "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    if (dl_iterate_phdr(is_cupti, path))
        its.cupti = dlopen(path, RTLD_NOW);
    for (size_t i = 0; !its.cupti && i < sizeof usual / sizeof *usual; i++)
        its.cupti = usual[i] && *usual[i] ? dlopen(usual[i], RTLD_NOW) : NULL;
    return its.cupti != NULL;
}

static void its_start(void) {
    CUPTI_CHECK(CALL(cuptiSubscribe)(&its.subscriber, nothing, NULL));
    CUPTI_CHECK(CALL(cuptiActivityRegisterCallbacks)(requested, completed));
    CUPTI_CHECK(CALL(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void its_end(void) {
    CUPTI_CHECK(CALL(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    CUPTI_CHECK(CALL(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI_CHECK(CALL(cuptiUnsubscribe)(its.subscriber));
}

static xs_world *open_world(const char *capture) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = 1, .capture = capture};
    xs_world *world;
    XS_CHECK(xs_world_create(&config, &world));
    return world;
}

static void launch(xs_world *world, uint32_t count) {
    struct brief_args args = {.work_ns = 2000, .role = (uint32_t)xs_role(world, "brief")};
    xs_launch_config config = {.size = sizeof config, .grid = 1, .block = 32};
    for (uint32_t i = 0; i < count; i++)
        XS_CHECK(xs_launch(world, &brief_kernel, &config, &args, sizeof args));
    XS_CHECK(xs_sync(world));
}

static xsr_cupti read_back(const char *capture, char *why, size_t bytes) {
    xsr_reader *reader = NULL;
    const char *text = "";
    int rc = xsr_open(&capture, 1, NULL, &reader, &text);
    if (rc == 0)
        rc = xsr_run(reader, NULL, 0);
    EXPECT(rc == 0, "%s: %s", capture, text);
    xsr_cupti c = xsr_model_of(reader)->processes[0].cupti;
    snprintf(why, bytes, "%s", c.why);
    printf("xs: CUPTI %s, %s; told of %llu kernels. The other: %u kernels\n", xsr_cupti_name(c.state), why,
           (unsigned long long)c.kernels, its.kernels);
    xsr_close(reader);
    unlink(capture);
    return c;
}

static void before(const char *capture, char *why, size_t bytes) {
    its_start();
    xs_world *world = open_world(capture);
    launch(world, 20);
    its_end();
    XS_CHECK(xs_world_destroy(world));
    xsr_cupti c = read_back(capture, why, bytes);
    EXPECT(c.state == XS_CUPTI_HELD && *why, "expected HELD and by whom");
    EXPECT(its.kernels >= 20, "the other one was told of %u of 20 kernels", its.kernels);
}

static void after(const char *capture, char *why, size_t bytes) {
    xs_world *world = open_world(capture);
    launch(world, 20);
    gpu_test_sleep_ms(300);
    its_start();
    launch(world, 20);
    for (int i = 0; i < 30; i++) { /* launches that xs is not told of, for three seconds */
        gpu_test_sleep_ms(100);
        launch(world, 1);
    }
    its_end();
    XS_CHECK(xs_world_destroy(world));
    xsr_cupti c = read_back(capture, why, bytes);
    EXPECT(its.kernels >= 50, "the other one was told of %u of 50 kernels", its.kernels);
    EXPECT(c.kernels >= 20, "xs was told of %llu of the 20 kernels before", (unsigned long long)c.kernels);
    EXPECT(c.state == XS_CUPTI_LOST && *why, "expected LOST and since when");
}

int main(int argc, char **argv) {
    char capture[64], why[256];
    gpu_test_begin(60);
    if (argc != 2 || (strcmp(argv[1], "before") != 0 && strcmp(argv[1], "after") != 0))
        return fprintf(stderr, "usage: cupti_others before|after\n"), 64;
    gpu_test_need();
    if (!load())
        return puts("skipped: no CUPTI library"), 77;
    snprintf(capture, sizeof capture, "/tmp/xs_others_%d.xs", (int)getpid());
    (strcmp(argv[1], "before") == 0 ? before : after)(capture, why, sizeof why);
    puts("PASS");
    return 0;
}
