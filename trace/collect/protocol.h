/* What a traced process and `xs record` say to each other, over a SOCK_SEQPACKET socket whose path is in XS_RECORD:
 *
 *   process                         recorder
 *   HELLO (text) + memfd of the region ->
 *                               <-  ACK (result: 0 or an xs_error)      waited for at most XS_RECORDER_WAIT_MS;
 *                                                                       a slow recorder is then taken for granted
 *   DUMP (text)                 ->                                      trigger
 *   DRAIN                       ->                                      sim only: it outruns the recorder
 *                               <-  DRAINED                             waited for at most XS_RECORDER_DRAIN_MS; from then on
 *                                                                       the run goes on until the answer comes
 *   BYE (clean, abort reason)   ->                                      the world is destroyed
 *
 * The recorder works on the memory; when a process dies, its socket closes and the memory is still there. */
#ifndef XS_RECORDER_PROTOCOL_H
#define XS_RECORDER_PROTOCOL_H

#include <stdint.h>

#define XS_RECORDER_MAGIC 0x43455258u /* "XREC" */
#define XS_RECORDER_VERSION 1u
#define XS_RECORDER_WAIT_MS 2000
#define XS_RECORDER_DRAIN_MS 30000 /* sim has time: it is stopped, or its disk, not busy */

enum xs_recorder_kind {
    XS_RECORDER_HELLO = 1,
    XS_RECORDER_ACK,
    XS_RECORDER_DUMP,
    XS_RECORDER_DRAIN,
    XS_RECORDER_DRAINED,
    XS_RECORDER_BYE
};

typedef struct xs_recorder_message {
    uint32_t magic, version, kind;
    int32_t result;        /* ACK: xs_error; BYE: 1 = clean */
    uint64_t region_bytes; /* HELLO */
    uint32_t abort_reason; /* BYE */
    uint32_t reserved0;
    /* zero-terminated. DUMP: why; HELLO: what the processes of its world have in common, "" where it is the only one */
    char text[224];
} xs_recorder_message;

#endif
