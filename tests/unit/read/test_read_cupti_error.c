/* CUPTI's times of kernels against a GPU's clock that its answers tell. */
#include "gpu_run.h"

#include <stdlib.h>

/* p99 of how far CUPTI's begins lie from where they were, less what all have in common; as_told: as CUPTI told them. Of kernels of odd
 * number alone, or of all. */
static int64_t kernel_scatter(const gpu_run *r, int as_told, int odd) {
    static int64_t off[MINUTE];
    const xsr_model *m = xsr_model_of(r->reader);
    uint32_t count = 0;
    assert_int_equal(m->activity_count, MINUTE);
    for (uint32_t i = odd ? 1 : 0; i < MINUTE; i += odd ? 2 : 1)
        off[count++] = m->activities[i].begin + (as_told ? m->activities[i].moved : 0) - gpu_begin_of(m->activities[i].correlation - 1);
    qsort(off, count, sizeof *off, gpu_by_value);
    int64_t common = off[count / 2];
    for (uint32_t i = 0; i < count; i++)
        off[i] = llabs(off[i] - common);
    qsort(off, count, sizeof *off, gpu_by_value);
    return off[count * 99 / 100];
}

/* CUPTI's times leave the clock by 800 ns in their first four seconds, and jump back; the answers do not. So records stay where
 * they are, and kernels are moved to them, their ends as their begins. */
static void cuptis_looks_bend_no_clock(void **state) {
    (void)state;
    gpu_run r;
    int64_t common;
    gpu_record_minute(&r, "looks.xs", 0, GPU_LOOKS);
    gpu_read_back(&r);
    const xsr_clock *clock = gpu_clock(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(clock->fault_ns, 0);
    assert_in_range(gpu_scatter(&r, &common), 0, 50);
    assert_true(gpu_worst_of(&r, 0, MINUTE) <= clock->bound_ns);
    assert_in_range(clock->bound_ns, 300, 1000);
    assert_in_range(clock->residual_ns, 1, 75);
    assert_in_range(clock->cupti_ns, 400, 900);
    assert_true(kernel_scatter(&r, 1, 0) > 350);
    assert_in_range(kernel_scatter(&r, 0, 0), 0, 64);
    for (uint32_t i = 1; i < MINUTE; i++) {
        const xsr_activity *a = &m->activities[i];
        assert_int_equal(a->correlation, i + 1);
        assert_true(llabs(a->moved) <= clock->cupti_ns);
        assert_in_range(a->end - a->begin, 3 * US + 3000, 18 * US + 4000);
    }
    gpu_end(&r);
}

/* Lines that went from kernel to kernel would miss those between. */
static void kernels_left_out_lie_as_near(void **state) {
    (void)state;
    gpu_run r;
    gpu_record_minute(&r, "half.xs", 0, GPU_LOOKS);
    assert_int_equal(cb_end(r.c), 0);
    xsr_options options = {.size = sizeof options, .half_fit = 1};
    const char *why;
    assert_int_equal(xsr_open(&r.path, 1, &options, &r.reader, &why), 0);
    assert_int_equal(help_run(r.reader, &r.told), 0);
    assert_int_equal(gpu_clock(&r)->kernels, MINUTE / 2);
    assert_true(kernel_scatter(&r, 1, 1) > 350);
    assert_in_range(kernel_scatter(&r, 0, 1), 0, 64);
    gpu_end(&r);
}

/* From the middle of the run on kernels begin 400 ns earlier ahead of their stamps, and end as before: that is the kernels' doing. */
static void kernels_that_begin_earlier_are_no_error_of_cupti(void **state) {
    (void)state;
    gpu_run r;
    int64_t common;
    gpu_begin(&r, "earlier.xs", 10.6);
    r.kind = GPU_H200;
    r.later = 400;
    r.late_from = gpu_begin_of(MINUTE / 2);
    gpu_minute(&r);
    gpu_read_back(&r);
    assert_int_equal(gpu_clock(&r)->cupti_ns, 0);
    assert_int_equal(xsr_model_of(r.reader)->activities[MINUTE - 1].moved, 0);
    assert_in_range(gpu_scatter(&r, &common), 0, 60);
    assert_true(gpu_worst_of(&r, 0, MINUTE) <= gpu_clock(&r)->bound_ns);
    gpu_end(&r);
}

/* CUPTI tells of no kernel. Answers wait up to a microsecond until they are read, and come back in the same time: their middles are
 * 300 ns apart, their times are not. */
static void answers_lie_by_their_steadier_end(void **state) {
    (void)state;
    gpu_run r;
    int64_t common;
    gpu_begin(&r, "steadier.xs", 10.6);
    r.kind = GPU_LOOKS;
    r.quiet = 1;
    gpu_minute(&r);
    gpu_read_back(&r);
    assert_int_equal(gpu_clock(&r)->kernels, 0);
    assert_in_range(gpu_scatter(&r, &common), 0, 60);
    assert_in_range(gpu_clock(&r)->residual_ns, 1, 80);
    assert_true(gpu_worst_of(&r, 0, MINUTE) <= gpu_clock(&r)->bound_ns);
    gpu_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuptis_looks_bend_no_clock),
        cmocka_unit_test(kernels_left_out_lie_as_near),
        cmocka_unit_test(kernels_that_begin_earlier_are_no_error_of_cupti),
        cmocka_unit_test(answers_lie_by_their_steadier_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
