/* one of 24 blocks releases at the scope of its device */
#include "crowd.h"

CROWD(crowd_narrow, CROWD_NARROW)

#if FAULT_HOST
FAULT(crowd_narrow, .story = "one of 24 blocks releases at the scope of its device", .finding = "order-scope", FAULT_SLOT("done", FAULT_ANY, 3, 2), FAULT_CULPRIT(3, 2), .race = FAULT_RACE_UNSEEN, CROWD_FAULT);
#endif
