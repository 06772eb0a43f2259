/* one of 24 blocks leaves out one signal of the last round */
#include "crowd.h"

CROWD(crowd_skip, CROWD_SKIP)

#if FAULT_HOST
FAULT(crowd_skip, .story = "one of 24 blocks leaves out one signal of the last round", .finding = "lost-supplier", FAULT_SLOT("done", 2, 5, 1), FAULT_CULPRIT(5, 1), CROWD_FAULT);
#endif
