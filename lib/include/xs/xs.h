/* xs: cross-device synchronisation primitives that can show what they did. Host API, plain C ABI.
 *
 * Environment (each is a field of xs_config too; the environment wins):
 *   XS_BACKEND=host|cuda          XS_SCHEDULER=threads|sim        XS_SEED=N            XS_RESIDENCY=BLOCKS
 *   XS_RANK, XS_RANKS             (else RANK/WORLD_SIZE, OMPI_COMM_WORLD_RANK/SIZE, PMI_RANK/SIZE, SLURM_PROCID/STEP_NUM_TASKS, where the
 *                                 program says no ranks, or as many and no more)
 *   XS_WORLD=NAME                 what processes of one world share; (else MASTER_ADDR+MASTER_PORT, job ids)
 *   XS_TRACE_START=0|1            start tracing at creation (1)   XS_PAYLOAD=0|1       payload and work events (1)
 *   XS_PLAIN_STOPPED=0|1          CUDA: 1: a launch while tracing is stopped runs the kernel compiled without tracing (xs_add_kernels,
 *                                 PLAIN), if there is one: nothing is spent on tracing, and it records nothing when that starts
 *   XS_CAPTURE=NAME               capture file; unset and no recorder: rings only
 *   XS_CAPTURE_BYTES, XS_CAPTURE_SECONDS   bound the capture      XS_CAPTURE_WHEN=always|trigger
 *   XS_CUPTI=0|1                  0: without CUPTI; 1: also on the host backend, and where another tool has subscribed to it
 *   XS_CUPTI_LIBRARY=FILE         the CUPTI library to load where the process has none (no field: one a process)
 *   XS_CLOCK=0|1                  CUDA: ask the GPUs' clocks once a second while kernels run (1)
 *   XS_RING_RECORDS, XS_RINGS     records a ring (4096), rings a rank (64)
 *   XS_RECORD_WORDS=1|2           records are 16 bytes whole, or two words of 8 where `xs doctor` finds such stores torn; the kernels of
 *                                 the world must be compiled with the same (-DXS_RECORD_WORDS=2), others are refused
 *   XS_CATALOG_BYTES              most that names, pads and plan of a process take (256 MiB): an entry of a plan takes 48 bytes, a
 *                                 call of xs_plan_add 80 more. Memory is taken as they come
 *   XS_PLACEMENT=mapped|device    where kernels write records: host memory (default), or their own device's, for bursts: copied
 *                                 out at a kernel's end and, as well as that goes, while it runs; lost with a faulting context
 *   XS_COLLECTORS=N               threads that collect, 1 (default) to 8
 *   XS_FILTER_RANKS=A-B  XS_FILTER_BLOCKS=A-B  XS_FILTER_EPOCHS=A-B
 *   XS_WAIT_NS                    bound of every unbounded wait's launch: the world aborts when it is reached (0: never)
 *   XS_DEVICES=A-B,C              CUDA: GPUs of this process's ranks, in order (else by LOCAL_RANK and the like, else all)
 *   XS_CPU_RANKS=A-B,C            CUDA: ranks of the world that are CPU threads; the same in every process
 *   XS_START_NS                   CUDA: all blocks of a launch have started after so long, or the world aborts (10 s)
 *   XS_GREEN=0|1                  CUDA: ranks that share a GPU have a part of it each, for launches of one rank (green contexts). Default:
 *                                 for those that fit into it; 1: for all, larger ones are refused; 0: all have the whole GPU
 *   XS_JOIN_NS                    CUDA: how long a launch waits for the memory of ranks of other processes (60 s)
 *   XS_CUDA_LIBRARY=FILE          the driver to load in place of libcuda.so.1 (no field: one a process)
 *
 * Every function returns 0 or more, or a negative xs_error; nothing prints or exits. A world may be used from several
 * threads where a comment says so. */
#ifndef XS_H
#define XS_H

#include <xs/errors.h>
#include <xs/handle.h>

XS_EXTERN_C_BEGIN

#define XS_VERSION_MAJOR 0
#define XS_VERSION_MINOR 1
#define XS_VERSION_PATCH 0

typedef struct xs_world xs_world;
typedef struct xs_kernel xs_kernel;

