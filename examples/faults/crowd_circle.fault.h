/* three of eight ranks receive before they send, in one block of three */
#include "crowd.h"

CROWD(crowd_circle, CROWD_CIRCLE)

#if FAULT_HOST
FAULT(crowd_circle, .story = "three of eight ranks receive before they send, in one block of three", .finding = "wait-cycle", FAULT_SLOT("done", FAULT_ANY, FAULT_ANY, 1), FAULT_CULPRIT(FAULT_ANY, 1), CROWD_FAULT);
#endif
