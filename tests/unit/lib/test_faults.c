/* The n-th call fails, for every n until nothing fails any more: a clear error, no crash, no leak (run under asan), and
 * the next world works. Calls are replaced by the linker (--wrap). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib_test.h"

static uint32_t calls, fail_at; /* 0: none fails */

static int fails(void) {
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == __atomic_load_n(&fail_at, __ATOMIC_RELAXED);
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
char *__real_strdup(const char *text);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_ftruncate(int fd, off_t bytes);
int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __real_memfd_create(const char *name, unsigned flags);
int __real_linkat(int from, const char *path, int to, const char *name, int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument);

#define OUT_OF(error, failed, real) (fails() ? (errno = (error), (failed)) : (real))
void *__wrap_malloc(size_t bytes) { return OUT_OF(ENOMEM, NULL, __real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return OUT_OF(ENOMEM, NULL, __real_calloc(count, bytes)); }
void *__wrap_realloc(void *memory, size_t bytes) { return OUT_OF(ENOMEM, NULL, __real_realloc(memory, bytes)); }
void *__wrap_aligned_alloc(size_t align, size_t bytes) {
    return OUT_OF(ENOMEM, NULL, __real_aligned_alloc(align, bytes));
}
char *__wrap_strdup(const char *text) { return OUT_OF(ENOMEM, NULL, __real_strdup(text)); }
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    return OUT_OF(ENOMEM, MAP_FAILED, __real_mmap(at, bytes, protection, flags, fd, offset));
}
int __wrap_ftruncate(int fd, off_t bytes) { return OUT_OF(EINVAL, -1, __real_ftruncate(fd, bytes)); }
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
    return OUT_OF(ENOSPC, -1, __real_fallocate(fd, mode, offset, bytes));
}
int __wrap_memfd_create(const char *name, unsigned flags) {
    return OUT_OF(EMFILE, -1, __real_memfd_create(name, flags));
}
int __wrap_linkat(int from, const char *path, int to, const char *name, int flags) {
    return OUT_OF(ENOSPC, -1, __real_linkat(from, path, to, name, flags));
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument) {
    return fails() ? EAGAIN : __real_pthread_create(thread, attr, run, argument);
}

typedef struct work_args {
    uint32_t *sum;
} work_args;
static const char key;

/* Uses all that a scheduler allocates for a kernel. */
static void work_kernel(const void *opaque, const xs_handle *xs) {
    (void)xs;
    const work_args *args = opaque;
    uint32_t *shared = xs_host_shared(&key, 4 * sizeof *shared);
    shared[xs_host_self()->warp] = 1;
    if (xs_host_block_barrier(0, 0)) return;
    __atomic_fetch_add(args->sum, shared[0] + shared[1], __ATOMIC_RELAXED);
}
static const xs_kernel work = TEST_KERNEL(work_kernel, sizeof(work_args));

/* More than fits the room that is there at first, in two patterns. */
static int add_plan(xs_world *world) {
    static xs_plan_entry many[200];
    xs_pad pad;
    int rc = xs_pad_create(world, "planned", 1, 200, 0, &pad);
    for (uint32_t i = 0; i < 200; i++)
        many[i] = (xs_plan_entry){.kind = XS_PLAN_WRITER, .pad_first = pad.first, .owner = i % 2 ? XS_PLAN_ANY : 0, .column = i, .epoch = UINT64_MAX};
    if (rc >= 0) rc = xs_plan_add(world, many, 100);
    return rc < 0 ? rc : xs_plan_add(world, many + 100, 100);
}

static int use(xs_world *world, uint32_t *sum) {
    xs_pad pad;
    xs_buffer buffer;
    xs_channel channel;
    static uint64_t words[2];
    void *base[2] = {&words[0], &words[1]};
    xs_adopt adopt = {.size = sizeof adopt, .rows = 1, .columns = 1, .width = 64, .base = base};
    int rc = xs_pad_create(world, "pad", 2, 2, 0, &pad);
    if (rc >= 0) rc = xs_pad_labels(world, &pad, "a", "b");
    if (rc >= 0) rc = xs_pad_adopt(world, "own", &adopt, &pad);
    if (rc >= 0) rc = xs_buffer_create(world, "buffer", 5000, &buffer);
    if (rc >= 0) rc = xs_channel_create(world, "channel", 0, 2, 2, &channel);
    if (rc >= 0) rc = xs_role(world, "role");
    if (rc >= 0) rc = xs_mark_name(world, "mark");
    if (rc >= 0) rc = add_plan(world);
    xs_launch_config config = {.size = sizeof config, .grid = 2, .block = 64, .shared_bytes = 64};
    work_args args = {sum};
    for (int i = 0; i < 2 && rc >= 0; i++) rc = xs_launch(world, &work, &config, &args, sizeof args);
    int synced = xs_sync(world); /* the first cause, where a launch met a world that an earlier one had to abort */
    return rc < 0 && rc != XS_E_ABORTED ? rc : synced;
}

static int run(const xs_config *config, uint32_t *sum) {
    xs_world *world;
    int rc = xs_world_create(config, &world);
    if (rc) {
        assert_null(world);
        return rc;
    }
    rc = use(world, sum);
    int ended = xs_world_destroy(world);
    return rc < 0 ? rc : ended;
}

static int is_expected(int rc) { return rc == XS_E_MEMORY || rc == XS_E_SYSTEM; }

static void every_call_fails_once(const xs_config *config, uint32_t blocks) {
    uint32_t sum = 0, n = 0, hits = 0;
    do {
        __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&fail_at, ++n, __ATOMIC_RELAXED);
        sum = 0;
        int rc = run(config, &sum);
        int whole = sum == 2 * blocks * 2 * 2; /* what is only tidied up by the way may fail unsaid */
        if (calls >= n && rc >= 0 && !whole) fail_msg("call %u failed, and nobody said so", n);
        if (calls < n) assert_int_equal(rc, 0);
        else if (rc < 0 && !is_expected(rc)) fail_msg("call %u failed: %s (%s)", n, xs_errname(rc), xs_error_detail());
        hits += calls >= n;
    } while (calls >= n && n < 2000);
    assert_int_equal(sum, 2 * blocks * 2 * 2); /* the last one, in which nothing failed, did all its work */
    assert_true(hits > 40);
    fail_at = 0;
}

static void one_process(void **state) {
    (void)state;
    xs_config config = test_config(2);
    every_call_fails_once(&config, 4);
}

static void one_of_several_processes(void **state) {
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "faults %d", (int)getpid());
    xs_config config = test_config(2);
    config.world = name;
    config.local_ranks = 1;
    config.shared_bytes = 1 << 20;
    every_call_fails_once(&config, 2);
    config.first_rank = 1; /* the other rank comes and goes: then the memory is unlinked */
    uint32_t sum = 0;
    assert_int_equal(run(&config, &sum), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_process), cmocka_unit_test(one_of_several_processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