/* Zero means default in every field but size. */
typedef struct xs_config {
    uint32_t size;         /* sizeof(xs_config) */
    uint32_t version;      /* 1 */
    /* "host" or "cuda", the same in all processes of a world. Default: cuda where this process sees a GPU, every
     * XS_KERNEL of the program has a CUDA form and neither scheduler nor residency is set; else host */
    const char *backend;
    const char *scheduler; /* host backend: "threads" (default) or "sim", which the cuda backend refuses */
    const char *world;     /* name shared by the processes of this world; NULL: this process alone */
    uint32_t ranks;        /* of the whole world; 0: from the environment, else 1 */
    uint32_t first_rank;   /* first rank of this process */
    /* ranks in this process; 0: one if world is set or a launcher has started `ranks` processes, else all */
    uint32_t local_ranks;
    uint32_t residency;    /* host backend: blocks that run at once, per process; 0: all */
    uint64_t seed;         /* sim */
    uint64_t shared_bytes; /* address space for pads and buffers, per rank; 0: 256 MiB (sparse) */
    uint32_t ring_records; /* power of two, 4 .. 65536; 0: 4096 */
    uint32_t rings;        /* a rank, multiple of 64; 0: 64 */
    uint32_t lines;        /* status lines a ring; 0: max(4, ranks) */
    int32_t trace_start;   /* 0: default (on), 1: on, -1: off until xs_trace_start */
    int32_t payload;       /* 0: default (on), 1: on, -1: off */
    const char *capture;   /* NAME or NAME.xs; NULL: none */
    uint64_t capture_bytes;   /* bound; 0: none */
    uint64_t capture_seconds; /* bound; 0: none */
    /* 1: rings only, dumped at the first wait that gives up, abort, exit, SIGUSR1 (to who records: xs record, or
     * else us) */
    int32_t capture_on_trigger;
    int32_t cupti; /* -1: off, 0: default (CUDA backend, unless another tool has it), 1: see XS_CUPTI */
    uint64_t wait_ns; /* see XS_WAIT_NS */
    const char *placement; /* of records: "mapped" (default) or "device" */
    /* threads that share the rings; 0: 1. A bounded capture is read by one, whatever this says */
    uint32_t collectors;
    int32_t clock;         /* see XS_CLOCK. 0: default (on), 1: on, -1: only between launches */
    const char *devices;   /* CUDA: "0,2-3"; ranks of this process are spread over them, NULL: see XS_DEVICES */
    const char
        *cpu_ranks; /* CUDA: "3" or "0,4-5", numbers of the world; NULL: none. Their threads run the same kernels, and
                            * all pads and buffers of the world live in host memory, which both sides reach */
    uint64_t start_ns; /* see XS_START_NS; UINT64_MAX: no bound */
    uint64_t join_ns;  /* see XS_JOIN_NS */
    int32_t green;     /* see XS_GREEN; 0: default, -1: off, 1: all */
    int32_t plain_stopped; /* see XS_PLAIN_STOPPED; 0: default (off), 1: on, -1: off */
    uint64_t catalog_bytes; /* see XS_CATALOG_BYTES; 64 KiB to 64 GiB, 0: 256 MiB */
    uint32_t record_words; /* see XS_RECORD_WORDS; 0: as libxs was built */
    uint32_t reserved2;
} xs_config;

/* A capture and its collector start here, if the configuration or a recorder (`xs record`) asks for one. */
XS_API int xs_world_create(const xs_config *config, xs_world **world);
/* Waits for running launches, drains, closes the capture. The world is gone whatever is returned. */
XS_API int xs_world_destroy(xs_world *world);

XS_API uint32_t xs_world_ranks(const xs_world *world);
XS_API uint32_t xs_world_first_rank(const xs_world *world);
XS_API uint32_t xs_world_local_ranks(const xs_world *world);
/* Where a rank of this process runs: the CUDA ordinal of its GPU; -1: on a CPU, or the rank is not of this process. */
XS_API int xs_world_device(const xs_world *world, uint32_t rank);
XS_API const char *xs_world_backend(const xs_world *world);   /* "host" or "cuda" */
XS_API const char *xs_world_scheduler(const xs_world *world); /* "threads", "sim" or "cuda" */

/* Pads, buffers and channels: created in the same order with the same shape by every process of the world (a difference
 * is XS_E_SHAPE). Memory belongs to the world. The handles may be copied into kernel arguments of any local rank. */
XS_API int xs_pad_create(xs_world *world, const char *name, uint32_t rows, uint32_t columns, uint32_t flags,
                         xs_pad *pad);
/* Column and row labels for slot names: `done[src=2,chunk=12]` has rows "src" and columns "chunk". Optional. */
XS_API int xs_pad_labels(xs_world *world, const xs_pad *pad, const char *row_label, const char *column_label);

typedef struct xs_adopt {
    uint32_t size; /* sizeof(xs_adopt) */
    uint32_t rows, columns;
    uint32_t row_stride, column_stride; /* bytes */
    uint32_t width;      /* 32 or 64 bits */
    uint32_t flags;      /* xs_pad_flags besides width and adopted */
    void *const *base;   /* base[rank] for all ranks of the world, in this address space; copied */
} xs_adopt;
XS_API int xs_pad_adopt(xs_world *world, const char *name, const xs_adopt *adopt, xs_pad *pad);

