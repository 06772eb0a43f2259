/* one block writes another rank's slot, once */
#include "crowd.h"

CROWD(crowd_second, CROWD_SECOND)

#if FAULT_HOST
FAULT(crowd_second, .story = "one block writes another rank's slot, once", .finding = "multi-writer", FAULT_SLOT("done", 4, 1, 1), FAULT_CULPRIT(0, 0), .race = FAULT_RACE, CROWD_FAULT);
#endif
