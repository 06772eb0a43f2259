/* Inside the CUDA backend. One context (the primary one) a GPU, one stream a rank for kernels, and two a GPU: for
 * copies that must pass a kernel that hangs, and for those of records, which hold up neither. Everything that a
 * launch needs exists before the first one. Ranks of the world may be CPU threads: these run on the threads
 * scheduler, and all memory of such a world is the host's. */
#ifndef XS_CUDA_INTERNAL_H
#define XS_CUDA_INTERNAL_H

#include "cuda_driver.h"
#include "objects.h"
#include "segment.h"

#define XS_CUDA_CPU (-1) /* in place of a device: the rank is a CPU thread */

typedef struct xs_cuda_device {
    int ordinal;
    CUdevice device;
    CUcontext context;
    CUstream copies, rings;
    CUmodule clock_module;
    CUfunction clock_function;
    CUmodule claims_module;
    CUfunction claims_function;
    uint64_t sampled; /* CLOCK_BOOTTIME when its clock last answered; any thread */
    uint32_t ranks; /* local ranks on it */
    int processors;
    CUuuid uuid;
    char name[64];
} xs_cuda_device;

/* One a local rank. */
typedef struct xs_cuda_rank {
    int device; /* index in devices, or XS_CUDA_CPU */
    CUstream stream;
    CUevent last;   /* behind the last launch that has this rank, on whichever stream */
    CUevent before; /* ahead of the last launch that this rank's stream runs */
    void *green;    /* CUgreenCtx: a part of the GPU of its own, or NULL */
    CUstream share; /* its stream there */
    uint32_t share_processors;
} xs_cuda_rank;

enum xs_cuda_memory_kind {
    XS_CUDA_OWN,
    XS_CUDA_EXPORTED,
    XS_CUDA_IMPORTED,
    XS_CUDA_BORROWED,
    XS_CUDA_PINNED,
    XS_CUDA_REGISTERED
};
typedef struct xs_cuda_memory {
    uint32_t kind;
    int device; /* index in devices of the context that has it */
    CUdeviceptr at;
    struct xs_cuda_share *share; /* EXPORTED, IMPORTED, BORROWED */
    struct xs_cuda_memory *next;
} xs_cuda_memory;

/* One a rank and object, in the world's segment: where other processes find that rank's memory. */
typedef struct xs_cuda_share {
    uint32_t state; /* xs_cuda_share_state */
    uint32_t users; /* worlds that have it open */
    int32_t pid;    /* of the owner, and its address there */
    uint32_t reserved0;
    uint64_t at;
    CUuuid device;
    uint64_t bytes;
    uint64_t offset; /* from the base of the allocation that the handle stands for */
    CUipcMemHandle handle;
} xs_cuda_share;
enum xs_cuda_share_state { XS_CUDA_NOT_YET = 0, XS_CUDA_SHARED = 1, XS_CUDA_GONE = 2 };

/* A pad or buffer. Kernels read a copy of its base pointers: in device memory (portable: device 0, peers read it
 * once a launch), or pinned where CPU ranks read it too. The host reads the original. */
typedef struct xs_cuda_object {
    void **host;
    void *const *kernels;
    xs_cuda_share **shares; /* one a rank; NULL once complete, or where nothing is to be opened */
    uint64_t bytes;
    struct xs_cuda_object *next;
} xs_cuda_object;

/* A cooperative launch that runs: the ranks of an order that are neighbours on one GPU. */
typedef struct xs_cuda_part {
    xs_launch_order *order;
    uint32_t first, ranks, device;
    CUstream stream;
    uint32_t claimed; /* by who ends it: the stream, or a fault */
    uint32_t over;    /* the stream is through with this structure */
    uint32_t faulted; /* claimed by a fault: the stream may never tell */
    uint32_t untold;  /* the stream does not say that it is over */
    uint32_t checked; /* whether all its blocks have started */
    uint64_t head;    /* when it was first seen at the head of its stream; 0: not yet */
    struct xs_cuda_part *next;
} xs_cuda_part;

typedef struct xs_cuda_mailbox {
    uint32_t request;
    uint32_t reserved0[31];
    uint64_t time;   /* the answer; the host makes it 0 before it asks */
    uint32_t over;   /* not 0: nothing more is answered */
    uint32_t step;   /* smallest seen, ns */
    uint32_t reserved1[28];
} xs_cuda_mailbox;

