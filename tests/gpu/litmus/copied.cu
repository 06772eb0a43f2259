/* A record in device memory is whole in a copy made by the copy engine while it is overwritten. Control: its two halves are
 * stored with a pause between them, which shows that this copy would see a torn record. */
#include "litmus.h"

enum { SLOTS = 64, THREADS = 128 };

template <bool WHOLE>
static __global__ void rewrite(xs_record *rings, const uint32_t *stop) {
    xs_record *ring = rings + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * SLOTS;
    uint64_t begin = xs_now();
    for (uint32_t i = 1; i % 64 != 0 || !litmus_over(stop, begin); i++) {
        xs_record *at = &ring[i % SLOTS];
        if (WHOLE) {
            xs_store16_if(1, at, i, i, i, i);
        } else {
            uint64_t both = (uint64_t)i << 32 | i;
            xs_store_relaxed_sys((uint64_t *)at, both);
            xs_nanosleep(200);
            xs_store_relaxed_sys((uint64_t *)at + 1, both);
        }
    }
}

static litmus_seen watch(const xs_record *rings, size_t slots) {
    litmus_seen seen = {0, 0, 0};
    uint32_t *last = (uint32_t *)calloc(slots, 4);
    xs_record *copy = (xs_record *)litmus_mapped(slots * sizeof *copy);
    cudaStream_t stream;
    GPU_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (double end = gpu_test_seconds() + 1.0; gpu_test_seconds() < end;) {
        GPU_CHECK(cudaMemcpyAsync(copy, rings, slots * sizeof *copy, cudaMemcpyDeviceToHost, stream));
        GPU_CHECK(cudaStreamSynchronize(stream));
        for (size_t i = 0; i < slots; i++) {
            const xs_record *r = &copy[i];
            seen.reads++;
            seen.bad += r->sequence != r->code_object || r->sequence != r->value || r->sequence != r->time;
            seen.moved += r->sequence != last[i];
            last[i] = r->sequence;
        }
    }
    GPU_CHECK(cudaStreamDestroy(stream));
    GPU_CHECK(cudaFreeHost(copy));
    free(last);
    return seen;
}

template <bool WHOLE>
static litmus_seen measure(uint32_t *stop, cudaStream_t kernels) {
    unsigned blocks = litmus_processors();
    size_t slots = (size_t)blocks * THREADS * SLOTS;
    xs_record *rings;
    GPU_CHECK(cudaMalloc((void **)&rings, slots * sizeof *rings));
    GPU_CHECK(cudaMemset(rings, 0, slots * sizeof *rings));
    GPU_CHECK(cudaDeviceSynchronize());
    rewrite<WHOLE><<<blocks, THREADS, 0, kernels>>>(rings, stop);
    GPU_CHECK(cudaGetLastError());
    litmus_seen seen = watch(rings, slots);
    litmus_stop(stop);
    GPU_CHECK(cudaFree(rings));
    return seen;
}

void litmus_copied(void) {
    uint32_t *stop = (uint32_t *)litmus_mapped(64);
    cudaStream_t kernels;
    GPU_CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    litmus_judge("torn in a copy", measure<true>(stop, kernels), measure<false>(stop, kernels));
}
