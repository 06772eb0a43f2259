#include "judge.h"

#include <stdlib.h>
#include <unistd.h>

static char path[64];

const char *judged_path(void) {
    snprintf(path, sizeof path, "/tmp/xs_judge_%d.xs", (int)getpid());
    return path;
}

cb *case_begin(uint32_t ranks, uint32_t grid, uint32_t blocks) {
    xs_region_header region = cb_region(0, ranks, ranks);
    return case_begin_as(&region, grid, blocks);
}

cb *case_begin_as(const xs_region_header *region, uint32_t grid, uint32_t blocks) {
    uint32_t ranks = region->ranks;
    cb *c = cb_begin(judged_path());
    assert_non_null(c);
    cb_process_as(c, region);
    uint32_t role = cb_role(c, "work"), kernel = cb_kernel(c, "case");
    cb_launch_begin(c, 1, kernel, 900, grid, 32, 0, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t b = 0; b < blocks; b++)
            cb_writer_begin(c, RING(r, b), 1000, role, b, 1);
    return c;
}

cb *case_apart(uint32_t ranks, uint64_t bound) {
    xs_region_header region = cb_region(0, ranks, ranks);
    region.device = 0;
    cb *c = case_begin_as(&region, 1, 0);
    for (uint32_t r = 0; r < ranks; r++) {
        cb_device_clock(c, r, 500, 500, 2 * bound);
        cb_device_clock(c, r, 900000, 900000, 2 * bound);
        cb_ring_device(c, RING(r, 0), (int32_t)r);
        cb_writer_begin_at(c, RING(r, 0), 1000, 1, 0, 1, r, 0, 0, 0);
    }
    return c;
}

void case_depth(cb *c, uint32_t pad, uint64_t deep) {
    xs_plan_entry depth = {.kind = XS_PLAN_DEPTH, .pad_first = cb_pad_first(c, pad), .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY, .column = XS_PLAN_ANY,
                           .epoch = UINT64_MAX, .a = deep};
    cb_plan(c, &depth, 1);
}

void case_end_writers(cb *c, uint32_t ranks, uint32_t blocks, uint64_t time) {
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t b = 0; b < blocks; b++)
            cb_writer_end(c, RING(r, b), time);
}

void case_open_wait(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t need, uint64_t observed) {
    cb_wait_start(c, ring, time, object, need, observed);
    xs_status_line line = cb_status_line(XS_LINE_SLOW, object, need, observed, 100, time, time + 1000);
    cb_status(c, ring, 0, time + 1000, &line);
}

static judged run(const xsa_options *options) {
    judged j = {0};
    const char *paths[] = {path}, *error = NULL;
    if (xsr_open(paths, 1, NULL, &j.reader, &error))
        fail_msg("%s", error);
    assert_int_equal(xsa_open(options, &j.sink), 0);
    assert_int_equal(xsr_run(j.reader, &j.sink, 1), 0);
    j.result = xsa_result_of(j.sink);
    j.model = xsr_model_of(j.reader);
    assert_non_null(j.result);
    unlink(path);
    return j;
}

judged judge_with(cb *c, const xsa_options *options) {
    assert_int_equal(cb_end(c), 0);
    return run(options);
}
judged judge(cb *c) { return judge_with(c, NULL); }
judged judge_cut(cb *c) {
    assert_int_equal(cb_cut(c), 0);
    return run(NULL);
}
judged judge_killed(cb *c) {
    cb_quiet_passes(c, 1100000000);
    return judge_cut(c);
}

void judged_free(judged *j) {
    xsa_close(j->sink);
    xsr_close(j->reader);
}

const xsa_finding *finding_of(const judged *j, uint32_t detector) {
    for (uint32_t i = 0; i < j->result->finding_count; i++)
        if (j->result->findings[i].detector == detector)
            return &j->result->findings[i];
    return NULL;
}

const xsa_verdict *verdict_of(const judged *j, uint32_t detector) {
    for (uint32_t i = 0; i < j->result->verdict_count; i++)
        if (j->result->verdicts[i].detector == detector)
            return &j->result->verdicts[i];
    fail_msg("no verdict of %s", xsa_detector_name(detector));
    return NULL;
}

void print_all(const judged *j) {
    for (uint32_t i = 0; i < j->result->finding_count; i++) {
        const xsa_finding *f = &j->result->findings[i];
        print_message("  %s %s: %s\n", xsa_severity_name(f->severity), f->id, f->text);
    }
    for (uint32_t i = 0; i < j->result->verdict_count; i++)
        if (j->result->verdicts[i].status == XSA_UNKNOWN)
            print_message("  unknown %s: %s\n", xsa_detector_name(j->result->verdicts[i].detector), j->result->verdicts[i].why);
}

void expect_first(const judged *j, uint32_t detector, uint32_t severity, const char *slot, int owes_rank, int owes_block) {
    const xsa_finding *f = j->result->findings;
    const char *label = j->result->finding_count && f->slot != XSR_NONE ? j->model->slots[f->slot].label : "";
    if (j->result->finding_count && f->detector == detector && f->severity == severity && (!*slot || !strcmp(label, slot)) &&
        (owes_rank < 0 || f->owes_rank == (uint32_t)owes_rank) && (owes_block < 0 || f->owes_block == (uint32_t)owes_block) && *f->cure && *f->text) {
        if (f->evidence_count == 0)
            fail_msg("no evidence: %s", f->text);
        return;
    }
    print_all(j);
    fail_msg("first is not %s %s at '%s' (it is '%s') by rank %d block %d (%d, %d)", xsa_severity_name(severity), xsa_detector_name(detector), slot, label,
             owes_rank, owes_block, j->result->finding_count ? (int)f->owes_rank : -9, j->result->finding_count ? (int)f->owes_block : -9);
}

void expect_clean(const judged *j) {
    if (j->result->errors == 0 && j->result->unknown == 0)
        return;
    print_all(j);
    fail_msg("%u errors, %u unknown", j->result->errors, j->result->unknown);
}

void expect_not(const judged *j, uint32_t detector) {
    const xsa_finding *f = finding_of(j, detector);
    if (f)
        fail_msg("%s: %s", xsa_detector_name(detector), f->text);
}

void expect_errors(const judged *j, uint32_t count) {
    if (j->result->errors == count)
        return;
    print_all(j);
    fail_msg("%u errors, not %u", j->result->errors, count);
}
