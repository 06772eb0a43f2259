/* What CUPTI tells of the GPUs of a process: kernels, copies and the calls that launched them, as the traced process
 * puts them into its region and the collector into captures (frames ACTIVITY and CUPTI). Fixed-width types only. */
#ifndef XS_ACTIVITY_H
#define XS_ACTIVITY_H

#include <xs/target.h>

/* X(number, NAME, "text"): what there is of CUPTI in a process. */
#define XS_CUPTI_STATES(X)                                                        \
    X(0, NONE, "nothing was asked of CUPTI")                                      \
    X(1, ON, "CUPTI delivers, or did until the process was killed")               \
    X(2, OFF, "switched off (XS_CUPTI=0)")                                        \
    X(3, NOT_BUILT, "xs was built without CUPTI")                                 \
    X(4, ABSENT, "the CUPTI library was not found")                               \
    X(5, UNUSABLE, "the CUPTI library lacks what xs needs")                       \
    X(6, HELD, "another tool in this process has CUPTI")                          \
    X(7, FAILED, "CUPTI refused")                                                 \
    X(8, LOST, "CUPTI delivers no more: another tool has taken over its buffers") \
    X(9, ENDED, "CUPTI delivered to the end")
#define XS_CUPTI_ENUM(number, name, text) XS_CUPTI_##name = number,
enum xs_cupti_state { XS_CUPTI_STATES(XS_CUPTI_ENUM) XS_CUPTI_STATE_COUNT = 10 };
#undef XS_CUPTI_ENUM

enum xs_activity_kind {
    XS_ACTIVITY_KERNEL = 1,
    XS_ACTIVITY_COPY = 2,
    XS_ACTIVITY_CALL = 3,  /* of the CUDA runtime or driver: a launch, a copy */
    XS_ACTIVITY_NAME = 4,  /* xs_activity_name: part of a name that entries refer to */
    XS_ACTIVITY_CLOCK = 5  /* bytes = CUPTI's clock, read between begin and end, which are CLOCK_BOOTTIME here */
};

/* begin and end are times of CUPTI's clock (CLOCK_REALTIME, unless another tool changed it), ns. */
typedef struct xs_activity_entry {
    uint64_t sequence; /* 1-based, written last with release order; stamps the entry */
    uint32_t kind;
    uint32_t correlation; /* the same in a call and in what it launched */
    uint64_t begin, end;
    int32_t device; /* CUDA ordinal; -1: none */
    uint32_t context, stream;
    uint32_t name;       /* KERNEL: as in its symbol; CALL: "cuLaunchKernel" */
    uint64_t graph_node; /* 0: not launched by a graph */
    uint32_t graph;
    uint32_t thread;            /* CALL: of the caller, as the system numbers it */
    uint32_t grid[3], block[3]; /* KERNEL */
    uint64_t bytes;             /* COPY */
    uint32_t shared_static, shared_dynamic, registers; /* KERNEL: bytes a block, registers a thread */
    uint32_t copy;   /* COPY: CUPTI's copy kind | source memory << 8 | destination memory << 16 */
    int32_t result;  /* CALL */
    int32_t to_device; /* COPY between GPUs: the other one; -1: none */
    uint64_t reserved0;
} xs_activity_entry;
XS_STATIC_ASSERT(sizeof(xs_activity_entry) == 128, "an activity entry is two cache lines");

/* The text of a name in parts, first to last, before the first entry that refers to it. */
typedef struct xs_activity_name {
    uint64_t sequence;
    uint32_t kind;
    uint32_t name;   /* from 1 */
    uint32_t offset; /* of this part */
    uint32_t bytes;  /* of the whole name, without a zero at its end */
    char text[104];
} xs_activity_name;
XS_STATIC_ASSERT(sizeof(xs_activity_name) == sizeof(xs_activity_entry), "names lie between entries");
#define XS_ACTIVITY_NAME_MOST 4096u /* bytes of a name; longer ones are cut */

/* How CUPTI fares. Payload of the frame CUPTI; the newest of a process holds. */
typedef struct xs_cupti_health {
    uint32_t state;   /* xs_cupti_state */
    uint32_t version; /* of the library found (cuptiGetVersion); 0: none */
    uint32_t built;   /* of the headers that xs was built with; 0: without */
    uint32_t reserved0;
    uint64_t since; /* CLOCK_BOOTTIME: work that began later is seen; 0: never */
    /* work that ended before was delivered, unless its buffer waits for a kernel that still ran; 0: never */
    uint64_t until;
    uint64_t kernels, copies, calls;
    uint64_t dropped; /* records that CUPTI had no room for */
    uint64_t void_stamps; /* records without times: what they tell of was not seen to end */
    uint64_t unknown; /* records of kinds that nobody asked for */
    uint64_t lost;    /* entries that the collector came too late for */
    char why[160];    /* in words, zero-terminated; "" where the state says it all */
} xs_cupti_health;
XS_STATIC_ASSERT(sizeof(xs_cupti_health) == 248, "in a region and in captures");

/* At the end of a region: this, then header.activity_entries entries. */
typedef struct xs_activity_head {
    uint32_t generation; /* of health: odd while it is written, 0: never written */
    uint32_t reserved0;
    xs_cupti_health health;
    uint64_t consumed __attribute__((aligned(128))); /* collector: sequence up to which entries were taken */
    uint8_t pad0[120];
} xs_activity_head;
XS_STATIC_ASSERT(sizeof(xs_activity_head) == 384, "three lines");

#endif
