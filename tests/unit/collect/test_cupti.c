/* CUPTI in the traced process, against a library that says what a test wants: from its buffers to the model that is
 * read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/read.h>

#include "cupti_name.h"
#include "cupti_session.h"
#include "fake_cupti.h"

static fake_cupti *fake;
static fake_cupti_push_call *push;
static char capture[64];
static xsr_reader *reader;

static int setup(void **state) {
    (void)state;
    void *library = dlopen(getenv("XS_CUPTI_LIBRARY"), RTLD_NOW);
    if (!library)
        return -1;
    fake = ((fake_cupti_state_call *)dlsym(library, "fake_cupti_state"))();
    push = (fake_cupti_push_call *)dlsym(library, "fake_cupti_push");
    snprintf(capture, sizeof capture, "/tmp/xs_test_cupti_%d.xs", (int)getpid());
    return 0;
}

static int reset(void **state) {
    (void)state;
    *fake = (fake_cupti){.version = fake->version, .single_calls = 1};
    return 0;
}

static int clean(void **state) {
    (void)state;
    xsr_close(reader);
    reader = NULL;
    if (unlink(capture)) { /* bounded: a folder */
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s'", capture);
        return system(command);
    }
    return 0;
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static xs_world *start_as(const xs_config *more) {
    xs_config config = *more;
    xs_world *world;
    config.size = sizeof config;
    config.version = 1;
    config.backend = "host";
    config.ranks = 1;
    config.capture = capture;
    assert_int_equal(xs_world_create(&config, &world), 0);
    return world;
}

static xs_world *start(int32_t cupti) {
    xs_config config = {.cupti = cupti};
    return start_as(&config);
}

/* Ends the world and reads what it left. */
static const xsr_model *end(xs_world *world) {
    const char *path = capture, *why = "";
    assert_int_equal(xs_world_destroy(world), 0);
    int rc = xsr_open(&path, 1, NULL, &reader, &why);
    if (rc)
        fail_msg("%s", why);
    assert_int_equal(xsr_run(reader, NULL, 0), 0);
    return xsr_model_of(reader);
}

static const xsr_cupti *health(const xsr_model *m) { return &m->processes[0].cupti; }

static int flushes(void) { return __atomic_load_n(&fake->flushes, __ATOMIC_ACQUIRE); }

static void nap(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }

static void wait_for_flushes(int more) {
    int last = flushes() + more;
    for (int i = 0; i < 60000 && flushes() < last; i++)
        nap();
    assert_true(flushes() >= last);
}

/* A burst is delivered by a thread that waits for the collector, a bounded number of naps: one nap lasts here until the collector
 * has taken something, so that a busy machine is not what the test tells of. */
static const uint64_t *bursting; /* sequence up to which the collector has taken entries */
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left) {
    const uint64_t *consumed = __atomic_load_n(&bursting, __ATOMIC_ACQUIRE);
    uint64_t before = consumed ? __atomic_load_n(consumed, __ATOMIC_ACQUIRE) : 0;
    int rc = __real_nanosleep(time, left);
    for (int i = 0; time->tv_nsec < 1000000 && consumed && i < 30000 && __atomic_load_n(consumed, __ATOMIC_ACQUIRE) == before; i++)
        __real_nanosleep(&(struct timespec){0, 1000000}, NULL);
    return rc;
}

static CUpti_ActivityKernel9 kernel_of(const char *name, uint64_t start, uint32_t correlation) {
    CUpti_ActivityKernel9 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               .start = start,
                               .end = start + 20000,
                               .deviceId = 0,
                               .contextId = 1,
                               .streamId = 7,
                               .gridX = 4,
                               .gridY = 2,
                               .gridZ = 1,
                               .blockX = 128,
                               .blockY = 1,
                               .blockZ = 1,
                               .registersPerThread = 40,
                               .staticSharedMemory = 64,
                               .dynamicSharedMemory = 1024,
                               .correlationId = correlation,
                               .name = name,
                               .graphNodeId = 77,
                               .graphId = 5};
    return k;
}

static void push_kernel(const char *name, uint64_t start, uint32_t correlation) {
    CUpti_ActivityKernel9 k = kernel_of(name, start, correlation);
    push(&k, sizeof k);
}

static void push_call(CUpti_ActivityKind kind, uint32_t id, uint64_t start, uint32_t correlation) {
    CUpti_ActivityAPI call = {.kind = kind,
                              .cbid = id,
                              .start = start,
                              .end = start + 3000,
                              .processId = 1,
                              .threadId = 42,
                              .correlationId = correlation};
    push(&call, sizeof call);
}

