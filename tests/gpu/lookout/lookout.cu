/* The abort word and `started` lie in host memory, of which a GPU's reads take turns. However many warps look, one of them asks the host
 * in XS_LOOKOUT_NS; all see what it saw, and a kernel that begins behind a change never sees what was before it. */
#include "gpu_rings.h"

#include <xs/kernel.h>

enum { BLOCKS = 64, WARPS = 4, RING = 1024 };
#define KERNEL_NS 2000000000ull
#define LOOK_FOR_NS 20000000u

/* A word a warp: a GPU's atomics on host memory are none to the CPU. */
typedef struct mailbox {
    uint32_t running[BLOCKS * WARPS], left[BLOCKS * WARPS];
    uint32_t fetches;       /* of the host's words, as block 0 saw them */
    uint32_t epochs;        /* of the writer in `windows` */
    uint32_t marks, pad;
} mailbox;

typedef struct bed {
    gpu_rings rings;
    mailbox *box;
    uint32_t *abort_word;
} bed;

static bed bed_make(int started) {
    bed b;
    b.rings = gpu_rings_make(BLOCKS * WARPS, RING, GPU_MAPPED, started);
    GPU_CHECK(cudaHostAlloc((void **)&b.box, sizeof *b.box, cudaHostAllocMapped));
    GPU_CHECK(cudaHostAlloc((void **)&b.abort_word, 128, cudaHostAllocMapped));
    memset(b.box, 0, sizeof *b.box);
    memset(b.abort_word, 0, 128);
    return b;
}

static void bed_free(bed *b) {
    GPU_CHECK(cudaFreeHost(b->box));
    GPU_CHECK(cudaFreeHost(b->abort_word));
    gpu_rings_free(&b->rings);
}

/* Every warp looks all the time until it sees the abort; the first one counts how often somebody asked the host meanwhile. */
__global__ void look(mailbox *box, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_none(&xs);
    const xs_lookout *l = xs.lookout + XS_TRACE;
    uint64_t begin = xs_now();
    uint32_t seen = 0, changes = 0, warp = blockIdx.x * WARPS + xs_warp();
    if (xs_lane() != 0)
        return;
    xs_store_relaxed_sys_u32(&box->running[warp], 1);
    while (!xs_aborted(&w) && xs_now() - begin < KERNEL_NS) {
        uint32_t time = xs_load_relaxed_gpu_u32(&l->time);
        changes += time != seen;
        seen = time;
    }
    if (xs_aborted(&w))
        xs_store_relaxed_sys_u32(&box->left[warp], 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        box->fetches = changes;
}

static uint32_t sum(const uint32_t *words) {
    uint32_t all = 0;
    for (int i = 0; i < BLOCKS * WARPS; i++)
        all += __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    return all;
}

static void all_see_the_abort_and_few_ask(void) {
    bed b = bed_make(1);
    xs_handle handle = gpu_rings_handle(&b.rings, BLOCKS, b.abort_word);
    look<<<BLOCKS, WARPS * 32>>>(b.box, handle);
    GPU_CHECK(cudaGetLastError());
    double begin = gpu_test_seconds();
    while (sum(b.box->running) < BLOCKS * WARPS)
        EXPECT(gpu_test_seconds() - begin < 10, "the kernel does not begin");
    usleep(LOOK_FOR_NS / 1000);
    double set = gpu_test_seconds();
    __atomic_store_n(b.abort_word, 3, __ATOMIC_RELAXED);
    GPU_CHECK(cudaDeviceSynchronize());
    double end = gpu_test_seconds();
    printf("%u warps looked for %.1f ms; the host was asked %u times; the kernel ended %.0f us after the abort\n", BLOCKS * WARPS,
           (set - begin) * 1e3, b.box->fetches, (end - set) * 1e6);
    EXPECT(sum(b.box->left) == BLOCKS * WARPS, "%u of %u warps saw the abort", sum(b.box->left), BLOCKS * WARPS);
    EXPECT(b.box->fetches >= 2, "nobody asked the host");
    EXPECT(gpu_test_sanitized() || b.box->fetches <= (end - begin) * 1e9 / XS_LOOKOUT_NS + 2, "the host was asked %u times", b.box->fetches);
    bed_free(&b);
}

/* An abort by a kernel is seen by its own launch at once, and by the host. */
__global__ void abort_here(mailbox *box, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_none(&xs);
    if (xs_lane() != 0)
        return;
    xs_kernel_abort(&w, XS_E_TIMEOUT);
    box->left[0] = (uint32_t)xs_aborted(&w);
}

static void a_kernel_aborts(void) {
    bed b = bed_make(1);
    abort_here<<<1, 32>>>(b.box, gpu_rings_handle(&b.rings, 1, b.abort_word));
    GPU_CHECK(cudaDeviceSynchronize());
    EXPECT(b.box->left[0] == 1, "the kernel does not see its own abort");
    EXPECT(*b.abort_word == (uint32_t)-XS_E_TIMEOUT, "the abort word is %u", *b.abort_word);
    bed_free(&b);
}

#if XS_TRACE
static void set_started(bed *b, uint32_t started) {
    xs_window window;
    memset(&window, 0, sizeof window);
    window.started = started;
    window.rank_last = window.block_last = UINT32_MAX;
    window.epoch_last = UINT64_MAX;
    xs_region_set_window((xs_region_header *)b->rings.memory, 0, &window);
}

/* Marks and epochs for `ns`, an epoch a microsecond. */
__global__ void windows(mailbox *box, uint64_t ns, const __grid_constant__ xs_handle xs) {
    xs_writer w = xs_writer_begin(&xs, 0);
    uint64_t begin = xs_now();
    uint32_t epochs = 0;
    if (xs_lane() == 0) {
        do {
            xs_writer_epoch(&w, epochs);
            xs_mark(&w, 1, epochs);
            xs_store_relaxed_sys_u32(&box->epochs, ++epochs);
            xs_work_ns(1000);
        } while (xs_now() - begin < ns);
    }
    xs_writer_end(&w);
}

static uint64_t recorded(const bed *b) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BLOCKS * WARPS; i++)
        sum += gpu_ring_header(&b->rings, i)->next - 1;
    return sum;
}

