/* All detectors, in the order in which they finish: trace health first, then those that name causes. */
#include "detectors.h"

const an_ops *const an_detectors[] = {&an_trace_health, &an_wait_cycle, &an_lost_supplier, &an_stall, NULL};
