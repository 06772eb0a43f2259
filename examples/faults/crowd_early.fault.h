/* one of 24 blocks signals one of its peers before the batch is written */
#include "crowd.h"

CROWD(crowd_early, CROWD_EARLY)

#if FAULT_HOST
FAULT(crowd_early, .story = "one of 24 blocks signals one of its peers before the batch is written", .finding = "partial-publish", FAULT_SLOT("done", 1, 6, 0), FAULT_CULPRIT(6, 0), .race = FAULT_RACE, CROWD_FAULT);
#endif
