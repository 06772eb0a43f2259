/* The map from a device's time to the host's, by itself. */
#include "internal.h"
#include "read_help.h"

#define HOST (500 * SECOND)
#define DEVICE 1795964922682060295ll

/* The map itself: it never falls, knots included, and the way back is right to a nanosecond. */
static void monotone(void **state) {
    (void)state;
    static rd_sample samples[200];
    rd_fit fit = {0};
    srand(5);
    for (int64_t i = 0; i < 200; i++)
        samples[i] = (rd_sample){HOST + i * SECOND / 3 + rand() % 4000, DEVICE + i * SECOND / 3, 2000 + rand() % 500};
    assert_int_equal(rd_fit_make(&fit, samples, 200), 0);
    assert_int_equal(fit.count, 14);
    for (uint32_t k = 0; k < fit.count; k++) {
        uint32_t hint = k;
        int64_t before = rd_fit_host(&fit, &hint, fit.knots[k].device - 2001);
        for (int64_t d = -2000; d <= 2000; d++) {
            int64_t device = fit.knots[k].device + d, host = rd_fit_host(&fit, &hint, device);
            uint32_t elsewhere = (uint32_t)rand();
            assert_true(host == before || host == before + 1 || host == before + 2);
            assert_int_equal(rd_fit_host(&fit, &elsewhere, device), host);
            assert_in_range(rd_fit_device(&fit, host) - device + 2, 0, 4);
            before = host;
        }
    }
    free(fit.knots);
}

/* Exact samples are met exactly, at their ends and between, whatever the drift. */
static void exact(void **state) {
    (void)state;
    static const int64_t per_million[] = {-500, -11, 0, 3, 500};
    for (size_t k = 0; k < 5; k++) {
        rd_sample samples[40];
        rd_fit fit = {0};
        for (int64_t i = 0; i < 40; i++)
            samples[i] = (rd_sample){HOST + i * SECOND + i * per_million[k] * 1000, DEVICE + i * SECOND, 2000};
        assert_int_equal(rd_fit_make(&fit, samples, 40), 0);
        for (int64_t i = 0; i < 79; i++) {
            uint32_t hint = 0;
            int64_t host = HOST + i * SECOND / 2 + i * per_million[k] * 500;
            assert_in_range(rd_fit_host(&fit, &hint, DEVICE + i * SECOND / 2) - host + 2, 0, 4);
        }
        free(fit.knots);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(monotone), cmocka_unit_test(exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