/* The lookout still says what the kernel before saw, younger than XS_LOOKOUT_NS. */
static void a_kernel_behind_the_switch_sees_it(void) {
    for (int i = 0; i < 20; i++) {
        bed b = bed_make(0);
        xs_handle handle = gpu_rings_handle(&b.rings, 1, b.abort_word);
        windows<<<1, 32>>>(b.box, 0, handle);
        GPU_CHECK(cudaDeviceSynchronize());
        uint64_t off = recorded(&b);
        set_started(&b, XS_STARTED);
        windows<<<1, 32>>>(b.box, 0, handle);
        GPU_CHECK(cudaDeviceSynchronize());
        uint64_t on = recorded(&b) - off;
        EXPECT(on >= 3 + 2 + 1 + 2, "begin, epoch, mark and end are 8 records, not %llu", (unsigned long long)on);
        set_started(&b, 0);
        windows<<<1, 32>>>(b.box, 0, handle);
        GPU_CHECK(cudaDeviceSynchronize());
        EXPECT(recorded(&b) - off - on == off, "stopped, a kernel still recorded %llu", (unsigned long long)(recorded(&b) - off - on));
        bed_free(&b);
    }
}

/* Whoever looks behind a trap must not take the freeze away from those that begin afterwards. */
static void frozen_stays_frozen(void) {
    bed b = bed_make(1);
    xs_handle handle = gpu_rings_handle(&b.rings, 1, b.abort_word);
    xs_region_control((xs_region_header *)b.rings.memory)->freeze = 1;
    windows<<<1, 32>>>(b.box, 5 * XS_LOOKOUT_NS, handle); /* looks */
    GPU_CHECK(cudaDeviceSynchronize());
    uint64_t before = recorded(&b);
    windows<<<1, 32>>>(b.box, 0, handle);
    GPU_CHECK(cudaDeviceSynchronize());
    EXPECT(recorded(&b) == before, "frozen, a writer that began still recorded %llu", (unsigned long long)(recorded(&b) - before));
    bed_free(&b);
}

static void a_running_kernel_is_switched(void) {
    bed b = bed_make(0);
    windows<<<1, 32>>>(b.box, 30000000, gpu_rings_handle(&b.rings, 1, b.abort_word));
    GPU_CHECK(cudaGetLastError());
    double begin = gpu_test_seconds();
    while (__atomic_load_n(&b.box->epochs, __ATOMIC_RELAXED) < 100)
        EXPECT(gpu_test_seconds() - begin < 10, "the kernel does not begin");
    set_started(&b, XS_STARTED);
    uint32_t first = __atomic_load_n(&b.box->epochs, __ATOMIC_RELAXED);
    usleep(5000);
    set_started(&b, 0);
    uint32_t last = __atomic_load_n(&b.box->epochs, __ATOMIC_RELAXED);
    GPU_CHECK(cudaDeviceSynchronize());
    uint64_t records = recorded(&b), epochs = b.box->epochs;
    printf("started in epoch %u, stopped in epoch %u of %llu: %llu records\n", first, last, (unsigned long long)epochs, (unsigned long long)records);
    EXPECT(records >= 3 * (uint64_t)(last - first) / 2, "half of the epochs between start and stop are missing");
    EXPECT(records < 3 * epochs, "start and stop were not seen");
    bed_free(&b);
}
#endif

int main() {
    gpu_test_begin(40);
    gpu_test_need();
    all_see_the_abort_and_few_ask();
    a_kernel_aborts();
#if XS_TRACE
    a_kernel_behind_the_switch_sees_it();
    frozen_stays_frozen();
    a_running_kernel_is_switched();
#endif
    return 0;
}
