/* A lock that all use rightly, but one block once: it reads what the lock guards after it has given the lock on. */
#include "turns.h"

XS_FN void leave(xs_writer *w, const struct fault_args *a, uint32_t wrong, uint64_t next) {
    turns_leave(w, a, next);
    if (wrong)
        turns_read(w, a, next);
}

TURNS_KERNEL(lock_read_behind, leave)

#if FAULT_HOST
FAULT(lock_read_behind, .story = "what a lock guards is read once more behind its release", .finding = "payload-race", .race = FAULT_RACE, TURNS_FAULT);
#endif