/* Times come back on CLOCK_BOOTTIME, and a kernel knows its call: the runtime's, which is outside the driver's. */
static void test_kernels_copies_and_calls_reach_the_capture(void **state) {
    (void)state;
    char name[301];
    memset(name, 'k', 300);
    name[300] = 0;
    xs_world *world = start(1);
    uint64_t before = now_ns(CLOCK_BOOTTIME), real = now_ns(CLOCK_REALTIME), after = now_ns(CLOCK_BOOTTIME);
    push_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, real + 1000, 9);
    push_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, real, 9);
    push_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, real, 8);
    push_kernel(name, real + 10000, 9);
    CUpti_ActivityMemcpy5 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                  .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
                                  .bytes = 4096,
                                  .start = real + 50000,
                                  .end = real + 51000,
                                  .deviceId = 0,
                                  .streamId = 9,
                                  .correlationId = 10};
    push(&copy, sizeof copy);
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->state, XS_CUPTI_ENDED);
    assert_int_equal(m->activity_count, 4);
    const xsr_activity *a = m->activities;
    assert_string_equal(m->names[a[0].name].text, "cudaGraphLaunch_v10000");
    assert_string_equal(m->names[a[1].name].text, "cuLaunchCooperativeKernel");
    assert_int_equal(a[0].thread, 42);
    assert_int_equal(a[2].kind, XS_ACTIVITY_KERNEL);
    assert_string_equal(m->names[a[2].name].text, name);
    assert_in_range(a[2].begin, before + 10000 - 1000000, after + 10000 + 1000000);
    assert_int_equal(a[2].end - a[2].begin, 20000);
    assert_int_equal(a[2].call, 0);
    assert_int_equal(a[2].graph_node, 77);
    assert_int_equal(a[2].graph, 5);
    assert_int_equal(a[2].grid[1], 2);
    assert_int_equal(a[2].registers, 40);
    assert_int_equal(a[3].kind, XS_ACTIVITY_COPY);
    assert_int_equal(a[3].bytes, 4096);
    assert_string_equal(xsr_copy_name(a[3].copy), "host to device");
    assert_int_equal(health(m)->kernels, 1);
    assert_int_equal(health(m)->calls, 2);
    assert_int_equal(health(m)->unknown + health(m)->void_stamps + health(m)->dropped + health(m)->lost, 0);
}

static void check_name(const char *demangled, const char *plain) {
    char text[256];
    snprintf(text, sizeof text, "%s", demangled);
    xs_cupti_strip_signature(text);
    assert_string_equal(text, plain);
}

static void test_names_have_no_signature(void **state) {
    (void)state;
    check_name("combine", "combine");
    check_name("scale(float*, int)", "scale");
    check_name("void ns::push<(int)2, float>(ns::args<float>, int (*)(int))", "ns::push<(int)2, float>");
    check_name("unsigned int (anonymous namespace)::count<std::pair<int, float> >(int)",
               "(anonymous namespace)::count<std::pair<int, float> >");
    check_name("void at::native::op<at::native::f(int)::{lambda(float)#1}>(int)",
               "at::native::op<at::native::f(int)::{lambda(float)#1}>");
    check_name("bool ns::operator< <int>(ns::a<int> const&, ns::a<int> const&)", "ns::operator< <int>");
    check_name("()", "()");
    check_name("", "");
    check_name(")", ")");
}

/* Two mangled kernels of one plain name are one name; where no C++ library is loaded they stay mangled. */
static void test_mangled_names_are_spelled_out(void **state) {
    (void)state;
    if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL))
        skip();
    xs_world *world = start(1);
    push_kernel("_ZN2ns4pushILi2EEEvPfi", now_ns(CLOCK_REALTIME), 1);
    push_kernel("_ZN2ns4pushILi2EEEvPdi", now_ns(CLOCK_REALTIME) + 1, 2);
    push_kernel("_Znonsense", now_ns(CLOCK_REALTIME) + 2, 3);
    const xsr_model *m = end(world);
    assert_int_equal(m->activity_count, 3);
    assert_string_equal(m->names[m->activities[0].name].text, "ns::push<2>");
    assert_int_equal(m->activities[1].name, m->activities[0].name);
    assert_string_equal(m->names[m->activities[2].name].text, "_Znonsense");
}

