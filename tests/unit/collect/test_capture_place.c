/* The place of a capture: an earlier one of its name stays until the new one begins, and what is at that name may be a link, a folder or a file in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <xs/errors.h>

#include "capture_folder.h"

/* Names in the folder that begin with `name`. */
static uint32_t entries(const char *name) {
    uint32_t n = 0;
    DIR *dir = opendir(folder_path());
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += !strncmp(entry->d_name, name, strlen(name));
    closedir(dir);
    return n;
}

static void record_some(const xs_capture_options *how, bed *b) {
    assert_int_equal(bed_open(b, how, 1024, 0), 0);
    emit_and_pass(b, 3, 10 * MS, 0);
    assert_int_equal(bed_close(b), 0);
}

static uint64_t records_in(const bed *b) {
    frames f;
    assert_int_equal(bed_read(b, &f), 0);
    if (f.wrong)
        fail_msg("%s", f.what);
    return f.rings[0].kept + f.rings[1].kept + f.rings[2].kept;
}

/* `xs record --preallocate` that found no space, or a command that was not there, left an empty file where a capture had been. */
static void a_start_that_failed_destroyed_the_earlier_capture(void **unused) {
    (void)unused;
    for (int kinds = 0; kinds < 4; kinds++) {
        bed b, never;
        xs_capture *capture;
        xs_capture_options earlier = {.name = in_folder("kept"), .bound_bytes = kinds & 1 ? 1u << 20 : 0};
        xs_capture_options later = {.name = in_folder("kept"), .bound_bytes = kinds & 2 ? 1u << 20 : 0, .held = 1};
        record_some(&earlier, &b);
        assert_int_equal(records_in(&b), 300);
        assert_int_equal(xs_capture_open(&later, &capture), 0); /* what comes next fails */
        assert_int_equal(records_in(&b), 300);
        assert_int_equal(bed_open(&never, &earlier, 16, 0), 0); /* it is spoken for: another name */
        assert_string_equal(never.path, in_folder("kept.2.xs"));
        assert_int_equal(bed_close(&never), 0);
        assert_int_equal(xs_capture_close(capture), 0);
        assert_int_equal(records_in(&b), 300);
        assert_int_equal(entries("kept.xs"), 1);
        assert_int_equal(xs_capture_open(&later, &capture), 0);
        assert_int_equal(xs_capture_begin(capture), 0);
        assert_int_equal(xs_capture_close(capture), 0);
        assert_int_equal(records_in(&b), 0);
        assert_int_equal(entries("kept.xs"), 1);
    }
}

static void space_that_is_not_there_destroyed_the_earlier_capture(void **unused) {
    (void)unused;
    bed b, never;
    xs_capture_options file = {.name = in_folder("spacious")};
    record_some(&file, &b);
    file.preallocate = 1ull << 60;
    assert_int_equal(bed_open(&never, &file, 16, 0), XS_E_NO_SPACE);
    assert_non_null(strstr(xs_error_detail(), "the earlier one"));
    assert_int_equal(records_in(&b), 300);
    assert_int_equal(entries("spacious"), 1);
    file.name = in_folder("fresh");
    assert_int_equal(bed_open(&never, &file, 16, 0), XS_E_NO_SPACE);
    assert_null(strstr(xs_error_detail(), "the earlier one"));
    assert_int_equal(entries("fresh"), 0);
}

/* A disk that an earlier capture fills: the new one starts where that has gone, and that goes only when the new one begins. */
static void a_disk_full_of_the_earlier_capture(void **unused) {
    (void)unused;
    char disk[128], name[160];
    folder_mount("mine", "size=1m", disk);
    snprintf(name, sizeof name, "%s/run", disk);
    for (int kinds = 0; kinds < 4; kinds++) {
        bed b;
        xs_capture *capture;
        xs_capture_options earlier = {.name = name, .bound_bytes = kinds & 1 ? 512u << 10 : 0};
        xs_capture_options later = {.name = name, .bound_bytes = kinds & 2 ? 512u << 10 : 0, .held = 1};
        assert_int_equal(bed_open(&b, &earlier, 4096, 0), 0);
        emit_and_pass(&b, 1000, MS, 0);
        bed_close(&b);
        uint64_t kept = records_in(&b);
        assert_true(kept > 1000);
        char ballast[160];
        snprintf(ballast, sizeof ballast, "%s/ballast", disk);
        fill_disk(ballast);
        assert_int_equal(xs_capture_open(&later, &capture), 0);
        assert_int_equal(records_in(&b), kept);
        assert_int_equal(xs_capture_close(capture), 0);
        assert_int_equal(records_in(&b), kept);
        assert_int_equal(xs_capture_open(&later, &capture), 0);
        assert_int_equal(xs_capture_begin(capture), 0);
        assert_int_equal(xs_capture_close(capture), 0);
        assert_int_equal(records_in(&b), 0);
        unlink(ballast);
    }
    umount2(disk, MNT_DETACH);
}

/* A bounded capture took the name from under an unbounded one that was being written. */
static void a_bounded_capture_took_the_name_of_one_that_was_written(void **unused) {
    (void)unused;
    bed b, second;
    xs_capture_options file = {.name = in_folder("busy")}, bounded = {.name = in_folder("busy"), .bound_bytes = 1u << 20};
    assert_int_equal(bed_open(&b, &file, 1024, 0), 0);
    record_some(&bounded, &second);
    assert_string_equal(second.path, in_folder("busy.2.xs"));
    emit_and_pass(&b, 3, 10 * MS, 0);
    assert_int_equal(bed_close(&b), 0);
    assert_int_equal(records_in(&b), 300);
    assert_int_equal(records_in(&second), 300);
}

/* A file in memory has no name but that in /proc: it could not be opened as a capture. */
static void a_capture_in_memory_is_written_by_its_link(void **unused) {
    (void)unused;
    bed b;
    struct stat st;
    char link[64];
    int fd = memfd_create("capture", MFD_CLOEXEC);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    assert_int_equal(symlink(link, in_folder("memory.xs")), 0);
    xs_capture_options file = {.name = in_folder("memory")};
    record_some(&file, &b);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_size > 300 * 16);
    assert_int_equal(lstat(in_folder("memory.xs"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    close(fd);
}

/* A link to where there is room stays one. */
static void a_capture_behind_a_link_is_replaced_there(void **unused) {
    (void)unused;
    bed b;
    struct stat st;
    assert_int_equal(mkdir(in_folder("away"), 0777), 0);
    assert_int_equal(symlink("away/far.xs", in_folder("linked.xs")), 0);
    xs_capture_options file = {.name = in_folder("linked")};
    for (int i = 0; i < 2; i++)
        record_some(&file, &b);
    assert_int_equal(lstat(in_folder("linked.xs"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(in_folder("away/far.xs"), &st), 0);
    assert_true(S_ISREG(st.st_mode) && st.st_size > 300 * 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_failed_destroyed_the_earlier_capture),
        cmocka_unit_test(space_that_is_not_there_destroyed_the_earlier_capture),
        cmocka_unit_test(a_disk_full_of_the_earlier_capture),
        cmocka_unit_test(a_bounded_capture_took_the_name_of_one_that_was_written),
        cmocka_unit_test(a_capture_behind_a_link_is_replaced_there),
        cmocka_unit_test(a_capture_in_memory_is_written_by_its_link),
    };
    return RUN_IN_FOLDER(tests);
}