typedef struct xs_cuda_state {
    const xs_cuda_driver *cuda;
    xs_cuda_device *devices;
    uint32_t device_count; /* with ranks of this process */
    uint32_t opened;       /* and further ones, whose memory another process's ranks have */
    xs_cuda_rank *ranks;   /* local */
    uint8_t *on_cpu;       /* one a rank of the world */
    uint32_t cpu_ranks;    /* of the world; not 0: all memory is the host's */
    void *cpu;             /* state of the threads scheduler, where this process has CPU ranks */
    xs_segment *segment;   /* NULL: all ranks live here */
    xs_cuda_memory *memory;
    xs_cuda_object *objects;
    xs_cuda_part *parts;
    pthread_mutex_t parts_lock; /* besides the world's, for whoever meets a fault on a thread of its own */
    uint32_t *abort_word;     /* pinned, mapped, or the segment's */
    xs_cuda_mailbox *mailbox; /* pinned, mapped */
    struct xs_cuda_clock *clock; /* NULL: nobody asks the clocks while kernels run */
    int region_registered;
    int hung;     /* a kernel does not end: nothing of it may be freed */
    int fault;    /* the error that made a context useless, or 0 */
    char fault_words[256];
    struct xs_cuda_state *next_abandoned;
} xs_cuda_state;

static inline xs_cuda_state *xs_cuda_state_of(const xs_world *world) { return world->backend_state; }
static inline xs_cuda_rank *xs_cuda_rank_of(const xs_world *world, uint32_t rank) {
    return &xs_cuda_state_of(world)->ranks[rank - world->config.first_rank];
}
static inline int xs_cuda_is_local(const xs_world *world, uint32_t rank) {
    return rank - world->config.first_rank < world->config.local_ranks;
}

/* cuda_fault.c: 0, or the failure as an xs_error with its words kept. An error that spoils the context stays:
 * xs_cuda_usable. */
int xs_cuda_check(xs_cuda_state *state, CUresult result, const char *what);
int xs_cuda_usable(const xs_cuda_state *state); /* 0, or the fault again */
/* The GPU of a running part answers with an error: the part ends with it, the world is aborted. */
int xs_cuda_fault(xs_world *world, xs_cuda_part *part, CUresult result);
int xs_cuda_enter(xs_cuda_state *state, const xs_cuda_device *device); /* makes its context current */

/* First call of a thread of xs's own: a stream that another thread captures must not be spoiled by calls about
 * others. */
static inline void xs_cuda_mind_captures(const xs_cuda_state *state) {
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    state->cuda->capture_mode(&mode);
}

/* cuda_devices.c */
int xs_cuda_devices_open(xs_world *world);
void xs_cuda_devices_close(xs_cuda_state *state, uint32_t local_ranks);
int xs_cuda_attribute(const xs_cuda_state *state, CUdevice device, int which);
/* Index of the device through whose context that one's memory is reached; opened if need be. */
int xs_cuda_device_by_uuid(xs_cuda_state *state, const CUuuid *uuid, int own_context);

/* cuda_green.c */
void xs_cuda_green_open(xs_world *world);
void xs_cuda_green_close(xs_cuda_state *state, xs_cuda_rank *rank);

/* cuda_place.c: which rank runs where. */
int xs_cuda_place_ranks(xs_world *world);

/* cuda_memory.c */
int xs_cuda_shared_memory(xs_world *world, const char *name, uint64_t bytes_per_rank, void **base);
int xs_cuda_keep(xs_cuda_state *state, xs_cuda_memory memory); /* freed if it cannot be kept */
int xs_cuda_allocate(xs_cuda_state *state, uint32_t kind, int device, uint64_t bytes, CUdeviceptr *at);
int xs_cuda_pinned(xs_cuda_state *state, void **at, size_t bytes);
int xs_cuda_register(xs_cuda_state *state, void *at, size_t bytes);
void xs_cuda_memory_free(xs_world *world);
int xs_cuda_copy(xs_world *world, void *to, const void *from, uint64_t bytes);
int xs_cuda_slot_read(xs_world *world, const void *address, uint32_t width, uint64_t *value);
int xs_cuda_slot_write(xs_world *world, void *address, uint32_t width, uint64_t value);

/* cuda_rings.c */
int xs_cuda_rings_open(xs_world *world, void **base);
int xs_cuda_rings_copy(xs_world *world, const xs_ring_span *spans, uint32_t count);

/* cuda_claims.c: where kernels claim rings. _free: ahead of a launch on the stream, frees those that earlier ones
 * left behind; 1: there were any. Context current. _settle: ahead of what others launch. */
