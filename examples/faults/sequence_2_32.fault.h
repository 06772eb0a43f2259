/* Sequence near 2^32 (article 004, section 6.3): 32-bit sequences wrap to 0, and "smaller than before" is taken for a step back. Twin: far
 * below. */
#include "fault.h"

/* The comparison as it is often written. */
XS_FN int reached(uint32_t seen, uint32_t need) { return seen >= need; }

#include "sequence.h"

XS_KERNEL(sequence_2_32, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) { sequence_setup(run, run->args.fault ? 0x100000000u - 6 : 100); }
FAULT(sequence_2_32, .story = "32-bit sequences wrap to 0", .finding = "wrap-risk",
      FAULT_SLOT("flags", FAULT_ANY, 0, FAULT_ANY), FAULT_CULPRIT(FAULT_ANY, 0), .judges = FAULT_EVERYWHERE, .race = FAULT_RACE, .cuda.cpu_ranks = "1",
      .setup = setup);
#endif
