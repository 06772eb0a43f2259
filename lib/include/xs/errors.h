/* One list of errors. Every public call returns 0 or more on success and one of these, negative, on failure. */
#ifndef XS_ERRORS_H
#define XS_ERRORS_H

/* X(number, NAME, "text") ; numbers are never reused. */
#define XS_ERRORS(X)                                                                   \
    X(1, ARGUMENT, "an argument is missing or out of range")                           \
    X(2, MEMORY, "out of memory")                                                      \
    X(3, SYSTEM, "a system call failed (errno holds the cause)")                       \
    X(4, TIMEOUT, "a bounded wait reached its bound")                                  \
    X(5, PEER_DEAD, "the peer's heartbeat stopped")                                    \
    X(6, ABORTED, "the world was aborted")                                             \
    X(7, DEADLOCK, "every running block waits and nothing can release any of them")    \
    X(8, NAME, "the name is empty, too long or already used for something else")       \
    X(9, SHAPE, "the object exists in another process with another shape")             \
    X(10, TOO_MANY, "a fixed limit of the world is reached (slots, names or rings)")   \
    X(11, BACKEND, "the backend is unknown or not available on this machine")          \
    X(12, VERSION, "written by a newer version of xs")                                 \
    X(13, FORMAT, "not an xs file, or damaged beyond use")                             \
    X(14, NO_SPACE, "no space left on the device that holds the capture")              \
    X(15, RECORDER, "the recorder cannot be reached or has gone")                      \
    X(16, NOT_RESIDENT, "not all blocks of the launch were resident within the bound") \
    X(17, BUSY, "a launch of this rank is still running")                              \
    X(18, FORKED, "the world belongs to the parent process")                           \
    X(19, PLAN, "the plan contradicts itself or the call")                             \
    X(20, UNSUPPORTED, "not supported by this backend or build")                       \
    X(21, TRAPPED, "a kernel's own check failed (xs_trap, xs_assert)")

#define XS_ERROR_ENUM(number, name, text) XS_E_##name = -(number),
enum xs_error { XS_OK = 0, XS_ERRORS(XS_ERROR_ENUM) XS_E_LAST_ = -1000 };
#undef XS_ERROR_ENUM

#endif
