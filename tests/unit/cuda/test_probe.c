/* What xs doctor asks of GPUs: every measurement ends, says what the driver says, and a failing call is an error with its words. */
#include "cuda_test.h"

#if defined(__SANITIZE_THREAD__)
#define WHOLE_STORES 0 /* there a record is stored by two halves, so that the sanitizer understands it */
#else
#define WHOLE_STORES 1
#endif

static void a_gpu_is_measured(void **state) {
    (void)state;
    xs_gpu_probe p = {.size = sizeof p};
    fake->host_native_atomic = 1;
    assert_int_equal(xs_probe_gpu(1, &p), 0);
    assert_string_equal(p.name, "Fake GPU 1");
    assert_int_equal(p.driver, 13000);
    assert_int_equal(p.processors, 4);
    assert_int_equal(p.time_step_ns, 32);
    assert_int_equal(p.record_mapped_x100, 1600);
    assert_int_equal(p.record_device_x100, 1600);
    assert_true(p.store16_reads > 0 && (p.store16_torn == 0 || !WHOLE_STORES) && p.control_reads > 0);
    assert_int_equal(p.host_native_atomics, 1);
    assert_true(p.host_adds >= 100000 && p.host_adds_lost == 0);
    fake->host_native_atomic = 0;
    assert_int_equal(fake_live_all(), 0);
}

static void pairs_are_measured(void **state) {
    (void)state;
    xs_peer_probe p = {.size = sizeof p};
    fake->host_native_atomic = 1; /* the fake's adds are whole */
    assert_int_equal(xs_probe_peer(0, 1, &p), 0);
    assert_true(p.access && p.native_atomics && p.adds == 200000 && p.adds_lost == 0);
    fake->peer_access = 0;
    assert_int_equal(xs_probe_peer(0, 1, &p), 0);
    assert_true(!p.access && !p.adds);
    fake->peer_access = 1;
    fake->host_native_atomic = 0;
    assert_int_equal(fake_live_all(), 0);
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    xs_gpu_probe p = {.size = 4};
    xs_peer_probe q = {.size = sizeof q};
    assert_int_equal(xs_probe_gpu(0, &p), XS_E_ARGUMENT);
    assert_int_equal(xs_probe_peer(1, 1, &q), XS_E_ARGUMENT);
    p.size = sizeof p;
    assert_int_equal(xs_probe_gpu(7, &p), XS_E_SYSTEM);
    assert_non_null(strstr(xs_error_detail(), "cuDeviceGet"));
}

static void every_driver_call_may_fail(void **state) {
    (void)state;
    uint64_t failed = 0;
    for (uint64_t n = 1;; n++) {
        xs_gpu_probe p = {.size = sizeof p};
        fake->fail_at = fake->calls + n;
        int rc = xs_probe_gpu(0, &p);
        uint64_t reached = fake->calls >= fake->fail_at;
        fake->fail_at = 0;
        assert_int_equal(fake_live_all(), 0);
        failed += rc < 0;
        if (!reached || n > 40) break; /* later calls are looks at a kernel that runs */
    }
    assert_true(failed >= 30); /* names and attributes may be missing */
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_measured),
        cmocka_unit_test(pairs_are_measured),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(every_driver_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
