/* The capture writer: disks that are full or not writable, and every system call failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <xs/errors.h>
#include <xs/frame.h>

#include "capture_folder.h"

#define WRITERS 8u

/* The same in eight rings at once, more of it than one thread of a collector takes by itself. */
static uint64_t emit_many_and_pass(bed *b, uint32_t rounds) {
    uint64_t emitted = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        for (uint32_t ring = 0; ring < WRITERS; ring++) {
            synthetic_writer w = synthetic_begin(b->region, ring, XS_OVERWRITE);
            bed_emit(b, &w, XS_OVERWRITE, 1000 + ring);
            synthetic_end(&w);
            emitted += 1000 + ring;
        }
        bed_pass(b, 10 * MS); /* rings that look as they did are looked at so often */
    }
    return emitted;
}

static void bad_names_and_bounds(void **unused) {
    (void)unused;
    bed b;
    xs_capture_options file = {.name = ""};
    assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_ARGUMENT);
    file.name = ".xs";
    assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_ARGUMENT);
    static const char *const folders[] = {".", "..", "/", "./", "./.", "../..", "/tmp/.xs"}; /* made ..xs and its like */
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        file.name = folders[i];
        assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_ARGUMENT);
    }
    file.name = in_folder("missing/run");
    assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_SYSTEM);
    assert_non_null(strstr(xs_error_detail(), "missing/run.xs"));
    file.name = "/proc/self/run"; /* a folder in which nobody may write, not even root */
    assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_SYSTEM);
    file.name = in_folder("small");
    file.bound_bytes = 1000;
    assert_int_equal(bed_open(&b, &file, 16, 0), XS_E_ARGUMENT);
}

static void names_get_their_ending_once(void **unused) {
    (void)unused;
    bed b, second;
    xs_capture_options file = {.name = in_folder("one.xs")};
    assert_int_equal(bed_open(&b, &file, 16, 0), 0);
    assert_string_equal(b.path, in_folder("one.xs"));
    file.name = in_folder("one"); /* being written: another name */
    assert_int_equal(bed_open(&second, &file, 16, 0), 0);
    assert_string_equal(second.path, in_folder("one.2.xs"));
    file.suffix = ".rank3";
    assert_int_equal(bed_close(&second), 0);
    assert_int_equal(bed_open(&second, &file, 16, 0), 0);
    assert_string_equal(second.path, in_folder("one.rank3.xs"));
    assert_int_equal(bed_close(&second), 0);
    assert_int_equal(bed_close(&b), 0);
}

static void check_full(const bed *b, uint64_t emitted, int more_came_later) {
    frames f;
    assert_int_equal(bed_read(b, &f), 0);
    if (f.wrong)
        fail_msg("%s", f.what);
    uint64_t sum = 0, no_space = 0, kept = 0;
    for (uint32_t i = 0; i < WRITERS; i++) {
        sum += f.rings[i].kept + f.rings[i].lost;
        no_space += f.rings[i].lost_by[XS_LOSS_NO_SPACE];
        kept += f.rings[i].kept;
    }
    assert_int_equal(sum, emitted); /* what is missing is counted in the capture itself */
    assert_int_equal(kept + no_space, emitted);
    assert_true(no_space > 0 && kept > 0);
    assert_int_equal(f.cut, 0);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_true(!more_came_later || f.rings[0].gaps == 1);
}

/* A file as large as the limit allows, and no signal that ends the process. */
static int at_the_size_limit(void) {
    bed b;
    struct rlimit limit = {1u << 20, 1u << 20};
    xs_capture_options file = {.name = in_folder("limited")};
    if (setrlimit(RLIMIT_FSIZE, &limit) || bed_open(&b, &file, 4096, 0))
        return 1;
    uint64_t emitted = bed_threads > 1 ? emit_many_and_pass(&b, 40) : emit_and_pass(&b, 1500, MS, 0);
    if (bed_close(&b) != XS_E_NO_SPACE)
        return 2;
    check_full(&b, emitted, 0);
    return 0;
}

