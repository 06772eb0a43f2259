/* GPU memory of one process opened in another, by CUDA's IPC handles. The owner puts a handle where all processes of
 * the world look; who opens it counts itself in, and out before it closes: freeing memory that another still has
 * open is undefined. On withdrawal the owner first says that it is gone, then waits, so that who comes between sees
 * one or the other. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_state.h"
#include "identity.h"

#define BLOCK_BYTES (2u << 20) /* the driver's own: smaller allocations share one, and a handle stands for all of it */
#define LEAVE_NS    5000000000u
#define LOOK_NS     200000

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL); }

int xs_cuda_export(xs_cuda_state *state, int device, uint64_t bytes, xs_cuda_share *share, void **at) {
    CUdeviceptr made = 0, block = 0;
    size_t size = 0;
    uint64_t whole = (bytes + BLOCK_BYTES - 1) & ~(uint64_t)(BLOCK_BYTES - 1);
    int rc = xs_cuda_allocate(state, XS_CUDA_EXPORTED, device, whole, &made);
    if (rc) return rc;
    state->memory->share = share;
    rc = xs_cuda_check(state, state->cuda->address_range(&block, &size, made), "cuMemGetAddressRange");
    if (!rc) rc = xs_cuda_check(state, state->cuda->ipc_handle(&share->handle, block), "cuIpcGetMemHandle");
    if (rc) return rc;
    share->offset = made - block;
    share->bytes = bytes;
    share->device = state->devices[device].uuid;
    share->pid = (int32_t)getpid();
    share->at = made;
    *at = (void *)(uintptr_t)made;
    __atomic_store_n(&share->state, XS_CUDA_SHARED, __ATOMIC_SEQ_CST);
    return 0;
}

/* 0: shared, and counted in. */
static int wait_for(xs_world *world, uint32_t rank, xs_cuda_share *share, uint64_t deadline) {
    const xs_segment *segment = xs_cuda_state_of(world)->segment;
    for (;; nap()) {
        uint32_t state = __atomic_load_n(&share->state, __ATOMIC_SEQ_CST);
        if (state == XS_CUDA_SHARED) {
            __atomic_add_fetch(&share->users, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(&share->state, __ATOMIC_SEQ_CST) == XS_CUDA_SHARED) return 0;
            __atomic_sub_fetch(&share->users, 1, __ATOMIC_SEQ_CST);
        }
        if (state == XS_CUDA_GONE) return xs_fail(XS_E_PEER_DEAD, "rank %u has left the world", rank);
        if (xs_segment_died(segment, rank)) return xs_fail(XS_E_PEER_DEAD, "the process of rank %u has died", rank);
        if (xs_world_abort_error(world))
            return xs_fail(XS_E_ABORTED, "aborted while waiting for the memory of rank %u", rank);
        if (xs_clock_boot() > deadline)
            return xs_fail(XS_E_TIMEOUT, "rank %u has not shared its memory within XS_JOIN_NS (%llu s)", rank,
                           (unsigned long long)(world->config.join_ns / 1000000000u));
    }
}

static void count_out(xs_cuda_share *share) { __atomic_sub_fetch(&share->users, 1, __ATOMIC_SEQ_CST); }

/* Two worlds of one process: a process cannot open its own handles, and need not. */
static int borrow(xs_cuda_state *state, xs_cuda_share *share, void **at) {
    int device = xs_cuda_device_by_uuid(state, &share->device, 1);
    *at = (void *)(uintptr_t)share->at;
    if (device >= 0) return xs_cuda_keep(state, (xs_cuda_memory){XS_CUDA_BORROWED, device, share->at, share, NULL});
    count_out(share);
    return device;
}

/* Counted out again if it fails. */
static int open_share(xs_cuda_state *state, uint32_t rank, xs_cuda_share *share, void **at) {
    CUdeviceptr block = 0;
    if (share->pid == (int32_t)getpid()) return borrow(state, share, at);
    int device = xs_cuda_device_by_uuid(state, &share->device, 0);
    int rc = device < 0 ? device : xs_cuda_enter(state, &state->devices[device]);
    if (!rc) {
        CUresult result = state->cuda->ipc_open(&block, share->handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        if (xs_cuda_is_sticky(result)) rc = xs_cuda_check(state, result, "cuIpcOpenMemHandle");
        else if (result)
            rc = xs_fail(XS_E_SYSTEM, "the memory of rank %u cannot be opened on GPU %d: %s", rank,
                         state->devices[device].ordinal, xs_cuda_error(state->cuda, result));
    }
    if (rc) {
        count_out(share);
        return rc;
    }
    *at = (void *)(uintptr_t)(block + share->offset);
    return xs_cuda_keep(state, (xs_cuda_memory){XS_CUDA_IMPORTED, device, block, share, NULL});
}

int xs_cuda_import(xs_world *world, uint32_t rank, xs_cuda_share *share, uint64_t bytes, uint64_t deadline, void **at) {
    void *opened = NULL;
    int rc = wait_for(world, rank, share, deadline);
    if (rc) return rc;
    if (share->bytes != bytes) {
        count_out(share);
        return xs_fail(XS_E_SHAPE, "an object has %llu bytes in the process of rank %u and %llu here",
                       (unsigned long long)share->bytes, rank, (unsigned long long)bytes);
    }
    rc = open_share(xs_cuda_state_of(world), rank, share, &opened);
    if (!rc) *at = opened;
    return rc;
}

void xs_cuda_share_close(xs_cuda_state *state, xs_cuda_memory *memory) {
    if (memory->kind == XS_CUDA_IMPORTED) state->cuda->ipc_close(memory->at);
    count_out(memory->share);
}

static int others_live(const xs_world *world) {
    for (uint32_t r = 0; r < world->config.ranks; r++)
        if (!xs_cuda_is_local(world, r) && xs_segment_lives(xs_cuda_state_of(world)->segment, r)) return 1;
    return 0;
}

int xs_cuda_share_withdraw(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    uint64_t started = xs_clock_boot();
    for (xs_cuda_memory *m = state->memory; m; m = m->next)
        if (m->kind == XS_CUDA_EXPORTED && m->share) __atomic_store_n(&m->share->state, XS_CUDA_GONE, __ATOMIC_SEQ_CST);
    for (xs_cuda_memory *m = state->memory; m; m = m->next)
        while (m->share && __atomic_load_n(&m->share->users, __ATOMIC_SEQ_CST)) {
            if (!others_live(world)) return 1; /* who had it open was killed */
            if (xs_clock_boot() - started > LEAVE_NS) return 0;
            nap();
        }
    return 1;
}
