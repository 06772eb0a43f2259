/* Between the files of the fake driver. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <pthread.h>

#include "fake_cuda.h"

#define FAKE_GPUS 8

struct CUctx_st {
    int device, references;
    CUresult fault; /* stays */
};
struct CUmod_st {
    CUcontext context;
};
struct CUevent_st {
    uint64_t recorded, reached; /* how often */
};

enum fake_kind { FAKE_KERNEL_OP, FAKE_HOST_OP, FAKE_COPY_OP, FAKE_SET_OP, FAKE_COPY_2D_OP, FAKE_RECORD_OP, FAKE_WAIT_OP };
typedef struct fake_op {
    enum fake_kind kind;
    struct CUfunc_st function;
    unsigned blocks;
    void *args;
    xs_handle handle;
    uint64_t numbers[4]; /* a builtin's arguments */
    CUhostFn *host;
    void *user;
    CUdeviceptr to, from;
    size_t bytes;
    xs_cuda_copy_2d rows;
    CUevent event;
    uint64_t count;
    struct fake_op *next;
} fake_op;

struct CUstream_st {
    CUcontext context;
    pthread_t thread;
    fake_op *first;
    int busy, closing;
};

extern fake_control fake_cuda;
extern pthread_mutex_t fake_lock; /* all of the fake's state */
extern pthread_cond_t fake_changed;
extern _Thread_local CUcontext fake_current;
extern uint64_t fake_pending; /* operations in streams */

/* Counts the call, fails it if it is its turn, and answers a fault that stays. First line of every call. */
CUresult fake_call(void);
#define FAKE_CALL()                                                                                                      \
    do {                                                                                                                 \
        CUresult failed = fake_call();                                                                                   \
        if (failed) return failed;                                                                                       \
    } while (0)
#define FAKE_NEEDS_CONTEXT()                                                                                             \
    do {                                                                                                                 \
        FAKE_CALL();                                                                                                     \
        if (!fake_current) return FAKE_INVALID_CONTEXT;                                                                  \
    } while (0)
#define FAKE_INVALID_VALUE   1
#define FAKE_OUT_OF_MEMORY   2
#define FAKE_INVALID_CONTEXT 201
#define FAKE_INVALID_HANDLE  400

void fake_live(int kind, int by);
void fake_run_kernel(CUstream stream, fake_op *op); /* lock held; lets it go meanwhile */

#endif
