/* A kernel that was compiled with other headers than libxs took the rings for what they are not, and wrote where it should not. */
#include "lib_test.h"

#include "form.kernel.h"

XS_KERNEL_DECLARE(form_other)

static int launch_one(xs_world *world, const xs_kernel *kernel) {
    xs_launch_config config = {.size = sizeof config, .grid = 1, .block = 32};
    struct form_args args = {0};
    return xs_launch(world, kernel, &config, &args, sizeof args);
}

static void refused(int rc, const char *words) {
    assert_int_equal(rc, XS_E_UNSUPPORTED);
    if (!strstr(xs_error_detail(), words)) fail_msg("\"%s\" does not say \"%s\"", xs_error_detail(), words);
}

static void kernels_of_other_headers_are_refused(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    assert_true(launch_one(world, &form_same_kernel) > 0);
    refused(launch_one(world, &form_other_kernel), "form_other: compiled with headers of another xs than this library");
    assert_int_equal(xs_sync(world), 0); /* nothing ran */
    assert_true(launch_one(world, &form_same_kernel) > 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void moved(const void *args, const xs_handle *xs) { (void)args, (void)xs; }

/* Of a library that is loaded where an older one was. */
static void the_last_one_of_an_address_counts(void **state) {
    (void)state;
    static const xs_kernel kernel = TEST_KERNEL(moved, sizeof(struct form_args));
    xs_world *world = test_world(1);
    (xs_kernel_known)(&kernel);
    refused(launch_one(world, &kernel), "form 00000000");
    xs_kernel_known_form(&kernel, XS_LAUNCH_FORM + 1);
    refused(launch_one(world, &kernel), "moved: compiled with headers of another xs");
    xs_kernel_known(&kernel);
    assert_true(launch_one(world, &kernel) > 0);
    assert_int_equal(xs_sync(world), 0);
    xs_kernel_known_form(&kernel, XS_LAUNCH_FORM + 1);
    refused(launch_one(world, &kernel), "moved: compiled with headers of another xs");
    assert_int_equal(xs_world_destroy(world), 0);
}

static void handles_of_other_headers_are_refused(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    xs_handle handle;
    memset(&handle, 7, sizeof handle);
    refused(xs_handle_begin_form(world, "own", 0, 1, 32, &handle, XS_LAUNCH_FORM + 1), "own: compiled with headers of another xs");
    for (size_t i = 0; i < sizeof handle; i++) assert_int_equal(((const char *)&handle)[i], 7); /* there may be less room */
    assert_true(xs_handle_begin(world, "own", 0, 1, 32, &handle) > 0);
    assert_int_equal(xs_handle_end(world, &handle), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_other_headers_are_refused),
        cmocka_unit_test(the_last_one_of_an_address_counts),
        cmocka_unit_test(handles_of_other_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
