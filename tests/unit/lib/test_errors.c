/* Every error has a name and a text of its own; the numbers are pinned. */
#include "lib_test.h"

static void each_error_has_name_and_text(void **state) {
    (void)state;
#define CHECK(number, name, text)                                                                                      \
    assert_int_equal(XS_E_##name, -(number));                                                                          \
    assert_string_equal(xs_errname(-(number)), "XS_E_" #name);                                                         \
    assert_string_equal(xs_strerror(-(number)), text);
    XS_ERRORS(CHECK)
#undef CHECK
    assert_string_equal(xs_errname(0), "XS_OK");
    assert_string_equal(xs_strerror(0), "no error");
}

static void unknown_numbers_are_named_so(void **state) {
    (void)state;
    assert_string_equal(xs_errname(-999), "XS_E_UNKNOWN");
    assert_string_equal(xs_strerror(5), "unknown error");
}

static void numbers_are_pinned(void **state) {
    (void)state;
    assert_int_equal(XS_E_ARGUMENT, -1);
    assert_int_equal(XS_E_TIMEOUT, -4);
    assert_int_equal(XS_E_ABORTED, -6);
    assert_int_equal(XS_E_TOO_MANY, -10);
    assert_int_equal(XS_E_UNSUPPORTED, -20);
}

static void missing_arguments_are_errors(void **state) {
    (void)state;
    xs_pad pad;
    assert_int_equal(xs_world_create(NULL, NULL), XS_E_ARGUMENT);
    assert_int_equal(xs_world_destroy(NULL), XS_E_ARGUMENT);
    assert_int_equal(xs_pad_create(NULL, "p", 1, 1, 0, &pad), XS_E_ARGUMENT);
    assert_int_equal(xs_abort(NULL, 0), XS_E_ARGUMENT);
    assert_int_equal(xs_sync(NULL), XS_E_ARGUMENT);
    assert_int_equal(xs_trace_start(NULL), XS_E_ARGUMENT);
    assert_int_equal(xs_world_ranks(NULL), 0);
    assert_string_equal(xs_world_scheduler(NULL), "");
}

static void details_say_what(void **state) {
    (void)state;
    xs_config config = test_config(1);
    config.ring_records = 5;
    xs_world *world = (xs_world *)&config;
    assert_int_equal(xs_world_create(&config, &world), XS_E_ARGUMENT);
    assert_null(world);
    assert_non_null(strstr(xs_error_detail(), "ring_records 5"));
    assert_int_equal(xs_sync(NULL), XS_E_ARGUMENT); /* another failure: no words of the one before */
    assert_null(strstr(xs_error_detail(), "ring_records"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_has_name_and_text),
        cmocka_unit_test(unknown_numbers_are_named_so),
        cmocka_unit_test(numbers_are_pinned),
        cmocka_unit_test(missing_arguments_are_errors),
        cmocka_unit_test(details_say_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