/* What an older record does not have is not read: behind it lies something else. */
static void test_an_older_version_is_read_by_what_it_has(void **state) {
    (void)state;
    xs_world *world = start(1);
    CUpti_ActivityKernel9 k = kernel_of("old", now_ns(CLOCK_REALTIME), 1);
    k.graphId = 0xdead;
    push(&k, sizeof(CUpti_ActivityKernel5));
    const xsr_model *m = end(world);
    assert_int_equal(m->activity_count, 1);
    assert_int_equal(m->activities[0].graph_node, 77);
    assert_int_equal(m->activities[0].graph, 0);
    assert_int_equal(health(m)->version, 12);
}

static void test_void_stamps_drops_and_unknown_kinds_are_counted(void **state) {
    (void)state;
    xs_world *world = start(1);
    push_kernel("zero", 0, 1);
    CUpti_ActivityKernel9 k = kernel_of("backwards", now_ns(CLOCK_REALTIME), 2);
    k.end = k.start - 1;
    push(&k, sizeof k);
    uint64_t marker[8] = {CUPTI_ACTIVITY_KIND_MARKER};
    push(marker, sizeof marker);
    __atomic_store_n(&fake->dropped, 17, __ATOMIC_RELEASE);
    push_kernel("good", now_ns(CLOCK_REALTIME), 3);
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->void_stamps, 2);
    assert_int_equal(health(m)->unknown, 1);
    assert_int_equal(health(m)->dropped, 17);
    assert_int_equal(m->activity_count, 1);
    assert_string_equal(m->names[m->activities[0].name].text, "good");
}

/* A subscriber is asked for and given back, so that a profiler started later finds CUPTI free. */
static void test_no_subscription_stays(void **state) {
    (void)state;
    xs_world *world = start(1);
    assert_int_equal(fake->subscribers, 0);
    assert_int_equal(fake->kinds_enabled, 3);
    assert_int_equal(fake->calls_enabled, 2);
    end(world);
    assert_int_equal(fake->kinds_enabled, 0);
    assert_int_equal(fake->calls_enabled, 0);
    assert_int_equal(fake->forced, 1);
}

static void test_calls_by_kind_where_single_ones_cannot_be_asked_for(void **state) {
    (void)state;
    fake->single_calls = 0;
    xs_world *world = start(1);
    assert_int_equal(fake->kinds_enabled, 5);
    push_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, now_ns(CLOCK_REALTIME), 8);
    const xsr_model *m = end(world);
    assert_int_equal(m->activity_count, 0);
    assert_int_equal(fake->kinds_enabled, 0);
}

static void test_a_refusal_is_told(void **state) {
    (void)state;
    fake->refuse_enable = 1;
    const xsr_model *m = end(start(1));
    assert_int_equal(health(m)->state, XS_CUPTI_FAILED);
    assert_string_equal(health(m)->why, "cuptiActivityEnable(CONCURRENT_KERNEL): CUPTI_ERROR_NOT_COMPATIBLE");
    assert_int_equal(m->note_count, 1);
}

/* XS_CUPTI=1 says: although another tool has subscribed. */
static void test_insisting_goes_on_beside_another_subscriber(void **state) {
    (void)state;
    fake->held_by = "CUPTI for somebody";
    xs_world *world = start(1);
    push_kernel("beside", now_ns(CLOCK_REALTIME), 1);
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->state, XS_CUPTI_ENDED);
    assert_int_equal(m->activity_count, 1);
}

static void test_the_host_backend_asks_nothing_of_it(void **state) {
    (void)state;
    const xsr_model *m = end(start(0));
    assert_int_equal(health(m)->state, XS_CUPTI_NONE);
    assert_int_equal(fake->flushes, 0);
}

/* As a world of the CUDA backend starts it: health is what its region says. */
static xs_cupti_health start_for_gpu(int32_t cupti) {
    xs_region_header h = {
        .ranks = 1, .rings_per_rank = 64, .ring_records = 16, .lines_per_ring = 4, .activity_entries = 64};
    xs_region_layout(&h);
    char *region = aligned_alloc(4096, h.total_bytes);
    assert_non_null(region);
    memset(region, 0, h.total_bytes);
    xs_region_init(region, &h);
    xs_world world = {.region = region, .config = {.cupti = cupti}};
    xs_cupti *started = xs_cupti_start(&world);
    xs_cupti_health health = ((const xs_activity_head *)(const void *)(region + h.activity_offset))->health;
    xs_cupti_stop(started);
    free(region);
    return health;
}

