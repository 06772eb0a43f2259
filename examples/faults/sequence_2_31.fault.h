/* Sequence near 2^31 (rtp-llm #1418, article 000): 32-bit sequences compared as signed numbers; behind 2^31 waits pass on
 * sequences of long ago. Twin: far below. */
#include "fault.h"

/* The comparison as it is often written. */
XS_FN int reached(uint32_t seen, uint32_t need) { return (int32_t)seen >= (int32_t)need; }

#include "sequence.h"

XS_KERNEL(sequence_2_31, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) { sequence_setup(run, run->args.fault ? 0x80000000u - 6 : 100); }
FAULT(sequence_2_31, .story = "signed 32-bit sequences pass 2^31", .finding = "wrap-risk",
      FAULT_SLOT("flags", FAULT_ANY, 0, FAULT_ANY), FAULT_CULPRIT(FAULT_ANY, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .cuda.cpu_ranks = "1",
      .setup = setup);
#endif