int xs_cuda_claims_open(xs_world *world);
int xs_cuda_claims_free(xs_world *world, uint32_t first_rank, uint32_t ranks, CUstream stream);
int xs_cuda_claims_settle(xs_world *world, uint32_t rank);

/* cuda_near.c: what kernels keep in their GPU's memory. */
int xs_cuda_near_open(xs_world *world);

/* cuda_objects.c */
int xs_cuda_object_add(xs_world *world, void **base, uint64_t bytes, xs_cuda_share **shares); /* takes shares */
int xs_cuda_bases_make(xs_world *world, void *const *host, void *const **kernels);
void *const *xs_cuda_bases_host(const xs_world *world, void *const *kernels);
void xs_cuda_bases_drop(xs_world *world, void *const *host);
int xs_cuda_ready(xs_world *world);
void xs_cuda_objects_free(xs_cuda_state *state);

/* cuda_share.c: memory of one process opened in another. */
int xs_cuda_export(xs_cuda_state *state, int device, uint64_t bytes, xs_cuda_share *share, void **at);
/* Waits until the rank has shared it, or no longer can. */
int xs_cuda_import(xs_world *world, uint32_t rank, xs_cuda_share *share, uint64_t bytes, uint64_t deadline, void **at);
void xs_cuda_share_close(xs_cuda_state *state, xs_cuda_memory *memory);
int xs_cuda_share_withdraw(xs_world *world); /* 1: nobody uses this process's memory any more */

/* cuda_launch.c */
int xs_cuda_launch(xs_world *world, xs_launch_order *order);

/* cuda_room.c */
typedef struct xs_cuda_sm { /* what an SM has */
    /* bytes of shared memory; and what each block takes beside its own */
    uint32_t threads, blocks, shared, shared_a_block;
} xs_cuda_sm;
/* What keeps the blocks of so many threads and bytes of shared memory that an SM holds from being more. */
enum xs_room_limit xs_cuda_room_limit(const xs_cuda_sm *sm, uint32_t block, uint64_t shared, uint32_t blocks);
/* Into order->room, where a part of it has less there or is the first. Says nothing where the driver cannot tell. */
void xs_cuda_room(const xs_cuda_state *state, uint32_t device, CUfunction function, xs_launch_order *order);

/* cuda_parts.c */
xs_cuda_part *xs_cuda_part_make(xs_cuda_state *state, xs_launch_order *order, uint32_t device, uint32_t first,
                                uint32_t ranks);
void xs_cuda_part_ended(void *part); /* on the stream, behind the kernel */
int xs_cuda_part_claim(xs_cuda_part *part);
void xs_cuda_parts_reap(xs_cuda_state *state); /* those that are over */
void xs_cuda_parts_free(xs_cuda_state *state);
/* Streams of the device on which something runs, or is about to on that of rank `first`. */
uint32_t xs_cuda_parts_streams(const xs_cuda_state *state, uint32_t device, uint32_t first);

/* cuda_sync.c */
int xs_cuda_sync(xs_world *world);

/* cuda_counters.c: counters that adders of several sides reach, where the link between them has no atomics. */
int xs_cuda_plan_check(xs_world *world, uint32_t count);

/* cuda_clock.c: samples of %globaltimer between two readings of CLOCK_BOOTTIME, the narrowest journalled. */
int xs_cuda_clock_open(xs_world *world, xs_cuda_device *device);
int xs_cuda_clock_sample(xs_world *world, xs_cuda_device *device);
typedef struct xs_cuda_asking {
    xs_cuda_mailbox *mailbox; /* pinned, mapped; nobody else's meanwhile */
    CUstream stream;
    uint32_t rounds, reads;
    uint64_t patience_ns; /* for one answer */
} xs_cuda_asking;
typedef struct xs_cuda_burst {
    uint64_t host, device, bracket; /* the narrowest */
    uint64_t last, step;            /* step: what divides all differences of answers */
    uint32_t answers;
} xs_cuda_burst;
/* Starts the kernel and asks; does not wait for its end. Keeps no error: the result is the driver's. */
int xs_cuda_clock_burst(xs_cuda_state *state, const xs_cuda_device *device, const xs_cuda_asking *how,
                        xs_cuda_burst *burst);
void xs_cuda_clock_tell(xs_world *world, xs_cuda_device *device, const xs_cuda_burst *burst);

/* cuda_clock_thread.c: the same once a second while kernels run, by a thread of its own. */
void xs_cuda_clock_start(xs_world *world); /* without it a run is less exact, and goes on */
/* 0: the thread does not come back from the driver: what it uses must stay. */
int xs_cuda_clock_stop(xs_cuda_state *state);

#endif
