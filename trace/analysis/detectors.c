/* All detectors, in the order in which they finish: trace health first, then those that name causes. */
#include "detectors.h"

const an_ops *const an_detectors[] = {
    &an_trace_health, &an_non_resident, &an_dead_peer, &an_late_rank, &an_multi_writer,
    &an_wrap_risk, &an_reset_race, &an_regression, &an_vanished_signal, &an_equality_overshoot, &an_count_mismatch,
    &an_early_pass, &an_lapping, &an_partial_publish, &an_order_scope,
    &an_wait_cycle, &an_barrier_mismatch, &an_barrier_clash, &an_stuck_chain, &an_payload_race,
    &an_lost_supplier, &an_unfairness, &an_head_of_line, &an_detection_lag, &an_poll_pressure,
    &an_readiness_collapse, &an_stall,
    NULL};