XS_API int xs_buffer_create(xs_world *world, const char *name, uint64_t bytes, xs_buffer *buffer);
/* Host access to a buffer of a local rank, wherever it lives; before a launch or after xs_sync. */
XS_API int xs_buffer_write(xs_world *world, const xs_buffer *buffer, uint32_t rank, uint64_t offset, const void *from,
                           uint64_t bytes);
XS_API int xs_buffer_read(xs_world *world, const xs_buffer *buffer, uint32_t rank, uint64_t offset, void *to,
                          uint64_t bytes);
XS_API int xs_channel_create(xs_world *world, const char *name, uint32_t producer, uint64_t consumers, uint32_t depth,
                             xs_channel *channel);

/* Names. The same name gives the same id again. Return the id (from 1) or an error. Any thread. */
XS_API int xs_role(xs_world *world, const char *name);
XS_API int xs_mark_name(xs_world *world, const char *name); /* marks, scopes, payload and work: "push chunk" */

/* What the protocol promises. Any thread, before the launch that needs it. */
enum xs_plan_kind {
    /* who signals the slot: a = rank (or XS_PLAN_ROW / XS_PLAN_COLUMN / XS_PLAN_OWNER), b = role id or 0 */
    XS_PLAN_WRITER = 1,
    XS_PLAN_SIGNALS,       /* a = signals that a slot gets in an epoch (xs_writer_epoch) of its writer */
    XS_PLAN_ARRIVALS,      /* a = arrivals an epoch that elect */
    XS_PLAN_DEPTH,         /* a = ring depth */
    XS_PLAN_PARTICIPANTS,  /* a = ranks that take part in the barrier */
    XS_PLAN_ROLE_BLOCKS,   /* a = role id, b = first block | blocks << 32 */
    XS_PLAN_HOST_SUPPLIER, /* the host signals the slot */
    XS_PLAN_NO_ARRIVALS,   /* a = rank that publishes the slot where nothing is expected */
    /* told by xs of adopted pads of up to 1 024 slots: the slot lies in a buffer. a = its name id, b = byte in it */
    XS_PLAN_INSIDE
};
enum xs_plan_origin { XS_PLAN_DECLARED = 0, XS_PLAN_REPORTED = 1, XS_PLAN_INFERRED = 2 };
#define XS_PLAN_ANY 0xffffffffu
#define XS_PLAN_ROW 0xfffffffeu
#define XS_PLAN_COLUMN 0xfffffffdu
#define XS_PLAN_OWNER 0xfffffffcu /* a of XS_PLAN_WRITER: the owner's own rank */
typedef struct xs_plan_entry {
    uint32_t kind;
    uint32_t origin;
    uint32_t pad_first;          /* pad.first of the pad; 0xffffffff: none */
    uint32_t owner, row, column; /* XS_PLAN_ANY: all */
    uint64_t epoch;              /* UINT64_MAX: every epoch */
    uint64_t a, b;
} xs_plan_entry;
XS_API int xs_plan_add(xs_world *world, const xs_plan_entry *entries, uint32_t count);

/* Launch: every local rank runs `grid` blocks of `block` threads. A warp is 32 threads on CUDA and one thread on the
 * host: there a block has (block + 31) / 32 threads. args is copied. Returns the launch id; xs_sync waits. */
typedef struct xs_launch_config {
    uint32_t size; /* sizeof(xs_launch_config) */
    uint32_t grid, block; /* blocks a rank, threads a block */
    uint32_t first_rank, ranks; /* ranks == 0: all local ranks */
    uint64_t shared_bytes; /* dynamic shared memory a block */
} xs_launch_config;
XS_API int xs_launch(xs_world *world, const xs_kernel *kernel, const xs_launch_config *config, const void *args,
                     size_t args_bytes);
/* Waits for all launches; the first error of any (TIMEOUT and ABORTED of kernels are theirs to return elsewhere). On
 * `sim` this is where the kernels run. */
XS_API int xs_sync(xs_world *world);

/* For a launch that is not made by xs (examples/own): a handle for `grid` blocks of rank `rank`, and its end. The
 * kernel runs on xs_world_device(world, rank), which is current when the handle is asked for (or nothing is): else
 * XS_E_ARGUMENT. */
XS_API int xs_handle_begin(xs_world *world, const char *kernel_name, uint32_t rank, uint32_t grid, uint32_t block,
                           xs_handle *handle);
/* What C and C++ programs call, with the form of the handle that they have room for: XS_E_UNSUPPORTED if it is
 * another than that of libxs. */
XS_API int xs_handle_begin_form(xs_world *world, const char *kernel_name, uint32_t rank, uint32_t grid, uint32_t block,
                                xs_handle *handle, uint32_t form);