static void test_a_subscriber_is_named_and_left_alone(void **state) {
    (void)state;
    fake->held_by = "CUPTI for somebody";
    xs_cupti_health health = start_for_gpu(0);
    assert_int_equal(health.state, XS_CUPTI_HELD);
    assert_string_equal(health.why, "CUPTI for somebody has subscribed");
    assert_int_equal(fake->kinds_enabled, 0);
    uint32_t version;
    const char *why;
    assert_int_equal(xs_cupti_probe(&version, &why), XS_CUPTI_HELD);
    assert_string_equal(why, "held by CUPTI for somebody");
    fake->held_by = NULL;
    assert_int_equal(start_for_gpu(0).state, XS_CUPTI_ON);
    assert_int_equal(xs_cupti_probe(&version, &why), XS_CUPTI_ON);
}

/* CUPTI's word for a subscriber that gave no name is no name: torch.profiler is one. */
static void test_a_subscriber_without_a_name_is_guessed_at(void **state) {
    (void)state;
    assert_non_null(dlopen(getenv("XS_TEST_LIBTORCH"), RTLD_NOW));
    fake->held_by = "CUPTI for <not provided>";
    assert_string_equal(start_for_gpu(0).why, "torch.profiler (Kineto, in libtorch) has subscribed");
    fake->held_by = NULL;
}

/* PyTorch brings its own CUPTI: a second one, named by XS_CUPTI_LIBRARY, kept torch.profiler from it. */
static void test_the_copy_that_is_loaded_is_taken(void **state) {
    (void)state;
    uint32_t version;
    const char *why;
    void *library = dlopen(getenv("XS_TEST_LOADED"), RTLD_NOW);
    assert_non_null(library);
    assert_int_equal(xs_cupti_probe(&version, &why), XS_CUPTI_ON);
    assert_int_equal(version, ((fake_cupti_state_call *)dlsym(library, "fake_cupti_state"))()->version);
}

static void test_off_is_told(void **state) {
    (void)state;
    assert_int_equal(start_for_gpu(-1).state, XS_CUPTI_OFF);
    assert_int_equal(fake->flushes, 0);
}

static void test_an_absent_library_is_told(void **state) {
    (void)state;
    xs_cupti_health health = start_for_gpu(0);
    assert_int_equal(health.state, XS_CUPTI_ABSENT);
    assert_non_null(strstr(health.why, "XS_CUPTI_LIBRARY"));
}

static void test_a_library_that_is_too_old_is_refused(void **state) {
    (void)state;
    xs_cupti_health health = start_for_gpu(0);
    assert_int_equal(health.state, XS_CUPTI_UNUSABLE);
    assert_string_equal(health.why, "its version is 9, xs needs 12 or newer");
}

/* Ten times what the region holds, at once: the collector is waited for. */
static void test_a_burst_loses_nothing(void **state) {
    (void)state;
    enum { COUNT = 80000 };
    xs_world *world = start(1);
    const xs_activity_head *head = (const void *)(world->region + xs_region(world)->activity_offset);
    __atomic_store_n(&bursting, &head->consumed, __ATOMIC_RELEASE);
    uint64_t real = now_ns(CLOCK_REALTIME);
    for (uint32_t i = 0; i < COUNT; i++)
        push_kernel("burst", real + 1000 * i, i);
    wait_for_flushes(3);
    __atomic_store_n(&bursting, NULL, __ATOMIC_RELEASE);
    const xsr_model *m = end(world);
    assert_int_equal(m->activity_count + health(m)->lost, COUNT);
    assert_int_equal(health(m)->lost, 0);
}

/* Their names were told long before what is kept. */
static void test_a_bounded_capture_keeps_the_names(void **state) {
    (void)state;
    xs_config config = {.cupti = 1, .capture_bytes = 1 << 20};
    xs_world *world = start_as(&config);
    for (uint32_t i = 0; i < 30000; i++) {
        push_kernel(i % 2 ? "odd" : "even", now_ns(CLOCK_REALTIME), i);
        if (i % 3000 == 2999)
            wait_for_flushes(2);
    }
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->kernels, 30000);
    assert_in_range(m->activity_count, 100, 10000);
    for (uint32_t i = 0; i < m->activity_count; i++)
        assert_string_equal(m->names[m->activities[i].name].text, m->activities[i].correlation % 2 ? "odd" : "even");
    assert_int_equal(m->activities[m->activity_count - 1].correlation, 29999);
}

