/* Inside libxs: the shared memory of a world of several processes on one machine, /dev/shm/xs.UID.HASH.
 *
 *   control page(s): lock, members, abort word, directory of areas | rank 0: shared_bytes | rank 1 | ...
 *
 * An area has the same offset in every rank's part. The file is sparse; an area's pages are made when it is created, so
 * that a full /dev/shm is an error there and not a SIGBUS in a kernel.
 *
 * Life: the file is linked under its name only when it is whole. A process is a member, known by pid and start time.
 * The last one that leaves unlinks it; a file whose members are all dead is replaced. A file from which all members
 * left in order, but where some ranks never came, is kept for them for STAY_NS, since a fast rank may be done before a
 * slow one has started (an aborted world too: the late rank must find it so, and not wait in a new one). */
#ifndef XS_SEGMENT_H
#define XS_SEGMENT_H

#include "world.h"

typedef struct xs_segment xs_segment;

/* Says in world->shared which file it is. */
int xs_segment_open(xs_world *world, xs_segment **segment);
/* leave 0: only unmaps (forked child). */
void xs_segment_close(xs_segment *segment, int leave);
uint32_t *xs_segment_abort_word(xs_segment *segment);
/* The part that holds the abort word: whole pages. */
void xs_segment_control_range(xs_segment *segment, void **at, uint64_t *bytes);
/* Whether the process that has the rank was there and has died without leaving. */
int xs_segment_died(const xs_segment *segment, uint32_t rank);
/* Whether the process that has the rank is there now. */
int xs_segment_lives(const xs_segment *segment, uint32_t rank);
/* The next area in the order of creation: base[rank] for all ranks. bytes 0: only checks the order, base may be NULL.
 */
int xs_segment_area(xs_segment *segment, const char *key, uint64_t bytes, void **base);

#endif