static void size_limit(void **unused) {
    (void)unused;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        int status;
        pid_t pid = fork();
        bed_threads = threads;
        if (pid == 0)
            _exit(at_the_size_limit());
        bed_threads = 1;
        waitpid(pid, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* A file system of 2 MB; skipped where it cannot be mounted (the size limit above takes the same path). */
static void full_disk(void **unused) {
    (void)unused;
    char disk[128], ballast[160], name[160];
    folder_mount("disk", "size=2m", disk);
    snprintf(ballast, sizeof ballast, "%s/ballast", disk);
    snprintf(name, sizeof name, "%s/run", disk);
    for (int space_returns = 0; space_returns < 2; space_returns++) {
        bed b;
        xs_capture_options file = {.name = name};
        int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(fallocate(fd, 0, 0, 1 << 20), 0);
        close(fd);
        assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
        uint64_t emitted = emit_and_pass(&b, 900, MS, 0);
        if (space_returns) {
            unlink(ballast);
            emitted += emit_and_pass(&b, 200, MS, 0);
        }
        assert_int_equal(bed_close(&b), XS_E_NO_SPACE);
        check_full(&b, emitted, space_returns);
    }
    /* No room even to begin: said at once. */
    bed b;
    xs_capture_options file = {.name = name};
    unlink(strcat(name, ".xs"));
    fill_disk(ballast);
    assert_int_equal(bed_open(&b, &file, 4096, 0), XS_E_NO_SPACE);
    umount2(disk, MNT_DETACH);
}

/* Every system call of the writer fails once, at its n-th call, until a run meets none. */

static int calls_left, failing_errno; /* calls_left 0: none fails */

static int fails(void) {
    if (!__atomic_load_n(&calls_left, __ATOMIC_RELAXED) || __atomic_sub_fetch(&calls_left, 1, __ATOMIC_RELAXED))
        return 0;
    errno = failing_errno;
    return 1;
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);
/* Not 0: so many writes go on only once all of them are under way. */
static int meeting, met;

/* 0: the others never came. */
static int meet(void) {
    int here = __atomic_add_fetch(&met, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; here <= meeting && i < 60000 && __atomic_load_n(&met, __ATOMIC_ACQUIRE) < meeting; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return __atomic_load_n(&met, __ATOMIC_ACQUIRE) >= meeting;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    if (meeting && !meet()) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (fails()) {
        if (failing_errno != EINTR && size > 100) /* some of it is written: the file ends inside a frame */
            return __real_pwrite(fd, bytes, 100, offset);
        return -1;
    }
    return __real_pwrite(fd, bytes, size, offset);
}
int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size) { return fails() ? -1 : __real_fallocate(fd, mode, offset, size); }
int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size) { return fails() ? -1 : __real_ftruncate(fd, size); }
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

static void check_whole(const bed *b) {
    frames f;
    if (bed_read(b, &f))
        return;
    if (f.wrong)
        fail_msg("call with errno %d: %s", failing_errno, f.what);
}

static int run_with_failure(uint64_t bound, int nth) {
    bed b;
    xs_capture_options file = {.name = in_folder("failing"), .bound_bytes = bound};
    calls_left = nth;
    if (!bed_open(&b, &file, 256, 0)) {
        emit_and_pass(&b, 120, MS, 0);
        bed_close(&b);
        int left = calls_left;
        calls_left = 0;
        check_whole(&b);
        return left;
    }
    int left = calls_left;
    calls_left = 0;
    return left;
}

static void every_call_fails_once(void **unused) {
    (void)unused;
    static const int numbers[] = {ENOSPC, EIO, EINTR, EOPNOTSUPP};
    for (int i = 0; i < 4; i++)
        for (int bounded = 0; bounded < 2; bounded++) {
            int nth = 1;
            failing_errno = numbers[i];
            while (run_with_failure(bounded ? 256u << 10 : 0, nth) == 0)
                nth++;
            if (nth < 10)
                fail_msg("only %d calls (errno %d, bounded %d)", nth, failing_errno, bounded);
        }
}

/* Several threads write one capture: frames in the order of their numbers, none twice or missing, rings without a gap,
 * whatever write fails. */
static void lanes_share_a_failing_disk(void **unused) {
    (void)unused;
    static const int numbers[] = {ENOSPC, EIO, EINTR};
    bed_threads = 3;
    for (int i = 0; i < 3; i++) {
        int left = 0;
        failing_errno = numbers[i];
        for (int nth = 8; !left; nth += !XS_WHOLE_ACCESS ? 15 : 3) { /* the first calls are those of every_call_fails_once */
            bed b;
            xs_capture_options file = {.name = in_folder("lanes")};
            assert_int_equal(bed_open(&b, &file, 4096, 0), 0);
            calls_left = nth;
            uint64_t emitted = emit_many_and_pass(&b, 30), sum = 0;
            left = calls_left;
            calls_left = 0;
            bed_close(&b);
            check_whole(&b);
            frames f;
            assert_int_equal(bed_read(&b, &f), 0);
            for (uint32_t ring = 0; ring < WRITERS; ring++)
                sum += f.rings[ring].kept + f.rings[ring].lost;
            assert_int_equal(sum, emitted);
            assert_int_equal(f.counts[XS_FRAME_END], 1);
            assert_int_equal(f.first_number, 0);
            assert_int_equal(f.next_number, f.frames);
        }
    }
    bed_threads = 1;
}

static void *put_and_flush(void *lane) {
    static const char payload[4096] = {1};
    xs_frame frame = {.type = XS_FRAME_STATUS};
    int rc = xs_lane_put(lane, &frame, payload, sizeof payload);
    return rc || xs_lane_flush(lane) ? lane : NULL;
}

/* One lane's write does not wait for another's: the second thread brought next to nothing to a GPU's collector. */
static void lanes_write_side_by_side(void **unused) {
    (void)unused;
    enum { LANES = 3 };
    xs_capture *capture;
    xs_capture_options file = {.name = in_folder("side"), .preallocate = 1 << 20};
    pthread_t threads[LANES];
    assert_int_equal(xs_capture_open(&file, &capture), 0);
    assert_int_equal(xs_capture_lanes(capture, LANES), LANES);
    assert_int_equal(xs_capture_flush(capture), 0);
    meeting = LANES;
    for (uint32_t i = 0; i < LANES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_flush, xs_capture_lane_of(capture, i)), 0);
    void *failed[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        pthread_join(threads[i], &failed[i]);
    meeting = met = 0;
    for (uint32_t i = 0; i < LANES; i++)
        assert_null(failed[i]);
    assert_int_equal(xs_capture_close(capture), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_names_and_bounds),
        cmocka_unit_test(names_get_their_ending_once),
        cmocka_unit_test(size_limit),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(lanes_share_a_failing_disk),
        cmocka_unit_test(lanes_write_side_by_side),
    };
    return RUN_IN_FOLDER(tests);
}
