/* The host side of a fault: what it says about itself, and how its run is set up. */
#ifndef FAULT_HOST_H
#define FAULT_HOST_H

#include <stdint.h>
#include <xs/xs.h>

#define FAULT_ANY UINT32_MAX

/* Who can judge a fault. Times are no evidence on `threads`, cache lines and links none on the host. */
enum fault_judge { FAULT_SIM = 1, FAULT_THREADS = 2, FAULT_CUDA = 4 };
#define FAULT_EVERYWHERE (FAULT_SIM | FAULT_THREADS | FAULT_CUDA)
#define FAULT_TIMED (FAULT_SIM | FAULT_CUDA) /* what must be found depends on times */

/* Are there two accesses of payload that nothing orders? The order and payload detectors say so of both kinds, ThreadSanitizer (on `threads`)
 * of the first: of the others docs/limits.md says why not. */
enum fault_race { FAULT_NO_RACE, FAULT_RACE, FAULT_RACE_UNSEEN };

/* A slot, by pad name; FAULT_ANY for what does not matter. pad NULL: the finding names no slot. */
typedef struct fault_slot {
    const char *pad;
    uint32_t owner, row, column;
} fault_slot;

struct fault_args;
typedef struct fault_run fault_run;

/* What is different on the CUDA backend. 0: nothing. */
typedef struct fault_cuda {
    uint32_t grid, block_threads, pollers;
    uint64_t work_ns;      /* a round: begins of a thousand writers take a millisecond */
    const char *cpu_ranks; /* these ranks are CPU threads: what is wrong needs a link between two devices, or memory that the host adopts */
    int32_t green;         /* xs_config.green: -1: launches of single ranks compete for the whole GPU */
    int32_t refused;       /* the xs_error that the fault's launch is refused with: then nothing is left to be found */
    uint32_t spoils;       /* 1: it ends the GPU for its process: the matrix gives each run one of its own */
    uint64_t start_ns;     /* within which all blocks of a launch must have started; 0: 2 s */
} fault_cuda;

typedef struct fault {
    const char *name;
    const char *story;   /* one line: what is wrong */
    const char *finding; /* what must be found first; NULL: nothing is wrong, however it looks */
    fault_slot slot;
    uint32_t rank, block; /* the culprit */
    uint32_t judges;      /* fault_judge */
    uint32_t race;        /* fault_race */
    uint32_t ranks, grid, block_threads; /* grid: blocks a rank */
    uint32_t residency;   /* 0: all blocks */
    uint32_t rounds, words;
    uint64_t work_ns;     /* a round */
    uint32_t rings, pollers, many_pollers; /* many: in some runs of the matrix */
    uint64_t late_ns, long_late_ns; /* long: in the first run of the matrix */
    fault_cuda cuda;
    const struct xs_kernel *kernel;
    void (*setup)(fault_run *run);  /* pads, buffers, plan */
    void (*launch)(fault_run *run); /* NULL: one launch on all ranks */
} fault;

/* What a run may change. 0: as the fault says. */
typedef struct fault_options {
    const char *backend, *scheduler, *capture;
    uint64_t seed, work_ns, bound_ns, late_ns, wait_ns; /* wait: the world aborts when a launch takes longer */
    uint32_t rounds, words, pollers, slower; /* slower: so many times the work of a round */
    int32_t twin;
} fault_options;

/* What came of it: the world's last error, rounds with stale payload, and the first stale element of the first of them. */
typedef struct fault_result {
    int error;
    uint32_t stale_rounds, stale_round, stale_index;
} fault_result;

extern const fault *const fault_table[];
extern const uint32_t fault_count;

/* What a kernel is launched as; NULL: as it is. Tests have forms for a driver that is none. */
extern const struct xs_kernel *(*fault_kernel_form)(const struct xs_kernel *kernel);

const fault *fault_find(const char *name);
/* Makes a world, runs, looks at the result, ends the world. 0, or a negative xs_error of the set-up (a world that the fault
 * aborted is none: result->error). XS_E_UNSUPPORTED: this machine cannot make the fault (xs_error_detail says why). */
int fault_execute(const fault *f, const fault_options *o, fault_result *result);

/* For set-up functions. After the first error nothing more is done. */
void fault_pad(fault_run *run, xs_pad *pad, const char *name, uint32_t rows, uint32_t columns, uint32_t flags);
void fault_buffers(fault_run *run, uint32_t batches); /* data (that many batches a rank) and stale */
void fault_plan(fault_run *run, uint32_t kind, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t a, uint64_t b);
void fault_writer(fault_run *run, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint32_t rank, uint32_t role);
/* ready[1] by rank 0, ack[0] by rank 1, a batch a round. */
void fault_pair(fault_run *run);
/* The same, published by who is elected among the blocks of rank 0: count[0], and turn[0], which lets them into the next round. */
void fault_election(fault_run *run);
void fault_counted_election(fault_run *run); /* one arrival a block and round is declared */
/* `grid` 0: the fault's. ranks 0: all. */
void fault_launch(fault_run *run, uint32_t first_rank, uint32_t ranks, uint32_t grid);
/* One rank alone, with as many blocks as there is room for, `most` at most. */
void fault_launch_filling(fault_run *run, uint32_t rank, uint32_t most);
/* A pad of `columns` slots of `width` bits, 128 bytes apart, adopted from a buffer at `offset`. On CUDA the memory must be the host's
 * (cuda.cpu_ranks). */
void fault_adopt(fault_run *run, xs_pad *pad, const char *name, const xs_buffer *memory, uint64_t offset, uint32_t width, uint32_t columns);
/* 32-bit slots in a buffer of their own, all set to `value`. */
void fault_adopt_32(fault_run *run, xs_pad *pad, const char *name, uint32_t columns, uint64_t value);
void fault_slot_write(fault_run *run, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t value);

struct fault_run {
    xs_world *world;
    const fault *fault;
    struct fault_args args;
    int error;
    int cuda; /* 1: on the CUDA backend */
};

/* Zeros mean: 2 ranks, a grid of 1 block, 32 threads a block, 12 rounds, 64 words, 20 us of work. */
#define FAULT(id, ...)              \
    extern const fault fault_##id; \
    const fault fault_##id = {.name = #id, .kernel = &id##_kernel, __VA_ARGS__}
#define FAULT_SLOT(pad_, owner_, row_, column_) .slot = {pad_, owner_, row_, column_}
#define FAULT_CULPRIT(rank_, block_) .rank = rank_, .block = block_

#endif
