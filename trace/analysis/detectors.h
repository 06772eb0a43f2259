/* The ops table of each detector, each in the file of its name. */
#ifndef XS_ANALYSIS_DETECTORS_H
#define XS_ANALYSIS_DETECTORS_H

#include "analysis.h"

extern const an_ops an_trace_health, an_wait_cycle, an_lost_supplier, an_stall;

#endif
