/* one block's sequence to one peer falls back, and does not hold what it needs again */
#include "crowd.h"

CROWD(crowd_back, CROWD_BACK)

#if FAULT_HOST
FAULT(crowd_back, .story = "one block's sequence to one peer falls back, and does not hold what it needs again", .finding = "regression", FAULT_SLOT("done", 7, 2, 1), FAULT_CULPRIT(2, 1), CROWD_FAULT);
#endif
