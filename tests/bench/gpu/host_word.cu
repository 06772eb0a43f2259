/* host_word: what it costs warps to read a word in host memory, as a wait reads the abort word and a writer `started`: all of them the same
 * word, or each one on a line of its own, beside a word in the GPU's memory. One load after the other, lane 0 of each warp. No bar: it
 * says how many may look, and how often. */
#include <gpu_test.h>
#include <xs/atomics.h>

enum { READS = 64, LINE = 128, WARPS_MOST = 132 * 4 };

/* apart: bytes between the words of two warps. ns: of each warp, for all of its reads. */
static __global__ void read_words(const char *words, uint32_t apart, uint32_t *ns) {
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, value = 0;
    if (threadIdx.x % 32)
        return;
    const char *at = words + (size_t)warp * apart;
    uint64_t begin = xs_now();
    for (int i = 0; i < READS; i++)
        value = xs_load_relaxed_sys_u32((const uint32_t *)(at + value)); /* 0: the next waits for this one */
    ns[warp] = (uint32_t)(xs_now() - begin) + value;
}

/* Mean of all warps, ns a read; after one launch that is not counted. */
static double mean_ns(const char *words, uint32_t apart, uint32_t blocks, uint32_t warps, uint32_t *ns) {
    static uint32_t seen[WARPS_MOST];
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        read_words<<<blocks, 32 * warps>>>(words, apart, ns);
        GPU_CHECK(cudaGetLastError());
        GPU_CHECK(cudaDeviceSynchronize());
    }
    GPU_CHECK(cudaMemcpy(seen, ns, blocks * warps * sizeof *ns, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < blocks * warps; i++)
        sum += seen[i];
    return sum / (blocks * warps) / READS;
}

int main(void) {
    static const struct { uint32_t blocks, warps; } sizes[] = {{1, 1}, {1, 4}, {8, 4}, {33, 4}, {132, 1}, {132, 4}};
    size_t bytes = WARPS_MOST * LINE;
    struct cudaDeviceProp properties;
    char *host, *device;
    uint32_t *ns;
    gpu_test_begin(30);
    gpu_test_need();
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    GPU_CHECK(cudaHostAlloc((void **)&host, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    memset(host, 0, bytes);
    GPU_CHECK(cudaMalloc((void **)&device, bytes));
    GPU_CHECK(cudaMemset(device, 0, bytes));
    GPU_CHECK(cudaMalloc((void **)&ns, WARPS_MOST * sizeof *ns));
    printf("%s: ns a read, and millions of reads a second of all warps\n", properties.name);
    puts("blocks x warps   host, one word      host, own lines       GPU, one word");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t all = sizes[i].blocks * sizes[i].warps;
        double one = mean_ns(host, 0, sizes[i].blocks, sizes[i].warps, ns), own = mean_ns(host, LINE, sizes[i].blocks, sizes[i].warps, ns);
        double gpu = mean_ns(device, 0, sizes[i].blocks, sizes[i].warps, ns);
        printf("%4u x %u     %10.0f %8.2f  %10.0f %8.2f  %10.0f %8.2f\n", sizes[i].blocks, sizes[i].warps, one, all * 1e3 / one, own, all * 1e3 / own, gpu,
               all * 1e3 / gpu);
    }
    return 0;
}