/* Rings are left alone until a dump: nobody is waited for, and the dump has the newest. */
static void test_a_dump_has_the_newest_kernels(void **state) {
    (void)state;
    xs_config config = {.cupti = 1, .capture_on_trigger = 1};
    xs_world *world = start_as(&config);
    for (uint32_t i = 0; i < 20000; i++)
        push_kernel("many", now_ns(CLOCK_REALTIME), i);
    wait_for_flushes(3);
    assert_int_equal(xs_trace_dump(world, "now"), 0);
    const xsr_model *m = end(world);
    assert_true(health(m)->lost >= 20000 - 8192);
    assert_in_range(m->activity_count, 4000, 8192);
    assert_int_equal(m->activities[m->activity_count - 1].correlation, 19999);
}

/* Kernels that end and are never told of: somebody else gets them. */
static void test_a_takeover_is_noticed(void **state) {
    (void)state;
    xs_world *world = start(1);
    push_kernel("before", now_ns(CLOCK_REALTIME), 1);
    wait_for_flushes(2);
    __atomic_store_n(&fake->taken_over, 1, __ATOMIC_RELEASE);
    xs_handle handle;
    assert_true(xs_handle_begin(world, "mine", 0, 1, 32, &handle) > 0);
    assert_int_equal(xs_handle_end(world, &handle), 0);
    wait_for_flushes(30); /* three seconds */
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->state, XS_CUPTI_LOST);
    assert_non_null(strstr(health(m)->why, "no kernel of 1 launches"));
    assert_int_equal(m->activity_count, 1);
    assert_int_equal(fake->kinds_enabled, 3); /* the other tool's now */
    assert_true(m->note_count >= 1);
}

/* A kernel hangs, and the flush with it: the world ends all the same. Last: CUPTI is not to be had again. */
static void test_a_flush_that_hangs_holds_nobody_up(void **state) {
    (void)state;
    xs_world *world = start(1);
    wait_for_flushes(1);
    __atomic_store_n(&fake->blocked, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&fake->held_up, __ATOMIC_ACQUIRE))
        nap();
    const xsr_model *m = end(world);
    assert_int_equal(health(m)->state, XS_CUPTI_ON);
    assert_non_null(strstr(health(m)->why, "has not returned"));
    clean(NULL);
    m = end(start(1));
    assert_int_equal(health(m)->state, XS_CUPTI_HELD);
    __atomic_store_n(&fake->blocked, 0, __ATOMIC_RELEASE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, clean)

/* The library is looked at once a process: other libraries, other processes. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {TEST(test_kernels_copies_and_calls_reach_the_capture),
                                       TEST(test_names_have_no_signature),
                                       TEST(test_mangled_names_are_spelled_out),
                                       TEST(test_void_stamps_drops_and_unknown_kinds_are_counted),
                                       TEST(test_no_subscription_stays),
                                       TEST(test_calls_by_kind_where_single_ones_cannot_be_asked_for),
                                       TEST(test_a_refusal_is_told),
                                       TEST(test_a_subscriber_is_named_and_left_alone),
                                       TEST(test_a_subscriber_without_a_name_is_guessed_at),
                                       TEST(test_insisting_goes_on_beside_another_subscriber),
                                       TEST(test_the_host_backend_asks_nothing_of_it),
                                       TEST(test_off_is_told),
                                       TEST(test_a_burst_loses_nothing),
                                       TEST(test_a_bounded_capture_keeps_the_names),
                                       TEST(test_a_dump_has_the_newest_kernels),
                                       TEST(test_a_takeover_is_noticed),
                                       TEST(test_a_flush_that_hangs_holds_nobody_up)};
    const struct CMUnitTest older[] = {TEST(test_an_older_version_is_read_by_what_it_has)};
    const struct CMUnitTest too_old[] = {TEST(test_a_library_that_is_too_old_is_refused)};
    const struct CMUnitTest absent[] = {cmocka_unit_test(test_an_absent_library_is_told)};
    const struct CMUnitTest loaded[] = {cmocka_unit_test(test_the_copy_that_is_loaded_is_taken)};
    const char *which = argc > 1 ? argv[1] : "";
    if (strcmp(which, "older") == 0)
        return cmocka_run_group_tests(older, setup, NULL);
    if (strcmp(which, "too_old") == 0)
        return cmocka_run_group_tests(too_old, setup, NULL);
    if (strcmp(which, "absent") == 0)
        return cmocka_run_group_tests(absent, NULL, NULL);
    if (strcmp(which, "loaded") == 0)
        return cmocka_run_group_tests(loaded, NULL, NULL);
    return cmocka_run_group_tests(tests, setup, NULL);
}
