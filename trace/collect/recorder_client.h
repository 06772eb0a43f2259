/* The process's side of protocol.h. */
#ifndef XS_RECORDER_CLIENT_H
#define XS_RECORDER_CLIENT_H

#include "world.h"

/* Hands the region over and waits, bounded, for the recorder's answer. Returns a descriptor, or XS_E_RECORDER
 * (nobody answers) or what the recorder answered, with a text in xs_error_detail. A region that is not a memfd (sim)
 * becomes one. */
int xs_recorder_connect(struct xs_world *world, const char *path);
/* Never blocks and never raises SIGPIPE: a recorder that is gone, or slow, costs its message. 0 or XS_E_RECORDER. */
int xs_recorder_send(int fd, uint32_t kind, int32_t result, uint32_t abort_reason, const char *text);
/* sim: the recorder has taken all that was there. Bounded: where it is late, *late is set, 0 returned, and nothing
 * more is waited for until it has answered. */
int xs_recorder_drain(int fd, int *late);

#endif