#define xs_handle_begin(world, kernel_name, rank, grid, block, handle) \
    xs_handle_begin_form(world, kernel_name, rank, grid, block, handle, XS_LAUNCH_FORM)
XS_API int xs_handle_end(xs_world *world, const xs_handle *handle);

/* The world is over: every wait returns XS_RESULT_ABORTED. reason: an xs_error. Async-signal-safe, any thread. */
XS_API int xs_abort(xs_world *world, int reason);
XS_API int xs_aborted_reason(const xs_world *world);
/* Host side of heartbeat: reads the beat of a rank. */
XS_API int xs_heartbeat_read(xs_world *world, uint32_t rank, uint64_t *beat);

/* Host access to slots: gate seeds, tests, host suppliers. seq_cst, system scope. Recorded in no ring. */
XS_API int xs_slot_read(xs_world *world, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column,
                        uint64_t *value);
XS_API int xs_slot_write(xs_world *world, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column,
                         uint64_t value);

/* Windows: choose what is recorded at run time. Any thread. */
XS_API int xs_trace_start(xs_world *world);
XS_API int xs_trace_stop(xs_world *world);
typedef struct xs_filter {
    uint32_t size;
    uint32_t rank_first, rank_last, block_first, block_last;
    uint64_t epoch_first, epoch_last;
} xs_filter;
XS_API int xs_trace_filter(xs_world *world, const xs_filter *filter);
/* Dump what the rings hold now into the capture (trigger). Any thread. */
XS_API int xs_trace_dump(xs_world *world, const char *why);

/* What this machine and build can do. Ownership of strings stays with xs. */
typedef struct xs_probe {
    uint32_t size;
    uint32_t cpus;
    int32_t gpus;           /* -1: no driver */
    int32_t built_with_cuda;
    int32_t traced;         /* libxs keeps rings: always 1; kernels choose by XS_TRACE */
    uint32_t time_step_ns;  /* smallest step of the host's clock seen */
    uint32_t store16_whole; /* 1: 16-byte stores were whole in the self-test */
    uint32_t record_ns_x100; /* host: cost of one record, 1/100 ns */
    uint64_t memfd_limit;   /* bytes that a memfd took in the probe, at most 1 GiB */
    int32_t recorder;       /* 1: XS_RECORD names a recorder that answers */
    uint64_t store16_reads, store16_torn; /* of the self-test */
    /* of its control, two 8-byte stores: 0 torn says that the test could see nothing */
    uint64_t control_reads, control_torn;
    int32_t cupti;           /* 1: a run on a GPU would be told of kernels and copies */
    uint32_t cupti_version;  /* of the library found; 0: none */
    const char *cupti_why;   /* why not, "" if it would */
} xs_probe;
XS_API int xs_probe_machine(xs_probe *probe);
/* One GPU, measured; about a second. Not while kernels run there. */
typedef struct xs_gpu_probe {
    uint32_t size;
    uint32_t device; /* CUDA ordinal */
    char name[64];
    uint32_t driver; /* as cuDriverGetVersion says it: 13000 */
    uint32_t processors;
    uint32_t cooperative;         /* 1: it has cooperative launches, without which there is no CUDA backend */
    uint32_t host_native_atomics; /* 1: the link to the host carries atomics */
    uint32_t time_step_ns;        /* smallest step of %globaltimer seen */
    /* cycles that one record adds to a lone warp, 1/100, by placement */
    uint32_t record_mapped_x100, record_device_x100;
    uint32_t reserved0;
    uint64_t store16_reads, store16_torn; /* 16-byte stores to mapped memory, read by this CPU while they go on */
    uint64_t control_reads, control_torn; /* two 8-byte stores: 0 torn says that the test could see nothing */
    uint64_t host_adds, host_adds_lost;   /* GPU and CPU added to one word of host memory at once */
} xs_gpu_probe;
XS_API int xs_probe_gpu(uint32_t device, xs_gpu_probe *probe);
/* Two GPUs. */
typedef struct xs_peer_probe {
    uint32_t size;
    uint32_t from, to;
    uint32_t access;           /* 1: kernels of `from` reach the memory of `to`; else the rest is 0 */
    uint32_t native_atomics;   /* 1: the link carries atomics */
    uint32_t reserved0;
    uint64_t adds, adds_lost;  /* both added to one word of `to` at once */
} xs_peer_probe;
XS_API int xs_probe_peer(uint32_t from, uint32_t to, xs_peer_probe *probe);

XS_API const char *xs_strerror(int error);
XS_API const char *xs_errname(int error);
/* The calling thread's last failure in words (which variable, which value), "" if there was none. Valid until the
 * thread's next call into xs. */
XS_API const char *xs_error_detail(void);
XS_API uint32_t xs_version(void); /* major << 16 | minor << 8 | patch */

XS_EXTERN_C_END

#endif
