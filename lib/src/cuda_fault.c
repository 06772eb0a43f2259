/* What the driver answers. An error that spoils a context is kept: it is told with the kernel's name once it is met,
 * and again by every later call, since nothing works on that GPU any more. */
#include <stdio.h>
#include <string.h>

#include "cuda_state.h"

int xs_cuda_usable(const xs_cuda_state *state) {
    return state->fault ? xs_fail(state->fault, "%s", state->fault_words) : 0;
}

static int keep(xs_cuda_state *state, const char *words) {
    if (state->fault) return xs_cuda_usable(state);
    snprintf(state->fault_words, sizeof state->fault_words, "%s", words);
    state->fault = XS_E_SYSTEM;
    return xs_cuda_usable(state);
}

static int runs_on(const xs_cuda_part *p, uint32_t device) {
    return p->device == device && !__atomic_load_n(&p->claimed, __ATOMIC_ACQUIRE);
}

/* Any call may meet the error; its context is the current one. The kernel that has run there longest is the
 * likeliest. */
static const xs_cuda_part *suspect(const xs_cuda_state *state) {
    const xs_cuda_part *oldest = NULL;
    CUcontext current = NULL;
    state->cuda->context_get(&current);
    for (const xs_cuda_part *p = state->parts; p; p = p->next) /* newest first */
        if (state->devices[p->device].context == current && runs_on(p, p->device)) oldest = p;
    return oldest;
}

static uint32_t others_there(const xs_cuda_state *state, const xs_cuda_part *part) {
    uint32_t others = 0;
    for (const xs_cuda_part *p = state->parts; p; p = p->next) others += p != part && runs_on(p, part->device);
    return others;
}

static int spoiled(xs_cuda_state *state, const xs_cuda_part *part, CUresult result, const char *what) {
    char words[256];
    const char *error = xs_cuda_error(state->cuda, result);
    if (part)
        snprintf(words, sizeof words, "kernel %s (launch %u, ranks %u to %u) on GPU %d%s: %s",
                 part->order->kernel->name, part->order->id, part->first, part->first + part->ranks - 1,
                 state->devices[part->device].ordinal, others_there(state, part) ? ", or another that ran there" : "",
                 error);
    else snprintf(words, sizeof words, "%s: %s", what, error);
    return keep(state, words);
}

int xs_cuda_check(xs_cuda_state *state, CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return 0;
    if (xs_cuda_is_sticky(result)) {
        pthread_mutex_lock(&state->parts_lock);
        int rc = spoiled(state, suspect(state), result, what);
        pthread_mutex_unlock(&state->parts_lock);
        return rc;
    }
    return xs_fail(XS_E_SYSTEM, "%s: %s", what, xs_cuda_error(state->cuda, result));
}

int xs_cuda_fault(xs_world *world, xs_cuda_part *part, CUresult result) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    pthread_mutex_lock(&state->parts_lock);
    int rc = spoiled(state, part, result, "");
    pthread_mutex_unlock(&state->parts_lock);
    xs_abort(world, rc); /* what waits for this GPU would wait for ever */
    for (xs_cuda_part *p = state->parts; p; p = p->next) {
        if (p->device != part->device || xs_cuda_part_claim(p)) continue;
        p->faulted = 1;
        xs_launch_fail(p->order, rc);
        xs_launch_ended(p->order);
    }
    return rc;
}

int xs_cuda_enter(xs_cuda_state *state, const xs_cuda_device *device) {
    return xs_cuda_check(state, state->cuda->context_set(device->context), "cuCtxSetCurrent");
}
